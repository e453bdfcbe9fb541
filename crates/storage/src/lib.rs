//! The implementations of the contract of a storage, a module each.
//!
//! Nothing here knows workloads, prints, or reads a clock; the simulated storage *advances* one.

pub mod home;
pub mod nfs;
pub mod null;
pub mod path;
pub mod posix;
pub mod raw;
pub mod simulated;
pub mod stdio;

mod acting;
mod buffers;
mod calls;
mod direct;
mod system;

pub use direct::probe_direct;
pub use path::PathBuffer;

/// Goes on with the storage that a name stands for: a variant of an enum that has one for each. A storage over a network
/// needs to know the depth of its sessions, a `usize`, and the targets, a `&[PathBuf]`.
#[macro_export]
macro_rules! named {
    ($name:expr, $names:ident, depth: $depth:expr, targets: $targets:expr, $storage:ident => $call:expr) => {
        $crate::named!(@ $name, $names, $storage, $call,
            Stdio = $crate::stdio::Stdio,
            Raw = $crate::raw::Raw,
            Posix = $crate::posix::Posix,
            Null = $crate::null::Null,
            Nfs = $crate::nfs::Nfs::new($depth, $targets),
        )
    };
    (@ $name:expr, $names:ident, $storage:ident, $call:expr, $($variant:ident = $found:expr,)+) => {
        match $name {
            $($names::$variant => {
                let $storage = &$found;
                $call
            })+
        }
    };
}
