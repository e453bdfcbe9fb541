//! The plan of a run, which rules examine before the run starts.

use record::PlanRecord;
use spec::{Climb, Pace, RunSpec, Stop};
use system::{Fact, Host};
use workload::{Action, Phase, Workload};

/// Rate of one worker that few file systems exceed, even in memory, in transactions/s. If the rate
/// of a run is not known, a reason that requires a higher rate of each worker is not expected.
const RATE_MAX: f64 = 100_000.0;

/// When a reason applies to a planned run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurs {
    Always,
    /// The reason applies if the rate of all workers together is above this value, in
    /// transactions/s.
    Above(f64),
}

/// The plan of a run, and the machine that will perform the run.
#[derive(Clone, Copy, Debug)]
pub struct Planned<'a> {
    pub record: &'a PlanRecord,
    pub host: &'a Host,
}

impl Planned<'_> {
    pub(super) fn spec(&self) -> &RunSpec {
        &self.record.spec
    }

    pub(super) fn is_sweep(&self) -> bool {
        self.spec().drive.sweep.is_some()
    }

    /// Returns the number of a phase's planned operations whose kind `is_one` selects. If the
    /// transactions end after a time, the plan contains only the first transactions.
    pub(super) fn operations(&self, phase: Phase, is_one: impl Fn(Action) -> bool) -> u64 {
        let selected = Action::operations().filter(|action| is_one(*action));
        selected
            .map(|action| self.record.plan.tally(phase, action).operations)
            .sum()
    }

    /// Number of files in all pools when the transactions begin.
    pub(super) fn files(&self) -> u64 {
        self.operations(Phase::Prepare, |action| {
            action.changes_count() == Some(true)
        })
    }

    /// Bytes that the planned transactions read.
    pub(super) fn bytes_read(&self) -> u64 {
        let reads = Action::operations().filter(|action| action.moves_bytes_in());
        reads
            .map(|action| self.record.plan.tally(Phase::Transactions, action).bytes)
            .sum()
    }

    /// Returns the number of transactions of all workers after which the run ends; `None` if no
    /// number was requested.
    pub(super) fn requested(&self) -> Option<f64> {
        let workload = &self.spec().workload;
        let is_bounded = workload.transactions() < Workload::ENDLESS;
        is_bounded.then(|| workload.transactions_of_all() as f64)
    }

    /// Whether the run ends after a requested number of transactions (not after a time), and the
    /// plan contains all of them.
    pub(super) fn is_exact(&self) -> bool {
        self.spec().drive.stop == Stop::Transactions
            && self.requested().is_some()
            && self.record.followed.is_none()
    }

    /// Returns when the transactions of all workers on one pool reach the number `transactions`:
    /// always, or above a rate. `None` if the transactions never reach this number, or if that is
    /// not known.
    pub(super) fn reaches(&self, transactions: f64) -> Option<Occurs> {
        let requested = self.requested();
        if requested.is_some_and(|requested| transactions > requested) {
            return None;
        }
        match self.spec().drive.stop {
            Stop::Transactions => requested.map(|_| Occurs::Always),
            Stop::After(length) => {
                let seconds = length.as_secs_f64() * self.levels_of_pool()?;
                Some(Occurs::Above(transactions / seconds))
            }
            Stop::Steady(_) => None,
        }
    }

    /// Returns the number of listed load levels that use the same pool; 1 without a sweep. `None`
    /// if the plan does not describe the pools of the first load level.
    fn levels_of_pool(&self) -> Option<f64> {
        let spec = self.spec();
        let Some(sweep) = &spec.drive.sweep else {
            return Some(1.0);
        };
        match &sweep.climb {
            Climb::Rates(_) | Climb::OfClosedLoop(_) if sweep.fresh => Some(1.0),
            Climb::Rates(_) | Climb::OfClosedLoop(_) => Some(sweep.climb.sweep_steps() as f64),
            Climb::Workers(counts) => {
                let first = spec.of_workers(*counts.first()?);
                let is_planned = first.workload.workers == spec.workload.workers;
                is_planned.then_some(1.0)
            }
            Climb::Ranks(_) | Climb::Phases(_) => None,
        }
    }

    /// Returns the expected rate of all workers, in transactions/s; for a sweep, the mean of its
    /// listed rates. `None` if neither an earlier run nor an offered rate determines the rate.
    pub(super) fn rate(&self) -> Option<f64> {
        let drive = &self.spec().drive;
        let known = self.closed_loop_rate();
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        match (&drive.sweep, drive.pace) {
            (Some(sweep), _) => match &sweep.climb {
                Climb::Rates(rates) => Some(mean(rates)),
                Climb::OfClosedLoop(shares) => known.map(|known| known * mean(shares)),
                Climb::Workers(_) | Climb::Ranks(_) | Climb::Phases(_) => None,
            },
            (None, Pace::Closed) => known,
            (None, Pace::Open { per_second, .. }) => {
                Some(known.map_or(per_second, |known| per_second.min(known)))
            }
        }
    }

    /// Returns the rate of a closed loop in an earlier run or in the calibration, in
    /// transactions/s.
    pub(super) fn closed_loop_rate(&self) -> Option<f64> {
        self.record.time.as_ref()?.transactions_per_second
    }

    /// Whether a reason is expected at the expected rate. If this rate is not known, [`RATE_MAX`]
    /// for each worker is assumed.
    pub(super) fn expects(&self, occurs: Occurs) -> bool {
        let workers = f64::from(self.spec().workload.workers.count());
        match (occurs, self.rate()) {
            (Occurs::Always, _) => true,
            (Occurs::Above(least), Some(rate)) => rate > least,
            (Occurs::Above(least), None) => least < RATE_MAX * workers,
        }
    }

    /// Returns the number of bytes that the page cache of `host` can hold.
    pub(super) fn cache_bytes(&self) -> Option<u64> {
        self.host.cache_limit_bytes().into_known()
    }
}

/// Whether the processors of a host are known to be emulated in software.
pub(super) fn is_emulated(host: &Host) -> bool {
    host.emulated.as_ref().and_then(Fact::known) == Some(&true)
}
