//! What a study came to, cell by cell, with what a paper printed of the same work.

use std::collections::BTreeMap;

use record::Fact;
use serde::Serialize;
use study::pairs::INVALID_MAX;
use study::statistics::{BLOCKS_MIN, Mean, Middle, mean};
use study::{Design, Flaw, PaperLayout, StudyCell, StudyComparisons};
use workload::presets::{self, Machine};

use super::measured::PaperRun;
use crate::library::{Library, PublishedError, Row, rows};
use crate::number::{Interval, PrintedNumber, Unit};
use crate::shape::ConfigurationShape;
use crate::source::{Figure, PublishedTable, Source};

/// Why results cannot be laid out.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The paper has no such system.
    #[error("counterparts.{target} = \"{system}\": {paper} has no such system (use one of {})",
        .systems.join(", "))]
    NoSuchSystem {
        /// The target whose counterpart it is to be.
        target: String,
        /// What was given.
        system: String,
        /// The source.
        paper: String,
        /// The systems that it has.
        systems: Vec<String>,
    },
    /// The design has no cells.
    #[error(transparent)]
    Design(#[from] Flaw),
    /// The published results cannot be had.
    #[error(transparent)]
    Published(#[from] PublishedError),
}

/// The results of a study as a paper would show them.
#[derive(Clone, Debug, Serialize)]
pub struct LayoutResults {
    /// The layout's name.
    #[serde(serialize_with = "name")]
    pub layout: PaperLayout,
    /// The study's name.
    pub study: String,
    /// The source whose layout it is.
    pub source: String,
    /// The works, in order: lines or tables.
    pub works: Vec<StudiedWork>,
    /// The systems, in order: those of the study, then those of the paper.
    pub systems: Vec<StudiedSystem>,
    /// What came out, where there is something.
    pub values: Vec<StudiedValue>,
    /// Blocks in which every run of a cell was INVALID, by work and system: they are in no number.
    pub invalid: Vec<InvalidBlocks>,
    /// Whether the same system seems to differ from itself, so that every number is to be doubted.
    pub is_doubtful: bool,
    /// The error of an interval, or of several that hold together.
    #[serde(skip)]
    pub alpha: f64,
    /// By work, system and figure, what each block came to.
    #[serde(skip)]
    blocks: BTreeMap<(usize, usize, Figure), BlockValues>,
}

/// Blocks of a cell that are in no number, because its runs there were INVALID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InvalidBlocks {
    /// The work, counted from 0.
    pub work: usize,
    /// The system, counted from 0.
    pub system: usize,
    /// How many blocks.
    pub invalid: u32,
    /// Of how many.
    pub all: u32,
}

fn name<S: serde::Serializer>(layout: &PaperLayout, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(layout.name())
}

/// One work of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudiedWork {
    /// Its name in the study.
    pub name: String,
    /// What it is; nothing of mixes, and where no run tells it.
    pub shape: Option<ConfigurationShape>,
    /// What is unlike published work, but for its shape.
    pub differences: Vec<String>,
    /// The published configuration that it is, or that its preset has.
    pub published: Option<ConfigurationShape>,
    /// The names of that configuration's tables, as titles have them: `Table 1`.
    pub tables: Vec<String>,
}

impl StudiedWork {
    /// Whether its numbers can stand beside published ones.
    pub fn is_as_published(&self) -> bool {
        self.shape.is_some() && self.shape == self.published && self.differences.is_empty()
    }

    /// The configuration as heads of tables have it; the name of what has none.
    pub fn label(&self) -> String {
        self.shape
            .map_or_else(|| self.name.clone(), |shape| shape.label())
    }
}

/// A system with results: a target of the study, or a system of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct StudiedSystem {
    /// What stands over its column.
    pub name: String,
    /// Machine and file system.
    pub description: Fact<String>,
    /// Who measured it; not applicable to targets of the study.
    pub contributor: Fact<String>,
    /// Whether it is the paper's.
    pub is_published: bool,
    /// The build of the operating system, where the paper has several.
    pub variant: Option<String>,
    /// Of a target: the system of the paper that it is compared with.
    pub counterpart: Option<String>,
    /// Whether it is no target, but something that the layout has a column of.
    pub is_expected: bool,
    /// Whether it is a server that the program speaks to by itself: no kernel's client lies
    /// between.
    #[serde(skip)]
    pub is_user_space: bool,
}

/// One number, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudiedValue {
    /// The work, counted from 0.
    pub work: usize,
    /// The system, counted from 0.
    pub system: usize,
    /// What it is.
    pub figure: Figure,
    /// Of an improvement: over which system, counted from 0.
    pub over: Option<usize>,
    /// What came out.
    pub value: ShownValue,
}

/// What came out, in the units of [`PaperRun`]; an improvement in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownValue {
    /// By the study.
    Measured(MeasuredValue),
    /// In the paper.
    Printed {
        /// As printed.
        printed: String,
        /// What that says, in the unit that it is printed in.
        value: f64,
        /// The unit.
        unit: Unit,
    },
    /// Nowhere.
    Missing {
        /// Why.
        why: String,
    },
}

/// The middle of blocks, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeasuredValue {
    /// The median over the blocks.
    pub median: f64,
    /// The least of a block.
    pub least: f64,
    /// The greatest of a block.
    pub greatest: f64,
    /// How many blocks.
    pub blocks: u32,
}

/// How many times one value is another, from pairs within blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The geometric mean over the blocks.
    pub ratio: f64,
    /// Its interval; nothing of fewer blocks than an interval needs.
    pub interval: Option<Interval>,
    /// How many blocks.
    pub blocks: u32,
}

/// The runs of a cell: by block and attempt, values of the run and its twin.
#[derive(Clone, Debug, Default)]
struct BlockValues(BTreeMap<u32, BTreeMap<u32, Vec<f64>>>);

/// The geometric mean, where there is one: as comparisons take a baseline and its twin.
fn middle(values: &[f64]) -> f64 {
    if let [value] = values {
        return *value;
    }
    if values.iter().all(|value| *value > 0.0) {
        mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp()
    } else {
        mean(values)
    }
}

impl BlockValues {
    fn add(&mut self, run: &PaperRun, value: f64) {
        let attempts = self.0.entry(run.part.block).or_default();
        attempts.entry(run.part.attempt).or_default().push(value);
    }

    /// A value for each block: of its last attempt.
    fn each(&self) -> Vec<f64> {
        let last = |attempts: &BTreeMap<u32, Vec<f64>>| {
            attempts.values().next_back().map(|values| middle(values))
        };
        self.0.values().filter_map(last).collect()
    }

    fn measured(&self) -> Option<MeasuredValue> {
        let each = self.each();
        let blocks = count(each.len());
        let Middle {
            median,
            least,
            greatest,
        } = Middle::of(each)?;
        Some(MeasuredValue {
            median,
            least,
            greatest,
            blocks,
        })
    }

    /// These over those, in the blocks that both have, at the same attempt.
    fn over(&self, other: &Self, alpha: f64) -> Option<PairedRatio> {
        let mut logs = Vec::new();
        for (block, attempts) in &self.0 {
            let Some(others) = other.0.get(block) else {
                continue;
            };
            let pair = attempts
                .iter()
                .rev()
                .find_map(|(attempt, values)| Some(middle(values) / middle(others.get(attempt)?)));
            logs.extend(pair.map(f64::ln).filter(|log| log.is_finite()));
        }
        if logs.is_empty() {
            return None;
        }
        let blocks = count(logs.len());
        let interval = Mean::of(&logs)
            .filter(|_| blocks >= BLOCKS_MIN)
            .map(|mean| {
                let (low, high) = mean.interval(alpha);
                Interval {
                    low: low.exp(),
                    high: high.exp(),
                }
            });
        Some(PairedRatio {
            ratio: mean(&logs).exp(),
            interval,
            blocks,
        })
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The source whose tables a layout has.
pub const fn source_of(layout: PaperLayout) -> &'static str {
    match layout {
        PaperLayout::Tr3022 => "paper",
        PaperLayout::Veritas => "veritas",
        PaperLayout::Sessions => "lfs",
        PaperLayout::Submissions => "mail-page",
        PaperLayout::Completion => "nfs-iscsi",
    }
}

/// What a session of the original reports, in its order.
pub const SESSION: [Figure; 21] = [
    Figure::Elapsed,
    Figure::TransactionsTime,
    Figure::TransactionsRate,
    Figure::Created,
    Figure::CreatedRate,
    Figure::CreatedAlone,
    Figure::CreatedAloneRate,
    Figure::CreatedMixed,
    Figure::CreatedMixedRate,
    Figure::Read,
    Figure::ReadRate,
    Figure::Appended,
    Figure::AppendedRate,
    Figure::Deleted,
    Figure::DeletedRate,
    Figure::DeletedAlone,
    Figure::DeletedAloneRate,
    Figure::DeletedMixed,
    Figure::DeletedMixedRate,
    Figure::DataReadRate,
    Figure::DataWrittenRate,
];

/// The figures of a layout, in order.
pub const fn figures_of(layout: PaperLayout) -> &'static [Figure] {
    match layout {
        PaperLayout::Tr3022 | PaperLayout::Submissions => &[
            Figure::TransactionsRate,
            Figure::DataReadRate,
            Figure::DataWrittenRate,
        ],
        PaperLayout::Veritas => &[Figure::TransactionsRate],
        PaperLayout::Sessions => &SESSION,
        PaperLayout::Completion => &[Figure::Elapsed, Figure::Messages, Figure::CpuTime],
    }
}

/// Protocols that the layout `completion` has columns of, with their names: what is not there was
/// not measured.
const PROTOCOLS: [(&str, &str); 5] = [
    ("block device", "block device"),
    ("nfs3", "NFS v3"),
    ("nfs3 in user space", "NFS v3 in user space"),
    ("nfs4.2", "NFS v4.2"),
    ("iscsi", "iSCSI"),
];

/// What NFS in user space stands for in the paper, where the study file does not say it.
const USER_SPACE_COUNTERPART: &str = "NFS v3";

/// Why a number is missing though there are runs.
pub const UNKNOWN: &str = "the runs do not know it";

/// Refuses counterparts that the paper does not have.
///
/// # Errors
/// The first of them.
pub fn check(layout: PaperLayout, design: &Design, library: &Library) -> Result<(), LayoutError> {
    let paper = source(library, layout)?;
    for (target, system) in &design.counterparts {
        if paper.systems.iter().all(|known| known.column != *system) {
            return Err(LayoutError::NoSuchSystem {
                target: target.clone(),
                system: system.clone(),
                paper: paper.name.clone(),
                systems: paper
                    .systems
                    .iter()
                    .map(|known| known.column.clone())
                    .collect(),
            });
        }
    }
    Ok(())
}

fn source(library: &Library, layout: PaperLayout) -> Result<&Source, PublishedError> {
    let name = source_of(layout);
    let found = library.sources.iter().find(|source| source.name == name);
    found.ok_or_else(|| PublishedError::NoSuchName {
        given: name.to_owned(),
        names: library.names(),
    })
}

impl LayoutResults {
    /// The results of a study's runs, and of the paper those of the same work. `compared` is the
    /// same study as it compares its cells.
    ///
    /// # Errors
    /// Where the paper lacks a counterpart.
    pub fn of(
        layout: PaperLayout,
        design: &Design,
        runs: &[PaperRun],
        compared: &StudyComparisons,
        library: &Library,
    ) -> Result<Self, LayoutError> {
        if design.layout.is_none_or(|own| own == layout) {
            check(layout, design, library)?;
        }
        let paper = source(library, layout)?;
        let cells = design.cells()?;
        let mut results = Self {
            layout,
            study: design.name.clone(),
            source: paper.name.clone(),
            works: Vec::new(),
            systems: Vec::new(),
            values: Vec::new(),
            invalid: Vec::new(),
            is_doubtful: compared.is_doubtful(),
            alpha: compared.alpha,
            blocks: BTreeMap::new(),
        };
        let places = results.add_study(design, &cells, runs);
        results.add_missing_protocols(runs);
        results.add_values(runs, &places);
        results.add_paper(paper);
        Ok(results)
    }

    /// Works and systems of the study; where each run belongs: by the label of its cell.
    fn add_study(
        &mut self,
        design: &Design,
        cells: &[StudyCell],
        runs: &[PaperRun],
    ) -> BTreeMap<String, (usize, usize)> {
        let mut sides: Vec<Option<&str>> = Vec::new();
        for run in runs {
            let side = run.part.side.as_deref();
            if !sides.contains(&side) {
                sides.push(side);
            }
        }
        if sides.is_empty() {
            sides.push(None);
        }
        // They are of the paper whose layout the study file names.
        let is_other = design.layout.is_some_and(|own| own != self.layout);
        let none = BTreeMap::new();
        let counterparts = if is_other {
            &none
        } else {
            &design.counterparts
        };
        for target in &design.targets {
            let is_user_space = target.is_of_server();
            let counterpart = counterparts.get(&target.name).cloned();
            let counterpart = counterpart.or_else(|| {
                let is_for = is_user_space && self.layout == PaperLayout::Completion && !is_other;
                is_for.then(|| USER_SPACE_COUNTERPART.to_owned())
            });
            for side in &sides {
                self.systems.push(StudiedSystem {
                    name: match side {
                        None => target.name.clone(),
                        Some(side) => format!("{} {side}", target.name),
                    },
                    description: Fact::Unavailable("it was not measured".to_owned()),
                    contributor: Fact::NotApplicable,
                    is_published: false,
                    variant: None,
                    counterpart: counterpart.clone(),
                    is_expected: false,
                    is_user_space,
                });
            }
        }
        let mut places = BTreeMap::new();
        let mut works: Vec<(usize, Vec<&str>)> = Vec::new();
        for cell in cells {
            let values = cell
                .coordinates
                .iter()
                .filter(|at| !matches!(at.dimension.as_str(), "target" | "workload"));
            let key = (
                cell.workload,
                values
                    .clone()
                    .map(|at| at.value.as_str())
                    .collect::<Vec<_>>(),
            );
            let work = works
                .iter()
                .position(|known| *known == key)
                .unwrap_or_else(|| {
                    let mut words = Vec::new();
                    if design.workloads.len() > 1 || key.1.is_empty() {
                        words.push(design.workloads[cell.workload].name.clone());
                    }
                    words.extend(values.map(|at| format!("{}={}", at.dimension, at.value)));
                    let preset = design.workloads[cell.workload].preset.as_deref();
                    self.works.push(StudiedWork {
                        name: words.join(" "),
                        shape: None,
                        differences: Vec::new(),
                        published: preset.and_then(shape_of_preset),
                        tables: Vec::new(),
                    });
                    works.push(key);
                    works.len() - 1
                });
            for (number, side) in sides.iter().enumerate() {
                let label =
                    side.map_or_else(|| cell.label.clone(), |side| cell.label_of_side(side));
                places.insert(label, (work, cell.target * sides.len() + number));
            }
        }
        for run in runs {
            let Some((work, system)) = places.get(&run.part.cell) else {
                continue;
            };
            self.works[*work].shape = run.shape.map(|(shape, _)| shape);
            self.works[*work].differences.clone_from(&run.differences);
            self.systems[*system].description = Fact::Known(run.description.clone());
        }
        places
    }

    /// Columns of protocols that no target has.
    fn add_missing_protocols(&mut self, runs: &[PaperRun]) {
        if self.layout != PaperLayout::Completion {
            return;
        }
        for (protocol, name) in PROTOCOLS {
            if runs
                .iter()
                .any(|run| run.protocol.as_deref() == Some(protocol))
            {
                continue;
            }
            self.systems.push(StudiedSystem {
                name: name.to_owned(),
                description: Fact::Unavailable(format!("the study has no target with {name}")),
                contributor: Fact::NotApplicable,
                is_published: false,
                variant: None,
                counterpart: None,
                is_expected: true,
                is_user_space: false,
            });
        }
    }

    fn add_values(&mut self, runs: &[PaperRun], places: &BTreeMap<String, (usize, usize)>) {
        let mut counted: BTreeMap<(usize, usize), BTreeMap<u32, bool>> = BTreeMap::new();
        for run in runs {
            let Some((work, system)) = places.get(&run.part.cell).copied() else {
                continue;
            };
            let blocks = counted.entry((work, system)).or_default();
            *blocks.entry(run.part.block).or_default() |= run.is_counted;
            for (figure, value) in run.figures.iter().filter(|_| run.is_counted) {
                self.blocks
                    .entry((work, system, *figure))
                    .or_default()
                    .add(run, *value);
            }
        }
        for ((work, system), blocks) in counted {
            let invalid = count(blocks.values().filter(|is_counted| !**is_counted).count());
            if invalid > 0 {
                self.invalid.push(InvalidBlocks {
                    work,
                    system,
                    invalid,
                    all: count(blocks.len()),
                });
            }
        }
        for work in 0..self.works.len() {
            for system in 0..self.systems.len() {
                for figure in figures_of(self.layout) {
                    let blocks = self.blocks.get(&(work, system, *figure));
                    let value = match blocks.and_then(BlockValues::measured) {
                        Some(measured) => ShownValue::Measured(measured),
                        None => ShownValue::Missing {
                            why: self.why_missing(work, system),
                        },
                    };
                    self.values.push(StudiedValue {
                        work,
                        system,
                        figure: *figure,
                        over: None,
                        value,
                    });
                }
            }
        }
    }

    fn why_missing(&self, work: usize, system: usize) -> String {
        let mut of_cell = self
            .blocks
            .keys()
            .filter(|(of, by, _)| (*of, *by) == (work, system));
        if of_cell.next().is_some() {
            return UNKNOWN.to_owned();
        }
        match (
            self.invalid_of(work, system),
            self.systems[system].description.why(),
        ) {
            (Some(_), _) => "not measured: all of its runs are INVALID".to_owned(),
            (None, Some(why)) if self.systems[system].is_expected => format!("not measured: {why}"),
            (None, _) => "not measured".to_owned(),
        }
    }

    /// The blocks of a cell that are in no number; nothing where all of them are.
    pub fn invalid_of(&self, work: usize, system: usize) -> Option<&InvalidBlocks> {
        self.invalid
            .iter()
            .find(|one| (one.work, one.system) == (work, system))
    }

    /// Whether a cell has so many INVALID blocks that it is compared with nothing.
    fn is_too_invalid(&self, (work, system): (usize, usize)) -> bool {
        let of_cell = self.invalid_of(work, system);
        of_cell.is_some_and(|one| f64::from(one.invalid) > INVALID_MAX * f64::from(one.all))
    }

    /// The paper's rows of the study's works.
    fn add_paper(&mut self, paper: &Source) {
        let mut known: Vec<(String, Option<String>)> = Vec::new();
        let first = self.systems.len();
        for work in 0..self.works.len() {
            let has = |shape: &ConfigurationShape| {
                let of = |one| ConfigurationShape::of_configuration(one) == *shape;
                paper.configurations.iter().any(of)
            };
            let of_work = &self.works[work];
            let Some(shape) = [of_work.shape, of_work.published]
                .into_iter()
                .flatten()
                .find(has)
            else {
                self.works[work].published = None;
                continue;
            };
            self.works[work].published = Some(shape);
            for table in &paper.tables {
                let of_table = rows(paper, table);
                let of_work = of_table
                    .iter()
                    .filter(|row| ConfigurationShape::of_configuration(row.configuration) == shape);
                let mut is_in = false;
                for row in of_work {
                    is_in = true;
                    let key = (row.system.name.clone(), row.variant.clone());
                    let system = known.iter().position(|one| *one == key).unwrap_or_else(|| {
                        known.push(key.clone());
                        self.systems.push(published_system(row));
                        known.len() - 1
                    });
                    self.add_row(row, work, first + system);
                }
                if is_in {
                    let title = table
                        .title
                        .split_once(':')
                        .map_or(&*table.title, |(first, _)| first);
                    self.works[work].tables.push(title.to_owned());
                    self.add_improvements(paper, table, work, &known, first);
                }
            }
        }
    }

    fn add_row(&mut self, row: &Row<'_>, work: usize, system: usize) {
        for figure in figures_of(self.layout) {
            let Some((cell, unit)) = row.figures.get(figure) else {
                continue;
            };
            self.values.push(StudiedValue {
                work,
                system,
                figure: *figure,
                over: None,
                value: printed(&cell.0, *unit),
            });
        }
    }

    /// Printed improvements of a table at a work.
    fn add_improvements(
        &mut self,
        paper: &Source,
        table: &PublishedTable,
        work: usize,
        known: &[(String, Option<String>)],
        first: usize,
    ) {
        let Some(shape) = self.works[work].published else {
            return;
        };
        for place in table
            .places()
            .filter(|place| place.of.figure == Some(Figure::Improvement))
        {
            let is_of_work = match place.of.configurations.as_slice() {
                [name] => paper
                    .configuration(name)
                    .is_some_and(|one| ConfigurationShape::of_configuration(one) == shape),
                _ => false,
            };
            let find = |name: &Option<String>| {
                let is_same = |(system, variant): &&(String, Option<String>)| {
                    Some(system) == name.as_ref() && *variant == place.of.variant
                };
                known
                    .iter()
                    .position(|one| is_same(&one))
                    .map(|at| first + at)
            };
            let (Some(system), Some(over), true) =
                (find(&place.of.system), find(&place.of.over), is_of_work)
            else {
                continue;
            };
            self.values.push(StudiedValue {
                work,
                system,
                figure: Figure::Improvement,
                over: Some(over),
                value: printed(&place.cell.0, Unit::Percent),
            });
        }
    }

    /// What came out.
    pub fn value(
        &self,
        work: usize,
        system: usize,
        figure: Figure,
        over: Option<usize>,
    ) -> Option<&ShownValue> {
        let is_it = |value: &&StudiedValue| {
            (value.work, value.system, value.figure, value.over) == (work, system, figure, over)
        };
        self.values.iter().find(is_it).map(|value| &value.value)
    }

    /// The median of what was measured.
    pub fn median(&self, work: usize, system: usize, figure: Figure) -> Option<f64> {
        match self.value(work, system, figure, None)? {
            ShownValue::Measured(measured) => Some(measured.median),
            ShownValue::Printed { .. } | ShownValue::Missing { .. } => None,
        }
    }

    /// What was printed of a figure, and what its digits leave open.
    pub fn printed(&self, work: usize, system: usize, figure: Figure) -> Option<(f64, Interval)> {
        match self.value(work, system, figure, None)? {
            ShownValue::Printed {
                printed,
                value,
                unit,
            } => {
                let number: PrintedNumber = printed.parse().ok()?;
                Some((*value, Interval::of(&number, *unit)))
            }
            ShownValue::Measured(_) | ShownValue::Missing { .. } => None,
        }
    }

    /// How many times one system's value at a work is another's, perhaps at another work; nothing
    /// where they have no block in common, or too many INVALID ones. `alpha`: the error of the
    /// interval.
    pub fn ratio(
        &self,
        figure: Figure,
        (work, system): (usize, usize),
        (other_work, other_system): (usize, usize),
        alpha: f64,
    ) -> Option<PairedRatio> {
        if self.is_too_invalid((work, system)) || self.is_too_invalid((other_work, other_system)) {
            return None;
        }
        let one = self.blocks.get(&(work, system, figure))?;
        let other = self.blocks.get(&(other_work, other_system, figure))?;
        one.over(other, alpha)
    }

    /// The most blocks that a value is of.
    pub fn blocks_max(&self) -> u32 {
        let blocks = self.values.iter().map(|value| match &value.value {
            ShownValue::Measured(measured) => measured.blocks,
            ShownValue::Printed { .. } | ShownValue::Missing { .. } => 0,
        });
        blocks.max().unwrap_or(0)
    }

    /// The systems of the study, counted from 0.
    pub fn own(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.systems.len()).filter(|system| !self.systems[*system].is_published)
    }

    /// The systems of the paper, counted from 0.
    pub fn published(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.systems.len()).filter(|system| self.systems[*system].is_published)
    }
}

fn shape_of_preset(name: &str) -> Option<ConfigurationShape> {
    let preset = presets::find(name, &Machine::SMALL)?;
    ConfigurationShape::of(&preset.workload).map(|(shape, _)| shape)
}

fn published_system(row: &Row<'_>) -> StudiedSystem {
    StudiedSystem {
        name: row.system.column.clone(),
        description: row.system.description.clone(),
        contributor: row.system.contributor.clone(),
        is_published: true,
        variant: row.variant.clone(),
        counterpart: None,
        is_expected: false,
        is_user_space: false,
    }
}

fn printed(number: &Fact<PrintedNumber>, unit: Unit) -> ShownValue {
    match number {
        Fact::Known(number) => ShownValue::Printed {
            printed: number.printed.clone(),
            value: number.value,
            unit,
        },
        Fact::NotApplicable => ShownValue::Missing {
            why: "not applicable".to_owned(),
        },
        Fact::Unavailable(why) => ShownValue::Missing { why: why.clone() },
    }
}
