//! **`hosts-apart`** (DOUBTFUL). The hosts were not equally fast: a worker on the slowest host had
//! a lower rate than one on the fastest host. If each worker does the same work, the slowest host
//! determines when the run ends. *Threshold*: the lowest rate per worker of a host is more than 30
//! % below the highest. This is three times the drift that is allowed for a steady run. Not judged
//! for partial runs, nor if workers are readers and writers, whose rates differ because their work
//! differs. *Evidence*: `summary.ranks.hosts`. *What to do*: examine the slowest host, or exclude
//! it.

use super::rule::*;
use crate::summary::ranks;

/// Maximum difference between the slowest and the fastest host's rate per worker: three times the
/// 10 % by which the rate of a steady run may change. If each worker does the same work, the
/// slowest host determines the total rate.
const MAX: f64 = 0.30;

/// The hosts differ in their rates per worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct HostsApart {
    /// Name of the host with the lowest rate per worker.
    pub slowest: String,
    /// Name of the host with the highest rate per worker.
    pub fastest: String,
    /// Difference between the rates per worker of these hosts, as a share of the highest rate, from
    /// 0 to 1.
    pub fraction: f64,
}

impl Rule for HostsApart {
    const ADVICE: &str = "examine the slowest host, or leave it out";

    /// Ignores partial runs, whose hosts ended at different moments, and readers and writers, whose
    /// rates differ because their work differs.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        if record.actual.is_partial() || !ranks::judged(record).is_some_and(ranks::is_comparable) {
            return None;
        }
        let summary = ranks::summary(record)?;
        let fraction = summary.hosts_spread?.apart_fraction;
        let hosts = summary.hosts.iter();
        let mut rated: Vec<(f64, &str)> = hosts
            .filter_map(|host| Some((host.per_worker?, &*host.host)))
            .collect();
        rated.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ((_, slowest), (_, fastest)) = (rated.first()?, rated.last()?);
        (fraction > MAX).then(|| Self {
            slowest: (*slowest).to_owned(),
            fastest: (*fastest).to_owned(),
            fraction,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "a worker on {} was {} slower than one on {}, limit {}",
            sanitize(&self.slowest),
            percent(self.fraction),
            sanitize(&self.fastest),
            percent(MAX)
        )
    }
}
