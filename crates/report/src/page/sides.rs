//! The compared configurations (sides) on a page, with their runs: the configurations of a study,
//! their A/A controls, and other groups of runs.

use std::collections::BTreeMap;

use document::Cell;
use document::units::{latency, rate, throughput};
use measure::Middle;
use study::{ComparedSide, Metric, MetricUnit, Observed, SideGroup, UnlikeWhat, unlike};

use super::file::PageRun;
use super::labels::{millions, rate_label, short_latency, throughput_label};
use crate::comparison::unlike_words;

pub(super) struct SideRun<'a> {
    pub observed: &'a Observed,
    /// The run as the page shows it, with its record and remarks.
    pub run: &'a PageRun<'a>,
    /// Position of the run among all runs in order of time, from 1.
    pub order: usize,
}

/// A compared configuration with its runs.
pub(super) struct PageSide<'a> {
    pub name: String,
    /// Index of the configuration's group, from 0. Configurations of a group are compared with one
    /// another.
    pub group: usize,
    pub compared: &'a ComparedSide,
    pub is_twin: bool,
    pub runs: Vec<SideRun<'a>>,
    /// HTML anchor of the configuration's runs on the page.
    pub anchor: String,
}

pub(super) fn anchor(run: u64) -> String {
    format!("run-{run}")
}

/// All configurations by group: the baseline, its A/A control, and the candidates. Configurations
/// without a run are left out.
pub(super) fn all<'a>(
    groups: &'a [SideGroup],
    runs: &'a [(u64, PageRun<'a>)],
) -> Vec<PageSide<'a>> {
    let mut by_time: Vec<&(u64, PageRun<'a>)> = runs.iter().collect();
    by_time.sort_by_key(|(number, run)| (run.record.origin.begun_unix_ns(), *number));
    let in_order = (1..).zip(by_time);
    let known: BTreeMap<u64, (usize, &PageRun<'a>)> = in_order
        .map(|(order, (number, run))| (*number, (order, run)))
        .collect();
    let mut sides = Vec::new();
    for (group, of) in groups.iter().enumerate() {
        let twin = of.baseline.twin.iter().map(|twin| (twin, true));
        let others = of.sides.iter().map(|side| (side, false));
        let baseline = std::iter::once((&of.baseline.side, false));
        for (compared, is_twin) in baseline.chain(twin).chain(others) {
            let of_page = |observed: &'a Observed| {
                let (order, run) = *known.get(&observed.run?)?;
                Some(SideRun {
                    observed,
                    run,
                    order,
                })
            };
            let runs: Vec<SideRun<'_>> = compared.runs.iter().filter_map(of_page).collect();
            if runs.is_empty() {
                continue;
            }
            let name = match is_twin {
                true => format!("{} (A/A control)", compared.label),
                false => compared.label.clone(),
            };
            sides.push(PageSide {
                name,
                group,
                compared,
                is_twin,
                runs,
                anchor: format!("side-{}", sides.len() + 1),
            });
        }
    }
    sides
}

impl PageSide<'_> {
    pub(super) fn linked(&self) -> Cell {
        Cell::Linked(self.name.clone(), self.anchor.clone())
    }

    pub(super) fn counted(&self) -> impl Iterator<Item = &SideRun<'_>> {
        self.runs.iter().filter(|run| run.observed.is_counted())
    }

    /// Median, least and greatest value of a metric over the counted runs.
    pub(super) fn middle(&self, metric: Metric) -> Option<Middle> {
        Middle::of(
            self.counted()
                .filter_map(|run| run.observed.values.get(&metric).copied()),
        )
    }

    /// The configuration's value of a dimension of the study.
    pub(super) fn coordinate(&self, dimension: &str) -> Option<&str> {
        let part = self.runs.first()?.run.record.study.as_ref()?;
        let found = part.coordinates.iter().find(|at| at.dimension == dimension);
        found.map(|at| at.value.as_str())
    }

    /// The values of a condition in the counted runs, without duplicates.
    pub(super) fn conditions(&self, what: UnlikeWhat) -> String {
        let mut found: Vec<&str> = Vec::new();
        for run in self.counted() {
            let condition = run.observed.conditions.get(&what).map(String::as_str);
            found.extend(condition.filter(|condition| !found.contains(condition)));
        }
        found.join(", ")
    }
}

/// A sentence for a chart's caption: conditions, apart from the workload, in which the
/// configurations of the chart differ. Empty if none differs.
pub(super) fn not_alike(sides: &[&PageSide<'_>]) -> String {
    let Some((first, others)) = sides.split_first() else {
        return String::new();
    };
    let mut differences = Vec::new();
    for side in others {
        let unlike = unlike(side.compared, first.compared);
        let unlike = unlike.iter();
        let unlike = unlike.filter(|unlike| unlike.what != UnlikeWhat::Fingerprint);
        let words: Vec<String> = unlike.map(unlike_words).collect();
        if !words.is_empty() {
            differences.push(format!(
                "{} and {} differ in {}",
                side.name,
                first.name,
                words.join(", and in ")
            ));
        }
    }
    match differences.is_empty() {
        true => String::new(),
        false => format!(" NOT ALIKE: {}.", differences.join("; ")),
    }
}

pub(crate) fn in_words(metric: Metric, value: f64) -> String {
    match metric.unit() {
        MetricUnit::PerSecond => rate(Some(value)),
        MetricUnit::BytesPerSecond => throughput(value),
        MetricUnit::Nanoseconds => latency(value),
        MetricUnit::PerTransaction => document::units::fixed(value, 3),
    }
}

/// The function that formats a metric's values for an axis.
pub(super) fn label(metric: Metric) -> fn(f64) -> String {
    match metric.unit() {
        MetricUnit::PerSecond => rate_label,
        MetricUnit::BytesPerSecond => throughput_label,
        MetricUnit::Nanoseconds => short_latency,
        MetricUnit::PerTransaction => number,
    }
}

/// A number for an axis, with at most three decimals.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value >= 1e6 => millions(value),
        value if value >= 1e3 => document::units::grouped(value.round() as u64),
        value => document::units::trimmed(value, 3),
    }
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
