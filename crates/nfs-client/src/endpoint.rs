//! How to call an RPC program of a server.

use core::time::Duration;
use std::net::SocketAddr;

use crate::rpc::CallHead;

/// How to call an RPC program of a server: address, connection parameters and call header.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The IP address of the server and the port of the program.
    pub address: SocketAddr,
    /// Whether connections use a local port below 1024, which some servers require.
    pub privileged: bool,
    /// The header of calls, including the credentials.
    pub head: CallHead,
    /// The time limit for a reply, and for connecting to a lost server again.
    pub timeout: Duration,
    /// The maximum length of a reply in bytes; a longer reply is treated as invalid.
    pub record_bytes_max: usize,
}
