//! Sentences about the estimated duration of a run.

use document::units::{counted, duration};
use record::{TimeEstimate, TimeSource};

/// Minimum duration of a preparation that a warning mentions, in seconds.
const LONG_S: f64 = 10.0;

/// The estimated duration of a run and of its parts, and the source of the estimate.
pub fn words(time: &TimeEstimate) -> String {
    let total = time
        .total_s()
        .map(|total| match time.transactions_may_end_earlier {
            true => format!("at most {}: ", duration(total)),
            false => format!("about {}: ", duration(total)),
        });
    let parts: Vec<String> = [
        time.prepare_s.map(|seconds| part("prepare", seconds)),
        time.transactions_s.map(|_| transactions(time)),
        time.delete_s.map(|seconds| part("delete", seconds)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let unknown: Vec<&str> = [
        ("prepare", time.prepare_s),
        ("transactions", time.transactions_s),
        ("delete", time.delete_s),
    ]
    .into_iter()
    .filter_map(|(name, seconds)| seconds.is_none().then_some(name))
    .collect();
    let known = parts.join(", ");
    let unknown = match (unknown.is_empty(), parts.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("{} not known", unknown.join(", ")),
        (false, false) => format!("; {} not known", unknown.join(", ")),
    };
    let source = source(&time.source);
    format!("{}{known}{unknown} ({source})", total.unwrap_or_default())
}

fn part(name: &str, seconds: f64) -> String {
    format!("{name} {}", duration(seconds))
}

fn transactions(time: &TimeEstimate) -> String {
    let seconds = duration(time.transactions_s.unwrap_or(0.0));
    let most = if time.transactions_may_end_earlier {
        "at most "
    } else {
        ""
    };
    let levels = time.load_levels.map_or_else(String::new, |levels| {
        format!(" for {}", counted(levels, "load level"))
    });
    format!("transactions {most}{seconds}{levels}")
}

fn source(source: &TimeSource) -> String {
    match source {
        TimeSource::Run {
            number,
            files: None,
        } => format!("from run {number}, the same workload on this file system"),
        TimeSource::Run {
            number,
            files: Some(files),
        } => format!(
            "from the rates of run {number}, the same workload with {} on this file system",
            counted(*files, "file")
        ),
        TimeSource::Calibration => "from the calibration".to_owned(),
        TimeSource::Nothing(why) => why.clone(),
    }
}

/// A warning if the preparation takes longer than the transactions. `files` is the number of files
/// in all pools.
pub fn long_preparation(time: &TimeEstimate, files: u64) -> Option<String> {
    let prepare = time.prepare_s.filter(|seconds| *seconds >= LONG_S)?;
    let transactions = time.transactions_s.filter(|seconds| prepare > *seconds)?;
    let by = match &time.source {
        TimeSource::Run { number, .. } => format!("the rates of run {number}"),
        TimeSource::Calibration => "the calibration".to_owned(),
        TimeSource::Nothing(_) => return None,
    };
    Some(format!(
        "warning: by {by}, creating {} takes about {}, longer than the transactions ({}). Use \
         fewer files, or --keep the pool for later runs with --reuse.",
        counted(files, "file"),
        duration(prepare),
        duration(transactions),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(prepare_s: Option<f64>, delete_s: Option<f64>) -> TimeEstimate {
        TimeEstimate {
            prepare_s,
            transactions_s: Some(62.0),
            transactions_may_end_earlier: false,
            load_levels: None,
            delete_s,
            transactions_per_second: None,
            source: TimeSource::Run {
                number: 18,
                files: None,
            },
        }
    }

    #[test]
    fn estimate_names_known_and_unknown_parts_and_its_source() {
        let whole = estimate(Some(9_720.0), Some(1_200.0));
        assert_eq!(
            words(&whole),
            "about 3.1 h: prepare 2.7 h, transactions 62 s, delete 20 min (from run 18, the same \
             workload on this file system)"
        );
        let unknown = TimeEstimate {
            source: TimeSource::Nothing("no run is in the archive yet".to_owned()),
            ..estimate(None, None)
        };
        assert_eq!(
            words(&unknown),
            "transactions 62 s; prepare, delete not known (no run is in the archive yet)"
        );
        let sweep = TimeEstimate {
            transactions_s: Some(228.0),
            transactions_may_end_earlier: true,
            load_levels: Some(19),
            source: TimeSource::Run {
                number: 3,
                files: Some(2_000),
            },
            ..estimate(Some(20.0), Some(4.0))
        };
        assert_eq!(
            words(&sweep),
            "at most 252 s: prepare 20 s, transactions at most 228 s for 19 load levels, delete \
             4.0 s (from the rates of run 3, the same workload with 2,000 files on this file \
             system)"
        );
    }

    #[test]
    fn warning_needs_a_preparation_that_is_long_and_longer_than_the_transactions() {
        for (prepare_s, is_warned) in [
            (Some(9_720.0), true),
            (Some(63.0), true),
            (Some(61.0), false),
            (None, false),
        ] {
            let warning = long_preparation(&estimate(prepare_s, None), 5_300_000);
            assert_eq!(warning.is_some(), is_warned, "{prepare_s:?}");
        }
        let short = TimeEstimate {
            transactions_s: Some(1.0),
            ..estimate(Some(9.0), None)
        };
        assert_eq!(long_preparation(&short, 100), None);
        let warning = long_preparation(&estimate(Some(9_720.0), None), 5_300_000).unwrap();
        assert_eq!(
            warning,
            "warning: by the rates of run 18, creating 5,300,000 files takes about 2.7 h, longer \
             than the transactions (62 s). Use fewer files, or --keep the pool for later runs \
             with --reuse."
        );
    }
}
