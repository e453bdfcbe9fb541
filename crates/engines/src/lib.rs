//! The I/O engines, a module for each engine, and the [`registry`] of the engines.
//!
//! This crate does not depend on workloads, prints nothing, and reads no clock; the simulated
//! engine *advances* a virtual one.

pub mod kernel_namespace;
pub mod nfs;
pub mod null;
pub mod posix;
pub mod raw;
pub mod registry;
pub mod simulated;
pub mod stdio;

mod acting_user;
mod buffers;
mod calls;
mod direct;
mod path;
mod system;

pub use direct::probe_direct;
pub use path::PathBuffer;
