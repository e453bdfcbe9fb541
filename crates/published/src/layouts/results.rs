//! The results of a study for each workload and system, with published values for the same
//! workload.

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

/// The results of a study in the layout of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct LayoutResults {
    #[serde(serialize_with = "name")]
    pub layout: PaperLayout,
    pub study: String,
    /// The name of the published source that the layout follows.
    pub source: String,
    /// The workloads of the study, in order. Depending on the layout, each workload is a row or a
    /// table.
    pub works: Vec<StudiedWork>,
    /// The systems, in order: those of the study, then those of the paper.
    pub systems: Vec<StudiedSystem>,
    /// The measured and printed values, and the reasons why values are missing.
    pub values: Vec<StudiedValue>,
    /// Blocks in which all runs of a workload on a system were INVALID. No value includes these
    /// blocks.
    pub invalid: Vec<InvalidBlocks>,
    /// Whether the A/A control of the study differs significantly, so that all values are doubtful.
    pub is_doubtful: bool,
    /// The error probability of an interval, or of a group of simultaneous intervals.
    #[serde(skip)]
    pub alpha: f64,
    /// The values of each block. The key contains the indices of workload and system, and the
    /// figure.
    #[serde(skip)]
    pub(super) blocks: BTreeMap<(usize, usize, Figure), BlockValues>,
}

/// The number of excluded blocks for a workload on a system. A block is excluded if all its runs
/// were INVALID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InvalidBlocks {
    /// Index in [`LayoutResults::works`].
    pub work: usize,
    /// Index in [`LayoutResults::systems`].
    pub system: usize,
    pub invalid: u32,
    /// The number of blocks, including the INVALID ones.
    pub all: u32,
}

fn name<S: serde::Serializer>(layout: &PaperLayout, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(layout.name())
}

/// A work of a study: a workload with its parameters.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StudiedWork {
    pub name: String,
    /// The configuration of the runs; `None` for a mix, or if there are no runs.
    pub shape: Option<ConfigurationShape>,
    /// Parameters, other than the configuration, in which this workload differs from published
    /// ones.
    pub differences: Vec<String>,
    /// The published configuration with the same numbers as the configuration of the runs or of the
    /// preset.
    pub published: Option<ConfigurationShape>,
    /// The short titles, such as `Table 1`, of the paper's tables with the configuration
    /// `published`.
    pub tables: Vec<String>,
}

impl StudiedWork {
    /// Returns whether the numbers of this work are comparable with published numbers.
    pub fn is_as_published(&self) -> bool {
        self.shape.is_some() && self.shape == self.published && self.differences.is_empty()
    }

    /// Returns the configuration as in the headers of published tables, or the name of the work if
    /// it has no configuration.
    pub fn label(&self) -> String {
        self.shape
            .map_or_else(|| self.name.clone(), |shape| shape.label())
    }
}

/// A system with results: a target of the study, or a system of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct StudiedSystem {
    /// The header of the system's column.
    pub name: String,
    /// The machine and the file system.
    pub description: Fact<String>,
    /// The person or organisation that measured the system; not applicable to targets of the study.
    pub contributor: Fact<String>,
    /// Whether this is a system of the paper, and not a target of the study.
    pub is_published: bool,
    /// The build of the operating system, if the paper has several.
    pub variant: Option<String>,
    /// The system of the paper with which a target of the study is compared.
    pub counterpart: Option<String>,
    /// Whether this is an empty column, for a protocol that the layout expects but no run of the
    /// study used.
    pub is_expected: bool,
    /// Whether this is a server that an engine of this program accesses from user space, without
    /// the kernel's client.
    #[serde(skip)]
    pub is_user_space: bool,
}

impl StudiedSystem {
    /// Creates a target of the study without a counterpart.
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

/// A value for a workload on a system, or the reason why it is missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudiedValue {
    /// Index in [`LayoutResults::works`].
    pub work: usize,
    /// Index in [`LayoutResults::systems`].
    pub system: usize,
    pub figure: Figure,
    /// For an improvement, the index of the system with which `system` is compared.
    pub over: Option<usize>,
    pub value: ShownValue,
}

/// A measured or printed value, in the units of [`PaperRun`]; improvements are in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownValue {
    Measured(MeasuredValue),
    Printed {
        printed: String,
        /// The numeric value of the text, in the printed unit.
        value: f64,
        unit: Unit,
    },
    Missing {
        why: String,
    },
}

/// The reason for a missing value if there are runs, but none of them contains the value.
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

    /// Returns the entry of a workload and a system in `invalid`, or `None` if none of their blocks
    /// was INVALID.
    pub fn invalid_of(&self, work: usize, system: usize) -> Option<&InvalidBlocks> {
        self.invalid
            .iter()
            .find(|one| (one.work, one.system) == (work, system))
    }

    /// Returns whether a workload on a system has too many INVALID blocks to be compared.
    fn is_too_invalid(&self, (work, system): (usize, usize)) -> bool {
        let of_cell = self.invalid_of(work, system);
        of_cell.is_some_and(|one| f64::from(one.invalid) > INVALID_MAX * f64::from(one.all))
    }

    /// Returns a value, or `None` if the layout does not contain it.
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

    /// Returns the median of a value over the blocks, or `None` if the value was not measured.
    pub fn median(&self, work: usize, system: usize, figure: Figure) -> Option<f64> {
        match self.value(work, system, figure, None)? {
            ShownValue::Measured(measured) => Some(measured.median),
            _ => None,
        }
    }

    /// Returns a printed value, and the interval of values that its printed digits allow.
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

    /// Returns the ratio of a system's value to the value of another system or workload. Returns
    /// `None` if no block contains both values, or if too many blocks are INVALID. `alpha` is the
    /// error probability of the confidence interval.
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

    /// Returns the largest number of blocks of any value.
    pub fn blocks_max(&self) -> u32 {
        let blocks = self.values.iter().map(|value| match &value.value {
            ShownValue::Measured(measured) => measured.blocks,
            _ => 0,
        });
        blocks.max().unwrap_or(0)
    }

    /// Returns the indices of the study's systems.
    pub fn own(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.systems.len()).filter(|system| !self.systems[*system].is_published)
    }

    /// Returns the indices of the paper's systems.
    pub fn published(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.systems.len()).filter(|system| self.systems[*system].is_published)
    }

    /// Returns the builds of operating systems in the paper, without duplicates.
    pub fn variants(&self) -> Vec<Option<String>> {
        distinct(
            self.published()
                .map(|system| self.systems[system].variant.clone()),
        )
    }

    /// Returns pairs of a system of the study and its counterpart in the paper, in the paper's
    /// order. Both systems must have a value of the figure.
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
