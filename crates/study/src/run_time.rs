//! The time that the runs of a study take.

use crate::observed::Observed;
use crate::statistics::{self, Middle};

/// Mean time that a run takes, in seconds; `None` without runs. Preparation of the target, the wait
/// for a quiet machine and the removal of files are part of the time between the starts of two runs
/// of a study.
pub fn run_s(mut runs: Vec<&Observed>) -> Option<f64> {
    /// A time between two runs that is this many times the median is an interruption of the study.
    const INTERRUPTION: f64 = 10.0;
    let elapsed: Vec<f64> = runs.iter().map(|run| run.elapsed_s).collect();
    let elapsed = (!elapsed.is_empty()).then(|| statistics::mean(&elapsed))?;
    runs.sort_by_key(|run| run.begun_unix_ns);
    let study = |run: &Observed| run.block.as_ref().map(|block| block.study.clone());
    let between = |pair: &[&Observed]| {
        let is_study = study(pair[0]).is_some() && study(pair[0]) == study(pair[1]);
        is_study.then(|| (pair[1].begun_unix_ns - pair[0].begun_unix_ns) as f64 / 1e9)
    };
    let mut between: Vec<f64> = runs.windows(2).filter_map(between).collect();
    if let Some(middle) = Middle::of(between.iter().copied()) {
        between.retain(|seconds| *seconds <= INTERRUPTION * middle.median);
    }
    match between.is_empty() {
        true => Some(elapsed),
        false => Some(elapsed.max(statistics::mean(&between))),
    }
}
