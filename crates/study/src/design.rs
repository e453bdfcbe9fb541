//! The design of a study: its workloads, axes and targets, and the number of repetitions.

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

/// Default number of blocks.
pub const BLOCKS: u32 = 10;
/// Default maximum number of blocks of a study that ends when its intervals are narrow enough.
pub const BLOCKS_UNTIL: u32 = 100;
/// Default maximum wait for a quiet machine before a run.
pub const QUIET: Duration = Duration::from_secs(10);
/// Maximum of `age`: the files created before the measurement, as a multiple of those in the pool.
pub const AGE_MAX: u32 = 1_000;
/// Maximum fill level before the pool is made, in percent. The rest is space for the pool.
pub const FULLNESS_MAX: u32 = 95;

/// The complete description of a study.
#[derive(Clone, Debug)]
pub struct Design {
    pub name: String,
    /// Seed of the random order of runs.
    pub seed: u64,
    /// Maximum number of blocks.
    pub blocks: u32,
    /// Blocks are added until the half-width of every interval, relative to its ratio, is at most
    /// this: 0.02 for 2 %.
    pub until: Option<f64>,
    /// Time limit of the study. A block that would end after the limit does not begin.
    pub time_limit: Option<Duration>,
    /// Whether each baseline runs twice in a block, for the A/A control.
    pub twin: bool,
    /// The value of a dimension (targets, workloads or an axis) that selects the baselines. `None`
    /// for the first value of the first dimension that has several values.
    pub baseline: Option<String>,
    /// Maximum wait for a quiet machine before each run.
    pub quiet: Duration,
    pub metrics: Vec<Metric>,
    /// The paper in whose layout the results are shown.
    pub layout: Option<PaperLayout>,
    /// For a paper's layout: names of targets, each with the system of the paper that it is
    /// compared with. A system is named by its column in the paper.
    pub counterparts: BTreeMap<String, String>,
    pub workloads: Vec<WorkloadDesign>,
    pub axes: Vec<Axis>,
    pub targets: Vec<TargetDesign>,
    pub text: String,
}

impl Design {
    /// The existing targets, as directories or URLs. File systems that the study makes are
    /// excluded.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        let targets = self.targets.iter().filter(|target| !target.is_made());
        targets.map(|target| &*target.at)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadDesign {
    pub name: String,
    /// The preset on which the options are based.
    pub preset: Option<String>,
    /// Options of the runs, as in a configuration file.
    pub options: Table,
    /// Ageing: before the measurement, this many times as many files are created as the pool
    /// contains.
    pub age: u64,
    /// Fill level of the file system before the pool is made, in percent. With `None`, the fill
    /// level in the target applies, if the target contains one.
    pub fullness: Option<u32>,
    /// Line of the workload in the study file, from 1.
    pub line: usize,
}

/// A dimension of a study: an option of the runs, `age` or `fullness`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name of an option of the runs, or `age` or `fullness`.
    pub name: String,
    pub values: Vec<Value>,
}

impl Axis {
    /// Returns the values as text, each with its number: a quantity, bytes, a percentage, or a time
    /// in seconds. `None` if a value is not a number.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDesign {
    pub name: String,
    /// A directory, a URL, or `make:KIND?…`.
    pub at: String,
    /// Line of the target in the study file, from 1.
    pub line: usize,
}

impl TargetDesign {
    /// Whether the study makes the target's file system, instead of using an existing directory or
    /// a URL.
    pub fn is_made(&self) -> bool {
        self.at.starts_with("make:")
    }

    /// Whether the target is a URL: an I/O engine of the program sends requests to the server,
    /// without a mounted file system.
    pub fn is_of_server(&self) -> bool {
        spec::is_url(std::path::Path::new(&self.at))
    }
}

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

/// A value as text, without the quotes of a string.
pub(crate) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Parses the value of `age`, from 0 (no ageing) to [`AGE_MAX`].
pub(crate) fn age(value: &Value) -> Result<u64, Flaw> {
    whole("age", value, 0..=AGE_MAX).map(u64::from)
}

pub(crate) fn fullness(value: &Value) -> Result<u32, Flaw> {
    whole("fullness", value, 0..=FULLNESS_MAX)
}

/// Checks that a study may set this option of its runs, and that the value is valid.
pub(crate) fn check_option(key: &str, value: &Value) -> Result<(), Flaw> {
    if key == "target" || Options::of_runs_alone().iter().any(|own| own == key) {
        let why = "a study decides this for its runs (remove the key)";
        return Err(Flaw::option(key, why));
    }
    options_of(Table::from_iter([(key.to_owned(), value.clone())])).map(drop)
}

pub(crate) fn options_of(table: Table) -> Result<Options, Flaw> {
    let keys = table.keys().cloned().collect::<Vec<_>>().join(", ");
    Options::deserialize(Value::Table(table)).map_err(|error| {
        let message = error.message().trim_end().to_owned();
        // The message does not list the valid options, because there are too many.
        let why = match message.starts_with("unknown field") {
            true => "runs have no such option ('postmark run --help' lists all; a study adds age \
                     and fullness)"
                .to_owned(),
            false => message,
        };
        Flaw::option(&keys, &why)
    })
}
