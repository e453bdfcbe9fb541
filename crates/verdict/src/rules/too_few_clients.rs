//! **`too-few-clients`** (DOUBTFUL). More workers or ranks still increased the rate, and no client
//! was saturated: the target can do more than the run shows. *Threshold*: in a sweep of workers or
//! ranks on a server, the rate of the complete level with the most workers is more than 10 % above
//! that of the level with the next lower number of workers. 10 % is the drift that is allowed for a
//! steady run. Not judged for a single load, which does not show what a higher load would achieve,
//! nor for one process. *Evidence*: the levels of the sweep; the clients as in `client-saturated`.
//! *What to do*: use more ranks or hosts.

use spec::Pace;

use super::client_saturated::ClientSaturated;
use super::rule::*;
use super::servers::targets_a_server;
use crate::sweep::SweepStepSummary;

/// If the last load level of a sweep increased the rate by more than this share, the target was not
/// saturated. It equals the 10 % by which the rate of a steady run may change.
const MAX: f64 = 0.10;

/// More workers or ranks still increased the rate, and no client was saturated, so the target's
/// limit was not reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TooFewClients {
    /// Number of workers of the largest load level.
    pub workers: u32,
    /// The next lower number of workers in the sweep.
    pub fewer: u32,
    /// Increase of the rate between these two load levels, as a share of the rate with fewer
    /// workers.
    pub gain: f64,
}

impl Rule for TooFewClients {
    const ADVICE: &str = "use more ranks or hosts, until the rate no longer grows";

    /// Examines sweeps only, because a single load does not show what a higher load would achieve.
    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let cluster = record.cluster.as_ref()?;
        let is_open = matches!(record.spec.drive.pace, Pace::Open { .. });
        if cluster.launched <= 1
            || is_open
            || !targets_a_server(record)
            || ClientSaturated::find(record, seen).is_some()
        {
            return None;
        }
        let steps = record.actual.sweep_steps.iter();
        let closed = steps.filter(|step| step.load.rate().is_none() && step.name.is_none());
        let mut steps: Vec<(u32, f64)> = closed
            .filter_map(|step| {
                let summary = SweepStepSummary::of(step);
                let achieved = summary.achieved_per_second;
                Some((step.workers, achieved.filter(|_| summary.complete)?))
            })
            .collect();
        steps.sort_by_key(|(workers, _)| *workers);
        let (workers, most) = steps.pop()?;
        let (fewer, before) = steps.into_iter().rfind(|(fewer, _)| *fewer < workers)?;
        let gain = most / before - 1.0;
        (gain.is_finite() && gain > MAX).then_some(Self {
            workers,
            fewer,
            gain,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "{} achieved {} more than {}, limit {}, so the clients limit the rate",
            counted(self.workers.into(), "worker"),
            percent(self.gain),
            grouped(self.fewer.into()),
            percent(MAX)
        )
    }
}
