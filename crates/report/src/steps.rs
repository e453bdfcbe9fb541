//! The load levels of a sweep, ordered by load.

use document::units::{counted, rate};
use document::{Cell, Number};
use record::Load;
use verdict::{Summary, SweepStepSummary, SweepSummary};

/// Returns the load levels ordered by load, each with its index in the order of measurement, from
/// 0.
pub(crate) fn by_load(summary: &Summary) -> Vec<(usize, &SweepStepSummary)> {
    let steps = summary
        .sweep
        .iter()
        .flat_map(|sweep| sweep.sweep_steps.iter().enumerate());
    let mut steps: Vec<_> = steps.collect();
    steps.sort_by(|(_, one), (_, other)| value(one.load).total_cmp(&value(other.load)));
    steps
}

/// A load with its unit.
pub(crate) fn load(load: Load) -> String {
    match load {
        Load::Closed => "closed loop".to_owned(),
        Load::Rate(per_second) => format!("{} transactions/s", rate(Some(per_second))),
        Load::Workers(workers) => counted(workers.into(), "worker"),
        Load::Ranks(ranks) => counted(ranks.into(), "rank"),
        Load::Phase(number) => format!("phase {}", number + 1),
    }
}

/// The value of a load: transactions a second, workers or ranks.
fn value(load: Load) -> f64 {
    match load {
        Load::Closed => 0.0,
        Load::Rate(rate) => rate,
        Load::Workers(count) | Load::Ranks(count) | Load::Phase(count) => count.into(),
    }
}

/// Whether a load is `wanted` transactions a second, workers or ranks. False for a closed loop.
pub(crate) fn is_at(load: Load, wanted: f64) -> bool {
    !matches!(load, Load::Closed) && value(load) == wanted
}

/// The quantity that rises from one load level of a sweep to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swept {
    Rates,
    Workers,
    Ranks,
    /// Nothing rises: the levels are the phases of the workload, in their order.
    Phases,
}

impl Swept {
    pub(crate) fn of(sweep: &SweepSummary) -> Self {
        match sweep.sweep_steps.first().map(|step| step.load) {
            Some(Load::Workers(_)) => Self::Workers,
            Some(Load::Ranks(_)) => Self::Ranks,
            Some(Load::Phase(_)) => Self::Phases,
            Some(Load::Closed | Load::Rate(_)) | None => Self::Rates,
        }
    }

    /// The header of a column of numbers of load levels.
    pub(crate) const fn ordinal(self) -> &'static str {
        match self {
            Self::Phases => "Phase",
            Self::Rates | Self::Workers | Self::Ranks => "Level",
        }
    }

    /// The header of a column of loads.
    pub(crate) const fn column(self) -> &'static str {
        match self {
            Self::Rates => "offered/s",
            Self::Workers => "workers",
            Self::Ranks => "ranks",
            Self::Phases => "name",
        }
    }

    /// Formats a load with its unit.
    pub(crate) fn load(self, value: f64) -> String {
        match self {
            Self::Rates => format!("{} transactions/s", rate(Some(value))),
            Self::Workers => counted(value as u64, "worker"),
            Self::Ranks => counted(value as u64, "rank"),
            Self::Phases => format!("phase {}", value as u64 + 1),
        }
    }
}

/// The cell of a load in a column with the header of [`Swept::column`].
pub(crate) fn cell(step: &SweepStepSummary) -> Cell {
    match step.load {
        Load::Closed => "closed loop".into(),
        Load::Rate(rate) => Number::Rate(rate).into(),
        Load::Workers(count) | Load::Ranks(count) => Cell::count(count),
        Load::Phase(number) => match &step.name {
            Some(name) => name.as_str().into(),
            None => format!("phase {}", number + 1).into(),
        },
    }
}
