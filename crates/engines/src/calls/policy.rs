//! Translates a durability policy into flags of open(2) and sync calls.

use std::ffi::c_int;

use engine::{Durability, Settings};

/// Flags and syncs of a durability policy, and the state that batches need.
#[derive(Debug)]
pub(crate) struct Policy {
    /// `O_DSYNC` or `O_SYNC` for a file that will be written; 0 with other policies.
    pub(super) write_flags: c_int,
    /// `O_DIRECT` for operations that move contents; 0 without direct I/O.
    pub(super) content_flags: c_int,
    /// `Some` if a changed file is synced; the value selects fdatasync(2) or fsync(2).
    pub(super) sync: Option<ContentsOnly>,
    pub(super) syncs_directories: bool,
    /// Number of changes in a location after which its file system is synced; 0 means never.
    pub(super) batch: u32,
    /// Changes since the last sync, by location.
    pub(super) changes: Vec<u32>,
    /// Buffer for the path of a directory that is synced.
    pub(super) directory: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ContentsOnly(pub(super) bool);

impl Policy {
    pub(super) fn new(settings: &Settings) -> Self {
        let durability = settings.durability;
        Self {
            write_flags: match durability {
                Durability::ODsync => libc::O_DSYNC,
                Durability::OSync => libc::O_SYNC,
                _ => 0,
            },
            content_flags: if settings.direct { libc::O_DIRECT } else { 0 },
            sync: match durability {
                Durability::Fdatasync => Some(ContentsOnly(true)),
                Durability::Fsync | Durability::FsyncDirectory => Some(ContentsOnly(false)),
                _ => None,
            },
            syncs_directories: durability == Durability::FsyncDirectory,
            batch: match durability {
                Durability::Batch(operations) => operations,
                _ => 0,
            },
            changes: vec![0; settings.locations.len()],
            directory: Vec::with_capacity(libc::PATH_MAX as usize),
        }
    }
}
