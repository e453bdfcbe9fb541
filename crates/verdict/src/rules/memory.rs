//! The requested cache state and the size of the pool, as several rules need them.

use record::run::Record;
use spec::{Cache, RunSpec};
use workload::{Action, Phase, Work, Workload};

/// Metadata accounts for about this share of the bytes that a device reads. If the device served a
/// smaller share of the bytes that operations read, it served no contents.
pub(super) const READS_INVALID: f64 = 0.01;

pub(super) fn says_cold(spec: &RunSpec) -> bool {
    matches!(spec.cache, Cache::Cold | Cache::ColdData) && !spec.direct
}

/// Returns the option's value if the run requests that reads come from a device: `direct`, or a
/// cold cache state.
pub(super) fn asked_of_device(spec: &RunSpec) -> Option<&'static str> {
    match spec.direct {
        true => Some("direct"),
        false => says_cold(spec).then(|| spec.cache.name()),
    }
}

/// Returns the option for a value of [`asked_of_device`].
pub(super) fn option(asked: &str) -> String {
    match asked {
        "direct" => "--direct".to_owned(),
        cache => format!("--cache {cache}"),
    }
}

/// Returns the size of the contents of all pools when the transactions began, in bytes. For a pool
/// that an earlier run created, this is the mean file size multiplied by the number of files;
/// otherwise it is the number of bytes that `prepare` created.
pub(crate) fn pool_bytes(record: &Record) -> u64 {
    match record.actual.phase(Phase::Prepare) {
        Some(prepare) => prepare
            .measured_operations()
            .filter(|operation| operation.action == Action::Create)
            .map(|operation| operation.meter.bytes)
            .sum(),
        None => expected_bytes(&record.spec.workload),
    }
}

fn expected_bytes(workload: &Workload) -> u64 {
    let mean = match &workload.work {
        Work::Classic(classic) => {
            (classic.size_low_bytes as f64 + classic.size_high_bytes as f64) / 2.0
        }
        Work::Mix(mix) => mix.sizes.mean(),
    };
    let pools = if workload.workers.is_shared() {
        1
    } else {
        workload.workers.count()
    };
    (mean * workload.files() as f64 * f64::from(pools)) as u64
}
