//! The design of a study: workloads, axes and targets, and how often they are measured.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;
use spec::Options;
use toml::{Table, Value};
use workload::quantity;

use crate::flaw::Flaw;
use crate::metric::Metric;
use crate::paper_layout::PaperLayout;

/// Blocks of a study that says nothing of how many.
pub const BLOCKS: u32 = 10;
/// Blocks at most of a study that ends when its intervals are narrow enough, and says nothing of
/// how many.
pub const BLOCKS_UNTIL: u32 = 100;
/// So long it is waited for a quiet machine before a run, where nothing else is said.
pub const QUIET: Duration = Duration::from_secs(10);
/// The most times that a pool is churned before it is measured.
pub const AGE_MAX: u32 = 1_000;
/// The fullest file system that a study begins with, in percent: a pool is to fit in, too.
pub const FULLNESS_MAX: u32 = 95;

/// What is done with a study file, in full.
#[derive(Clone, Debug)]
pub struct Design {
    /// Its name.
    pub name: String,
    /// What the order of runs is drawn from.
    pub seed: u64,
    /// Blocks at most.
    pub blocks: u32,
    /// Blocks are added until the interval of every comparison is within this factor around its
    /// ratio: 0.02 for 2 %.
    pub until: Option<f64>,
    /// No block begins that would end after this time.
    pub run_for: Option<Duration>,
    /// Whether each baseline cell runs twice in a block.
    pub twin: bool,
    /// The value of a dimension that the others are compared with.
    pub baseline: Option<String>,
    /// How long it is waited for a quiet machine before each run.
    pub quiet: Duration,
    /// What is compared.
    pub metrics: Vec<Metric>,
    /// The paper in whose tables the results are shown.
    pub layout: Option<PaperLayout>,
    /// By target, the system of the paper that it is compared with, by its column there.
    pub counterparts: BTreeMap<String, String>,
    /// What is done.
    pub workloads: Vec<WorkloadDesign>,
    /// What is varied.
    pub axes: Vec<Axis>,
    /// Where it is done.
    pub targets: Vec<TargetDesign>,
    /// The file.
    pub text: String,
}

impl Design {
    /// The targets that are there, as directories or URLs.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        let targets = self.targets.iter().filter(|target| !target.is_made());
        targets.map(|target| &*target.at)
    }
}

/// A workload of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadDesign {
    /// Its name in the study.
    pub name: String,
    /// The preset that it begins from.
    pub preset: Option<String>,
    /// Options of its runs, as in a configuration file.
    pub options: Table,
    /// How many times the pool is churned before it is measured.
    pub age: u64,
    /// How full the file system is before the pool is made, in percent; nothing: as it is.
    pub fullness: Option<u32>,
    /// Its line in the study file, from 1.
    pub line: usize,
}

/// A dimension of a study: an option of the runs, `age` or `fullness`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The option.
    pub name: String,
    /// Its values, in order.
    pub values: Vec<Value>,
}

impl Axis {
    /// Its values in words, with the numbers that they are: quantities, bytes, percentages, or
    /// times in seconds. Nothing where one of them is no number.
    pub fn numbers(&self) -> Option<Vec<(String, f64)>> {
        let number = |value: &Value| match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::String(text) => quantity::bytes(text)
                .map(|bytes| bytes as f64)
                .or_else(|_| quantity::percent(text))
                .or_else(|_| quantity::duration_ns(text).map(|ns| ns as f64 / 1e9))
                .ok(),
            _ => None,
        };
        let numbers = self
            .values
            .iter()
            .map(|value| Some((word(value), number(value)?)));
        numbers.collect()
    }
}

/// A target of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDesign {
    /// Its name in the study.
    pub name: String,
    /// A directory, or `make:KIND?…`.
    pub at: String,
    /// Its line in the study file, from 1.
    pub line: usize,
}

impl TargetDesign {
    /// Whether the study makes it.
    pub fn is_made(&self) -> bool {
        self.at.starts_with("make:")
    }

    /// Whether it is a server that the program speaks to by itself.
    pub fn is_of_server(&self) -> bool {
        spec::is_url(std::path::Path::new(&self.at))
    }
}

/// A whole number within a range.
pub(crate) fn whole(key: &str, value: &Value, range: RangeInclusive<u32>) -> Result<u32, Flaw> {
    let number = value
        .as_integer()
        .and_then(|number| u32::try_from(number).ok());
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            Flaw::range(key, &word(value), &expected)
        })
}

/// Whether a text can name a study, a workload or a target.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=60).contains(&text.chars().count()) && !text.contains(char::is_control)
}

/// A value in words.
pub(crate) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// How many times a pool is churned.
pub(crate) fn age(value: &Value) -> Result<u64, Flaw> {
    whole("age", value, 0..=AGE_MAX).map(u64::from)
}

/// How full a file system is, in percent.
pub(crate) fn fullness(value: &Value) -> Result<u32, Flaw> {
    whole("fullness", value, 0..=FULLNESS_MAX)
}

/// Whether an option of a run can be this.
pub(crate) fn check_option(key: &str, value: &Value) -> Result<(), Flaw> {
    if key == "target" || Options::of_runs_alone().iter().any(|own| own == key) {
        let why = "a study decides this for its runs (remove the key)";
        return Err(Flaw::option(key, why));
    }
    options_of(Table::from_iter([(key.to_owned(), value.clone())])).map(drop)
}

/// The options of a table.
pub(crate) fn options_of(table: Table) -> Result<Options, Flaw> {
    let keys = table.keys().cloned().collect::<Vec<_>>().join(", ");
    Options::deserialize(Value::Table(table)).map_err(|error| {
        let message = error.message().trim_end().to_owned();
        // The options are many; the specification lists them.
        let why = match message.starts_with("unknown field") {
            true => "runs have no such option ('postmark run --help' lists all; a study adds age \
                     and fullness)"
                .to_owned(),
            false => message,
        };
        Flaw::option(&keys, &why)
    })
}
