//! Compares the files in a run's directories after a crash with its acknowledgement log.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Directory, EntryKind};
use workload::Action;
use workload::contents::Contents;

use super::key::Key;
use super::loss::{Loss, LossKind, VerifyError};
use super::replay::{Acked, Expected, May, NameState, Replay};

/// Number of bytes of a file that are read at a time: a multiple of the block size of generated
/// contents.
const PIECE_BYTES: usize = 1 << 20;

/// The loss at a name; `None` if the state of the name is as acknowledged.
type Judged = Result<Option<Loss>, VerifyError>;

/// An open directory, and the last component of a name in it.
type Named<'k> = (Arc<dyn Directory>, &'k [u8]);

/// The directories of a run and their expected contents.
pub(crate) struct Tree<'a> {
    /// The directory of each location; `None` if the run removed the directory at its end.
    pub directories: &'a [Option<Place>],
    pub replay: &'a Replay,
    /// Generates the expected contents; `None` for a classic run, whose text is only checked for
    /// zero bytes.
    pub contents: Option<Contents>,
    /// Whether the run may have removed files after its workers had ended.
    pub may_be_removed: bool,
    pub piece: Vec<u8>,
    /// The directory opened last, with its path. Names are sorted, so the next name is probably in
    /// the same directory.
    last: RefCell<Option<(Key, Arc<dyn Directory>)>>,
}

/// The directory in which the files of a location are now. It may be at another path than during
/// the run.
#[derive(Debug)]
pub(crate) struct Place {
    pub path: PathBuf,
    pub held: Arc<dyn Directory>,
}

/// The state of a name on the file system.
enum Found {
    Nothing,
    /// The type of the entry, and its size in bytes.
    Entry(EntryKind, u64),
    /// The system returned an error for the name.
    Damaged(Errno),
}

impl<'a> Tree<'a> {
    pub(crate) fn new(
        directories: &'a [Option<Place>],
        replay: &'a Replay,
        contents: Option<Contents>,
        may_be_removed: bool,
    ) -> Self {
        Self {
            directories,
            replay,
            contents,
            may_be_removed,
            piece: vec![0; PIECE_BYTES],
            last: RefCell::new(None),
        }
    }

    /// Compares the state of a name with its acknowledged and possible states, and returns the
    /// loss.
    pub(crate) fn judge(&mut self, key: &Key, name: &NameState) -> Judged {
        let found = self.look(key)?;
        let wrong = match (&found, &name.acked) {
            (Found::Nothing, Acked::Unknown | Acked::Absent) => None,
            (Found::Nothing, _) => self.missing(name)?,
            _ if name.may.contains(&May::Made) => None,
            (_, Acked::SymbolicLink(target)) => self.symbolic_link(key, name, target, &found)?,
            (Found::Entry(EntryKind::Directory, _), Acked::Directory) => None,
            (_, Acked::Directory) => Some(torn(
                name.by,
                format!("it is {}, not a directory", found.describe()),
            )),
            (_, Acked::File(_) | Acked::Absent | Acked::Unknown) => self.file(key, name, &found)?,
        };
        Ok(wrong.map(|wrong| Loss {
            path: self.path(key).map_or_else(
                || String::from_utf8_lossy(&key.1).into_owned(),
                |path| path.to_string_lossy().into_owned(),
            ),
            key: key.clone(),
            ..wrong
        }))
    }

    fn path(&self, (location, path): &Key) -> Option<PathBuf> {
        let place = self.directories.get(*location as usize)?.as_ref()?;
        Some(place.path.join(OsStr::from_bytes(path)))
    }

    /// Opens the parent directory of a name, and returns it with the name's last component. Returns
    /// `None` if the run removed the location's directory.
    pub(crate) fn directory_of<'k>(
        &self,
        (location, path): &'k Key,
    ) -> Result<Option<Named<'k>>, Errno> {
        let Some(Some(place)) = self.directories.get(*location as usize) else {
            return Ok(None);
        };
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => return Ok(Some((Arc::clone(&place.held), path))),
        };
        let key = (*location, above.to_owned());
        if let Some((last, held)) = &*self.last.borrow()
            && *last == key
        {
            return Ok(Some((Arc::clone(held), name)));
        }
        let mut held = Arc::clone(&place.held);
        for part in above.split(|byte| *byte == b'/') {
            held = held.open(part)?;
        }
        *self.last.borrow_mut() = Some((key, Arc::clone(&held)));
        Ok(Some((held, name)))
    }

    fn look(&self, key: &Key) -> Result<Found, VerifyError> {
        let looked = match self.directory_of(key) {
            Ok(None) => return Ok(Found::Nothing),
            Ok(Some((directory, name))) => directory.facts_of(name),
            Err(errno) => Err(errno),
        };
        Ok(match looked {
            Ok(facts) => Found::Entry(facts.kind, facts.size_bytes),
            Err(Errno::NOENT | Errno::NOTDIR) => Found::Nothing,
            Err(errno @ (Errno::ACCESS | Errno::PERM)) => {
                let path = self.path(key).unwrap_or_default();
                return Err(VerifyError::system("examine", &path, errno));
            }
            Err(errno) => Found::Damaged(errno),
        })
    }

    /// Returns the loss of a name that does not exist; `None` if its absence is one of the possible
    /// states.
    fn missing(&self, name: &NameState) -> Judged {
        if self.may_be_removed || name.may.contains(&May::Gone) {
            return Ok(None);
        }
        let mut why = "it does not exist".to_owned();
        for may in &name.may {
            if let May::Moved(to) = may {
                if !matches!(self.look(to)?, Found::Nothing) {
                    return Ok(None);
                }
                why = format!(
                    "it does not exist, nor does {}, its new name",
                    String::from_utf8_lossy(&to.1)
                );
            }
        }
        if let (Acked::File(object), Action::Rename) = (&name.acked, name.by)
            && let object = &self.replay.objects[*object]
            && let Some(made_by) = object.made_by
        {
            // A lost rename leaves the file under a former name. Without any name, the file itself
            // is lost, and so is the operation that made it.
            for former in &object.former_names {
                if !matches!(self.look(former)?, Found::Nothing) {
                    return Ok(Some(wrong(LossKind::Missing, name.by, why)));
                }
            }
            why.push_str(", nor does any name that the file had before");
            return Ok(Some(wrong(LossKind::Missing, made_by, why)));
        }
        Ok(Some(wrong(LossKind::Missing, name.by, why)))
    }

    fn symbolic_link(&self, key: &Key, name: &NameState, target: &[u8], found: &Found) -> Judged {
        if !matches!(found, Found::Entry(EntryKind::SymbolicLink, _)) {
            let why = format!("it is {}, not a symbolic link", found.describe());
            return Ok(Some(torn(name.by, why)));
        }
        let found = self.directory_of(key).and_then(|place| {
            place.map_or(Err(Errno::NOENT), |(directory, name)| {
                directory.target(name)
            })
        });
        let why = match found {
            Ok(found) if found == target => return Ok(None),
            Ok(found) => format!(
                "it points to '{}' instead of '{}'",
                String::from_utf8_lossy(&found),
                String::from_utf8_lossy(target)
            ),
            Err(error) => format!("it cannot be read: {error}"),
        };
        Ok(Some(torn(name.by, why)))
    }

    /// Checks that an existing name refers to one of the files that are possible under this name.
    fn file(&mut self, key: &Key, name: &NameState, found: &Found) -> Judged {
        let acked = match name.acked {
            Acked::File(object) => Some(object),
            _ => None,
        };
        let held = name.may.iter().filter_map(|may| match may {
            May::Holds(object) => Some(*object),
            _ => None,
        });
        let mut first = None;
        for object in acked.into_iter().chain(held) {
            match self.is_object(key, object, found)? {
                None => return Ok(None),
                Some(wrong) => first = first.or(Some(wrong)),
            }
        }
        if first.is_none() && name.acked == Acked::Absent {
            let why = format!("it still exists: {}", found.describe());
            return Ok(Some(wrong(LossKind::StillThere, name.by, why)));
        }
        Ok(first)
    }

    /// Compares the entry under an existing name with the expected state of a file.
    fn is_object(&mut self, key: &Key, object: usize, found: &Found) -> Judged {
        let replay = self.replay;
        let object = &replay.objects[object];
        let size = match found {
            Found::Entry(EntryKind::File, size) => *size,
            other => {
                return Ok(Some(torn(
                    object.by,
                    format!("it is {}, not a file", other.describe()),
                )));
            }
        };
        let Some(expected) = object.expected() else {
            return Ok(None);
        };
        if !(expected.size_min..=expected.size_max).contains(&size) {
            let meant = match expected.size_min.cmp(&expected.size_max) {
                Ordering::Equal => format!("{} bytes were", expected.size_min),
                _ => format!("{} to {} bytes were", expected.size_min, expected.size_max),
            };
            let why = format!("it has {size} bytes where {meant} acknowledged");
            return Ok(Some(wrong(LossKind::WrongSize, object.by, why)));
        }
        let wrong = self.content(key, &expected, object.pool)?;
        Ok(wrong.map(|why| torn(object.by, why)))
    }

    /// Compares a file's contents with the expected ones, and describes the first difference.
    fn content(
        &mut self,
        key: &Key,
        expected: &Expected,
        pool: u32,
    ) -> Result<Option<String>, VerifyError> {
        let (directory, name) = match self.directory_of(key) {
            Ok(Some(place)) => place,
            Ok(None) => return Ok(None),
            Err(errno) => return Ok(Some(format!("it cannot be opened: {errno}"))),
        };
        let contents = self
            .contents
            .as_ref()
            .map(|contents| contents.for_worker(pool));
        let mut offset = 0;
        while offset < expected.sure_bytes {
            let wanted = (expected.sure_bytes - offset).min(PIECE_BYTES as u64) as usize;
            let piece = &mut self.piece[..wanted];
            match directory.read(name, offset, piece) {
                Ok(length) if length == wanted => {}
                Ok(length) => {
                    return Ok(Some(format!(
                        "it ends after {} bytes",
                        offset + length as u64
                    )));
                }
                Err(errno @ (Errno::ACCESS | Errno::PERM)) => {
                    let path = self.path(key).unwrap_or_default();
                    return Err(VerifyError::system("open", &path, errno));
                }
                Err(errno) => {
                    return Ok(Some(format!(
                        "it cannot be read from byte {offset} on: {errno}"
                    )));
                }
            }
            let wrong = match &contents {
                Some(contents) => contents
                    .check(expected.state.file, expected.state.version, offset, piece)
                    .err()
                    .map(|mismatch| mismatch.to_string()),
                None => piece.iter().position(|byte| *byte == 0).map(|at| {
                    let at = offset + at as u64;
                    format!("byte {at} is zero, and the classic text contains no zeros")
                }),
            };
            if wrong.is_some() {
                return Ok(wrong);
            }
            offset += wanted as u64;
        }
        Ok(None)
    }
}

impl Found {
    fn describe(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Entry(EntryKind::File, size) => format!("a file of {size} bytes"),
            Self::Entry(EntryKind::SymbolicLink, _) => "a symbolic link".to_owned(),
            Self::Entry(EntryKind::Directory, _) => "a directory".to_owned(),
            Self::Entry(EntryKind::Other, _) => "something special".to_owned(),
            Self::Damaged(error) => format!("an entry that cannot be examined ({error})"),
        }
    }
}

fn torn(what: Action, why: String) -> Loss {
    wrong(LossKind::Torn, what, why)
}

/// Creates a loss with an empty path, which the caller fills in.
fn wrong(kind: LossKind, what: Action, why: String) -> Loss {
    Loss {
        what,
        path: String::new(),
        why,
        kind,
        key: Key::default(),
    }
}
