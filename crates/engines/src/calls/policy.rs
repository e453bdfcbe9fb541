//! A policy of durability, as the calls of operations have it.

use std::ffi::c_int;

use engine::{Durability, Settings};

/// A policy in the form that operations ask for, and what it has to remember.
#[derive(Debug)]
pub(crate) struct Policy {
    /// More flags of open(2) for a file that is going to be written.
    pub(super) write_flags: c_int,
    /// More flags of open(2) where contents are moved.
    pub(super) content_flags: c_int,
    /// Whether a changed file is synced, and if so, whether its contents alone.
    pub(super) sync: Option<ContentsOnly>,
    /// Whether a directory is synced whose names were changed.
    pub(super) syncs_directories: bool,
    /// Changes of a location after which its file system is synced; 0: never.
    pub(super) batch: u32,
    /// Changes since the last time, by location.
    pub(super) changes: Vec<u32>,
    /// The path of a directory that is synced.
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
