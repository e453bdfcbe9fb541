//! How many files it takes to hold so many bytes: from the sizes that a workload's stream draws.

use crate::WorkloadError;
use crate::intent::{Action, Phase};
use crate::whole::{Work, Workload};

/// See [`Workload::holding`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Files of one pool.
    pub files: u64,
    /// Mean bytes of the files that were drawn.
    pub mean_bytes: f64,
}

impl Workload {
    /// How many files a pool needs whose contents are to be `bytes` bytes at least, before its
    /// first transaction. The stream of the first worker is followed file by file; after
    /// `followed_max` files the rest is reckoned with their mean. Nothing where these files
    /// hold nothing.
    ///
    /// # Errors
    /// Where the workload has no stream.
    pub fn holding(&self, bytes: u64, followed_max: u64) -> Result<Option<Extent>, WorkloadError> {
        let mut sample = self.with_files(followed_max.max(1)).with_transactions(0);
        if let Work::Mix(mix) = &mut sample.work {
            // Where files lie does not change how large they are.
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

    /// Files and bytes of a pool, of which there are so many.
    fn prepared(workload: &Workload, files: u64) -> u64 {
        let plan = Planner::new(&workload.with_files(files).with_transactions(0)).plan();
        plan.unwrap().bytes_peak
    }

    #[test]
    fn a_pool_holds_what_it_was_asked_for_and_not_a_file_more() {
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
    fn what_is_not_followed_is_reckoned_with_the_mean() {
        let workload = Workload::from(Classic::default());
        let bytes = 50_000_000;
        let exact = workload.holding(bytes, 100_000).unwrap().unwrap();
        let reckoned = workload.holding(bytes, 2_000).unwrap().unwrap();
        assert_ne!(exact.files, reckoned.files, "one was reckoned");
        let off = exact.files as f64 / reckoned.files as f64 - 1.0;
        assert!(off.abs() < 0.03, "{} and {}", exact.files, reckoned.files);
    }

    #[test]
    fn sizes_are_aligned_directories_do_not_matter_and_empty_files_hold_nothing() {
        let mut mix = Mix {
            sizes: Sizes::Fixed(5_000),
            align_bytes: 4_096,
            ..Mix::default()
        };
        // So few entries that the sample itself would not fit.
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
    fn a_shared_pool_is_one() {
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
