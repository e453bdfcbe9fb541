//! The run's namespace: what a run needs of the place where its files live, apart from performing
//! operations there.
//!
//! A run claims a directory by a mark: a file that is whole, on disk and held before it gets its
//! name, which nothing else may have. It finds marks of other runs, lists what is there, and
//! removes what is its own. An engine whose files live on file systems does that through
//! directories that it holds open; one without paths, in its own way.
//!
//! What a namespace cannot know it does not say: a birth, an owner or an identity may be missing.
//! Who removes files where that is so removes only names of the run's form below a directory that
//! the run has claimed for itself.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::durability::Durability;
use crate::failure::Errno;
pub use crate::held::{CachedPages, Held};
use crate::server::{ServerFacts, ServerTraffic, Unreachable};

/// A moment by which files are stamped: seconds and nanoseconds of the epoch.
pub type Stamp = (i64, u32);

/// The mode of the directories that a run makes within its own, before the process's mask: nobody
/// else needs them.
pub const DIRECTORY_MODE: u32 = 0o700;

/// By what a directory is known again, as stat(2) gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The number of its file system.
    pub device: u64,
    /// Its own number there.
    pub inode: u64,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    SymbolicLink,
    /// A device, a socket, a pipe.
    Other,
}

/// What is known of a file or a directory; `None` is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: EntryKind,
    /// Its size.
    pub size_bytes: u64,
    /// The room that it takes.
    pub allocated_bytes: Option<u64>,
    /// How many names it has.
    pub names: Option<u64>,
    /// The user who has it.
    pub owner: Option<u32>,
    /// Its permissions.
    pub mode: Option<u32>,
    /// By what it is known again under another name.
    pub identity: Option<Identity>,
    /// When it was made.
    pub born: Option<Stamp>,
    /// When anything of it was changed last.
    pub changed: Option<Stamp>,
    /// When it was read last.
    pub accessed: Option<Stamp>,
    /// When its contents were changed last.
    pub modified: Option<Stamp>,
}

impl Facts {
    /// When it was made; its last change where the namespace keeps no birth.
    pub fn born_or_changed(&self) -> Option<Stamp> {
        self.born.or(self.changed)
    }
}

/// A name in a directory that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name; never `.` or `..`.
    pub name: &'a [u8],
    /// The number of what it stands for, where the listing tells it.
    pub number: Option<u64>,
}

/// Somebody who may put another directory in the place of one, or of one above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanger {
    /// The directory whose entries are theirs to rename.
    pub directory: PathBuf,
    /// Who, in words.
    pub who: String,
}

/// A user, other than the process's own, with whose rights alone calls are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActingUser {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
}

/// With whose rights calls are made in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The process's own.
    Own,
    /// Those of another user, since somebody may exchange entries of the directory.
    As(ActingUser, Exchanger),
    /// Nobody's: somebody may exchange entries, and no other user can work there.
    Refused(Exchanger),
    /// Nobody's: the path has a symbolic link that somebody may replace.
    Link(Exchanger),
}

/// Whose the lock of a mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Ours, until the mark is dropped.
    Ours,
    /// A run's that goes on.
    Others,
    /// The namespace has no locks.
    Unknown,
}

/// Where runs' files live. A value that may be used from any thread.
pub trait Namespace: Debug + Send + Sync {
    /// Opens a directory of the user's, with the rights that [`access`](Self::access) gives.
    ///
    /// # Errors
    /// Where it is not there, is no directory, or may not be read; [`Errno::PERM`] where access is
    /// refused.
    fn open(&self, path: &Path) -> Result<Arc<dyn Directory>, Errno>;

    /// What is at a path now, links followed: whether that is still the same place.
    ///
    /// # Errors
    /// Where nothing can be known of it.
    fn facts(&self, path: &Path) -> Result<Facts, Errno>;

    /// A directory's path from the root, without links; of a server's, its URL without parameters.
    ///
    /// # Errors
    /// Where it is not there.
    fn real_path(&self, path: &Path) -> Result<PathBuf, Errno>;

    /// With whose rights a directory is used: the process's own, where nobody else could turn them
    /// against it, as where names are resolved by handles that are held.
    ///
    /// # Errors
    /// Where a directory on the way cannot be examined.
    fn access(&self, _path: &Path) -> Result<Access, Errno> {
        Ok(Access::Own)
    }

    /// The same namespace, which uses every directory with the process's own rights.
    fn with_own_rights(self: Arc<Self>) -> Arc<dyn Namespace>;

    /// The process's user; `None` where files have no owners.
    fn user(&self) -> Option<u32>;

    /// Whether a process on this machine is there and seems to be one of this program.
    fn is_alive(&self, process: u32) -> bool;

    /// Whether the server of a directory can be used: found, connected to, asked for the directory.
    /// To be asked first, as its words say more than an [`Errno`]. Where there is no server
    /// there is nothing to reach.
    ///
    /// # Errors
    /// Why not, and what to do about it.
    fn reach(&self, _path: &Path) -> Result<(), Unreachable> {
        Ok(())
    }

    /// The servers of the targets, in the targets' order, where the engine calls them by itself:
    /// known when they have been reached. The policy of durability is the run's.
    fn servers(&self, _durability: Durability) -> Vec<ServerFacts> {
        Vec::new()
    }

    /// What went to those servers and came from them so far, of the namespace and of all sessions.
    /// Waits for nothing: it may be asked at any time, from any thread.
    fn traffic(&self) -> Option<ServerTraffic> {
        None
    }
}

/// A directory that is held: it stays reachable when its path does not. Names are single ones, and
/// no link is followed.
pub trait Directory: Debug + Send + Sync {
    /// What is known of the directory itself.
    ///
    /// # Errors
    /// What the system answered.
    fn facts(&self) -> Result<Facts, Errno>;

    /// What is known of what a name in it stands for; of a link itself.
    ///
    /// # Errors
    /// [`Errno::NOENT`] where there is no such name.
    fn facts_of(&self, name: &[u8]) -> Result<Facts, Errno>;

    /// Calls for every name in it, page by page as they come: a directory of any size takes the
    /// same memory. Leaves no trace of the reading where that is the user's right.
    ///
    /// # Errors
    /// What the system answered, or `each`.
    fn list(&self, each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Errno>) -> Result<(), Errno>;

    /// Opens a directory in it by its own name.
    ///
    /// # Errors
    /// Where it is not there or is no directory.
    fn open(&self, name: &[u8]) -> Result<Arc<dyn Directory>, Errno>;

    /// The directory above.
    ///
    /// # Errors
    /// What the system answered.
    fn above(&self) -> Result<Arc<dyn Directory>, Errno>;

    /// The user with whose rights calls are made here; `None` where these are the process's own.
    fn acts_as(&self) -> Option<ActingUser> {
        None
    }

    /// The same directory, used with the process's own rights; `None` where it is so already.
    fn with_own_rights(&self) -> Option<Arc<dyn Directory>> {
        None
    }

    /// Makes a directory in it that is not there.
    ///
    /// # Errors
    /// [`Errno::EXIST`] where something has the name. Where a server's answer was lost or cannot be
    /// understood, it may be there.
    fn make(&self, name: &[u8], mode: u32) -> Result<(), Errno>;

    /// What a file holds from an offset on, as much as there is and fits. Its time of access stays
    /// where that is the user's right. Gives how many bytes that was.
    ///
    /// # Errors
    /// What the system answered.
    fn read(&self, name: &[u8], offset: u64, into: &mut [u8]) -> Result<usize, Errno>;

    /// Holds a file below it open, by its path from here, to ask what of it is in memory. `None`
    /// where the namespace has no cache.
    ///
    /// # Errors
    /// What the system answered.
    fn hold(&self, _name: &[u8]) -> Result<Option<Box<dyn Held>>, Errno> {
        Ok(None)
    }

    /// What a symbolic link says.
    ///
    /// # Errors
    /// What the system answered.
    fn target(&self, name: &[u8]) -> Result<Vec<u8>, Errno>;

    /// Removes a name, of a directory that is empty too, if it still stands for what was looked at,
    /// and tells whether it did. What has no identity is removed by its name.
    ///
    /// # Errors
    /// What the system answered.
    fn remove(&self, name: &[u8], looked_at: &Facts) -> Result<bool, Errno>;

    /// Sets when it was last read and changed.
    ///
    /// # Errors
    /// Where that is somebody else's right.
    fn set_times(&self, accessed: Stamp, modified: Stamp) -> Result<(), Errno>;

    /// Has its names on disk, where that can be asked for.
    ///
    /// # Errors
    /// Where that failed.
    fn sync(&self) -> Result<(), Errno>;

    /// Has everything of its file system on disk.
    ///
    /// # Errors
    /// Where that failed.
    fn sync_file_system(&self) -> Result<(), Errno>;

    /// The free space of its file system, in bytes.
    fn free_bytes(&self) -> Option<u64>;

    /// Whether files may have other identities the next time that the file system is attached.
    fn renumbers(&self) -> bool {
        false
    }

    /// Whether what is removed while it is open keeps a hidden name until it is closed.
    fn keeps_removed(&self) -> bool {
        false
    }

    /// Begins a mark under the name of a draft that is not there.
    ///
    /// # Errors
    /// What the system answered.
    fn draft(&self, name: &str) -> Result<Box<dyn Mark>, Errno>;

    /// Gives a locked draft the name of a mark: one that is not there, or for good in the place of
    /// the one that is. It stays locked by the mark that is given back.
    ///
    /// # Errors
    /// [`Errno::EXIST`] where there is a mark that is not to be replaced.
    fn name_draft(
        &self,
        draft: Box<dyn Mark>,
        name: &str,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno>;

    /// The mark of this name; `None` where there is none.
    ///
    /// # Errors
    /// [`Errno::LOOP`] where it is a symbolic link.
    fn mark(&self, name: &str) -> Result<Option<Box<dyn Mark>>, Errno>;

    /// Whether marks may have another owner and another mode here than this user's and those that
    /// were asked for.
    fn gives_its_own(&self) -> bool {
        false
    }
}

/// A mark that is held open; a lock of it lasts until it is dropped.
pub trait Mark: Debug + Send {
    /// The name that it was made or found by.
    fn name(&self) -> &str;

    /// What is known of it.
    ///
    /// # Errors
    /// What the system answered.
    fn facts(&self) -> Result<Facts, Errno>;

    /// Locks it, where nobody else has.
    ///
    /// # Errors
    /// What the system answered.
    fn lock(&self) -> Result<Lock, Errno>;

    /// Whether its name still leads to it.
    ///
    /// # Errors
    /// What the system answered.
    fn is_named(&self) -> Result<bool, Errno>;

    /// Its text, up to so many bytes.
    ///
    /// # Errors
    /// What the system answered.
    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, Errno>;

    /// Gives it this text, on disk.
    ///
    /// # Errors
    /// What the system answered.
    fn write(&self, text: &[u8]) -> Result<(), Errno>;

    /// Takes permissions from others, where permissions are not fixed.
    fn restrict(&self, _mode: u32) {}
}
