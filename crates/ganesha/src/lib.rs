//! Counters of NFS-Ganesha, an NFS server in user space, for observers.
//!
//! A build without the feature `dbus` compiles no D-Bus library. The feature changes this crate and
//! the command line only, so that a build with it shares all other crates.

#[cfg(feature = "dbus")]
mod export_stats;

/// Finds the server on this machine; `None` in a build without D-Bus.
#[cfg(feature = "dbus")]
pub const FIND: Option<system::FindServerCalls> = Some(export_stats::find);
/// Finds the server on this machine; `None` in a build without D-Bus.
#[cfg(not(feature = "dbus"))]
pub const FIND: Option<system::FindServerCalls> = None;
