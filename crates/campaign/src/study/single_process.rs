//! Ensures that only one process at a time performs a study. Two processes would perform the same
//! runs.
//!
//! The archive shows that a run is in progress, but not that a study makes a target or waits for a
//! quiet machine. Therefore the process holds an abstract socket (unix(7)) whose name contains the
//! study's ID. The kernel lets only one process bind this name, and releases the name when that
//! process ends.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::error::Error;

/// The lock on a study, which is held while the study runs.
pub struct Alone(
    #[expect(
        dead_code,
        reason = "the kernel gives the name back when this is closed"
    )]
    Option<UnixListener>,
);

impl Alone {
    /// Locks the study with this ID for this process.
    ///
    /// # Errors
    /// Returns an error if another process has locked the study.
    pub fn with(id: &str) -> Result<Self, Error> {
        let bound = SocketAddr::from_abstract_name(format!("postmark-study-{id}"))
            .and_then(|name| UnixListener::bind_addr(&name));
        match bound {
            Ok(listener) => Ok(Self(Some(listener))),
            Err(cause) if cause.kind() == ErrorKind::AddrInUse => Err(Error::refused(format!(
                "the study {id} is still running in another process (wait for it, or end it)"
            ))),
            // Abstract sockets are not available on some machines. The archive still shows runs in
            // progress.
            Err(_) => Ok(Self(None)),
        }
    }
}
