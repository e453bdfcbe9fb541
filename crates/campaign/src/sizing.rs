//! Chooses the number of files for a pool that is as large as the requested working set.
//!
//! The number of files depends only on the file sizes of the operation stream and on this machine's
//! page cache. Plans and runs therefore choose the same number. [`crate::calibration`] estimates
//! the duration of the run.

use record::Sizing;
use report::sizing::sentence;
use spec::{Drive, WorkingSet};
use system::{CacheBound, Fact, Host, Sources};
use workload::Workload;

/// Maximum size of a working set, as a multiple of the page cache.
const FACTOR_MAX: f64 = 1_000.0;
/// Maximum number of files of the operation stream whose sizes are drawn. Further files are assumed
/// to have the mean size of the drawn files.
const FOLLOWED_MAX: u64 = 1 << 20;

/// Chooses the number of files in each pool for a working set.
///
/// # Errors
/// Returns an error if the working set is not valid, or if no pool of that size is possible.
pub fn choose(working_set: WorkingSet, workload: &Workload) -> Result<(Workload, Sizing), String> {
    let refuse = |text: String| Err(format!("cannot use --working-set {working_set}: {text}"));
    // The comparison is also false for NaN, so NaN is refused.
    let is_one = match working_set {
        WorkingSet::OfCache(factor) => factor > 0.0 && factor <= FACTOR_MAX,
        WorkingSet::Bytes(bytes) => bytes > 0,
    };
    if !is_one {
        return refuse(format!(
            "expected a multiple of the page cache, above 0 and up to {FACTOR_MAX}, like 4x, or \
             bytes, like 100GiB"
        ));
    }
    let cache = match Host::read(&Sources::default()).cache_limit() {
        Fact::Known(cache) => cache,
        Fact::Unavailable(why) => {
            return refuse(format!(
                "the size of the page cache is not available: {why} (use --files instead)"
            ));
        }
        Fact::NotApplicable => {
            return refuse(
                "the size of the page cache is not available (use --files instead)".to_owned(),
            );
        }
    };
    let pools = u64::from(workload.streams());
    let of_each = working_set.bytes(cache.bytes).div_ceil(pools);
    let extent = match workload.holding(of_each, FOLLOWED_MAX) {
        Ok(Some(extent)) => extent,
        Ok(None) => {
            return refuse("all files of this --size are empty (use sizes above 0)".to_owned());
        }
        Err(error) => return refuse(error.to_string()),
    };
    if of_each > 0 && (of_each as f64) < extent.mean_bytes {
        return refuse(format!(
            "{of_each} bytes for each pool are less than one file (use a multiple of the page \
             cache, like 4x, or more bytes, like 100GiB)"
        ));
    }
    let sized = workload.with_files(extent.files);
    let sizing = Sizing {
        working_set,
        cache_bytes: cache.bytes,
        cache_is: match cache.bound {
            CacheBound::Memory => "the machine's memory".to_owned(),
            CacheBound::ControlGroup => "the control group's limit".to_owned(),
        },
        mean_file_bytes: extent.mean_bytes,
        files: extent.files.saturating_mul(pools),
        calibration: None,
        transactions: None,
    };
    if let Err(wrong) = sized.validate() {
        let chosen = sentence(&sizing, &sized, &Drive::default());
        return refuse(format!("{chosen} {wrong}"));
    }
    Ok((sized, sizing))
}

#[cfg(test)]
mod tests {
    use workload::sizes::Sizes;
    use workload::{Classic, Mix, Workers};

    use super::*;

    #[test]
    fn total_size_of_all_pools_equals_the_working_set() {
        let cache = Host::read(&Sources::default())
            .cache_limit_bytes()
            .into_known()
            .unwrap();
        let mix = Mix {
            sizes: Sizes::Fixed(1 << 20),
            size_max_bytes: 1 << 20,
            ..Mix::default()
        };
        for (workers, pools) in [
            (Workers::ONE, 1),
            (Workers::Private { workers: 3 }, 3),
            (
                Workers::Shared {
                    writers: 2,
                    readers: 2,
                    pools: 1,
                },
                1,
            ),
        ] {
            let workload = Workload {
                workers,
                ..mix.clone().into()
            };
            let (sized, sizing) = choose(WorkingSet::OfCache(0.5), &workload).unwrap();
            let each = cache.div_ceil(2).div_ceil(pools);
            assert_eq!(sized.files(), each.div_ceil(1 << 20), "{workers:?}");
            assert_eq!(sizing.files, sized.files() * pools);
            assert_eq!(
                (sizing.cache_bytes, sizing.mean_file_bytes),
                (cache, f64::from(1 << 20))
            );
            assert_eq!(sizing.calibration, None);
            assert_eq!(
                sized.with_files(7),
                workload.with_files(7),
                "nothing else is changed"
            );
        }
    }

    #[test]
    fn invalid_working_sets_are_refused() {
        let workload = Workload::from(Classic::default());
        let factors = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6].map(WorkingSet::OfCache);
        for working_set in factors.into_iter().chain([WorkingSet::Bytes(0)]) {
            let refused = choose(working_set, &workload).unwrap_err();
            assert!(
                refused.contains("--working-set") && refused.contains("like 4x"),
                "{refused}"
            );
        }
        let empty = Mix {
            sizes: Sizes::Fixed(0),
            ..Mix::default()
        };
        let refused = choose(WorkingSet::Bytes(1 << 30), &empty.into()).unwrap_err();
        assert!(refused.contains("are empty"), "{refused}");
        let mut narrow = Mix::default();
        narrow.layout.entries_max = Some(1_000);
        let refused = choose(WorkingSet::OfCache(0.5), &narrow.into()).unwrap_err();
        assert!(
            refused.contains("Chose") && refused.contains("at most 1000 entries"),
            "{refused}"
        );
    }
}
