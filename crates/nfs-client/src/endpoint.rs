//! Where a program is, and how it is called.

use core::time::Duration;
use std::net::SocketAddr;

use crate::rpc::CallHead;

/// How a program is reached.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The program's address.
    pub address: SocketAddr,
    /// Whether connections leave from a port below 1024.
    pub privileged: bool,
    /// The head of the calls.
    pub head: CallHead,
    /// How long a reply is waited for, or a server that is gone.
    pub timeout: Duration,
    /// No reply is longer.
    pub record_bytes_max: usize,
}
