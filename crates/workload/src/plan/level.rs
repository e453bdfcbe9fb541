//! The number of files and bytes on a volume, while a plan is being computed.

use super::volume::Volume;
use crate::intent::{Action, Intent};

/// The current number of files and bytes on a volume, and their peaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    files: u64,
    bytes: u64,
    blocks: u64,
    blocks_peak: u64,
    /// The number of directories in a tree.
    tree_directories: u64,
    pub(super) peak: Volume,
}

impl Level {
    pub(super) fn new(block_bytes: u64, tree_directories: u64) -> Self {
        Self {
            tree_directories,
            files: 0,
            bytes: 0,
            blocks: 0,
            blocks_peak: 0,
            peak: Volume {
                block_bytes: block_bytes.max(1),
                files_peak: 0,
                bytes_peak: 0,
                allocated_bytes_peak: 0,
            },
        }
    }

    #[inline]
    pub(super) fn take(&mut self, intent: &Intent) {
        match intent.action {
            action if action.changes_count() == Some(true) => self.grow(1, 0, intent.bytes),
            Action::Append => self.grow(0, intent.size_bytes, intent.size_bytes + intent.bytes),
            // An overwriting that is longer than the file enlarges it.
            Action::Overwrite => {
                self.grow(0, intent.size_bytes, intent.bytes.max(intent.size_bytes));
            }
            Action::Replace => {
                // The old and the new file exist at the same time for a moment.
                self.grow(1, 0, intent.bytes);
                self.shrink(1, intent.size_bytes, 0);
            }
            Action::Delete => self.shrink(1, intent.size_bytes, 0),
            Action::Truncate => self.shrink(0, intent.size_bytes, intent.bytes),
            Action::Rewrite => {
                self.shrink(0, intent.size_bytes, 0);
                self.grow(0, 0, intent.bytes);
            }
            Action::LockFile => {
                self.grow(1, 0, self.peak.block_bytes);
                self.shrink(1, self.peak.block_bytes, 0);
            }
            // Each file of a tree may take one block more than its share of the total size. Hard
            // links count as empty files, because a removal does not tell how its tree was made.
            action if action.makes_tree() => {
                self.grow(intent.other + self.tree_directories, 0, intent.bytes);
                self.take_blocks(intent.other + self.tree_directories);
            }
            Action::RemoveTree => {
                self.shrink(intent.other + self.tree_directories, intent.size_bytes, 0);
                self.blocks -= intent.other + self.tree_directories;
            }
            Action::SymbolicLink => self.grow(1, 0, 0),
            Action::RemoveSymbolicLink => self.shrink(1, 0, 0),
            Action::MakeDirectory => self.grow(1, 0, self.peak.block_bytes),
            Action::RemoveDirectory => self.shrink(1, self.peak.block_bytes, 0),
            _ => {}
        }
    }

    #[inline]
    fn grow(&mut self, files: u64, from: u64, to: u64) {
        let block = self.peak.block_bytes;
        self.files += files;
        self.bytes += to - from;
        self.blocks += to.div_ceil(block) - from.div_ceil(block);
        self.peak.files_peak = self.peak.files_peak.max(self.files);
        self.peak.bytes_peak = self.peak.bytes_peak.max(self.bytes);
        self.blocks_peak = self.blocks_peak.max(self.blocks);
    }

    fn take_blocks(&mut self, blocks: u64) {
        self.blocks += blocks;
        self.blocks_peak = self.blocks_peak.max(self.blocks);
    }

    #[inline]
    fn shrink(&mut self, files: u64, from: u64, to: u64) {
        let block = self.peak.block_bytes;
        self.files -= files;
        self.bytes -= from - to;
        self.blocks -= from.div_ceil(block) - to.div_ceil(block);
    }

    /// Adds the peaks of `other` to these peaks, as if all of them occurred at the same time.
    pub(super) fn add_peaks(&mut self, other: &Self) {
        self.peak.files_peak += other.peak.files_peak;
        self.peak.bytes_peak += other.peak.bytes_peak;
        self.blocks_peak += other.blocks_peak;
    }

    pub(super) fn volume(&self) -> Volume {
        Volume {
            allocated_bytes_peak: self.blocks_peak * self.peak.block_bytes,
            ..self.peak
        }
    }
}
