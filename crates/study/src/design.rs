//! The design of a study: workloads, axes and targets, how often, and in which file that stands.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use spec::{Options, Time};
use toml::{Spanned, Table, Value};
use workload::quantity;

use crate::flaw::{CELLS_MAX, DesignError, Flaw, Lines};
use crate::metric::Metric;
use crate::paper_layout::{PaperLayout, UnknownLayout};
use crate::statistics::BLOCKS_MAX;

/// Blocks of a study that says nothing of how many.
pub const BLOCKS: u32 = 10;
/// Blocks at most of a study that ends when its intervals are narrow enough, and says nothing of
/// how many.
pub const BLOCKS_UNTIL: u32 = 100;
/// So long it is waited for a quiet machine before a run, where nothing else is said.
pub const QUIET: Duration = Duration::from_secs(10);
/// The most times that a pool is churned before it is measured.
pub const AGE_MAX: u64 = 1_000;
/// The fullest file system that a study begins with, in percent: a pool is to fit in, too.
pub const FULLNESS_MAX: u32 = 95;

/// Run options that a study decides itself.
const OWN: [&str; 9] = [
    "target",
    "keep",
    "reuse",
    "ack-log",
    "sweep",
    "fresh",
    "slo",
    "working-set",
    "no-sync-phases",
];

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
        self.at.starts_with("nfs://")
    }
}

/// A study file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    name: Option<Spanned<String>>,
    seed: Option<u64>,
    blocks: Option<Spanned<i64>>,
    until: Option<Spanned<String>>,
    #[serde(rename = "for")]
    run_for: Option<Time>,
    twin: Option<bool>,
    baseline: Option<Spanned<String>>,
    quiet_time: Option<Time>,
    #[serde(default)]
    metrics: Vec<Spanned<String>>,
    layout: Option<Spanned<String>>,
    #[serde(default)]
    counterparts: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    workload: Vec<Spanned<BTreeMap<Spanned<String>, Spanned<Value>>>>,
    #[serde(default)]
    axes: BTreeMap<Spanned<String>, Spanned<Vec<Spanned<Value>>>>,
    #[serde(default)]
    targets: Vec<Spanned<TargetInFile>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a directory, make:KIND, or { name = \"…\", at = \"…\" }"
)]
enum TargetInFile {
    Word(String),
    Named(NamedTarget),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedTarget {
    name: String,
    at: String,
}

impl File {
    /// Before anything is looked at more closely: there may be very many values.
    fn refuse_many_cells(&self, lines: &Lines<'_>) -> Result<(), DesignError> {
        let values = self.axes.values().map(|values| values.get_ref().len());
        let sizes = [self.workload.len(), self.targets.len()]
            .into_iter()
            .chain(values);
        let cells = sizes.fold(1_u128, |cells, size| {
            cells.saturating_mul(size.max(1) as u128)
        });
        if cells <= u128::from(CELLS_MAX) {
            return Ok(());
        }
        let first = self.axes.keys().map(|name| name.span().start).min();
        Err(DesignError {
            line: first.map(|at| lines.of(at)),
            flaw: Flaw::TooManyCells(cells),
        })
    }
}

impl Design {
    /// Reads a study file.
    ///
    /// # Errors
    /// What is wrong, in which line, and what would be right. Nothing was made.
    pub fn parse(text: &str) -> Result<Self, DesignError> {
        let lines = Lines(text);
        let file: File =
            spec::read_toml(text).map_err(|error| DesignError::of_toml(text, &error))?;
        file.refuse_many_cells(&lines)?;
        let blocks = in_range(&lines, "blocks", file.blocks.as_ref(), 1..=BLOCKS_MAX)?;
        let until = file
            .until
            .as_ref()
            .map(|until| percent(&lines, until))
            .transpose()?;
        let name = match &file.name {
            Some(name) => named(&lines, "name", name)?,
            None => String::new(),
        };
        let metrics = file.metrics.iter().map(|metric| {
            let parsed = metric.get_ref().parse();
            parsed.map_err(|why: crate::metric::UnknownMetric| {
                let flaw = Flaw::Option {
                    key: "metrics".to_owned(),
                    why: why.to_string(),
                };
                lines.error(metric.span().start, flaw)
            })
        });
        let mut design = Self {
            name,
            seed: file.seed.unwrap_or(1),
            blocks: blocks.unwrap_or(match (until, file.run_for) {
                (Some(_), _) => BLOCKS_UNTIL,
                (None, Some(_)) => BLOCKS_MAX,
                (None, None) => BLOCKS,
            }),
            until,
            run_for: file.run_for.map(|time| Duration::from_nanos(time.0)),
            twin: file.twin.unwrap_or(true),
            baseline: file
                .baseline
                .as_ref()
                .map(|baseline| baseline.get_ref().clone()),
            quiet: file
                .quiet_time
                .map_or(QUIET, |time| Duration::from_nanos(time.0)),
            metrics: metrics.collect::<Result<_, _>>()?,
            layout: layout_of(&lines, file.layout.as_ref())?,
            counterparts: BTreeMap::new(),
            workloads: Vec::new(),
            axes: Vec::new(),
            targets: Vec::new(),
            text: text.to_owned(),
        };
        if design.metrics.is_empty() {
            design.metrics.push(Metric::Transactions);
        }
        for workload in &file.workload {
            let workload = workload_of(&lines, workload)?;
            let others = design.workloads.iter().map(|other| &other.name);
            refuse_twice("workload", &workload.name, others).map_err(|flaw| DesignError {
                line: Some(workload.line),
                flaw,
            })?;
            design.workloads.push(workload);
        }
        let mut axes: Vec<_> = file.axes.iter().collect();
        axes.sort_by_key(|(name, _)| name.span().start);
        for (name, values) in axes {
            design.axes.push(axis_of(&lines, name, values)?);
        }
        for target in &file.targets {
            let found = target_of(&lines, target)?;
            refuse_twice(
                "target",
                &found.name,
                design.targets.iter().map(|other| &other.name),
            )
            .map_err(|flaw| lines.error(target.span().start, flaw))?;
            design.targets.push(found);
        }
        for (target, system) in &file.counterparts {
            if design
                .targets
                .iter()
                .all(|known| known.name != *target.get_ref())
            {
                let flaw = Flaw::NoSuchTarget(target.get_ref().clone());
                return Err(lines.error(target.span().start, flaw));
            }
            design
                .counterparts
                .insert(target.get_ref().clone(), system.clone());
        }
        if design.workloads.is_empty() {
            return Err(DesignError {
                line: None,
                flaw: Flaw::NoWorkload,
            });
        }
        if design.targets.is_empty() {
            return Err(DesignError {
                line: None,
                flaw: Flaw::NoTarget,
            });
        }
        if design.name.is_empty() {
            let names: Vec<&str> = design
                .workloads
                .iter()
                .map(|workload| workload.name.as_str())
                .collect();
            design.name = names.join("+").chars().take(60).collect();
        }
        let is_axis = |key| design.axes.iter().any(|axis| axis.name == key);
        let mut workloads = design.workloads.iter();
        let needs_made = [
            (
                "age",
                is_axis("age") || workloads.clone().any(|workload| workload.age > 0),
            ),
            (
                "fullness",
                is_axis("fullness") || workloads.any(|workload| workload.fullness.is_some()),
            ),
        ];
        let directory = design.targets.iter().find(|target| !target.is_made());
        let key = needs_made
            .into_iter()
            .find_map(|(key, is_asked)| is_asked.then_some(key));
        if let (Some(key), Some(target)) = (key, directory) {
            let flaw = Flaw::NeedsMade {
                key,
                target: target.name.clone(),
            };
            return Err(DesignError {
                line: Some(target.line),
                flaw,
            });
        }
        design
            .cells()
            .map_err(|flaw| match (&flaw, &file.baseline) {
                (Flaw::NoBaseline(..) | Flaw::AmbiguousBaseline(_), Some(baseline)) => {
                    lines.error(baseline.span().start, flaw)
                }
                _ => DesignError { line: None, flaw },
            })?;
        Ok(design)
    }
}

fn layout_of(
    lines: &Lines<'_>,
    said: Option<&Spanned<String>>,
) -> Result<Option<PaperLayout>, DesignError> {
    said.map(|word| {
        let layout = word.get_ref().parse();
        layout.map_err(|unknown: UnknownLayout| lines.error(word.span().start, unknown.into()))
    })
    .transpose()
}

fn refuse_twice<'a>(
    dimension: &str,
    value: &str,
    mut others: impl Iterator<Item = &'a String>,
) -> Result<(), Flaw> {
    match others.any(|other| other == value) {
        true => Err(Flaw::Twice {
            dimension: dimension.to_owned(),
            value: value.to_owned(),
        }),
        false => Ok(()),
    }
}

fn in_range(
    lines: &Lines<'_>,
    key: &str,
    said: Option<&Spanned<i64>>,
    range: std::ops::RangeInclusive<u32>,
) -> Result<Option<u32>, DesignError> {
    let Some(said) = said else {
        return Ok(None);
    };
    let value = u32::try_from(*said.get_ref())
        .ok()
        .filter(|value| range.contains(value));
    match value {
        Some(value) => Ok(Some(value)),
        None => Err(lines.error(
            said.span().start,
            out_of_range(key, said.get_ref(), *range.start(), *range.end()),
        )),
    }
}

fn out_of_range(key: &str, value: &dyn fmt::Display, least: u32, most: u32) -> Flaw {
    Flaw::Range {
        key: key.to_owned(),
        value: value.to_string(),
        expected: format!("a whole number from {least} to {most}"),
    }
}

/// A percentage like `2%` as a fraction.
fn percent(lines: &Lines<'_>, said: &Spanned<String>) -> Result<f64, DesignError> {
    let number = said
        .get_ref()
        .trim()
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|number| (0.1..=50.0).contains(number)) {
        Some(number) => Ok(number / 100.0),
        None => {
            let flaw = Flaw::Range {
                key: "until".to_owned(),
                value: format!("\"{}\"", said.get_ref()),
                expected: "a percentage from 0.1% to 50%, like \"2%\"".to_owned(),
            };
            Err(lines.error(said.span().start, flaw))
        }
    }
}

fn named(lines: &Lines<'_>, key: &str, said: &Spanned<String>) -> Result<String, DesignError> {
    is_name(said.get_ref())
        .then(|| said.get_ref().clone())
        .ok_or_else(|| {
            let flaw = Flaw::Name {
                key: key.to_owned(),
                value: said.get_ref().chars().take(60).collect(),
            };
            lines.error(said.span().start, flaw)
        })
}

fn is_name(text: &str) -> bool {
    (1..=60).contains(&text.chars().count()) && !text.contains(char::is_control)
}

fn workload_of(
    lines: &Lines<'_>,
    said: &Spanned<BTreeMap<Spanned<String>, Spanned<Value>>>,
) -> Result<WorkloadDesign, DesignError> {
    let mut workload = WorkloadDesign {
        name: String::new(),
        preset: None,
        options: Table::new(),
        age: 0,
        fullness: None,
        line: lines.of(said.span().start),
    };
    for (key, value) in said.get_ref() {
        let wrong = |flaw| lines.error(key.span().start, flaw);
        match (key.get_ref().as_str(), value.get_ref()) {
            ("name", Value::String(name)) if is_name(name) => workload.name.clone_from(name),
            ("preset", Value::String(preset)) => workload.preset = Some(preset.clone()),
            (key @ ("name" | "preset"), value) => {
                return Err(wrong(Flaw::Name {
                    key: key.to_owned(),
                    value: value.to_string(),
                }));
            }
            ("age", value) => workload.age = age(value).map_err(wrong)?,
            ("fullness", value) => workload.fullness = Some(fullness(value).map_err(wrong)?),
            (key, value) => {
                check_option(key, value).map_err(wrong)?;
                workload.options.insert(key.to_owned(), value.clone());
            }
        }
    }
    if workload.name.is_empty() {
        workload.name = workload
            .preset
            .clone()
            .unwrap_or_else(|| "classic".to_owned());
    }
    Ok(workload)
}

fn axis_of(
    lines: &Lines<'_>,
    name: &Spanned<String>,
    said: &Spanned<Vec<Spanned<Value>>>,
) -> Result<Axis, DesignError> {
    let mut values: Vec<Value> = Vec::new();
    for spanned in said.get_ref() {
        let value = spanned.get_ref();
        let wrong = |flaw| lines.error(spanned.span().start, flaw);
        match name.get_ref().as_str() {
            "age" => drop(age(value).map_err(wrong)?),
            "fullness" => drop(fullness(value).map_err(wrong)?),
            key => check_option(key, value).map_err(wrong)?,
        }
        if values.iter().any(|other| word(other) == word(value)) {
            return Err(wrong(Flaw::ValueTwice {
                axis: name.get_ref().clone(),
                value: word(value),
            }));
        }
        values.push(value.clone());
    }
    if values.is_empty() {
        return Err(lines.error(name.span().start, Flaw::EmptyAxis(name.get_ref().clone())));
    }
    Ok(Axis {
        name: name.get_ref().clone(),
        values,
    })
}

fn target_of(lines: &Lines<'_>, said: &Spanned<TargetInFile>) -> Result<TargetDesign, DesignError> {
    let line = lines.of(said.span().start);
    let target = match said.get_ref() {
        TargetInFile::Word(at) => TargetDesign {
            name: name_of(at),
            at: at.clone(),
            line,
        },
        TargetInFile::Named(NamedTarget { name, at }) => TargetDesign {
            name: name.clone(),
            at: at.clone(),
            line,
        },
    };
    if !is_name(&target.name) {
        return Err(lines.error(
            said.span().start,
            Flaw::Name {
                key: "target".to_owned(),
                value: target.name.chars().take(60).collect(),
            },
        ));
    }
    let is_url = target
        .at
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(|letter| letter.is_ascii_alphanumeric()));
    if !is_url && !target.at.starts_with('/') {
        return Err(lines.error(said.span().start, Flaw::RelativeTarget(target.at)));
    }
    Ok(target)
}

/// What a target is called that has no name: its kind, or its path.
fn name_of(at: &str) -> String {
    match at.strip_prefix("make:") {
        Some(wish) => wish.split('?').next().unwrap_or(wish).to_owned(),
        // Parameters say how a server is spoken to.
        None if at.starts_with("nfs://") => at
            .split('?')
            .next()
            .unwrap_or(at)
            .chars()
            .take(60)
            .collect(),
        None if at.chars().count() <= 60 => at.to_owned(),
        None => {
            let from = at
                .char_indices()
                .rev()
                .nth(57)
                .map_or(0, |(index, _)| index);
            format!("…{}", &at[from..])
        }
    }
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
    let age = value.as_integer().and_then(|age| u64::try_from(age).ok());
    age.filter(|age| *age <= AGE_MAX)
        .ok_or_else(|| out_of_range("age", &word(value), 0, AGE_MAX as u32))
}

/// How full a file system is, in percent.
pub(crate) fn fullness(value: &Value) -> Result<u32, Flaw> {
    let percent = value
        .as_integer()
        .and_then(|percent| u32::try_from(percent).ok());
    percent
        .filter(|percent| *percent <= FULLNESS_MAX)
        .ok_or_else(|| out_of_range("fullness", &word(value), 0, FULLNESS_MAX))
}

/// Whether an option of a run can be this.
fn check_option(key: &str, value: &Value) -> Result<(), Flaw> {
    if OWN.contains(&key) {
        return Err(Flaw::Own(key.to_owned()));
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
        Flaw::Option { key: keys, why }
    })
}
