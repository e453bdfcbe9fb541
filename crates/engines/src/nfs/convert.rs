//! Converts attributes from types of the crate `nfs_client` to types of the crate `engine`.

use engine::Identity;
use engine::namespace::{EntryKind, Facts};
use nfs_client::{FileAttributes, FileKind};

/// Returns the identity of a file: its file system and its number.
pub(crate) fn identity(found: &FileAttributes) -> Identity {
    Identity {
        device: found.file_system,
        inode: found.number,
    }
}

/// Converts attributes to the facts of a namespace. The protocol has no time of creation, so `born`
/// is `None`.
pub(crate) fn facts(found: &FileAttributes) -> Facts {
    Facts {
        kind: match found.kind {
            FileKind::File => EntryKind::File,
            FileKind::Directory => EntryKind::Directory,
            FileKind::SymbolicLink => EntryKind::SymbolicLink,
            FileKind::Other => EntryKind::Other,
        },
        size_bytes: found.size_bytes,
        allocated_bytes: Some(found.used_bytes),
        names: Some(found.names.into()),
        owner: Some(found.owner),
        mode: Some(found.mode & 0o7777),
        identity: Some(identity(found)),
        born: None,
        changed: Some(found.changed),
        accessed: Some(found.accessed),
        modified: Some(found.modified),
    }
}
