//! Chooses the directory and the size of every new file of a mix, from sampling tables that the
//! workers share.

use std::sync::Arc;

use crate::mix::Mix;
use crate::pool::File;
use crate::random::{Key, below, running_sums};
use crate::sizes::sampler::Sampler;

/// The sampling tables of a mix. All workers share one copy, because the tables may be large: a
/// histogram of sizes has up to 65,536 bins, and a mix may have thousands of targets.
#[derive(Clone, Debug)]
pub struct Tables {
    sizes: Sampler,
    pub(crate) append_sizes: Sampler,
    pub(crate) range_sizes: Sampler,
    /// Running sums of each target's share of the files. A random number selects the first target
    /// whose sum is greater than the number.
    shares: Arc<[u64]>,
}

impl Tables {
    pub fn new(mix: &Mix) -> Self {
        let weights = mix.location_weights.iter().copied().map(u64::from);
        Self {
            sizes: mix.sizes.sampler(mix.align_bytes),
            append_sizes: mix.append_sizes.sampler(mix.align_bytes),
            range_sizes: mix.range_sizes.sampler(mix.align_bytes),
            shares: running_sums(weights).collect(),
        }
    }
}

/// Determines the directory and the size of every new file. Directory and size depend only on the
/// file's number, not on the worker that creates the file.
#[derive(Clone, Debug)]
pub struct Births {
    pub(crate) sizes: Sampler,
    size: Key,
    location: Key,
    /// Running sums of the targets' shares, as in [`Tables`].
    shares: Arc<[u64]>,
    places: u32,
}

impl Births {
    /// `seed` is the same for all workers of a pool, so that each worker computes the same
    /// directory and size from a file's number.
    pub fn new(mix: &Mix, tables: &Tables, seed: u64) -> Self {
        Self {
            sizes: tables.sizes.clone(),
            size: Key::new(seed, "size", 0),
            location: Key::new(seed, "location", 0),
            shares: Arc::clone(&tables.shares),
            places: mix.layout.places(),
        }
    }

    /// Returns the new file with the running number `number`. Within a target, consecutive file
    /// numbers cycle through the directories.
    #[inline]
    pub fn file(&self, number: u64) -> File {
        let location = match &*self.shares {
            [_] => 0,
            shares => {
                let share = below(self.location.at(number), shares[shares.len() - 1]);
                shares.partition_point(|end| *end <= share) as u32
            }
        };
        let inner = if self.places == 1 {
            0
        } else {
            (number % u64::from(self.places)) as u32
        };
        File {
            number,
            file: number,
            size_bytes: self.sizes.draw(self.size.at(number)),
            place: location * self.places + inner,
            version: 0,
            has_extended: false,
        }
    }

    /// Returns the number of the directory that follows directory `place` in a cycle through the
    /// directories of all targets.
    pub fn place_after(&self, place: u32) -> u32 {
        (place + 1) % self.places()
    }

    /// Returns the number of directories that contain files, in all targets together.
    pub fn places(&self) -> u32 {
        self.places * self.shares.len() as u32
    }
}
