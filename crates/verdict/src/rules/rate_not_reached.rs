//! **`rate-not-reached`** (INVALID). An open loop did not reach its requested rate. Above the
//! saturation rate the queue grows during the whole run, and latencies measure the length of the
//! run (Schroeder, Wierman, Harchol-Balter: Open Versus Closed: A Cautionary Tale, NSDI 2006).
//! *Threshold*: at a requested rate R, R·t transactions are due in the time t. A deficit is
//! accepted up to this sum: 1 % of R·t, one transaction for each worker (it may be in flight) and,
//! with Poisson arrivals, 3·√(R·t). Chance exceeds these three standard deviations once in 700
//! runs. The rule applies if more transactions than this sum are missing. It also applies if more
//! transactions than this sum were issued but not completed, because they failed or were skipped.
//! *Evidence*: the transactions completed until the first worker was done. *What to do*: use a
//! lower `--rate` or more workers.

use record::TimeSource;
use spec::Pace;
use workload::arrivals::ArrivalProcess;

use super::rule::*;
use super::steadiness::judged;
use crate::summary::phase;

/// Minimum share of the requested rate that must be achieved. A lower rate shows that the load is
/// above the saturation rate, so that a queue grows during the whole run.
const MIN: f64 = 0.99;

/// The number of Poisson arrivals is random: a deficit of at most this many standard deviations is
/// accepted. A larger one occurs by chance once in 700 runs.
const DEVIATIONS: f64 = 3.0;

/// An open loop did not reach its requested rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RateNotReached {
    /// Requested rate, in transactions a second.
    pub requested: f64,
    /// Achieved rate until the first worker finished, in transactions a second.
    pub achieved: f64,
}

impl Rule for RateNotReached {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str = "use a lower --rate or more workers";

    /// Examines the time until the first worker finished. Afterwards, no worker performs the
    /// arrivals of this worker.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let Pace::Open {
            per_second,
            arrivals,
        } = record.spec.drive.pace
        else {
            return None;
        };
        let phase = judged(record)?;
        let summary = phase::summary(record, phase);
        let until = summary.first_done.unwrap_or(summary.last_done);
        let due = per_second * until.ns as f64 / 1e9;
        // One transaction of each worker may be in flight, so it is not a deficit.
        let mut allowed = due * (1.0 - MIN) + f64::from(record.spec.workload.workers.count());
        if arrivals != ArrivalProcess::Constant {
            allowed += DEVIATIONS * due.sqrt();
        }
        let is_late = due - until.done.count as f64 > allowed;
        let not_completed = phase.issued().saturating_sub(phase.transactions());
        // If every worker caught up with its arrivals shortly before the end, a queue at the end
        // does not count.
        let is_missed = (is_late && !phase.queue_is_bounded()) || not_completed as f64 > allowed;
        is_missed.then(|| Self {
            requested: per_second,
            achieved: until.done.per_second.unwrap_or(0.0),
        })
    }

    /// Compares the requested rate with the rate of a closed loop in an earlier run or in the
    /// calibration.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let requested = planned.spec().drive.rate()?;
        let achieved = planned.closed_loop_rate()?;
        let by = match &planned.record.time.as_ref()?.source {
            TimeSource::Run { number, .. } => format!("run {number}"),
            TimeSource::Calibration => "the calibration".to_owned(),
            TimeSource::Nothing(_) => return None,
        };
        let is_missed = achieved < requested * MIN && !planned.is_sweep();
        is_missed.then(|| Foreseen {
            sentence: format!(
                "{by} achieved {} transactions/s in a closed loop, and this run offers {} ({}, at \
                 least {})",
                rate(Some(achieved)),
                rate(Some(requested)),
                percent(achieved / requested),
                percent(MIN)
            ),
            reason: Self {
                requested,
                achieved,
            },
            occurs: Occurs::Always,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "{} transactions/s achieved of {} offered ({}, at least {})",
            rate(Some(self.achieved)),
            rate(Some(self.requested)),
            percent(self.achieved / self.requested),
            percent(MIN)
        )
    }
}
