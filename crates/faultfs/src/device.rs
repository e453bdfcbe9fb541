//! The device by which a process serves a FUSE file system.

use std::fs::{File, OpenOptions};
use std::io;

/// Checks whether a FUSE file system can be mounted here.
///
/// # Errors
/// Names the missing requirement.
pub fn is_possible() -> Result<(), &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("mounting needs root");
    }
    match device() {
        Ok(_) => Ok(()),
        Err(_) => Err("there is no /dev/fuse"),
    }
}

pub(crate) fn device() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/fuse")
}
