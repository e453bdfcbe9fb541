//! Short results of comparisons, and short reasons of verdicts.

use document::units::grouped;
use study::{Better, Comparison, ComparisonOutcome, Estimate, VerdictCounts};

pub(crate) fn reasons(counts: &VerdictCounts) -> String {
    let mut reasons: Vec<(&String, &u32)> = counts.reasons.iter().collect();
    // The sort is stable: reasons with the same count stay in the order of their names.
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let words = |(name, count): (&String, &u32)| format!("{name} {}", grouped((*count).into()));
    let words: Vec<String> = reasons.into_iter().map(words).collect();
    words.join(", ")
}

pub(crate) fn result(row: &Comparison) -> &'static str {
    match &row.outcome {
        ComparisonOutcome::Estimated(Estimate { interval: None, .. }) => "no interval",
        ComparisonOutcome::Estimated(estimate) if !estimate.is_shown => "no difference shown",
        ComparisonOutcome::Estimated(estimate) => match (row.metric.better(), estimate.ratio > 1.0)
        {
            (Better::Higher, true) | (Better::Lower, false) => "better",
            (Better::Higher, false) | (Better::Lower, true) => "worse",
        },
        ComparisonOutcome::TooManyInvalid => "too many INVALID",
        ComparisonOutcome::UnlikeShares => "not comparable",
        ComparisonOutcome::NotMeasured => "not measured",
        ComparisonOutcome::NoRuns => "no runs in common",
    }
}
