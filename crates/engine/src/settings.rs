//! What a session is told before its first operation.

use std::ffi::{CString, OsStr};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::durability::Durability;
use crate::namespace::{ActingUser, Identity};

/// What a session needs to know before its first operation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of one read call.
    pub read_block_bytes: usize,
    /// Bytes of one write call.
    pub write_block_bytes: usize,
    /// The locations, in their order.
    pub locations: Vec<Location>,
    /// The user with whose rights alone they are used; nothing where these are the process's own.
    pub acts_as: Option<ActingUser>,
    /// What is synced, and when.
    pub durability: Durability,
    /// Whether contents go past the page cache (`O_DIRECT`). Then sizes and blocks are multiples
    /// of [`DIRECT_ALIGNMENT`](crate::DIRECT_ALIGNMENT).
    pub direct: bool,
    /// How much of what a read gave can be looked at afterwards. 0: nothing, and every block goes
    /// to one buffer. Else successive blocks lie one behind the other in a buffer of this
    /// size, rounded up to whole blocks; what is longer starts again at the buffer's
    /// beginning, and its last part is kept.
    pub keep_contents_bytes: usize,
    /// Asked between the blocks of a file.
    pub stopping: Stopping,
}

impl Default for Settings {
    /// The original's blocks, no locations, nothing synced, nothing kept.
    fn default() -> Self {
        Self {
            read_block_bytes: 512,
            write_block_bytes: 512,
            locations: Vec::new(),
            acts_as: None,
            durability: Durability::None,
            direct: false,
            keep_contents_bytes: 0,
            stopping: Stopping::default(),
        }
    }
}

/// A place that files lie in.
#[derive(Clone, Debug)]
pub struct Location {
    /// The directory; of a server's, its URL without parameters ([`Url::bare`](crate::Url::bare)).
    pub directory: PathBuf,
    /// Which directory that must be, where it is known: its path may lead elsewhere by the time it
    /// is opened.
    pub identity: Option<Identity>,
    /// The directory in it that the files lie in; nothing where they lie in the directory itself.
    pub below: Option<CString>,
}

impl Location {
    /// The directory of the files.
    pub fn path(&self) -> PathBuf {
        match &self.below {
            None => self.directory.clone(),
            Some(below) => self.directory.join(OsStr::from_bytes(below.as_bytes())),
        }
    }
}

/// Tells a session that the run stops, so that a large file does not keep it.
#[derive(Clone, Default)]
pub struct Stopping(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stopping {
    /// The run stops as soon as this says so.
    pub fn when(stops: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(stops)))
    }

    /// Whether an operation is to be left, with [`Cause::Stopped`](crate::Cause::Stopped).
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
