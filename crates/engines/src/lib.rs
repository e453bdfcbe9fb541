//! The I/O engines, a module for each engine, and the [`registry`] of the engines.
//!
//! This crate does not depend on workloads and prints nothing. It reads no clock, but the simulated
//! engine advances a virtual clock.

pub mod kernel_namespace;
pub mod nfs;
pub mod null;
pub mod posix;
pub mod raw;
pub mod registry;
pub mod s3;
pub mod simulated;
pub mod stdio;
pub mod uring;

mod acting_user;
mod buffers;
mod calls;
mod path;
mod probe;
mod system;

pub use path::PathBuffer;
pub use probe::{probe_clone, probe_direct};
