//! A sample that contains files together with the files that may be their copies.
//!
//! Copies of a file rarely are in a uniform sample of a large tree. This sample consists of all
//! files of some sizes instead. Sizes are chosen by a hash, so that copies have the same chance as
//! all other files.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::reservoir::Reservoir;

/// Files in the sample.
const FILES_MAX: usize = 1 << 10;
/// Files of one size in the sample. If a tree has more, these are drawn from them.
const SAME_SIZE_MAX: usize = 1 << 7;

/// Files of some sizes.
pub(super) struct EqualSizes<T> {
    /// The files of each size, in the order of the hashes of sizes.
    groups: BTreeMap<(u64, u64), Reservoir<T>>,
    files: usize,
    /// Sizes from this one in the order of hashes are not in the sample.
    limit: Option<(u64, u64)>,
}

impl<T> Default for EqualSizes<T> {
    fn default() -> Self {
        Self {
            groups: BTreeMap::new(),
            files: 0,
            limit: None,
        }
    }
}

impl<T> EqualSizes<T> {
    /// Adds a file with a size in bytes. Calls `make` if the file becomes a part of the sample.
    pub(super) fn add(&mut self, size: u64, make: impl Fn() -> T) {
        let key = (xxh3_64(&size.to_le_bytes()), size);
        if size == 0 || self.limit.is_some_and(|limit| key >= limit) {
            return;
        }
        let group = self.groups.entry(key);
        let group = group.or_insert_with(|| Reservoir::new(SAME_SIZE_MAX));
        let before = group.kept().len();
        group.add(1, |_| make());
        self.files += group.kept().len() - before;
        while self.files > FILES_MAX {
            let Some((key, removed)) = self.groups.pop_last() else {
                return;
            };
            self.files -= removed.kept().len();
            self.limit = Some(key);
        }
    }

    /// Returns the files of each size in the sample.
    pub(super) fn groups(&self) -> impl Iterator<Item = (u64, &[T])> {
        let groups = self.groups.iter();
        groups.map(|((_, size), group)| (*size, group.kept()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_has_all_files_of_its_sizes_and_is_bounded() {
        let mut sample = EqualSizes::default();
        // 100,000 sizes, each with three files that are far apart.
        for round in 0..3 {
            for size in 0..100_000_u64 {
                sample.add(size, || (round, size));
            }
        }
        let groups: Vec<(u64, &[(i32, u64)])> = sample.groups().collect();
        assert!((300..=341).contains(&groups.len()), "{}", groups.len());
        for (size, files) in groups {
            assert_eq!(files, [(0, size), (1, size), (2, size)]);
        }
        let mut same = EqualSizes::default();
        (0..100_000).for_each(|file| same.add(7, || file));
        let sizes: Vec<usize> = same.groups().map(|(_, files)| files.len()).collect();
        assert_eq!(sizes, [SAME_SIZE_MAX]);
    }
}
