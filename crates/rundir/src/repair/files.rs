//! Makes and removes files, until a pool is as its acknowledgement logs describe it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::Directory;
use workload::contents::Contents;
use workload::names::Names;

use crate::ack_log::entry::Header;
use crate::ack_log::key::Key;
use crate::ack_log::loss::VerifyError;
use crate::ack_log::replay::{Acked, Expected, NameState, Replay};
use crate::ack_log::tree::{Place, Tree};
use crate::names;
use crate::ownership::{Ownership, Provenance};

/// Number of bytes of a file that are written at a time: a multiple of the block size of contents.
const PIECE_BYTES: u64 = 1 << 20;

/// The number of paths that were changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Files that did not exist, or not with their size and contents, and were written.
    pub made: u64,
    /// Removed names and temporary names that existed.
    pub removed: u64,
}

/// Makes what is missing or wrong, removes what is back, and syncs both.
pub(super) fn repair(
    header: &Header,
    replay: &Replay,
    places: &[Option<Place>],
    ownership: Ownership<'_>,
) -> Result<Repaired, VerifyError> {
    let names = header.workload.mix().map(|mix| mix.names);
    let mut removal = Removal { names, ownership };
    let no_contents = || VerifyError::new("its contents cannot be generated".to_owned());
    let contents = header.workload.contents.ok_or_else(no_contents)?;
    let contents = Contents::new(&contents, header.workload.seed(), 0);
    let mut tree = Tree::new(places, replay, Some(contents.clone()), false);
    let mut names: Vec<(&Key, &NameState)> = replay.names.iter().collect();
    names.sort_unstable_by_key(|(key, _)| *key);
    let mut repaired = Repaired::default();
    let mut changed = BTreeMap::new();
    for (key, name) in names {
        if tree.judge(key, name)?.is_none() {
            continue;
        }
        let failed = |errno| VerifyError::system("repair", &path(key), errno);
        let (directory, last) = open(&tree, key).map_err(failed)?;
        let object = match &name.acked {
            Acked::File(object) => Some(&replay.objects[*object]),
            Acked::Absent => None,
            _ => return Err(failed(Errno::OPNOTSUPP)),
        };
        let was_there = removal.remove(&*directory, key, last)?;
        if let Some(object) = object {
            let contents = contents.for_worker(object.pool);
            let expected = object.expected().ok_or(Errno::INVAL);
            let made = expected.and_then(|of| make(&*directory, last, &of, &contents));
            made.map_err(failed)?;
            repaired.made += 1;
        } else {
            repaired.removed += u64::from(was_there);
        }
        changed.insert(above(key), directory);
    }
    for key in replay.temporary_names() {
        let failed = |errno| VerifyError::system("remove", &path(key), errno);
        let (directory, last) = open(&tree, key).map_err(failed)?;
        if removal.remove(&*directory, key, last)? {
            repaired.removed += 1;
            changed.insert(above(key), directory);
        }
    }
    for (key, directory) in changed {
        let synced = directory.sync();
        synced.map_err(|errno| VerifyError::system("sync", &path(&key), errno))?;
    }
    Ok(repaired)
}

fn path((_, path): &Key) -> std::path::PathBuf {
    Path::new(&*String::from_utf8_lossy(path)).to_owned()
}

fn above((location, path): &Key) -> Key {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    (*location, path[..slash.unwrap_or(0)].to_owned())
}

fn open<'k>(tree: &Tree<'_>, key: &'k Key) -> Result<(Arc<dyn Directory>, &'k [u8]), Errno> {
    tree.directory_of(key)?.ok_or(Errno::NOENT)
}

/// Writes a new file.
fn make(
    directory: &dyn Directory,
    name: &[u8],
    expected: &Expected,
    contents: &Contents,
) -> Result<(), Errno> {
    let text = std::str::from_utf8(name).map_err(|_| Errno::INVAL)?;
    let file = directory.draft(text)?;
    let state = expected.state;
    let mut piece = vec![0; PIECE_BYTES.min(state.size_bytes) as usize];
    let mut offset = 0;
    loop {
        piece.truncate((state.size_bytes - offset).min(PIECE_BYTES) as usize);
        contents.fill(state.file, state.version, offset, &mut piece);
        // Also syncs, and an empty file must be on disk as well.
        file.write(&piece)?;
        offset += piece.len() as u64;
        if offset == state.size_bytes {
            return Ok(());
        }
    }
}

/// Removes names whose files are certainly of the run.
struct Removal<'a> {
    names: Option<Names>,
    ownership: Ownership<'a>,
}

impl Removal<'_> {
    /// Removes a name. Returns false if it does not exist.
    fn remove(
        &mut self,
        directory: &dyn Directory,
        key: &Key,
        name: &[u8],
    ) -> Result<bool, VerifyError> {
        let unclear = |why: &str| VerifyError::new(format!("{}: {why}", path(key).display()));
        let which = self.names.and_then(|names| names.parse(name));
        let which = which.ok_or_else(|| unclear("the run gives no file such a name"))?;
        let first = key.1.split(|byte| *byte == b'/').next().unwrap_or_default();
        if let Some(worker) = names::worker(first) {
            self.ownership.enter_pool_of(worker as u32);
        }
        match self.ownership.of(directory, name, which) {
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(VerifyError::system("examine", &path(key), errno)),
            Ok((Provenance::Others(why) | Provenance::Unclear(why), _)) => Err(unclear(&why)),
            Ok((Provenance::Ours | Provenance::Signed, facts)) => {
                let removed = directory.remove(name, &facts);
                match removed.map_err(|errno| VerifyError::system("remove", &path(key), errno))? {
                    true => Ok(true),
                    false => Err(unclear("another program has exchanged it")),
                }
            }
        }
    }
}
