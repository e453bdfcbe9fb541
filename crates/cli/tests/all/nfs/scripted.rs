//! The server of the engine's own tests, whose replies can be changed.

// Not all its faults are used here.
#![allow(dead_code)]

#[path = "../../../../engines/tests/all/nfs/files.rs"]
pub mod files;
#[path = "../../../../engines/tests/all/nfs/server.rs"]
pub mod server;
#[path = "../../../../engines/tests/all/nfs/wire.rs"]
mod wire;
