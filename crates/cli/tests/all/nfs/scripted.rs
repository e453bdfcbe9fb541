//! The simulated NFS server from the tests of the engine `nfs`, whose replies a test can change.

// These tests use only some of the faults that the server can simulate.
#![allow(dead_code)]

#[path = "../../../../engines/tests/all/nfs/files.rs"]
pub mod files;
#[path = "../../../../engines/tests/all/nfs/server.rs"]
pub mod server;
#[path = "../../../../engines/tests/all/nfs/wire.rs"]
mod wire;
