//! What a study came to, cell by cell, with what a paper printed of the same work.

use std::collections::BTreeMap;

use record::Fact;
use serde::Serialize;
use study::PaperLayout;
use study::pairs::INVALID_MAX;

use super::blocks::{BlockValues, MeasuredValue, PairedRatio};
use crate::cells::distinct;
use crate::number::{Interval, PrintedNumber, Unit};
use crate::shape::ConfigurationShape;
use crate::source::Figure;

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
    pub(super) blocks: BTreeMap<(usize, usize, Figure), BlockValues>,
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
#[derive(Clone, Debug, Default, Serialize)]
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

impl StudiedSystem {
    /// A target of the study that stands for nothing.
    pub(super) fn new(name: String, description: Fact<String>) -> Self {
        Self {
            name,
            description,
            contributor: Fact::NotApplicable,
            is_published: false,
            variant: None,
            counterpart: None,
            is_expected: false,
            is_user_space: false,
        }
    }
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

/// Why a number is missing though there are runs.
pub const UNKNOWN: &str = "the runs do not know it";

impl LayoutResults {
    pub(super) fn add(
        &mut self,
        (work, system): (usize, usize),
        (figure, over): (Figure, Option<usize>),
        value: ShownValue,
    ) {
        self.values.push(StudiedValue {
            work,
            system,
            figure,
            over,
            value,
        });
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
            _ => None,
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
            _ => None,
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
            _ => 0,
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

    /// The builds that the paper has, each once.
    pub fn variants(&self) -> Vec<Option<String>> {
        distinct(
            self.published()
                .map(|system| self.systems[system].variant.clone()),
        )
    }

    /// The systems of the study with the paper's that they stand for, in the paper's order, where
    /// both have the figure.
    pub fn counterparts(
        &self,
        work: usize,
        figure: Figure,
        variant: Option<&str>,
    ) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for theirs in self.published() {
            let system = &self.systems[theirs];
            if system.variant.as_deref() != variant || self.printed(work, theirs, figure).is_none()
            {
                continue;
            }
            let has_figure = |ours: &usize| {
                self.systems[*ours].counterpart.as_ref() == Some(&system.name)
                    && self.median(work, *ours, figure).is_some()
            };
            pairs.extend(self.own().filter(has_figure).map(|ours| (ours, theirs)));
        }
        pairs
    }
}
