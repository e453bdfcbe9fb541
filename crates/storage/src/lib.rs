//! The implementations of the contract of a storage, a module each.
//!
//! Nothing here knows workloads, prints, or reads a clock; the simulated storage *advances* one.

pub mod home;
pub mod null;
pub mod path;
pub mod posix;
pub mod raw;
pub mod simulated;
pub mod stdio;

mod buffers;
mod calls;
mod direct;
mod system;

pub use direct::probe_direct;
pub use path::PathBuffer;
