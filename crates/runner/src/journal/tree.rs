//! What lies in a run's directories after a crash, held against what its journal says.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use workload::Action;
use workload::contents::Contents;

use super::replay::{Acked, Expected, Key, May, NameState, Replay};
use crate::verify_after::{Loss, LossKind, VerifyError};

/// So much of a file is read at a time: a multiple of a block of contents.
const PIECE_BYTES: usize = 1 << 20;

/// The directories of a run.
pub(crate) struct Tree<'a> {
    /// By location; nothing: the run has ended, and has removed it.
    pub directories: &'a [Option<PathBuf>],
    pub replay: &'a Replay,
    /// The contents of files; nothing: the classic edition's text.
    pub contents: Option<Contents>,
    /// Whether the run may have removed what was left.
    pub may_be_removed: bool,
    pub piece: Vec<u8>,
}

/// What lies under a name.
enum Found {
    Nothing,
    File(u64),
    SymbolicLink,
    Directory,
    Other,
    /// The system answered with an error.
    Damaged(io::Error),
}

/// What is wrong with a name.
struct Wrong {
    kind: LossKind,
    /// What was done last to what is wrong.
    what: Action,
    why: String,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(
        directories: &'a [Option<PathBuf>],
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
        }
    }

    /// What is lost of a name.
    pub(crate) fn judge(&mut self, key: &Key, name: &NameState) -> Result<Option<Loss>, VerifyError> {
        let found = self.look(key)?;
        let wrong = match (&found, &name.acked) {
            (Found::Nothing, Acked::Unknown | Acked::Absent) => None,
            (Found::Nothing, _) => self.missing(name)?,
            _ if name.may.contains(&May::Made) => None,
            (_, Acked::SymbolicLink(target)) => self.symbolic_link(key, name, target, &found)?,
            (Found::Directory, Acked::Directory) => None,
            (_, Acked::Directory) => Some(torn(name.by, format!("it is {}, not a directory", found.describe()))),
            (_, Acked::File(_) | Acked::Absent | Acked::Unknown) => self.file(key, name, &found)?,
        };
        Ok(wrong.map(|wrong| Loss {
            what: wrong.what,
            path: self.path(key).map_or_else(
                || String::from_utf8_lossy(&key.1).into_owned(),
                |path| path.to_string_lossy().into_owned(),
            ),
            why: wrong.why,
            kind: wrong.kind,
        }))
    }

    fn path(&self, (location, path): &Key) -> Option<PathBuf> {
        let directory = self.directories.get(*location as usize)?.as_ref()?;
        Some(directory.join(Path::new(std::ffi::OsStr::from_bytes(path))))
    }

    fn look(&self, key: &Key) -> Result<Found, VerifyError> {
        let Some(path) = self.path(key) else {
            return Ok(Found::Nothing);
        };
        Ok(match fs::symlink_metadata(&path) {
            Ok(facts) if facts.is_file() => Found::File(facts.len()),
            Ok(facts) if facts.is_symlink() => Found::SymbolicLink,
            Ok(facts) if facts.is_dir() => Found::Directory,
            Ok(_) => Found::Other,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Found::Nothing,
                io::ErrorKind::PermissionDenied => return Err(VerifyError::system("examine", &path, error)),
                _ => Found::Damaged(error),
            },
        })
    }

    /// A name that must be there is not.
    fn missing(&self, name: &NameState) -> Result<Option<Wrong>, VerifyError> {
        if self.may_be_removed || name.may.contains(&May::Gone) {
            return Ok(None);
        }
        let mut why = "it is not there".to_owned();
        for may in &name.may {
            if let May::Moved(to) = may {
                if !matches!(self.look(to)?, Found::Nothing) {
                    return Ok(None);
                }
                why = format!(
                    "it is neither there nor under {}, the name that it was getting",
                    String::from_utf8_lossy(&to.1)
                );
            }
        }
        Ok(Some(Wrong {
            kind: LossKind::Missing,
            what: name.by,
            why,
        }))
    }

    fn symbolic_link(
        &self,
        key: &Key,
        name: &NameState,
        target: &[u8],
        found: &Found,
    ) -> Result<Option<Wrong>, VerifyError> {
        let (Found::SymbolicLink, Some(path)) = (found, self.path(key)) else {
            let why = format!("it is {}, not a symbolic link", found.describe());
            return Ok(Some(torn(name.by, why)));
        };
        let why = match fs::read_link(&path) {
            Ok(says) if says.as_os_str().as_bytes() == target => return Ok(None),
            Ok(says) => format!(
                "it says '{}' where it was made to say '{}'",
                String::from_utf8_lossy(&says.into_os_string().into_vec()),
                String::from_utf8_lossy(target)
            ),
            Err(error) => format!("it cannot be read: {error}"),
        };
        Ok(Some(torn(name.by, why)))
    }

    /// A name under which something lies: it must be one of the files that may be there.
    fn file(&mut self, key: &Key, name: &NameState, found: &Found) -> Result<Option<Wrong>, VerifyError> {
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
            return Ok(Some(Wrong {
                kind: LossKind::StillThere,
                what: name.by,
                why: format!("it is there: {}", found.describe()),
            }));
        }
        Ok(first)
    }

    /// Whether what lies under a name is a file as it must be.
    fn is_object(&mut self, key: &Key, object: usize, found: &Found) -> Result<Option<Wrong>, VerifyError> {
        let replay = self.replay;
        let object = &replay.objects[object];
        let size = match found {
            Found::File(size) => *size,
            other => return Ok(Some(torn(object.by, format!("it is {}, not a file", other.describe())))),
        };
        let (Some(expected), Some(path)) = (object.expected(), self.path(key)) else {
            return Ok(None);
        };
        if !(expected.size_min..=expected.size_max).contains(&size) {
            let meant = match expected.size_min.cmp(&expected.size_max) {
                Ordering::Equal => format!("{} bytes were", expected.size_min),
                _ => format!("{} to {} bytes were", expected.size_min, expected.size_max),
            };
            return Ok(Some(Wrong {
                kind: LossKind::WrongSize,
                what: object.by,
                why: format!("it has {size} bytes where {meant} acknowledged"),
            }));
        }
        let wrong = self.content(&path, &expected, object.pool)?;
        Ok(wrong.map(|why| torn(object.by, why)))
    }

    /// What is wrong with a file's contents.
    fn content(&mut self, path: &Path, expected: &Expected, pool: u32) -> Result<Option<String>, VerifyError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = match openat(CWD, path, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(errno @ (rustix::io::Errno::ACCESS | rustix::io::Errno::PERM)) => {
                return Err(VerifyError::system("open", path, errno.into()));
            }
            Err(errno) => return Ok(Some(format!("it cannot be opened: {errno}"))),
        };
        let contents = self.contents.as_ref().map(|contents| contents.for_worker(pool));
        let mut offset = 0;
        while offset < expected.sure_bytes {
            let wanted = (expected.sure_bytes - offset).min(PIECE_BYTES as u64) as usize;
            let piece = &mut self.piece[..wanted];
            if let Err(error) = file.read_exact(piece) {
                return Ok(Some(format!("it cannot be read from byte {offset} on: {error}")));
            }
            let wrong = match &contents {
                Some(contents) => contents
                    .check(expected.state.file, expected.state.version, offset, piece)
                    .err()
                    .map(|mismatch| mismatch.to_string()),
                None => piece.iter().position(|byte| *byte == 0).map(|at| {
                    let at = offset + at as u64;
                    format!("byte {at} is zero, and the classic text has no zeros")
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
            Self::File(size) => format!("a file of {size} bytes"),
            Self::SymbolicLink => "a symbolic link".to_owned(),
            Self::Directory => "a directory".to_owned(),
            Self::Other => "something special".to_owned(),
            Self::Damaged(error) => format!("something that cannot be examined ({error})"),
        }
    }
}

fn torn(what: Action, why: String) -> Wrong {
    Wrong {
        kind: LossKind::Torn,
        what,
        why,
    }
}
