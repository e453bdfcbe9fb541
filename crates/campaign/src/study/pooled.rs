//! Detects tags that select runs of different experiments: runs of several days, hosts, kernels or
//! series.

use std::collections::BTreeSet;
use std::fmt;

use document::units::{counted, utc};
use study::Observed;
use verdict::ListedRun;

/// The runs that a tag selects, with their days, hosts and kernels. A user may have used the tag
/// for two experiments by mistake; a comparison would then count the runs of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PooledRuns {
    tag: String,
    runs: u64,
    /// Days on which the runs began, in UTC.
    days: BTreeSet<String>,
    hosts: BTreeSet<String>,
    kernels: BTreeSet<String>,
    /// IDs of the studies of the runs; contains `None` if a run belongs to no study.
    studies: BTreeSet<Option<String>>,
}

impl PooledRuns {
    pub(super) fn new(tag: &str) -> Self {
        Self {
            tag: tag.to_owned(),
            runs: 0,
            days: BTreeSet::new(),
            hosts: BTreeSet::new(),
            kernels: BTreeSet::new(),
            studies: BTreeSet::new(),
        }
    }

    pub(super) fn add(&mut self, run: &ListedRun, observed: &Observed) {
        let moment = utc(run.headline.begun_unix_ns);
        let day = moment.split(' ').next().unwrap_or_default();
        let block = observed.block.as_ref();
        self.runs += 1;
        self.days.insert(day.to_owned());
        self.hosts.insert(run.headline.host.clone());
        self.kernels.insert(observed.subject.kernel.clone());
        self.studies.insert(block.map(|block| block.study.clone()));
    }

    /// Returns the runs if they are of several days, hosts, kernels or series. `None` if all runs
    /// belong to one study, even if the study took several days.
    pub(super) fn if_apart(self) -> Option<Self> {
        let is_one_study = self.studies.len() == 1 && !self.studies.contains(&None);
        let sets = [&self.days, &self.hosts, &self.kernels];
        let is_apart = sets.iter().any(|set| set.len() > 1) || self.series() > 1;
        (is_apart && !is_one_study).then_some(self)
    }

    /// The number of studies and of series of repeated runs.
    fn series(&self) -> usize {
        self.studies.iter().flatten().count()
    }
}

impl fmt::Display for PooledRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = counted(self.runs, "run");
        write!(f, "The tag {} selects {runs}, made ", self.tag)?;
        match (self.days.first(), self.days.last()) {
            (Some(first), Some(last)) if first != last => write!(f, "from {first} to {last}")?,
            (first, _) => write!(f, "on {}", first.map_or("", String::as_str))?,
        }
        f.write_str(" (UTC)")?;
        if self.series() > 1 {
            write!(f, ", in {} series", self.series())?;
        }
        for (set, name) in [(&self.hosts, "host"), (&self.kernels, "kernel")] {
            if set.len() > 1 {
                write!(f, ", with {}", counted(set.len() as u64, name))?;
            }
        }
        f.write_str(": to leave some out, name the runs by number, like 3..9, or use a new tag.")
    }
}

#[cfg(test)]
mod tests {
    use study::BlockAttempt;
    use verdict::Headline;

    use super::*;

    const DAY_NS: u64 = 86_400_000_000_000;

    /// Returns the sentence about these runs. Each run is given as the day on which it began (days
    /// since 1970), its kernel and its study.
    fn sentence(runs: &[(u64, &str, Option<&str>)]) -> Option<String> {
        let record = testkit::kept();
        let mut pooled = PooledRuns::new("base");
        for (day, kernel, study) in runs {
            let mut run = ListedRun {
                number: None,
                headline: Headline::of(&record),
                tags: Vec::new(),
                note: None,
            };
            run.headline.begun_unix_ns = day * DAY_NS;
            let mut observed = Observed::of(&record, None, &[]);
            observed.subject.kernel = (*kernel).to_owned();
            observed.block = study.map(|study| BlockAttempt {
                study: study.to_owned(),
                is_interleaved: true,
                number: 1,
                attempt: 1,
            });
            pooled.add(&run, &observed);
        }
        pooled.if_apart().map(|pooled| pooled.to_string())
    }

    #[test]
    fn runs_of_several_days_or_kernels_are_reported_unless_they_are_of_one_study() {
        assert_eq!(
            sentence(&[(0, "Linux 6", None), (0, "Linux 6", None)]),
            None
        );
        assert_eq!(
            sentence(&[(1, "Linux 6", None), (0, "Linux 6", None)]).unwrap(),
            "The tag base selects 2 runs, made from 1970-01-01 to 1970-01-02 (UTC): to leave some \
             out, name the runs by number, like 3..9, or use a new tag."
        );
        assert_eq!(
            sentence(&[(0, "Linux 5", None), (0, "Linux 6", None)]).unwrap(),
            "The tag base selects 2 runs, made on 1970-01-01 (UTC), with 2 kernels: to leave some \
             out, name the runs by number, like 3..9, or use a new tag."
        );
        let of_studies = |one, other| {
            sentence(&[(0, "Linux 6", Some(one)), (1, "Linux 6", Some(other))]).is_some()
        };
        assert!(!of_studies("a", "a") && of_studies("a", "b"));
        assert_eq!(
            sentence(&[(0, "Linux 6", Some("a")), (0, "Linux 6", Some("b"))]).unwrap(),
            "The tag base selects 2 runs, made on 1970-01-01 (UTC), in 2 series: to leave some \
             out, name the runs by number, like 3..9, or use a new tag."
        );
    }
}
