//! A study file: its keys, and the design that they describe.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use spec::Time;
use toml::{Spanned, Table, Value};

use crate::design::{
    Axis, BLOCKS, BLOCKS_UNTIL, Design, QUIET, WorkloadDesign, age, check_option, fullness,
    is_name, whole, word,
};
use crate::flaw::{CELLS_MAX, DesignError, Flaw, Lines};
use crate::metric::Metric;
use crate::statistics::BLOCKS_MAX;
use crate::target_entry::{TargetEntry, target_of};

/// The keys of a study file, before their values are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    name: Option<Spanned<String>>,
    order_seed: Option<u64>,
    blocks: Option<Spanned<i64>>,
    until: Option<Spanned<String>>,
    time_limit: Option<Time>,
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
    targets: Vec<Spanned<TargetEntry>>,
}

impl File {
    /// Rejects too many cells. The number of cells is checked before the values of the axes,
    /// because there may be too many values to check.
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
            flaw: Flaw::too_many_cells(cells),
        })
    }

    /// Returns the design without its workloads, axes and targets, which the caller adds.
    fn settings(&self, lines: &Lines<'_>, text: &str) -> Result<Design, DesignError> {
        let blocks = self.blocks.as_ref().map(|said| {
            let blocks = whole("blocks", &Value::Integer(*said.get_ref()), 1..=BLOCKS_MAX);
            blocks.map_err(|flaw| lines.error(said.span().start, flaw))
        });
        let blocks = blocks.transpose()?;
        let until = self
            .until
            .as_ref()
            .map(|until| percent(lines, until))
            .transpose()?;
        let name = match &self.name {
            Some(name) => named(lines, "name", name)?,
            None => String::new(),
        };
        let metrics = self.metrics.iter();
        let metrics = metrics.map(|metric| parsed(lines, "metrics", metric));
        let layout = self.layout.as_ref();
        let layout = layout.map(|layout| parsed(lines, "layout", layout));
        let mut design = Design {
            name,
            seed: self.order_seed.unwrap_or(1),
            blocks: blocks.unwrap_or(match (until, self.time_limit) {
                (Some(_), _) => BLOCKS_UNTIL,
                (None, Some(_)) => BLOCKS_MAX,
                (None, None) => BLOCKS,
            }),
            until,
            time_limit: self.time_limit.map(|time| Duration::from_nanos(time.0)),
            twin: self.twin.unwrap_or(true),
            baseline: self
                .baseline
                .as_ref()
                .map(|baseline| baseline.get_ref().clone()),
            quiet: self
                .quiet_time
                .map_or(QUIET, |time| Duration::from_nanos(time.0)),
            metrics: metrics.collect::<Result<_, _>>()?,
            layout: layout.transpose()?,
            counterparts: BTreeMap::new(),
            workloads: Vec::new(),
            axes: Vec::new(),
            targets: Vec::new(),
            text: text.to_owned(),
        };
        if design.metrics.is_empty() {
            design.metrics.push(Metric::Transactions);
        }
        Ok(design)
    }

    fn add_workloads(&self, lines: &Lines<'_>, design: &mut Design) -> Result<(), DesignError> {
        for said in &self.workload {
            let workload = workload_of(lines, said)?;
            let others = design.workloads.iter().map(|other| &other.name);
            refuse_twice("workload", &workload.name, others)
                .map_err(|flaw| lines.error(said.span().start, flaw))?;
            design.workloads.push(workload);
        }
        Ok(())
    }

    fn add_axes(&self, lines: &Lines<'_>, design: &mut Design) -> Result<(), DesignError> {
        let mut axes: Vec<_> = self.axes.iter().collect();
        axes.sort_by_key(|(name, _)| name.span().start);
        for (name, values) in axes {
            design.axes.push(axis_of(lines, name, values)?);
        }
        Ok(())
    }

    fn add_targets(&self, lines: &Lines<'_>, design: &mut Design) -> Result<(), DesignError> {
        for target in &self.targets {
            let found = target_of(lines, target)?;
            let others = design.targets.iter().map(|other| &other.name);
            refuse_twice("target", &found.name, others)
                .map_err(|flaw| lines.error(target.span().start, flaw))?;
            design.targets.push(found);
        }
        for (target, system) in &self.counterparts {
            let name = target.get_ref();
            if design.targets.iter().all(|known| known.name != *name) {
                let flaw = Flaw(format!(
                    "counterparts.{name}: no target has this name (name the system of the paper \
                     by a target: ext4 = \"UFS\")"
                ));
                return Err(lines.error(target.span().start, flaw));
            }
            design.counterparts.insert(name.clone(), system.clone());
        }
        Ok(())
    }
}

impl Design {
    /// Parses a study file.
    ///
    /// # Errors
    /// Returns the line of the error, what is wrong, and what would be right.
    pub fn parse(text: &str) -> Result<Self, DesignError> {
        let lines = Lines(text);
        let file: File =
            spec::read_toml(text).map_err(|error| DesignError::of_toml(text, &error))?;
        file.refuse_many_cells(&lines)?;
        let mut design = file.settings(&lines, text)?;
        file.add_workloads(&lines, &mut design)?;
        file.add_axes(&lines, &mut design)?;
        file.add_targets(&lines, &mut design)?;
        let anywhere = |flaw| DesignError { line: None, flaw };
        let missing = |why: &str| Err(anywhere(Flaw(why.to_owned())));
        if design.workloads.is_empty() {
            return missing(
                "there is no workload (add a [[workload]] with a preset, or --preset NAME)",
            );
        }
        if design.targets.is_empty() {
            return missing(
                "there is no target (add targets = [\"make:ext4\", \"/mnt/disk\"], or --target \
                 DIRECTORY)",
            );
        }
        if design.name.is_empty() {
            let names: Vec<&str> = design
                .workloads
                .iter()
                .map(|workload| workload.name.as_str())
                .collect();
            design.name = names.join("+").chars().take(60).collect();
        }
        design.refuse_states_of_directories()?;
        if let Some(baseline) = &file.baseline {
            let compared = design.compared(&design.dimensions());
            compared.map_err(|flaw| lines.error(baseline.span().start, flaw))?;
        }
        design.cells().map_err(anywhere)?;
        Ok(design)
    }

    /// Rejects ageing and fill levels of directories and URLs: only a file system that the study
    /// makes can be filled and aged.
    fn refuse_states_of_directories(&self) -> Result<(), DesignError> {
        let is_axis = |key| self.axes.iter().any(|axis| axis.name == key);
        let workloads = || self.workloads.iter();
        let key = if is_axis("age") || workloads().any(|workload| workload.age > 0) {
            "age"
        } else if is_axis("fullness") || workloads().any(|workload| workload.fullness.is_some()) {
            "fullness"
        } else {
            return Ok(());
        };
        match self.targets.iter().find(|target| !target.is_made()) {
            None => Ok(()),
            Some(target) => Err(DesignError {
                line: Some(target.line),
                flaw: Flaw(format!(
                    "{key}: the target {} is a directory ({key} needs targets that the study \
                     makes, like make:ext4)",
                    target.name
                )),
            }),
        }
    }
}

fn parsed<T: FromStr<Err: Display>>(
    lines: &Lines<'_>,
    key: &str,
    said: &Spanned<String>,
) -> Result<T, DesignError> {
    said.get_ref().parse().map_err(|unknown: T::Err| {
        let flaw = Flaw::option(key, &unknown.to_string());
        lines.error(said.span().start, flaw)
    })
}

fn refuse_twice<'a>(
    dimension: &str,
    value: &str,
    mut others: impl Iterator<Item = &'a String>,
) -> Result<(), Flaw> {
    match others.any(|other| other == value) {
        true => Err(Flaw(format!(
            "{dimension}: {value} is there twice (give each a name of its own: name = \"…\", or \
             on the command line NAME=…)"
        ))),
        false => Ok(()),
    }
}

/// Parses a percentage like `2%` as a fraction.
fn percent(lines: &Lines<'_>, said: &Spanned<String>) -> Result<f64, DesignError> {
    let number = said
        .get_ref()
        .trim()
        .strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|number| (0.1..=50.0).contains(number)) {
        Some(number) => Ok(number / 100.0),
        None => {
            let value = format!("\"{}\"", said.get_ref());
            let expected = "a percentage from 0.1% to 50%, like \"2%\"";
            Err(lines.error(said.span().start, Flaw::range("until", &value, expected)))
        }
    }
}

fn named(lines: &Lines<'_>, key: &str, said: &Spanned<String>) -> Result<String, DesignError> {
    let name = said.get_ref();
    match is_name(name) {
        true => Ok(name.clone()),
        false => Err(lines.error(said.span().start, Flaw::name(key, name))),
    }
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
                return Err(wrong(Flaw::name(key, &value.to_string())));
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
        let mut kinds = ["replay", "mix"].into_iter();
        let kind = kinds.find(|kind| workload.options.contains_key(*kind));
        let name = workload.preset.as_deref().or(kind).unwrap_or("classic");
        workload.name = name.to_owned();
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
            let (axis, value) = (name.get_ref(), word(value));
            return Err(wrong(Flaw(format!(
                "axes.{axis}: {value} is there twice (remove one)"
            ))));
        }
        values.push(value.clone());
    }
    if values.is_empty() {
        let flaw = Flaw(format!(
            "axes.{}: the axis is empty (give it at least one value, or remove it)",
            name.get_ref()
        ));
        return Err(lines.error(name.span().start, flaw));
    }
    Ok(Axis {
        name: name.get_ref().clone(),
        values,
    })
}
