//! **`hosts-apart`** (DOUBTFUL). The hosts were not equally fast: a worker on the slowest did less
//! in a second than one on the fastest. Where each worker does the same work, the slowest host
//! decides when the run ends. *Threshold*: the least rate of a worker is more than 30 % below the
//! greatest, three times what a steady run may drift. Not judged of partial runs, and where workers
//! are readers and writers, whose rates differ by what they do. *Evidence*: `summary.ranks.hosts`.
//! *What to do*: look at the slowest host, or leave it out.

use super::rule::*;
use crate::summary::ranks;

/// By how much the slowest host's rate of a worker may be below the fastest one's: three times
/// what a steady run may drift. Beyond it the rate of all is that of unequal clients, and where
/// each does the same work it is the slowest one's.
const MAX: f64 = 0.30;

/// The hosts were not equally fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct HostsApart {
    /// The one with the least rate of a worker.
    pub slowest: String,
    /// The one with the greatest.
    pub fastest: String,
    /// By how much the least is below the greatest, from 0 to 1.
    pub fraction: f64,
}

impl Rule for HostsApart {
    const ADVICE: &str =
        "Look at the slowest host (processor, network, other load), or leave it out of the run.";

    /// Not of a partial run, whose hosts ended at different moments, and not of readers and
    /// writers, whose rates differ by what they do.
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
            "The hosts are not equally fast: a worker on {} was {} slower than one on {} \
             (threshold {}).",
            sanitize(&self.slowest),
            percent(self.fraction),
            sanitize(&self.fastest),
            percent(MAX)
        )
    }
}
