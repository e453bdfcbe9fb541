//! Estimates how many files contain a given number of bytes, from the file sizes in a workload's
//! stream.

use crate::WorkloadError;
use crate::intent::{Action, Phase};
use crate::whole::{Work, Workload};

/// The size of a pool that contains at least a requested number of bytes; see
/// [`Workload::holding`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Number of files in one pool.
    pub files: u64,
    /// The mean size of the files whose sizes were drawn from the stream, in bytes.
    pub mean_bytes: f64,
}

impl Workload {
    /// Returns the number of files with which a pool contains at least `bytes` bytes before its
    /// first transaction. The sizes of the first `followed_max` files are drawn from the stream of
    /// the first worker. Further files are assumed to have the mean size. Returns `None` if all
    /// drawn files are empty.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid.
    pub fn holding(&self, bytes: u64, followed_max: u64) -> Result<Option<Extent>, WorkloadError> {
        let mut sample = self.with_files(followed_max.max(1)).with_transactions(0);
        if let Work::Mix(mix) = &mut sample.work {
            // A sample with more files than the limit of entries allows would be refused. The limit
            // does not affect file sizes, so it is removed.
            mix.layout.entries_max = None;
        }
        let mut stream = sample.stream(0, |_| ())?;
        let (mut files, mut held) = (0_u64, 0_u64);
        while held < bytes || files == 0 {
            let Some(intent) = stream.next(Phase::Prepare) else {
                break;
            };
            if intent.action == Action::Create {
                files += 1;
                held += intent.bytes;
            }
        }
        if held == 0 {
            return Ok(None);
        }
        let mean_bytes = held as f64 / files as f64;
        Ok(Some(Extent {
            files: if held < bytes {
                (bytes as f64 / mean_bytes).ceil() as u64
            } else {
                files
            },
            mean_bytes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::Classic;
    use crate::mix::Mix;
    use crate::plan::Planner;
    use crate::sizes::Sizes;
    use crate::whole::Workers;

    /// Returns the bytes in a pool of `files` files.
    fn prepared(workload: &Workload, files: u64) -> u64 {
        let plan = Planner::new(&workload.with_files(files).with_transactions(0)).plan();
        plan.unwrap().bytes_peak
    }

    #[test]
    fn holding_returns_smallest_sufficient_pool() {
        let mix = Mix {
            sizes: "lognormal:median=8KiB,sigma=1.2,max=1MiB".parse().unwrap(),
            size_max_bytes: 1 << 20,
            ..Mix::default()
        };
        for workload in [Workload::from(Classic::default()), Workload::from(mix)] {
            for bytes in [1, 100_000, 5_000_000] {
                let extent = workload.holding(bytes, 10_000).unwrap().unwrap();
                let held = prepared(&workload, extent.files);
                assert!(held >= bytes, "{held} of {bytes}");
                assert!(extent.files == 1 || prepared(&workload, extent.files - 1) < bytes);
                assert!((extent.mean_bytes * extent.files as f64 - held as f64).abs() < 1.0);
            }
        }
    }

    #[test]
    fn files_beyond_the_limit_are_assumed_to_have_the_mean_size() {
        let workload = Workload::from(Classic::default());
        let bytes = 50_000_000;
        let exact = workload.holding(bytes, 100_000).unwrap().unwrap();
        let reckoned = workload.holding(bytes, 2_000).unwrap().unwrap();
        assert_ne!(exact.files, reckoned.files, "one was reckoned");
        let off = exact.files as f64 / reckoned.files as f64 - 1.0;
        assert!(off.abs() < 0.03, "{} and {}", exact.files, reckoned.files);
    }

    #[test]
    fn holding_uses_aligned_sizes_and_ignores_entry_limits() {
        let mut mix = Mix {
            sizes: Sizes::Fixed(5_000),
            align_bytes: 4_096,
            ..Mix::default()
        };
        // A sample of 1,000 files exceeds this limit of 10 entries. `holding` must ignore the
        // limit.
        mix.layout.entries_max = Some(10);
        let extent = Workload::from(mix.clone())
            .holding(1 << 20, 1_000)
            .unwrap()
            .unwrap();
        assert_eq!((extent.files, extent.mean_bytes), (128, 8_192.0));
        mix.sizes = Sizes::Fixed(0);
        mix.align_bytes = 1;
        assert_eq!(Workload::from(mix).holding(1, 1_000).unwrap(), None);
    }

    #[test]
    fn files_of_shared_pool_are_counted_once() {
        let workload = Workload {
            workers: Workers::Shared {
                writers: 2,
                readers: 2,
                pools: 1,
            },
            ..Workload::from(Mix {
                sizes: Sizes::Fixed(1_024),
                ..Mix::default()
            })
        };
        assert_eq!(
            workload.holding(10 << 20, 1_000).unwrap().unwrap().files,
            10_240
        );
    }
}
