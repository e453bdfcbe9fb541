//! The implementations of the contract of a storage, a module each.
//!
//! Nothing here knows workloads, prints, or reads a clock; the simulated storage *advances* one.

pub mod kernel_namespace;
pub mod nfs;
pub mod null;
pub mod path;
pub mod posix;
pub mod raw;
pub mod simulated;
pub mod stdio;

mod acting_user;
mod buffers;
mod calls;
mod direct;
mod system;

use std::path::PathBuf;
use std::sync::Arc;

pub use direct::probe_direct;
use engine::Engine;
pub use path::PathBuffer;

/// The storage of this name. One over a network needs to know the depth of its sessions, and the
/// targets.
pub fn named(name: &str, depth: usize, targets: &[PathBuf]) -> Option<Arc<dyn Engine>> {
    Some(match name {
        "stdio" => Arc::new(stdio::Stdio),
        "raw" => Arc::new(raw::Raw),
        "posix" => Arc::new(posix::Posix),
        "null" => Arc::new(null::Null),
        "nfs" => Arc::new(nfs::Nfs::new(depth, targets)),
        _ => return None,
    })
}
