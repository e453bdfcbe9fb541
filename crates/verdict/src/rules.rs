//! Whether a run's numbers are worth anything: VALID, DOUBTFUL or INVALID, with reasons from a
//! closed list.
//!
//! A verdict is a pure function of a record. It is what follows from what was seen, no more:
//! something that nobody looked at, or that the system did not tell, is no reason, and [`Seen`]
//! says what was not known. How it works: each module judges one subject and gives the [`Reason`]s
//! that it finds; the worst of them is the verdict's level. Thresholds are in [`limits`];
//! `docs/specification.md`, "Verdict", has them all, each with its rule.
//!
//! A sweep's steps are there to find out which rates are not reached: of a sweep the machine, the
//! clocks, the program's own time and the errors are judged, not how long or how steady it was. A
//! partial run is INVALID, and neither its length nor its rate is looked at.

use measure::{Drift, RateChange, Steady};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::Phase;

use record::run::{Outcome, PhaseRecord, Record};

mod completion;
mod evidence;
mod load;
mod memory;
mod pace;
mod pool;
mod ranks;
mod reason;

pub use self::reason::{Reason, limits};

/// How good a run's numbers are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing was found that speaks against them.
    Valid,
    /// They may be what they seem, and may not: look at the reasons.
    Doubtful,
    /// They are not what they seem.
    Invalid,
}

impl Level {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "VALID",
            Self::Doubtful => "DOUBTFUL",
            Self::Invalid => "INVALID",
        }
    }
}

/// Whether a run's numbers are worth anything, with reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// That of the worst reason; valid where there is none.
    pub level: Level,
    /// The worst first.
    pub reasons: Vec<Reason>,
    /// What was looked at.
    pub seen: Seen,
}

/// What a verdict is made of, besides what other parts of the summary have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// How long it was measured; nothing of a sweep, and where the run is partial.
    pub measured: Option<Measured>,
    /// Whether the rate stayed the same.
    pub steadiness: Fact<Steadiness>,
    /// The program's own share of the workers' time in the transactions, from 0 to 1.
    pub overhead_fraction: Fact<f64>,
    /// What other programs used of all processors' time during the run, from 0 to 1, in user mode.
    pub others_fraction: Fact<f64>,
    /// What the FUSE servers of the targets used of all processors' time during the run, from 0 to
    /// 1, in user mode; it is not in `others_fraction`.
    pub fuse_servers_fraction: Fact<f64>,
    /// What the hypervisor gave to others of all processors' time during the run, from 0 to 1.
    pub steal_fraction: Fact<f64>,
}

/// What was measured: the transactions; where none were asked for, the preparation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Which phase.
    pub phase: Phase,
    /// How long, in nanoseconds.
    pub ns: u64,
    /// Operations that were completed in that time, by all workers.
    pub operations: u64,
}

/// How a rate changed over time. Rates are operations a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// If no steady state was requested: whether the rate changed beyond its noise
    /// ([`measure::steady::change`]).
    Change(RateChange),
    /// By the slope rule ([`measure::steady::drift`]).
    Slope(Drift),
    /// By SNIA's rule on five rounds ([`measure::steady::window`]).
    Rounds(Steady),
}

impl Steadiness {
    /// Whether that is a steady state.
    pub fn is_steady(&self) -> bool {
        match self {
            Self::Change(change) => change.is_steady,
            Self::Slope(drift) => drift.is_steady,
            Self::Rounds(steady) => steady.is_steady,
        }
    }
}

impl Verdict {
    /// What a record comes to.
    pub fn of(record: &Record) -> Self {
        let seen = Seen {
            measured: pace::measured(record),
            steadiness: pace::steadiness(record),
            overhead_fraction: load::overhead_fraction(record),
            others_fraction: load::others_fraction(record),
            fuse_servers_fraction: load::fuse_servers_fraction(record),
            steal_fraction: load::steal_fraction(record),
        };
        let mut reasons = completion::reasons(record);
        reasons.extend(pool::reasons(record));
        reasons.extend(pace::reasons(record, &seen));
        reasons.extend(load::reasons(record, &seen));
        reasons.extend(memory::reasons(record));
        reasons.extend(evidence::reasons(record));
        reasons.extend(ranks::reasons(record));
        // Of the same level they stay in the order of the documentation.
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level()));
        Self {
            level: reasons.first().map_or(Level::Valid, Reason::level),
            reasons,
            seen,
        }
    }
}

/// Whether the transactions were those of a sweep.
fn is_sweep(record: &Record) -> bool {
    record.spec.drive.sweep.is_some() || !record.actual.sweep_steps.is_empty()
}

fn is_partial(record: &Record) -> bool {
    record.actual.outcome != Outcome::Complete
}

/// Those of a sweep's steps, too.
fn all_phases(record: &Record) -> impl Iterator<Item = &PhaseRecord> {
    let sweep_steps = record
        .actual
        .sweep_steps
        .iter()
        .flat_map(|sweep_step| &sweep_step.phases);
    record.actual.phases.iter().chain(sweep_steps)
}

fn transactions(record: &Record) -> Option<&PhaseRecord> {
    let mut phases = record.actual.phases.iter();
    phases.find(|phase| phase.phase == Phase::Transactions)
}
