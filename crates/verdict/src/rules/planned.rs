//! The plan of a run, as rules examine it before the run.

use record::PlanRecord;
use spec::{Climb, Pace, RunSpec, Stop};
use system::{Fact, Host};
use workload::{Action, Phase, Workload};

/// Rate of one worker that few file systems exceed, even in memory, in transactions/s. If the rate
/// of a run is not known, a reason that requires a higher rate is not expected.
const RATE_MAX: f64 = 100_000.0;

/// When a reason applies to a planned run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurs {
    Always,
    /// If the rate of all workers is above this one, in transactions/s.
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

    /// Number of planned operations of a phase that `is_one` selects. For transactions that end by
    /// time, the plan contains only the first ones.
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

    /// Number of transactions of all workers that ends the run; `None` without such a number.
    pub(super) fn requested(&self) -> Option<f64> {
        let workload = &self.spec().workload;
        let each = workload.transactions();
        (each < Workload::ENDLESS).then(|| each as f64 * f64::from(workload.workers.count()))
    }

    /// Whether only a number of transactions ends the run, and the plan contains all of them.
    pub(super) fn is_exact(&self) -> bool {
        self.spec().drive.stop == Stop::Transactions
            && self.requested().is_some()
            && self.record.followed.is_none()
    }

    /// When the transactions on one pool reach a number, for all workers together. `None` if they
    /// do not reach it, or if that is not known.
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

    /// Number of listed load levels that use one pool; 1 without a sweep. `None` if the first level
    /// has other pools than the plan.
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
            Climb::Ranks(_) => None,
        }
    }

    /// Expected rate of all workers, in transactions/s; for a sweep the mean of its listed rates.
    /// `None` if neither an earlier run nor an offered rate determines it.
    pub(super) fn rate(&self) -> Option<f64> {
        let drive = &self.spec().drive;
        let known = self.closed_loop_rate();
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        match (&drive.sweep, drive.pace) {
            (Some(sweep), _) => match &sweep.climb {
                Climb::Rates(rates) => Some(mean(rates)),
                Climb::OfClosedLoop(shares) => known.map(|known| known * mean(shares)),
                Climb::Workers(_) | Climb::Ranks(_) => None,
            },
            (None, Pace::Closed) => known,
            (None, Pace::Open { per_second, .. }) => {
                Some(known.map_or(per_second, |known| per_second.min(known)))
            }
        }
    }

    /// Rate of an earlier run or of the calibration in a closed loop, in transactions/s.
    pub(super) fn closed_loop_rate(&self) -> Option<f64> {
        self.record.time.as_ref()?.transactions_per_second
    }

    /// Whether a reason is expected at the expected rate, or at a usual one if it is not known.
    pub(super) fn expects(&self, occurs: Occurs) -> bool {
        let workers = f64::from(self.spec().workload.workers.count());
        match (occurs, self.rate()) {
            (Occurs::Always, _) => true,
            (Occurs::Above(least), Some(rate)) => rate > least,
            (Occurs::Above(least), None) => least < RATE_MAX * workers,
        }
    }

    /// Bytes that the page cache of this machine can hold.
    pub(super) fn cache_bytes(&self) -> Option<u64> {
        self.host.cache_limit_bytes().into_known()
    }
}

/// Whether the processors of a host are certainly emulated in software.
pub(super) fn is_emulated(host: &Host) -> bool {
    host.emulated.as_ref().and_then(Fact::known) == Some(&true)
}
