//! Warns before a run if its preparation will take longer than its transactions.

use campaign::archive::ArchivePlace;
use campaign::estimate;
use campaign::run_spec::Specified;
use record::TimeEstimate;
use runner::RunSpec;

use crate::ui::problem::{USER, tell};

/// Minimum number of files for an estimate from the archive. Fewer files are prepared quickly.
const FILES_LONG_MIN: u64 = 20_000;

/// Estimates the duration of a run from earlier runs. Returns `None` for a run with few files, and
/// if a calibration follows.
pub fn from_archive(specified: &Specified, place: Option<&ArchivePlace>) -> Option<TimeEstimate> {
    let spec = &specified.spec;
    if files(spec) < FILES_LONG_MIN || specified.sizing.is_some() {
        return None;
    }
    let specs = std::slice::from_ref(spec);
    estimate::from_archive(specs, place, USER)
        .into_iter()
        .next()
}

/// Prints a warning if the preparation takes longer than the transactions. Without a calibration,
/// the estimate is `earlier`.
pub fn warn_if_long(specified: &Specified, earlier: Option<TimeEstimate>) {
    let spec = &specified.spec;
    let sizing = specified.sizing.as_ref();
    let calibration = sizing.and_then(|sizing| sizing.calibration.as_ref());
    let calibrated = calibration.map(|rates| estimate::from_calibration(spec, rates));
    let time = calibrated.or(earlier);
    let warning = time.and_then(|time| report::estimated::long_preparation(&time, files(spec)));
    warning.into_iter().for_each(tell);
}

/// Number of files in all pools.
fn files(spec: &RunSpec) -> u64 {
    let workload = &spec.workload;
    workload.files().saturating_mul(workload.streams().into())
}
