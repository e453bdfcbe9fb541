//! Shares of incomplete operations in comparisons, and counts of verdicts.

use study::statistics::ALPHA;
use study::{
    Baseline, ComparedSide, ComparisonOutcome, Comparisons, Incomplete, Metric, VerdictCounts,
};
use verdict::Level;

use crate::made::{apart, in_blocks};

/// Sets the percentage of failed operations for each run. The list of percentages is repeated as
/// necessary.
fn failing(mut side: ComparedSide, percent: &[f64]) -> ComparedSide {
    for (run, percent) in side.runs.iter_mut().zip(percent.iter().cycle()) {
        run.incomplete = [
            (Incomplete::Skipped, 0.0),
            (Incomplete::Failed, percent / 100.0),
        ]
        .into();
    }
    side
}

fn compared(side: ComparedSide, baseline: ComparedSide) -> Comparisons {
    Comparisons::of(
        &Baseline::alone(baseline),
        &[side],
        &[Metric::Transactions],
        ALPHA,
    )
}

#[test]
fn different_shares_of_incomplete_work_are_reported() {
    let base = || failing(in_blocks("base", &[100.0; 6]), &[0.0]);
    let side = |percent: &[f64]| failing(in_blocks("new", &[234.0; 6]), percent);
    for (percent, is_named, is_refused) in [
        (&[0.0][..], false, false),
        (&[0.05], false, false),
        (&[0.5, 0.6], true, false),
        (&[1.5, 1.4], true, true),
        (&[60.0, 59.0, 61.0], true, true),
        // The shares vary more between blocks than between the configurations: noise.
        (&[0.0, 0.0, 0.0, 0.0, 0.0, 9.0], false, false),
    ] {
        let found = compared(side(percent), base());
        let row = &found.rows[0];
        assert_eq!(
            !row.incomplete.is_empty(),
            is_named,
            "{percent:?}: {:?}",
            row.incomplete
        );
        assert_eq!(row.has_unlike_shares(), is_refused, "{percent:?}");
        assert!(row.estimate().is_some());
        let refused = found.clone().without_unlike_shares();
        let is_left_out = refused.rows[0].outcome == ComparisonOutcome::UnlikeShares;
        assert_eq!(is_left_out, is_refused, "{percent:?}");
    }
    let found = compared(side(&[60.0]), base());
    let difference = found.rows[0].incomplete[0];
    assert_eq!(
        (difference.why, difference.baseline),
        (Incomplete::Failed, 0.0)
    );
    assert!((difference.side - 0.6).abs() < 1e-12);
}

#[test]
fn single_runs_with_many_failures_are_not_compared() {
    let side = failing(apart("new", &[234.0]), &[60.0]);
    let found = compared(side, failing(apart("base", &[100.0]), &[0.0]));
    assert!(found.rows[0].has_unlike_shares());
    // A run whose share of failed operations is not known does not count as different.
    let found = compared(apart("new", &[234.0]), apart("base", &[100.0]));
    assert!(found.rows[0].incomplete.is_empty());
}

#[test]
fn verdicts_and_their_rules_are_counted() {
    let mut side = in_blocks("new", &[100.0; 4]);
    for (run, (level, reasons)) in side.runs.iter_mut().zip([
        (Level::Doubtful, &["not-steady", "other-load"][..]),
        (Level::Doubtful, &["not-steady"]),
        (Level::Invalid, &["partial"]),
        (Level::Valid, &[]),
    ]) {
        run.level = level;
        run.reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
    }
    let base = in_blocks("base", &[100.0; 4]);
    let found = compared(side.clone(), base);
    for counts in [&found.verdicts, &found.rows[0].verdicts] {
        assert_eq!((counts.valid, counts.doubtful, counts.invalid), (5, 2, 1));
        assert_eq!(counts.doubtful_reasons["not-steady"], 2);
        assert_eq!(counts.invalid_reasons["partial"], 1);
        assert_eq!(counts.all(), 8);
    }
    assert_eq!(VerdictCounts::of(&side.runs).runs(Level::Doubtful), 2);
}
