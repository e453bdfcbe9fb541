//! A study goes on in one process at a time: two would perform the same runs.
//!
//! The archive shows a run that goes on, but not a study that makes a target or waits for a quiet
//! machine. So the process holds an abstract socket (unix(7)) with the study's name: the kernel
//! gives a name to one process of the machine, and takes it back when the process ends, however
//! that happens.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::error::Error;

/// Held as long as the study goes on.
pub struct Alone(
    #[expect(
        dead_code,
        reason = "the kernel gives the name back when this is closed"
    )]
    Option<UnixListener>,
);

impl Alone {
    /// Takes the study for this process.
    ///
    /// # Errors
    /// Where another process has it.
    pub fn with(id: &str) -> Result<Self, Error> {
        let bound = SocketAddr::from_abstract_name(format!("postmark-study-{id}"))
            .and_then(|name| UnixListener::bind_addr(&name));
        match bound {
            Ok(listener) => Ok(Self(Some(listener))),
            Err(cause) if cause.kind() == ErrorKind::AddrInUse => Err(Error::refused(format!(
                "the study {id} is still running in another process (wait for it, or end it)"
            ))),
            // A machine may have no such sockets; the runs that go on are in the archive all the
            // same.
            Err(_) => Ok(Self(None)),
        }
    }
}
