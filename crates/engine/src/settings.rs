//! The settings of a session.

use std::ffi::{CString, OsStr};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::namespace::{ActingUser, Identity};
use crate::policies::Policies;

/// The settings of a session, which do not change while it is open.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The size of a read call in bytes. `nfs` ignores it and uses the size that the server
    /// prefers.
    pub read_block_bytes: usize,
    /// The size of a write call in bytes. `nfs` ignores it and uses the size that the server
    /// prefers.
    pub write_block_bytes: usize,
    /// The locations of files; [`Name::location`](crate::Name::location) is an index into this
    /// list.
    pub locations: Vec<Location>,
    /// The user whose rights are used; `None` for the process's own rights.
    pub acts_as: Option<ActingUser>,
    /// The durability policies, which determine the syncs of operations.
    pub durability: Policies,
    /// Whether to use direct I/O (`O_DIRECT`). If so, sizes and blocks must be multiples of
    /// [`DIRECT_ALIGNMENT`](crate::DIRECT_ALIGNMENT).
    pub direct: bool,
    /// Size in bytes of the buffer that keeps the contents of a read for verification. If it is 0,
    /// no contents are kept, and every block is read into the same buffer. Otherwise blocks are
    /// stored one after the other in a buffer of this size, rounded up to whole blocks. Contents
    /// that exceed the buffer continue at its start, so that their last part is kept.
    pub keep_contents_bytes: usize,
    /// Queried between the blocks of a file, so that an operation ends early if the run is
    /// stopping.
    pub stopping: Stopping,
}

impl Default for Settings {
    /// Defaults: the block size of the original PostMark (512 bytes), no locations, no syncs, and
    /// no buffer for read contents.
    fn default() -> Self {
        Self {
            read_block_bytes: 512,
            write_block_bytes: 512,
            locations: Vec::new(),
            acts_as: None,
            durability: Policies::default(),
            direct: false,
            keep_contents_bytes: 0,
            stopping: Stopping::default(),
        }
    }
}

/// A directory in which operations create files.
#[derive(Clone, Debug)]
pub struct Location {
    /// The path of the directory; on a server, the directory's URL without parameters
    /// ([`Url::bare`](crate::Url::bare)).
    pub directory: PathBuf,
    /// The expected identity of the directory, if available. If the opened directory has a
    /// different identity, the path no longer leads to the expected directory.
    pub identity: Option<Identity>,
    /// The subdirectory that contains the files; `None` if they are in `directory` itself.
    pub below: Option<CString>,
}

impl Location {
    /// Returns the path of the directory that contains the files.
    pub fn path(&self) -> PathBuf {
        match &self.below {
            None => self.directory.clone(),
            Some(below) => self.directory.join(OsStr::from_bytes(below.as_bytes())),
        }
    }
}

/// Signals to a session that the run is stopping, so that an operation on a large file does not
/// delay the stop.
#[derive(Clone, Default)]
pub struct Stopping(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stopping {
    /// Creates the signal from a function that returns `true` when the run is stopping.
    pub fn when(stops: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(stops)))
    }

    /// Whether an operation should end early, with [`Cause::Stopped`](crate::Cause::Stopped).
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.0.as_ref().is_some_and(|stops| stops())
    }
}

impl fmt::Debug for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stopping").field(&self.is_wanted()).finish()
    }
}
