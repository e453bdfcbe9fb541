//! Sentences about comparisons, such as "A makes 1.40 times B's transactions/s", and their parts.

use document::units::{counted, percent};
use study::statistics::BLOCKS_MIN;
use study::{
    AaControl, Better, Comparison, ComparisonOutcome, Estimate, Incomplete, IncompleteDifference,
    Method, Metric, RatioInterval, Unlike, UnlikeWhat,
};

use super::verdicts::doubtful_runs;
use super::words::{metric_name, noun, result};

pub fn sentence(row: &Comparison, level: f64) -> String {
    let (side, baseline) = (&row.side, &row.baseline);
    let what = noun(row.metric);
    let none = format!("no comparison of {side} with {baseline} in {what}");
    let mut text = match &row.outcome {
        ComparisonOutcome::Estimated(estimate) => {
            let basis = basis(row, estimate, level);
            match estimate.interval {
                Some(_) if !estimate.is_shown => undecided(row, estimate, basis),
                _ => format!("{} ({basis})", ratio(row, estimate)),
            }
        }
        ComparisonOutcome::TooManyInvalid => {
            let all = row.count + row.without + row.invalid;
            let all = match row.method {
                Method::Blocks | Method::BlocksApart => counted(all.into(), "block"),
                Method::NotInterleaved => counted((all + row.baseline_count).into(), "run"),
            };
            format!(
                "{none}: {} of {all} are INVALID (threshold 20 %)",
                row.invalid
            )
        }
        ComparisonOutcome::UnlikeShares => format!("{none} (add --unlike to compare them)"),
        ComparisonOutcome::NotMeasured => {
            format!("{none}: not in the runs of both{}", why_missing(row.metric))
        }
        ComparisonOutcome::NoRuns => format!("{none}: no complete block in common"),
    };
    if let Some(runs) = doubtful_runs(&row.verdicts).filter(|_| row.verdicts.are_mostly_doubtful())
    {
        text += &format!("; {runs}");
    }
    text += &reservations(&row.unlike, &row.incomplete, side, baseline);
    document::units::bound(&text)
}

/// Returns a clause for the sentence of a comparison: the conditions in which the two
/// configurations differ, and the operations that they did not complete.
pub(crate) fn reservations(
    unlike: &[Unlike],
    incomplete: &[IncompleteDifference],
    side: &str,
    baseline: &str,
) -> String {
    let mut text = String::new();
    if !unlike.is_empty() {
        let unlike: Vec<String> = unlike.iter().map(unlike_words).collect();
        let unlike = unlike.join(", and in ");
        text += &format!("; {side} and {baseline} differ in {unlike}");
    }
    if !incomplete.is_empty() {
        text += &format!("; {}", incomplete_words(incomplete, side, baseline));
    }
    text
}

/// Why a metric may be missing in a run, in brackets; empty if no reason is known.
pub(super) fn why_missing(metric: Metric) -> String {
    why_missing_at(metric, None)
}

/// Like [`why_missing`], with the length of the measurement that the runs need, if it is known.
pub(super) fn why_missing_at(metric: Metric, needed_s: Option<f64>) -> String {
    let why = metric.why_missing(needed_s);
    why.map_or_else(String::new, |why| format!(" ({why})"))
}

/// Why an estimate has no interval, such as `no interval: that needs 5 blocks`. Blocks without the
/// metric and INVALID blocks do not count.
pub(crate) fn no_interval(row: &Comparison) -> String {
    let (what, all) = match row.method {
        Method::Blocks | Method::BlocksApart => ("blocks", row.count),
        Method::NotInterleaved => ("runs of each", row.count.min(row.baseline_count)),
    };
    let needs = format!("no interval: that needs {BLOCKS_MIN} {what}");
    let because = match (row.without, row.invalid) {
        _ if all + row.without + row.invalid < BLOCKS_MIN => return needs,
        (0, _) => "are not INVALID".to_owned(),
        (_, 0) => format!("contain {}", metric_name(row.metric)),
        _ => format!("contain {} and are not INVALID", metric_name(row.metric)),
    };
    format!("{needs} that {because}, and there are {all}")
}

/// The ratio in words, such as "A makes 1.40 times B's transactions/s".
fn ratio(row: &Comparison, estimate: &Estimate) -> String {
    let verb = match row.metric {
        Metric::Transactions | Metric::Read | Metric::Written | Metric::Operations(_) => "makes",
        Metric::Latency(..) | Metric::Cpu => "takes",
        Metric::Messages => "sends",
    };
    format!(
        "{} {verb} {} {} {}",
        row.side,
        ratio_of(estimate.ratio, digits(estimate)),
        of_whom(&row.baseline),
        noun(row.metric)
    )
}

/// The possessive form of a configuration's name: `ext4's`, `1,000 files'`.
fn of_whom(name: &str) -> String {
    let end = if name.ends_with('s') { "'" } else { "'s" };
    format!("{name}{end}")
}

/// A ratio with the word that follows it in a sentence: `0.71 of`, `1.40 times`.
pub(crate) fn ratio_of(ratio: f64, digits: usize) -> String {
    let word = if ratio < 1.0 { "of" } else { "times" };
    format!("{ratio:.digits$} {word}")
}

/// From this ratio on, which tables print as 2.00, the finding is a multiple ("times as fast")
/// instead of a percentage.
const MULTIPLE: f64 = 1.995;

/// The finding of a comparison in a few words: `xfs is 29 % slower`, or `29 % slower` without the
/// candidate's name.
pub(crate) fn finding(row: &Comparison, candidate: Option<&str>) -> String {
    let (estimate, is_higher) = match row.estimate() {
        Some(estimate) if estimate.is_shown => (estimate, estimate.ratio > 1.0),
        Some(estimate) if estimate.interval.is_none() => return no_interval(row),
        _ => return result(row).to_owned(),
    };
    let (verb, words) = match (row.metric, row.metric.better(), is_higher) {
        (Metric::Latency(..), _, true) => ("is", "slower".to_owned()),
        (Metric::Latency(..), _, false) => ("is", "faster".to_owned()),
        (_, Better::Higher, true) if estimate.ratio >= MULTIPLE => {
            ("is", format!("{:.1} times as fast", estimate.ratio))
        }
        (_, Better::Higher, true) => ("is", format!("{} faster", change(estimate.ratio))),
        (_, Better::Higher, false) => ("is", format!("{} slower", change(estimate.ratio))),
        (_, Better::Lower, true) => ("needs", format!("{} more", change(estimate.ratio))),
        (_, Better::Lower, false) => ("needs", format!("{} less", change(estimate.ratio))),
    };
    candidate.map_or(words.clone(), |name| format!("{name} {verb} {words}"))
}

/// The distance of a ratio from 1 in percent. A ratio just above 0 is printed as 99.9 %, never as
/// 100 %.
fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0).abs() * 100.0;
    match percent {
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent if ratio < 1.0 && percent > 99.0 => format!("{:.1} %", percent.min(99.9)),
        percent => format!("{percent:.0} %"),
    }
}

/// The sentence of a comparison that shows no difference, with the smallest detectable difference.
fn undecided(row: &Comparison, estimate: &Estimate, basis: String) -> String {
    let digits = digits(estimate);
    let mut text = format!(
        "{} and {}: no difference shown in {} (ratio {:.digits$}, {basis})",
        row.side,
        row.baseline,
        noun(row.metric),
        estimate.ratio
    );
    if let Some(smallest) = estimate.smallest_detectable {
        text += &format!("; smallest detectable difference: {}", detectable(smallest));
    }
    let is_paired = row.method != Method::NotInterleaved;
    if let Some(needed) = estimate.blocks_needed_to_show.filter(|_| is_paired) {
        text += &format!(
            "; {} would show it, if {:.digits$} is the true ratio",
            counted(needed.into(), "block"),
            estimate.ratio
        );
    }
    text
}

/// The number of blocks or runs of a comparison, and whether the runs were interleaved.
pub(crate) fn runs(row: &Comparison) -> String {
    match row.method {
        Method::Blocks => counted(row.count.into(), "block"),
        Method::BlocksApart => format!("{}, order not random", counted(row.count.into(), "block")),
        Method::NotInterleaved if row.count == 1 && row.baseline_count == 1 => {
            "one run each, not interleaved".to_owned()
        }
        Method::NotInterleaved => format!(
            "{} and {}, not interleaved",
            row.count,
            counted(row.baseline_count.into(), "run")
        ),
    }
}

/// The basis of a ratio: its confidence interval, and the number of blocks or runs.
fn basis(row: &Comparison, estimate: &Estimate, level: f64) -> String {
    let runs = runs(row);
    let digits = digits(estimate);
    match estimate.interval {
        Some(RatioInterval { low, high }) => {
            let confidence = confidence(level);
            format!("{confidence} interval {low:.digits$} to {high:.digits$}, {runs}")
        }
        None => format!("{runs}; {}", no_interval(row)),
    }
}

/// A difference in conditions between two configurations, in words.
pub fn unlike_words(unlike: &Unlike) -> String {
    let what = match unlike.what {
        // Fingerprints are long and mean nothing to a reader.
        UnlikeWhat::Fingerprint => return "workload (fingerprint)".to_owned(),
        UnlikeWhat::DurabilityTier => "durability tier",
        UnlikeWhat::CacheState => "cache state",
        UnlikeWhat::Host => "host",
        UnlikeWhat::Medium => "what stores the files",
        UnlikeWhat::ScratchImage => "image of the scratch file system",
    };
    let values = |values: &[String]| values.join(" and ");
    format!(
        "{what} ({}, {})",
        values(&unlike.side),
        values(&unlike.baseline)
    )
}

/// Explains why an A/A control that differs from its baseline makes the results doubtful.
pub(super) fn doubt(control: &AaControl, baseline: &str) -> String {
    let interval = control
        .interval
        .map_or_else(String::new, |RatioInterval { low, high }| {
            format!("95 % interval {low:.3} to {high:.3}, ")
        });
    let p = control.p.unwrap_or_default();
    document::units::bound(&format!(
        "DOUBTFUL: {baseline} differs from itself. Its runs for the A/A control have {} the {} of \
         its other runs ({interval}p {}). Something other than the systems changes the results.",
        ratio_of(control.ratio, 3),
        noun(control.metric),
        probability(p)
    ))
}

/// A p-value after `=` or `<`: `= 0.0021`, `< 0.0001`.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.000_1 {
        "< 0.0001".to_owned()
    } else {
        format!("= {p:.4}")
    }
}

/// The smallest detectable differences above and below the baseline. Both differences are equally
/// large on a logarithmic scale: for example, 77 % above and 44 % below. If both percentages are
/// printed alike, only one is returned.
pub(super) fn detectable(above: f64) -> String {
    let [above, below] = [above, above / (1.0 + above)].map(percent_up);
    match above == below {
        true => above,
        false => format!("{above} above the baseline or {below} below it"),
    }
}

/// A fraction as a percentage, rounded up. Rounded down, the percentage would be below the smallest
/// difference that the data can show.
pub(super) fn percent_up(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent < 1.0 {
        tenths_up(fraction)
    } else {
        format!("{:.0} %", (percent - 1e-9).ceil())
    }
}

/// A fraction as a percentage with one decimal, rounded up.
pub(super) fn tenths_up(fraction: f64) -> String {
    // The subtraction keeps rounding errors from raising a whole number of tenths.
    let tenths = (fraction * 1_000.0 - 1e-9).ceil();
    format!("{:.1} %", (tenths / 10.0).max(0.1))
}

/// Number of decimals for a ratio and the ends of its confidence interval, enough to distinguish
/// the two ends.
pub(super) fn digits(estimate: &Estimate) -> usize {
    let ends = estimate.interval.map(|of| [of.low, of.high]);
    let is_narrow = ends.is_some_and(|[low, high]| high - low < 0.015);
    // An end near 1 would be printed as 1.00, which hides on which side of 1 it is. More decimals
    // show the side.
    let is_near_one = ends.is_some_and(|ends| ends.iter().any(|end| (end - 1.0).abs() < 0.005));
    let by_size: usize = match estimate.ratio {
        ratio if ratio >= 100.0 => 0,
        ratio if ratio >= 10.0 => 1,
        ratio if ratio >= 0.1 => 2,
        _ => 4,
    };
    if is_narrow || is_near_one {
        by_size.max(3)
    } else {
        by_size
    }
}

/// The shares of operations that were skipped or failed in each of two configurations, in words.
pub fn incomplete_words(found: &[IncompleteDifference], side: &str, baseline: &str) -> String {
    let words = |difference: &IncompleteDifference| {
        let verb = match difference.why {
            Incomplete::Skipped => "skipped",
            Incomplete::Failed => "failed",
        };
        format!(
            "{side} {verb} {} of its operations and {baseline} {}",
            percent(difference.side),
            percent(difference.baseline)
        )
    };
    found.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// A confidence level: `95 %`.
pub(crate) fn confidence(level: f64) -> String {
    let percent = level * 100.0;
    // Interim analyses of a study use up part of the error probability, so the confidence level may
    // not be a whole percentage.
    let digits = if (percent - percent.round()).abs() < 1e-6 {
        0
    } else {
        1
    };
    format!("{percent:.digits$} %")
}
