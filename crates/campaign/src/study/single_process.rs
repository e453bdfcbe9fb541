//! Ensures that a study runs in one process at a time: two would perform the same runs.
//!
//! The archive shows a run in progress, but not a study that makes a target or waits for a quiet
//! machine. Therefore the process holds an abstract socket (unix(7)) with the study's name. The
//! kernel allows one process of the machine to bind a name, and releases it whenever that process
//! ends.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::error::Error;

/// Held while the study runs.
pub struct Alone(
    #[expect(
        dead_code,
        reason = "the kernel gives the name back when this is closed"
    )]
    Option<UnixListener>,
);

impl Alone {
    /// Locks the study for this process.
    ///
    /// # Errors
    /// Returns an error if another process has locked it.
    pub fn with(id: &str) -> Result<Self, Error> {
        let bound = SocketAddr::from_abstract_name(format!("postmark-study-{id}"))
            .and_then(|name| UnixListener::bind_addr(&name));
        match bound {
            Ok(listener) => Ok(Self(Some(listener))),
            Err(cause) if cause.kind() == ErrorKind::AddrInUse => Err(Error::refused(format!(
                "the study {id} is still running in another process (wait for it, or end it)"
            ))),
            // Some machines have no abstract sockets. The archive still shows runs in progress.
            Err(_) => Ok(Self(None)),
        }
    }
}
