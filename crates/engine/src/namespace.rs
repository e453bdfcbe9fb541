//! A namespace: everything that a run needs on a target except performing operations, such as
//! claiming, listing and removing.
//!
//! A run claims a directory by a mark. A mark is a file that is written, synced to disk and held
//! open before it is renamed to its final name; no other file may have this name. The run also
//! finds the marks of other runs, lists directories, and removes its own files. On file systems, a
//! namespace works through directories that it holds open.
//!
//! A fact that a namespace cannot provide, such as a birth time, owner or identity, is `None`.
//! Without these facts, a run removes only names that have the form of its own names, and only in a
//! directory that it has claimed.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::durability::Durability;
use crate::failure::Errno;
pub use crate::held::{CachedPages, Held};
use crate::server::{ServerFacts, ServerTraffic, Unreachable};

/// A time of a file: seconds and nanoseconds since the epoch.
pub type Stamp = (i64, u32);

/// The mode of directories that a run creates inside its own directory, before the process's umask.
/// Other users need no access to these directories.
pub const DIRECTORY_MODE: u32 = 0o700;

/// The identity of a file or directory, which does not depend on its name: `st_dev` and `st_ino` of
/// stat(2), or `fsid` and `fileid` of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// `st_dev`, or `fsid` on NFS.
    pub device: u64,
    /// `st_ino`, or `fileid` on NFS.
    pub inode: u64,
}

/// The kind of a file: the type in `st_mode` of stat(2), or `ftype3` of NFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file (`S_IFREG`).
    File,
    /// A directory (`S_IFDIR`).
    Directory,
    /// A symbolic link itself (`S_IFLNK`), not its target.
    SymbolicLink,
    /// A device, a socket or a pipe.
    Other,
}

/// Facts about a file or directory; `None` means not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The kind; never `SymbolicLink` in results of [`Namespace::facts`], which follows links.
    pub kind: EntryKind,
    /// The size in bytes; for a symbolic link, the length of its target.
    pub size_bytes: u64,
    /// The allocated space in bytes; for a sparse file, less than the size.
    pub allocated_bytes: Option<u64>,
    /// Number of hard links (`st_nlink`).
    pub names: Option<u64>,
    /// The numeric user ID of the owner.
    pub owner: Option<u32>,
    /// The permission bits, such as `0o700`, without the type of the file.
    pub mode: Option<u32>,
    /// The identity, which remains the same after a rename.
    pub identity: Option<Identity>,
    /// The time of creation (birth time, from statx(2)).
    pub born: Option<Stamp>,
    /// The time of the last change of contents or attributes (`ctime`).
    pub changed: Option<Stamp>,
    /// The time of the last access (`atime`).
    pub accessed: Option<Stamp>,
    /// The time of the last change of contents (`mtime`).
    pub modified: Option<Stamp>,
}

impl Facts {
    /// The time of creation, or of the last change if the time of creation is not available.
    pub fn born_or_changed(&self) -> Option<Stamp> {
        self.born.or(self.changed)
    }
}

/// An entry that [`Directory::list`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name of the entry; never `.` or `..`.
    pub name: &'a [u8],
    /// The inode number; `None` if the namespace's listings contain no inode numbers.
    pub number: Option<u64>,
}

/// A user or group that may replace a directory, or one of its parent directories, by another
/// directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanger {
    /// The directory whose entries the user or group may rename.
    pub directory: PathBuf,
    /// A description of the user or group for messages, such as `user 1000, its owner,`.
    pub who: String,
}

/// The user with whose rights calls are made, instead of the process's own rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActingUser {
    /// The numeric ID of the user, such as the owner of the target's directory.
    pub user: u32,
    /// The numeric ID of the group with whose rights calls are made.
    pub group: u32,
}

/// The rights with which calls are made in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The process's own rights, which no other user can misuse in this directory.
    Own,
    /// The rights of another user, because the exchanger may replace entries of the directory.
    As(ActingUser, Exchanger),
    /// No rights: the exchanger may replace entries, and this process cannot act as another user
    /// who may use the directory.
    Refused(Exchanger),
    /// No rights: the path contains a symbolic link that the exchanger may replace.
    Link(Exchanger),
}

/// The owner of a mark's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// This process has locked the mark. The lock ends when the mark is dropped.
    Ours,
    /// Another run has locked the mark, so that run is still active.
    Others,
    /// Not available, because the namespace has no locks.
    Unknown,
}

/// The namespace of an engine's files. It may be used from any thread.
pub trait Namespace: Debug + Send + Sync {
    /// Opens a directory that the user specified, with the rights that [`access`](Self::access)
    /// returns.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist or may not be read; [`Errno::PERM`] if
    /// access is refused.
    fn open(&self, path: &Path) -> Result<Arc<dyn Directory>, Errno>;

    /// Returns the facts of the file that a path leads to, following symbolic links. Callers
    /// compare the identity, to detect that the path now leads to another directory.
    ///
    /// # Errors
    /// Returns an error if the path cannot be resolved.
    fn facts(&self, path: &Path) -> Result<Facts, Errno>;

    /// Returns a directory's absolute path without symbolic links; for a server, its URL without
    /// parameters.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist.
    fn real_path(&self, path: &Path) -> Result<PathBuf, Errno>;

    /// Determines the rights with which a directory is used. The result is the process's own rights
    /// if no other user could misuse those rights. Namespaces of servers always return the
    /// process's own rights, because they do not resolve paths of this machine.
    ///
    /// # Errors
    /// Returns an error if a directory on the path cannot be examined.
    fn access(&self, _path: &Path) -> Result<Access, Errno> {
        Ok(Access::Own)
    }

    /// Returns this namespace, but with the process's own rights for every directory.
    fn with_own_rights(self: Arc<Self>) -> Arc<dyn Namespace>;

    /// The user ID of this process in the namespace; `None` if files have no owners.
    fn user(&self) -> Option<u32>;

    /// Whether a process with this ID exists on this machine and seems to run this program.
    fn is_alive(&self, process: u32) -> bool;

    /// Checks that the server of a directory can be used: resolves its name, connects, and looks up
    /// the directory. Call this first, because its errors are more specific than an [`Errno`].
    /// Without a server, the result is `Ok`.
    ///
    /// # Errors
    /// Describes the reason and a solution.
    fn reach(&self, _path: &Path) -> Result<(), Unreachable> {
        Ok(())
    }

    /// Returns facts about the servers that the engine itself calls, in the order of the targets;
    /// servers not yet reached are omitted. `durability` is the policy of the run.
    fn servers(&self, _durability: Durability) -> Vec<ServerFacts> {
        Vec::new()
    }

    /// Returns the calls and bytes that the namespace and all sessions have exchanged with the
    /// servers that the engine itself calls. `None` if the engine calls no server. Never blocks;
    /// may be called at any time from any thread.
    fn traffic(&self) -> Option<ServerTraffic> {
        None
    }
}

/// A directory that is held open, so it remains reachable if its path changes. Names are single
/// path components, and symbolic links are not followed.
pub trait Directory: Debug + Send + Sync {
    /// Returns the facts of the directory, even if its path leads to another directory now.
    fn facts(&self) -> Result<Facts, Errno>;

    /// Returns the facts of an entry. For a symbolic link, these are the facts of the link, not of
    /// its target.
    ///
    /// # Errors
    /// Returns [`Errno::NOENT`] if the name does not exist.
    fn facts_of(&self, name: &[u8]) -> Result<Facts, Errno>;

    /// Calls `each` for every entry, page by page, so the memory used does not depend on the size
    /// of the directory. Leaves the directory's access time unchanged if the process has the right
    /// to do so.
    ///
    /// # Errors
    /// Returns the system's error, or the error of `each`.
    fn list(&self, each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Errno>) -> Result<(), Errno>;

    /// Opens a subdirectory by its name.
    ///
    /// # Errors
    /// Returns an error if the name does not exist or is not a directory.
    fn open(&self, name: &[u8]) -> Result<Arc<dyn Directory>, Errno>;

    /// Opens the parent directory (`..`), which is used with the same rights.
    fn above(&self) -> Result<Arc<dyn Directory>, Errno>;

    /// The user with whose rights calls are made in this directory; `None` for the process's own
    /// rights.
    fn acts_as(&self) -> Option<ActingUser> {
        None
    }

    /// Returns this directory with the process's own rights; `None` if the directory is already
    /// used with these rights.
    fn with_own_rights(&self) -> Option<Arc<dyn Directory>> {
        None
    }

    /// Creates a subdirectory.
    ///
    /// # Errors
    /// Returns [`Errno::EXIST`] if the name exists. If a server's reply was lost or is invalid, the
    /// directory may have been created.
    fn make(&self, name: &[u8], mode: u32) -> Result<(), Errno>;

    /// Reads a file from `offset` on until `into` is full or the file ends; returns the number of
    /// bytes read. Leaves the file's access time unchanged if the process has the right to do so.
    fn read(&self, name: &[u8], offset: u64, into: &mut [u8]) -> Result<usize, Errno>;

    /// Opens a file to query its pages in the page cache; `name` may be a path relative to this
    /// directory. Returns `None` if the namespace has no cache.
    fn hold(&self, _name: &[u8]) -> Result<Option<Box<dyn Held>>, Errno> {
        Ok(None)
    }

    /// Returns the path that a symbolic link contains.
    fn target(&self, name: &[u8]) -> Result<Vec<u8>, Errno>;

    /// Removes a name if it still denotes the file with the identity in `looked_at`; returns
    /// whether the name was removed. If `looked_at` has no identity, the name is removed
    /// unconditionally. A directory must be empty.
    fn remove(&self, name: &[u8], looked_at: &Facts) -> Result<bool, Errno>;

    /// Discards incomplete writes of the names that `is_own` accepts, if the namespace keeps such
    /// writes without listing them. Object storage keeps incomplete uploads in this way.
    ///
    /// # Errors
    /// Returns an error if incomplete writes cannot be found or discarded.
    fn discard_incomplete(&self, _is_own: &dyn Fn(&[u8]) -> bool) -> Result<(), Errno> {
        Ok(())
    }

    /// Sets the times of the last access and of the last change of contents (`atime` and `mtime`).
    ///
    /// # Errors
    /// Returns an error if another user owns the directory.
    fn set_times(&self, accessed: Stamp, modified: Stamp) -> Result<(), Errno>;

    /// Syncs the directory's entries to disk if the namespace supports that.
    fn sync(&self) -> Result<(), Errno>;

    /// Syncs the whole file system to disk (syncfs(2)); [`Errno::OPNOTSUPP`] on NFS, which has no
    /// such call.
    fn sync_file_system(&self) -> Result<(), Errno>;

    /// The free space in bytes, including blocks reserved for root (`f_bfree`, or `fbytes` of NFS).
    fn free_bytes(&self) -> Option<u64>;

    /// Whether files may have other inode numbers after the next mount.
    fn renumbers(&self) -> bool {
        false
    }

    /// Whether a file that is removed while it is open keeps a hidden name until it is closed.
    fn keeps_removed(&self) -> bool {
        false
    }

    /// Creates the file of a mark under a temporary name, which must not exist.
    fn draft(&self, name: &str) -> Result<Box<dyn Mark>, Errno>;

    /// Renames a locked draft to the name of a mark. If `replaces` is set, the draft replaces the
    /// mark that has this name; otherwise the name must not exist. The returned mark keeps the
    /// lock.
    ///
    /// # Errors
    /// Returns [`Errno::EXIST`] if the name exists and may not be replaced.
    fn name_draft(
        &self,
        draft: Box<dyn Mark>,
        name: &str,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno>;

    /// Opens the mark with this name; returns `None` if the name does not exist.
    ///
    /// # Errors
    /// Returns [`Errno::LOOP`] if the name is a symbolic link.
    fn mark(&self, name: &str) -> Result<Option<Box<dyn Mark>>, Errno>;

    /// Whether the file system assigns owners and modes itself, so that the owner and the mode of a
    /// mark may differ from the requested ones.
    fn gives_its_own(&self) -> bool {
        false
    }
}

/// A mark that is held open. Its lock lasts until the mark is dropped.
pub trait Mark: Debug + Send {
    /// The name by which the mark was created or opened.
    fn name(&self) -> &str;

    /// Returns the facts of the open file, even if its name denotes another file now.
    fn facts(&self) -> Result<Facts, Errno>;

    /// Locks the mark. If another process has locked it, returns [`Lock::Others`] without waiting.
    fn lock(&self) -> Result<Lock, Errno>;

    /// Whether the mark's name still denotes this file.
    fn is_named(&self) -> Result<bool, Errno>;

    /// Reads up to `bytes_max` bytes of the mark's text.
    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, Errno>;

    /// Writes the mark's text and syncs it to disk.
    fn write(&self, text: &[u8]) -> Result<(), Errno>;

    /// Sets the mark's permissions to `mode`, if the namespace can change permissions.
    fn restrict(&self, _mode: u32) {}
}
