//! A FUSE file system on top of a directory, whose server can be slowed or stalled
//! (`Passthrough`), and one in memory that forgets at a crash what was not synced ([`forget`]). The
//! program uses only the second one, for `postmark crash --crash forget`; tests use both.
//!
//! Without the feature `fuse` no file system can be mounted, and the crate needs no crates for
//! FUSE. Mounting needs root and `/dev/fuse`; [`is_possible`] checks all requirements.

#[cfg(feature = "fuse")]
#[macro_use]
mod replies;

#[cfg(feature = "fuse")]
mod device;
#[cfg(feature = "fuse")]
mod files;
pub mod forget;
#[cfg(feature = "fuse")]
mod gate;
#[cfg(feature = "fuse")]
mod options;
#[cfg(feature = "fuse")]
mod passthrough;
#[cfg(feature = "fuse")]
mod tree;

#[cfg(feature = "fuse")]
pub use crate::{
    device::is_possible,
    options::{Delay, Delayed, Options, RequestKind},
    passthrough::{Mounted, Passthrough},
};

/// Checks whether a FUSE file system can be mounted here.
///
/// # Errors
/// Names the missing requirement: without the feature `fuse`, none can be mounted.
#[cfg(not(feature = "fuse"))]
pub fn is_possible() -> Result<(), &'static str> {
    Err("this program was built without the feature 'forget'")
}
