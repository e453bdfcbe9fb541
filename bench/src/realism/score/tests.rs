//! Tests of the statistics, with figures that were computed by hand.

use super::*;
use crate::realism::cell::Step;
use crate::realism::rounds::Place;

fn line(round: u32, file_system: &str, name: &str, step: &str, seconds: f64) -> Line {
    Line {
        place: Place {
            data: "other".to_owned(),
            round,
            file_system: file_system.to_owned(),
            name: name.to_owned(),
        },
        step: Step {
            name: step.to_owned(),
            operations: 10,
            seconds,
        },
    }
}

#[test]
fn ratio_is_the_median_of_the_rounds_own_ratios() {
    let mut lines = Vec::new();
    // Ratios of the rounds: 2, 4 and 1. The ratio of the median times would be 4.
    for (round, ext4, xfs) in [(0, 2.0, 1.0), (1, 4.0, 1.0), (2, 30.0, 30.0)] {
        lines.push(line(round, "ext4", "tar", "tar", ext4));
        lines.push(line(round, "xfs", "tar", "tar", xfs));
    }
    // A round without ext4 does not count, nor do other applications and data.
    lines.push(line(3, "xfs", "tar", "tar", 1.0));
    lines.push(line(0, "xfs", "rm", "rm", 1.0));
    let found = ratios(&lines, "other", "tar", &[]);
    assert_eq!(found.len(), 1);
    assert_eq!((found["xfs"].median.value, found["xfs"].rounds), (2.0, 3));
    assert!(ratios(&lines, "tuned", "tar", &[]).is_empty());
}

#[test]
fn steps_are_added_up_or_selected() {
    let lines = [
        line(0, "ext4", "git", "clone", 3.0),
        line(0, "ext4", "git", "gc", 1.0),
        line(0, "xfs", "git", "clone", 1.0),
        line(0, "xfs", "git", "gc", 1.0),
    ];
    let ratio = |steps: &[&str]| ratios(&lines, "other", "git", steps)["xfs"].median.value;
    assert_eq!(
        [ratio(&[]), ratio(&["clone"]), ratio(&["gc"])],
        [2.0, 3.0, 1.0]
    );
}

fn table(rows: &[(&str, f64, f64, f64)], rounds: usize) -> Ratios {
    let ratio = |&(system, value, low, high): &(&str, f64, f64, f64)| {
        let median = Median { value, low, high };
        (system.to_owned(), Ratio { median, rounds })
    };
    rows.iter().map(ratio).collect()
}

#[test]
fn factor_is_the_root_mean_square_of_logarithms() {
    let real = table(&[("btrfs", 0.5, 0.5, 0.5), ("xfs", 1.0, 1.0, 1.0)], 1);
    let predicted = table(&[("btrfs", 1.0, 1.0, 1.0), ("xfs", 0.5, 0.5, 0.5)], 1);
    let factor = score(&real, &predicted).factor.unwrap();
    assert!((factor - 2.0).abs() < 1e-12, "{factor}");
    // xfs is exact, and btrfs is wrong by a factor of 4: exp(sqrt(ln(4)² / 2)).
    let predicted = table(&[("btrfs", 2.0, 2.0, 2.0), ("xfs", 1.0, 1.0, 1.0)], 1);
    let factor = score(&real, &predicted).factor.unwrap();
    assert!((factor - 2.665_144).abs() < 1e-6, "{factor}");
    assert_eq!(score(&real, &Ratios::new()).factor, None);
}

#[test]
fn only_pairs_with_separate_intervals_count() {
    // Five pairs are separate: btrfs is below tmpfs, xfs and ext4 (ratio 1), and tmpfs is above
    // xfs and ext4. The interval of xfs includes the ratio of ext4.
    let rows = [
        ("btrfs", 0.5, 0.4, 0.6),
        ("tmpfs", 2.0, 1.5, 2.5),
        ("xfs", 0.95, 0.9, 1.1),
    ];
    let predicted = table(
        &[
            ("btrfs", 0.9, 0., 0.),
            ("tmpfs", 3., 0., 0.),
            ("xfs", 0.8, 0., 0.),
        ],
        1,
    );
    let pairs = |rounds| score(&table(&rows, rounds), &predicted).pairs;
    // The preset orders btrfs and xfs wrongly.
    assert_eq!(pairs(6), Some((4, 5)));
    assert_eq!(pairs(5), None);
}

#[test]
fn distance_of_sizes_is_the_greatest_difference_of_shares() {
    assert_eq!(kolmogorov_smirnov(&[1, 2, 3, 4], &[4, 3, 2, 1]), Some(0.0));
    assert_eq!(kolmogorov_smirnov(&[1, 2], &[3, 4, 5]), Some(1.0));
    // At most 2: all values of the first sample, and one of the four values of the second one.
    assert_eq!(kolmogorov_smirnov(&[1, 2], &[2, 3, 4, 5]), Some(0.75));
    assert_eq!(kolmogorov_smirnov(&[], &[1]), None);
}

#[test]
fn a_number_that_was_not_measured_misses_its_requirement() {
    let pairing = &crate::realism::applications::PAIRINGS[0];
    let mut found = Found {
        pairing,
        real: Ratios::new(),
        predicted: Ratios::new(),
        score: Score {
            pairs: None,
            factor: None,
        },
        mixes: None,
        sizes: None,
        has_real_sizes: true,
        own_sizes: Some(0.2),
    };
    assert_eq!(missed_by(&found).len(), 4, "{:?}", missed_by(&found));
    found.score = Score {
        pairs: Some((5, 5)),
        factor: Some(1.1),
    };
    found.mixes = Some(0.05);
    found.sizes = Some(0.1);
    assert_eq!(missed_by(&found), Vec::<String>::new());
    // The factor must also be small for at least three rows.
    assert_eq!(missed(&[found.clone()]).len(), 1);
    assert!(missed(&[found.clone(), found.clone(), found.clone()]).is_empty());
    found.score.pairs = Some((4, 5));
    found.sizes = Some(0.3);
    assert_eq!(missed_by(&found).len(), 2);
    found.own_sizes = None;
    assert_eq!(missed_by(&found).len(), 2);
    found.has_real_sizes = false;
    assert_eq!(missed_by(&found).len(), 1);
}
