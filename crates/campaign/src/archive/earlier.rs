//! The earlier runs in the archive that a run repeats: the same workload with the same settings, on
//! the same machine and targets.

use std::fmt;

use archive::{Archive, Filter};
use document::units::{percent, signed_percent};
use record::Record;
use verdict::{Headline, State};

use crate::target_key::TargetKey;

/// Maximum number of earlier runs whose records are read.
const EXAMINED_MAX: u64 = 30;
/// Minimum number of earlier runs from which the spread of a run is estimated.
const SPREAD_MIN: usize = 3;

/// The newest earlier run that a run repeats, and the spread of all earlier runs that it repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// Number of the newest earlier run in the archive.
    number: u64,
    /// Change of the rate, as a fraction of the rate of the newest earlier run.
    change: f64,
    /// Number of earlier runs, and the standard deviation of their rates as a fraction of the mean.
    /// `None` with fewer than [`SPREAD_MIN`] runs.
    spread: Option<(usize, f64)>,
}

impl fmt::Display for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} against run {}, the last of this workload here ",
            signed_percent(self.change),
            self.number
        )?;
        match self.spread {
            Some((runs, spread)) => {
                write!(
                    f,
                    "(standard deviation of the last {runs} runs like it: {})",
                    percent(spread)
                )
            }
            None => f.write_str("(spread of one run not known: --repeat 5)"),
        }
    }
}

impl Earlier {
    /// Finds the earlier runs in the archive. Returns `None` if there are none or the archive
    /// cannot be read. Also returns `None` for a load sweep, a partial run and a run without a
    /// rate.
    pub(super) fn find(archive: &Archive, record: &Record) -> Option<Self> {
        if record.spec.drive.sweep.is_some() || record.actual.is_partial() {
            return None;
        }
        let headline = Headline::of(record);
        let filter = Filter {
            host: Some(headline.host),
            fingerprint: Some(headline.fingerprint),
            until_unix_ns: Some(headline.begun_unix_ns),
            limit: Some(EXAMINED_MAX),
            ..Filter::default()
        };
        let runs = archive.list(&filter).ok()?.into_iter().rev();
        let complete = runs.filter(|run| run.headline.state == State::Complete);
        let same = complete.filter_map(|run| {
            let (number, rate) = (run.number?, run.headline.transactions_per_second?);
            let earlier = archive.record(number).ok()?;
            (is_repeated(&earlier, record) && rate > 0.0).then_some((number, rate))
        });
        let same: Vec<(u64, f64)> = same.collect();
        let (number, rate) = *same.first()?;
        let rates: Vec<f64> = same.iter().map(|(_, rate)| *rate).collect();
        Some(Self {
            number,
            change: headline.transactions_per_second? / rate - 1.0,
            spread: record::dispersion(&rates)
                .filter(|_| rates.len() >= SPREAD_MIN)
                .map(|spread| (rates.len(), spread)),
        })
    }
}

/// Whether two runs of the same workload have the same engine, settings and targets.
fn is_repeated(earlier: &Record, record: &Record) -> bool {
    let (one, other) = (&earlier.spec, &record.spec);
    let targets = |record: &Record| -> Vec<Option<TargetKey>> {
        let locations = record.locations.iter();
        locations.map(TargetKey::of_location).collect()
    };
    one.engine == other.engine
        && one.settings() == other.settings()
        && TargetKey::are_same(&targets(earlier), &targets(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_states_change_run_and_spread() {
        let earlier = |spread| Earlier {
            number: 18,
            change: -0.041,
            spread,
        };
        assert_eq!(
            earlier(None).to_string(),
            "-4.1 % against run 18, the last of this workload here (spread of one run not known: \
             --repeat 5)"
        );
        assert_eq!(
            earlier(Some((5, 0.02))).to_string(),
            "-4.1 % against run 18, the last of this workload here (standard deviation of the \
             last 5 runs like it: 2.0 %)"
        );
    }
}
