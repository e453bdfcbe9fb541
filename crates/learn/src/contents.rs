//! A sample of the contents of files.

use serde::Serialize;

/// Compressibility and duplicates of a sample of the contents of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ContentSample {
    /// Files from which the sample was read.
    pub files: u64,
    /// Parts of files that could not be read.
    pub unreadable: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// The same bytes after compression.
    pub compressed_bytes: u64,
    /// Complete blocks of 4 KiB, at multiples of 4 KiB.
    pub blocks: u64,
    /// Different blocks among them.
    pub distinct_blocks: u64,
    /// Files that were compared with files of the same size.
    pub compared_files: u64,
    /// The sum of their sizes in bytes.
    pub compared_bytes: u64,
    /// The sum of the sizes without the copies of other compared files. Files of one size are
    /// copies if their first and their last 8 KiB are equal.
    pub distinct_bytes: u64,
}

impl ContentSample {
    /// Returns the compression ratio, at least 1; `None` for an empty sample.
    pub fn compression(&self) -> Option<f64> {
        let ratio = self.bytes as f64 / self.compressed_bytes as f64;
        (self.compressed_bytes > 0).then_some(ratio.max(1.0))
    }

    /// Returns the deduplication ratio, at least 1: that of the blocks in the sample, or that of
    /// the compared files if it is higher. `None` for an empty sample. Blocks that only parts of
    /// two files have in common are found if both are in the sample, so the ratio of all files may
    /// be higher.
    pub fn dedup(&self) -> Option<f64> {
        let ratio = |all: u64, distinct: u64| (distinct > 0).then(|| all as f64 / distinct as f64);
        let blocks = ratio(self.blocks, self.distinct_blocks);
        let files = ratio(self.compared_bytes, self.distinct_bytes);
        blocks.into_iter().chain(files).reduce(f64::max)
    }
}
