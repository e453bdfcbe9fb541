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
}

impl ContentSample {
    /// Returns the compression ratio, at least 1; `None` for an empty sample.
    pub fn compression(&self) -> Option<f64> {
        let ratio = self.bytes as f64 / self.compressed_bytes as f64;
        (self.compressed_bytes > 0).then_some(ratio.max(1.0))
    }

    /// Returns the number of blocks divided by the number of different ones; `None` for a sample
    /// without complete blocks. Duplicates whose other copies are not in the sample are not
    /// detected, so the ratio of all files may be higher.
    pub fn dedup(&self) -> Option<f64> {
        (self.distinct_blocks > 0).then(|| self.blocks as f64 / self.distinct_blocks as f64)
    }
}
