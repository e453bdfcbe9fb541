//! The sides of a comparison on a page: the cells of a study, their twins, what else is compared;
//! each with its runs.

use std::collections::BTreeMap;

use document::units::{latency, rate, throughput};
use document::{Cell, Number};
use measure::Middle;
use study::{ComparedSide, Metric, MetricUnit, Observed, SideGroup, UnlikeWhat, unlike};

use super::file::PageRun;
use super::labels::{millions, rate_label, short_latency, throughput_label};
use crate::comparison::unlike_words;

/// A run of a side.
pub(super) struct SideRun<'a> {
    pub observed: &'a Observed,
    /// What the page knows of it.
    pub run: &'a PageRun<'a>,
    /// Its place among all runs, in the order of time, from 1.
    pub order: usize,
}

/// See the module's text.
pub(super) struct PageSide<'a> {
    pub name: String,
    /// Its group, counted from 0: what is compared with one another.
    pub group: usize,
    pub compared: &'a ComparedSide,
    pub is_twin: bool,
    pub runs: Vec<SideRun<'a>>,
    /// Where its runs stand on the page.
    pub anchor: String,
}

/// Where a run stands on the page.
pub(super) fn anchor(run: u64) -> String {
    format!("run-{run}")
}

/// All of them, baselines first, then their twins; those without a run are left out.
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
                true => format!("{} (twin)", compared.label),
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
    /// Its name, which leads to its runs.
    pub(super) fn linked(&self) -> Cell {
        Cell::Linked(self.name.clone(), self.anchor.clone())
    }

    /// The runs that are counted.
    pub(super) fn counted(&self) -> impl Iterator<Item = &SideRun<'_>> {
        self.runs.iter().filter(|run| run.observed.is_counted())
    }

    /// The middle of its counted runs in a metric.
    pub(super) fn middle(&self, metric: Metric) -> Option<Middle> {
        Middle::of(
            self.counted()
                .filter_map(|run| run.observed.values.get(&metric).copied()),
        )
    }

    /// The value of a dimension of the study.
    pub(super) fn coordinate(&self, dimension: &str) -> Option<&str> {
        let part = self.runs.first()?.run.record.study.as_ref()?;
        let found = part.coordinates.iter().find(|at| at.dimension == dimension);
        found.map(|at| at.value.as_str())
    }

    /// What its runs have of a condition, each once.
    pub(super) fn conditions(&self, what: UnlikeWhat) -> String {
        let mut found: Vec<&str> = Vec::new();
        for run in self.counted() {
            let condition = run.observed.conditions.get(&what).map(String::as_str);
            found.extend(condition.filter(|condition| !found.contains(condition)));
        }
        found.join(", ")
    }
}

/// In what else sides differ that are drawn in one picture: a sentence behind its caption.
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

/// A value of a metric in a table.
pub(super) fn value(metric: Metric, value: f64) -> Cell {
    match metric.unit() {
        MetricUnit::PerSecond => Number::Rate(value).into(),
        MetricUnit::BytesPerSecond => Cell::Number(Number::Bytes(value), "/s"),
        MetricUnit::Nanoseconds => Number::Latency(value).into(),
        MetricUnit::PerTransaction => Number::Decimal(value, 3).into(),
    }
}

/// A value of a metric in a sentence.
pub(super) fn in_words(metric: Metric, value: f64) -> String {
    match metric.unit() {
        MetricUnit::PerSecond => rate(Some(value)),
        MetricUnit::BytesPerSecond => throughput(value),
        MetricUnit::Nanoseconds => latency(value),
        MetricUnit::PerTransaction => document::units::fixed(value, 3),
    }
}

/// How values of a metric stand at an axis.
pub(super) fn label(metric: Metric) -> fn(f64) -> String {
    match metric.unit() {
        MetricUnit::PerSecond => rate_label,
        MetricUnit::BytesPerSecond => throughput_label,
        MetricUnit::Nanoseconds => short_latency,
        MetricUnit::PerTransaction => number,
    }
}

/// A number at an axis, with three digits behind the point at most.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value >= 1e6 => millions(value),
        value if value >= 1e3 => document::units::grouped(value.round() as u64),
        value => document::units::trimmed(value, 3),
    }
}

/// A sentence begins with it.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
