//! What rules ask about the page cache and the contents of the pool.

use record::run::Record;
use spec::Cache;
use workload::{Action, Phase, Work, Workload};

/// Less than this share of what was read is the metadata beside it: the reads never reached the
/// device.
pub(super) const READS_INVALID: f64 = 0.01;

pub(super) fn says_cold(record: &Record) -> bool {
    matches!(record.spec.cache, Cache::Cold | Cache::ColdData) && !record.spec.direct
}

/// What the run asks for that its reads must then come from a device for: of the cache, or
/// `direct`.
pub(super) fn asked_of_device(record: &Record) -> Option<&'static str> {
    match record.spec.direct {
        true => Some("direct"),
        false => says_cold(record).then(|| record.spec.cache.name()),
    }
}

/// The same as an option.
pub(super) fn option(asked: &str) -> String {
    match asked {
        "direct" => "--direct".to_owned(),
        cache => format!("--cache {cache}"),
    }
}

/// Contents of all pools when the transactions began: what was created before, or, where the pool
/// was there already, what its sizes come to on the average.
pub(super) fn pool_bytes(record: &Record) -> u64 {
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
