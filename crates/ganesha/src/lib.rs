//! Counters of NFS-Ganesha, an NFS server in user space, for observers (ranks that only read
//! counters).
//!
//! A build without the feature `dbus` compiles no D-Bus library. The feature changes this crate and
//! the command line only. Builds with and without the feature therefore share all other compiled
//! crates.

#[cfg(feature = "dbus")]
mod export_stats;

/// Function that finds NFS-Ganesha on this machine; `None` in a build without D-Bus.
#[cfg(feature = "dbus")]
pub const FIND: Option<system::FindServerCalls> = Some(export_stats::find);
/// Function that finds NFS-Ganesha on this machine; `None` in a build without D-Bus.
#[cfg(not(feature = "dbus"))]
pub const FIND: Option<system::FindServerCalls> = None;
