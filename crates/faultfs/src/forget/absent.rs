//! Stands for the mounted file system in a build without the feature `fuse`: no value exists.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::bug::Bug;
use super::moment::Moment;

pub struct Forgetting(Infallible);

impl Forgetting {
    /// # Errors
    /// Always, because this build has no file system.
    pub fn mount(_: &Path, _: u64, _: Option<Bug>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub const fn seed(&self, _: u64) {
        match self.0 {}
    }

    pub const fn crash(&self) {
        match self.0 {}
    }

    pub const fn crash_at(&self, _: Option<Moment>) {
        match self.0 {}
    }

    #[must_use]
    pub const fn has_crashed(&self) -> bool {
        match self.0 {}
    }

    pub const fn fail_requests(&self) {
        match self.0 {}
    }

    pub const fn revive(&self) {
        match self.0 {}
    }
}
