//! Counts of verdicts in words.

use std::collections::BTreeMap;

use document::units::{counted, grouped};
use study::{SideSummary, VerdictCounts};
use verdict::Level;

/// The number of runs with each verdict.
pub(crate) fn levels(counts: &VerdictCounts) -> Vec<(Level, String)> {
    let words = |level: Level| {
        let runs = grouped(counts.runs(level).into());
        (level, format!("{runs} {}", level.name()))
    };
    let levels = [Level::Valid, Level::Doubtful, Level::Invalid];
    let levels = levels.into_iter().filter(|level| counts.runs(*level) > 0);
    levels.map(words).collect()
}

/// The number of runs with each verdict. Verdicts other than VALID are followed by the rules that
/// led to them: `28 VALID, 2 DOUBTFUL (other-load 2)`.
pub(crate) fn verdicts(counts: &VerdictCounts) -> String {
    let level = |(level, words): (Level, String)| {
        let reasons = match level {
            Level::Valid => return words,
            Level::Doubtful => reasons(&counts.doubtful_reasons),
            Level::Invalid => format!("not counted; {}", reasons(&counts.invalid_reasons)),
        };
        match reasons.trim_end_matches("; ") {
            "" => words,
            reasons => format!("{words} ({reasons})"),
        }
    };
    let levels: Vec<String> = levels(counts).into_iter().map(level).collect();
    match levels.is_empty() {
        true => "not available (there are no runs)".to_owned(),
        false => levels.join(", "),
    }
}

/// The number of DOUBTFUL runs among the counted runs, with the rules that led to this verdict: `2
/// of 30 runs DOUBTFUL: other-load 2`. `None` without a DOUBTFUL run.
pub(crate) fn doubtful_runs(counts: &VerdictCounts) -> Option<String> {
    let all = counts.valid + counts.doubtful;
    let runs = counted(all.into(), "run");
    let reasons = reasons(&counts.doubtful_reasons);
    match counts.doubtful {
        0 => None,
        doubtful if doubtful == all => Some(format!("{} DOUBTFUL: {reasons}", every(all))),
        doubtful => Some(format!(
            "{} of {runs} DOUBTFUL: {reasons}",
            grouped(doubtful.into())
        )),
    }
}

/// The number of INVALID runs, with the rules that led to this verdict: `6 of 10 runs are INVALID
/// (too-short 6)`.
pub(crate) fn invalid_runs(counts: &VerdictCounts) -> String {
    let runs = counted(counts.all().into(), "run");
    let which = match counts.invalid == counts.all() {
        true => every(counts.all()),
        false => format!("{} of {runs}", grouped(counts.invalid.into())),
    };
    let are = if counts.invalid == 1 { "is" } else { "are" };
    let reasons = reasons(&counts.invalid_reasons);
    format!("{which} {are} INVALID ({reasons})")
}

/// Words for all of `runs` runs: `all 24 runs`, or `the only run`.
fn every(runs: u32) -> String {
    match runs {
        1 => "the only run".to_owned(),
        runs => format!("all {}", counted(runs.into(), "run")),
    }
}

/// The rules of DOUBTFUL and of INVALID runs, each with its number of runs.
pub(crate) fn all_reasons(counts: &VerdictCounts) -> String {
    let of_levels = [&counts.doubtful_reasons, &counts.invalid_reasons];
    let mut words = of_levels.map(reasons).to_vec();
    words.retain(|words| !words.is_empty());
    words.join(", ")
}

/// Whether more than half of the counted runs of a configuration are DOUBTFUL.
pub(super) fn are_doubtful(side: &SideSummary) -> bool {
    side.verdicts.are_mostly_doubtful()
}

/// Names of rules, each followed by the number of runs that it applies to. The most frequent rule
/// is first.
pub(super) fn reasons(rules: &BTreeMap<String, u32>) -> String {
    let mut rules: Vec<(&String, &u32)> = rules.iter().collect();
    // The sort is stable: rules with the same count stay in the order of their names.
    rules.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let rules = rules.into_iter();
    let words = rules.map(|(name, count)| format!("{name} {}", grouped((*count).into())));
    words.collect::<Vec<_>>().join(", ")
}
