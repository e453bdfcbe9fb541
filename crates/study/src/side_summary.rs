//! Summaries of compared configurations: workloads, targets, means, drifts and verdicts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cells::{WORKLOAD, coordinate_word};
use crate::drift::Drift;
use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, Observed, needed_s};
use crate::statistics::mean;
use crate::subject::Subject;
use crate::verdicts::VerdictCounts;

/// A compared configuration in a table of comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideSummary {
    /// Name of the configuration, as in the rows of the table.
    pub label: String,
    /// The label without the coordinates that are common to all configurations of the table.
    pub name: String,
    /// Workloads of the runs, each once.
    pub workloads: Vec<String>,
    /// File systems and devices of the runs, each once.
    pub targets: Vec<String>,
    /// Whether a loop device below a target reads and writes its file through the page cache.
    #[serde(default)]
    pub has_caching_loop: bool,
    /// Names and releases of the kernels of the runs, each once.
    #[serde(default)]
    pub kernels: Vec<String>,
    /// Hosts, kernel builds, targets and mount options of the runs, each combination once.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Identifiers of the boots in which the runs were made, each once.
    #[serde(default)]
    pub boots: Vec<String>,
    /// Settings of the runs, each once ([`Subject::settings`]).
    #[serde(default)]
    pub settings: Vec<String>,
    /// Geometric mean of each metric over the runs that are not INVALID, in the unit of the metric.
    /// For a baseline with an A/A control, first and second runs are included. The quotient of the
    /// means of two configurations is the ratio, unless the ratio excludes some of the runs.
    pub means: BTreeMap<Metric, f64>,
    /// For percentiles that runs are too short for: the length of the measurement that they need,
    /// in seconds.
    #[serde(default)]
    pub needed_s: BTreeMap<Metric, f64>,
    /// Whether each metric drifts over these runs in the order of time. A metric of fewer than five
    /// runs is missing.
    pub drifts: BTreeMap<Metric, Drift>,
    pub verdicts: VerdictCounts,
}

impl SideSummary {
    fn of(runs: &[&Observed], label: &str, name: String, metrics: &[Metric]) -> Self {
        let each = |value: fn(&Subject) -> &String| {
            let values: BTreeSet<&String> = runs.iter().map(|run| value(&run.subject)).collect();
            let values = values.into_iter().filter(|value| !value.is_empty());
            values.cloned().collect()
        };
        let settings: BTreeSet<&String> =
            runs.iter().flat_map(|run| &run.subject.settings).collect();
        let mut counted: Vec<&Observed> = runs.to_vec();
        counted.retain(|run| run.is_counted());
        counted.sort_by_key(|run| run.begun_unix_ns);
        let values = |metric: &Metric| -> Vec<f64> {
            let values = counted.iter().filter_map(|run| run.values.get(metric));
            values.copied().collect()
        };
        let geometric_mean = |metric: &Metric| {
            let logs: Vec<f64> = values(metric).iter().map(|value| value.ln()).collect();
            (!logs.is_empty()).then(|| (*metric, mean(&logs).exp()))
        };
        let drift = |metric: &Metric| Some((*metric, Drift::of(&values(metric))?));
        Self {
            label: label.to_owned(),
            name,
            workloads: each(|subject| &subject.workload),
            targets: each(|subject| &subject.target),
            has_caching_loop: runs.iter().any(|run| run.subject.has_caching_loop),
            kernels: each(|subject| &subject.kernel),
            systems: each(|subject| &subject.system),
            boots: each(|subject| &subject.boot),
            settings: settings.into_iter().cloned().collect(),
            needed_s: metrics
                .iter()
                .filter_map(|metric| Some((*metric, needed_s(counted.iter().copied(), *metric)?)))
                .collect(),
            means: metrics.iter().filter_map(geometric_mean).collect(),
            drifts: metrics.iter().filter_map(drift).collect(),
            verdicts: VerdictCounts::of(runs.iter().copied()),
        }
    }
}

/// Summarizes the configurations of a table, the baseline first. Also returns the workload and the
/// coordinates that all configurations have in common.
pub(crate) fn summaries(
    baseline: &Baseline,
    sides: &[ComparedSide],
    metrics: &[Metric],
) -> (Vec<SideSummary>, Vec<String>) {
    let all: Vec<&ComparedSide> = [&baseline.side].into_iter().chain(sides).collect();
    let (names, mut common) = names(&all);
    let summary = |(number, (side, name)): (usize, (&&ComparedSide, String))| {
        let twin = baseline.twin.iter().filter(|_| number == 0);
        let runs = side.runs.iter().chain(twin.flat_map(|twin| &twin.runs));
        let runs: Vec<&Observed> = runs.collect();
        SideSummary::of(&runs, &side.label, name, metrics)
    };
    let summaries: Vec<SideSummary> = all.iter().zip(names).enumerate().map(summary).collect();
    let workloads: BTreeSet<&String> = summaries.iter().flat_map(|of| &of.workloads).collect();
    let has_workload = all.iter().any(|side| has_dimension(side, WORKLOAD));
    if let (1, false, Some(workload)) = (workloads.len(), has_workload, workloads.first()) {
        common.insert(0, (*workload).clone());
    }
    (summaries, common)
}

fn has_dimension(side: &ComparedSide, dimension: &str) -> bool {
    let runs = side.runs.iter();
    runs.flat_map(|run| &run.subject.coordinates)
        .any(|coordinate| coordinate.dimension == dimension)
}

/// Shortens the names of configurations: removes the coordinates that are common to all. Returns
/// the names and the removed coordinates. If a name is not the label of its cell, or would become
/// empty, no name is shortened.
fn names(sides: &[&ComparedSide]) -> (Vec<String>, Vec<String>) {
    let words = |side: &&ComparedSide| {
        let coordinates = &side.runs.first()?.subject.coordinates;
        let words: Vec<String> = coordinates.iter().map(coordinate_word).collect();
        (words.join(" ") == side.label).then_some(words)
    };
    let labels = || sides.iter().map(|side| side.label.clone()).collect();
    let Some(words) = sides.iter().map(words).collect::<Option<Vec<_>>>() else {
        return (labels(), Vec::new());
    };
    let is_common = |word: &String| words.iter().all(|words| words.contains(word));
    let name = |words: &Vec<String>| {
        let own: Vec<&str> = words
            .iter()
            .filter(|word| !is_common(word))
            .map(String::as_str)
            .collect();
        (!own.is_empty()).then(|| own.join(" "))
    };
    match words.iter().map(name).collect::<Option<Vec<String>>>() {
        Some(names) => {
            let common = words.first().into_iter().flatten();
            let common = common.filter(|word| is_common(word)).cloned().collect();
            (names, common)
        }
        None => (labels(), Vec::new()),
    }
}
