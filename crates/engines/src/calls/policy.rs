//! Translates a durability policy into flags of open(2) and sync calls.

use std::ffi::c_int;

use engine::{Durability, FileSync, OperationKind, OperationSyncs, Settings};

/// Flags and syncs of the durability policies, and the state that batches need.
#[derive(Debug)]
pub(crate) struct Policy {
    /// The flags and syncs of the operation in progress.
    pub(super) now: Syncs,
    /// Those of the next operation, instead of its policy.
    next: Option<Syncs>,
    /// The flags and syncs of each kind of operation.
    by_kind: [Syncs; OperationKind::ALL.len()],
    /// `O_DIRECT` for operations that move contents; 0 without direct I/O.
    pub(super) content_flags: c_int,
    /// Number of changes in a location after which its file system is synced; 0 means never.
    pub(super) batch: u32,
    /// Number of changes since the last sync, for each location.
    pub(super) changes: Vec<u32>,
    /// Buffer for the path of a directory that is synced.
    pub(super) directory: Vec<u8>,
}

/// Flags and syncs of one policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syncs {
    /// `O_DSYNC` or `O_SYNC` for a file that will be written; 0 with other policies.
    pub(crate) write_flags: c_int,
    /// `Some` if a changed file is synced; the value selects fdatasync(2) or fsync(2).
    pub(crate) file: Option<ContentsOnly>,
    pub(crate) directories: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentsOnly(pub(crate) bool);

impl Syncs {
    fn of(durability: Durability) -> Self {
        Self {
            write_flags: match durability {
                Durability::ODsync => libc::O_DSYNC,
                Durability::OSync => libc::O_SYNC,
                _ => 0,
            },
            file: match durability {
                Durability::Fdatasync => Some(ContentsOnly(true)),
                Durability::Fsync | Durability::FsyncDirectory => Some(ContentsOnly(false)),
                _ => None,
            },
            directories: durability == Durability::FsyncDirectory,
        }
    }
}

impl From<OperationSyncs> for Syncs {
    fn from(syncs: OperationSyncs) -> Self {
        Self {
            write_flags: 0,
            file: match syncs.file {
                FileSync::None => None,
                FileSync::Data => Some(ContentsOnly(true)),
                FileSync::All => Some(ContentsOnly(false)),
            },
            directories: syncs.directories,
        }
    }
}

impl Policy {
    pub(super) fn new(settings: &Settings) -> Self {
        let policies = &settings.durability;
        Self {
            now: Syncs::of(policies.rest),
            next: None,
            by_kind: OperationKind::ALL.map(|kind| Syncs::of(policies.of_kind(kind))),
            content_flags: if settings.direct { libc::O_DIRECT } else { 0 },
            batch: match policies.rest {
                Durability::Batch(operations) => operations,
                _ => 0,
            },
            changes: vec![0; settings.locations.len()],
            directory: Vec::with_capacity(libc::PATH_MAX as usize),
        }
    }

    /// Returns the flags and syncs of this kind of operation.
    #[inline]
    pub(super) fn of(&self, kind: OperationKind) -> Syncs {
        self.by_kind[kind as usize]
    }

    /// Selects the flags and syncs of an operation that is about to begin.
    #[inline]
    pub(super) fn begin(&mut self, kind: OperationKind) {
        self.now = match self.next.take() {
            None => self.of(kind),
            Some(syncs) => syncs,
        };
    }

    /// Sets the syncs of the next operation.
    pub(super) fn set_next(&mut self, syncs: OperationSyncs) {
        self.next = Some(syncs.into());
    }
}
