//! Comparisons of runs with known numbers.

use record::{Coordinate, StudyPart};
use study::statistics::ALPHA;
use study::statistics::{Errors, Mean, student_quantile};
use study::{
    Baseline, ComparedSide, Comparison, ComparisonOutcome, Comparisons, Design, Looks, Method,
    Metric, SideGroup, StudyComparisons, StudyRun, UnlikeWhat, unlike,
};
use testkit::Assert;
use verdict::Level;

use crate::made::{apart, in_blocks, run};

fn compared(side: ComparedSide, baseline: Baseline) -> Comparison {
    let mut found = Comparisons::of(&baseline, &[side], &[Metric::Transactions], ALPHA);
    found.rows.pop().unwrap()
}

fn is_near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-6
}

#[test]
fn quantiles_equal_published_tables() {
    // Values from tables of Student's t.
    for (probability, degrees, value) in [
        (0.975, 4.0, 2.776_445),
        (0.975, 9.0, 2.262_157),
        (0.95, 9.0, 1.833_113),
        (0.999, 9.0, 4.296_806),
        (0.9975, 4.0, 5.597_568),
    ] {
        let found = student_quantile(probability, degrees);
        assert!(
            (found / value - 1.0).abs() < 1e-4,
            "{probability} {degrees}: {found}"
        );
    }
}

#[test]
fn intervals_are_computed_from_log_ratios_of_pairs() {
    let base = [1000.0, 1100.0, 900.0, 1000.0, 1050.0];
    let side: Vec<f64> = base
        .iter()
        .zip([0.70, 0.72, 0.71, 0.69, 0.73])
        .map(|(rate, ratio)| rate * ratio)
        .collect();
    let found = compared(
        in_blocks("a", &side),
        Baseline::alone(in_blocks("b", &base)),
    );
    let estimate = *found.estimate().unwrap();
    assert_eq!(
        (found.method, found.count, found.invalid),
        (Method::Blocks, 5, 0)
    );
    // Calculated by hand: the log ratios have the mean -0.342689 and the standard deviation
    // 0.022275. Student's t is 2.776445 with four degrees of freedom.
    let interval = estimate.interval.unwrap();
    assert!(is_near(estimate.ratio, 0.709_859), "{estimate:?}");
    estimate.assert((estimate.standard_deviation.unwrap() - 0.022_275).abs() < 1e-5);
    assert!((interval.low - 0.690_495).abs() < 1e-4, "{interval:?}");
    assert!((interval.high - 0.729_767).abs() < 1e-4, "{interval:?}");
    assert!(estimate.is_shown && estimate.blocks_needed_to_show.is_none());
}

#[test]
fn rows_of_a_table_share_the_error_probability() {
    let base = in_blocks("b", &[100.0, 101.0, 99.0, 102.0, 98.0, 100.0]);
    let side = in_blocks("a", &[99.0, 103.0, 98.0, 100.0, 101.0, 100.0]);
    let width = |sides: &[ComparedSide]| {
        let found = Comparisons::of(
            &Baseline::alone(base.clone()),
            sides,
            &[Metric::Transactions],
            ALPHA,
        );
        let interval = found.rows[0].estimate().unwrap().interval.unwrap();
        (interval.high / interval.low).ln()
    };
    let (one, four) = (
        width(std::slice::from_ref(&side)),
        width(&vec![side.clone(); 4]),
    );
    let expected = student_quantile(1.0 - 0.05 / 8.0, 5.0) / student_quantile(0.975, 5.0);
    assert!(is_near(four / one, expected), "{one} {four}");
}

#[test]
fn fewer_than_five_blocks_have_a_ratio_and_no_interval() {
    let found = compared(
        in_blocks("a", &[90.0, 91.0, 89.0, 90.0]),
        Baseline::alone(in_blocks("b", &[100.0; 4])),
    );
    let estimate = found.estimate().unwrap();
    assert!(
        estimate.interval.is_none() && !estimate.is_shown && estimate.smallest_detectable.is_none()
    );
    assert!((estimate.ratio - 0.9).abs() < 1e-3);
}

#[test]
fn two_single_runs_have_only_a_ratio() {
    let found = compared(apart("a", &[50.0]), Baseline::alone(apart("b", &[100.0])));
    let estimate = found.estimate().unwrap();
    assert_eq!(
        (found.method, found.count, found.baseline_count),
        (Method::NotInterleaved, 1, 1)
    );
    assert!(
        is_near(estimate.ratio, 0.5)
            && estimate.interval.is_none()
            && estimate.standard_deviation.is_none()
    );
}

#[test]
fn runs_without_blocks_are_compared_as_two_samples() {
    let (a, b) = (
        [27.5_f64, 21.0, 19.0, 23.6, 17.0, 17.9],
        [27.1_f64, 22.0, 20.8, 23.4, 23.4, 23.5],
    );
    let found = compared(
        apart("a", &a.map(f64::exp)),
        Baseline::alone(apart("b", &b.map(f64::exp))),
    );
    assert_eq!(found.method, Method::NotInterleaved);
    // Welch's test by hand: means 21.0 and 23.3667, variances 15.724 and 4.482667; t = -1.289631,
    // 7.636562 degrees of freedom.
    let mean = Mean::of_difference(&a, &b).unwrap();
    assert!((mean.mean + 2.366_667).abs() < 1e-5, "{mean:?}");
    mean.assert((mean.mean / mean.standard_error + 1.289_631).abs() < 1e-5);
    assert!((mean.degrees - 7.636_562).abs() < 1e-5, "{mean:?}");
    assert!(!found.estimate().unwrap().is_shown);
}

#[test]
fn runs_of_two_studies_are_no_pairs() {
    let side = in_blocks("a", &[1.0; 6]);
    let mut other = in_blocks("b", &[1.0; 6]);
    for run in &mut other.runs {
        run.block.as_mut().unwrap().study = "another".to_owned();
    }
    assert_eq!(
        compared(side, Baseline::alone(other)).method,
        Method::NotInterleaved
    );
}

#[test]
fn two_runs_of_a_configuration_in_one_block_are_no_pairs() {
    // A tag on two cells of a study selects two runs of each block.
    let mut side = in_blocks("a", &[1.0; 6]);
    side.runs.extend(in_blocks("a", &[2.0; 6]).runs);
    let found = compared(side, Baseline::alone(in_blocks("b", &[1.0; 6])));
    assert_eq!(
        (found.method, found.count, found.baseline_count),
        (Method::NotInterleaved, 12, 6)
    );
}

#[test]
fn baseline_with_second_runs_is_the_mean_of_both_runs() {
    let baseline = Baseline {
        side: in_blocks("b", &[100.0; 6]),
        twin: Some(in_blocks("t", &[121.0, 121.0, 121.0, 121.0, 121.0, 120.0])),
    };
    let found = Comparisons::of(
        &baseline,
        &[in_blocks("a", &[110.0; 6])],
        &[Metric::Transactions],
        ALPHA,
    );
    assert!((found.rows[0].estimate().unwrap().ratio - 1.0).abs() < 1e-2);
    // The A/A control shows a difference between the runs of the baseline, so the study is
    // doubtful.
    assert!(found.is_doubtful);
    found
        .aa_controls
        .assert((found.aa_controls[0].ratio - 1.208).abs() < 1e-3);
    let quiet = Baseline {
        twin: Some(in_blocks("t", &[101.0, 99.0, 102.0, 98.0, 100.0, 100.0])),
        ..baseline
    };
    let found = Comparisons::of(
        &quiet,
        &[in_blocks("a", &[110.0; 6])],
        &[Metric::Transactions],
        ALPHA,
    );
    assert!(!found.is_doubtful && found.aa_controls[0].noise.unwrap() > 0.01);
}

#[test]
fn names_leave_out_the_coordinates_that_all_configurations_have() {
    let cell = |coordinates: &[(&str, &str)], label: &str| {
        let mut side = in_blocks(label, &[100.0; 5]);
        for run in &mut side.runs {
            let coordinates = coordinates.iter().map(|(dimension, value)| Coordinate {
                dimension: (*dimension).to_owned(),
                value: (*value).to_owned(),
            });
            run.subject.coordinates = coordinates.collect();
            run.subject.workload = "mail".to_owned();
        }
        side
    };
    let of = |baseline: ComparedSide, side: ComparedSide| {
        let metrics = [Metric::Transactions];
        let found = Comparisons::of(&Baseline::alone(baseline), &[side], &metrics, ALPHA);
        let names: Vec<String> = found.sides.iter().map(|side| side.name.clone()).collect();
        (found.common, names)
    };
    let (common, names) = of(
        cell(&[("files", "500"), ("target", "ext4")], "files=500 ext4"),
        cell(&[("files", "500"), ("target", "xfs")], "files=500 xfs"),
    );
    assert_eq!(common, ["mail", "files=500"]);
    assert_eq!(names, ["ext4", "xfs"]);
    // If the workload is a coordinate of the cells, the summary lists it only once.
    let (common, names) = of(
        cell(&[("workload", "a"), ("target", "ext4")], "a ext4"),
        cell(&[("workload", "a"), ("target", "xfs")], "a xfs"),
    );
    assert_eq!(
        (common, names),
        (vec!["a".into()], vec!["ext4".into(), "xfs".into()])
    );
    // `before` and `after` are not labels of the cells, so the names are not shortened.
    let (common, names) = of(
        cell(&[("files", "500"), ("target", "ext4")], "before"),
        cell(&[("files", "500"), ("target", "ext4")], "after"),
    );
    assert_eq!(
        (common, names),
        (vec!["mail".into()], vec!["before".into(), "after".into()])
    );
}

#[test]
fn aa_control_states_the_greatest_distance_from_1() {
    let baseline = Baseline {
        side: in_blocks("b", &[100.0; 6]),
        twin: Some(in_blocks("b", &[101.0, 99.0, 102.0, 98.0, 100.0, 100.0])),
    };
    let sides = [in_blocks("a", &[110.0; 6])];
    let found = Comparisons::of(&baseline, &sides, &[Metric::Transactions], ALPHA);
    let control = &found.aa_controls[0];
    let interval = control.interval.unwrap();
    let within = control.within().unwrap();
    assert!(within > 0.0 && found.blocks == 6, "{control:?}");
    for end in [interval.low, interval.high] {
        assert!((end - 1.0).abs() <= within + 1e-12, "{control:?}");
    }
    assert!(interval.high - 1.0 == within || 1.0 - interval.low == within);
}

#[test]
fn a_doubtful_table_makes_the_whole_study_doubtful() {
    let group = |twin: &[f64]| SideGroup {
        baseline: Baseline {
            side: in_blocks("b", &[100.0; 6]),
            twin: Some(in_blocks("t", twin)),
        },
        sides: vec![in_blocks("a", &[110.0; 6])],
    };
    let (quiet, other) = (
        [101.0, 99.0, 102.0, 98.0, 100.0, 100.0],
        [121.0, 120.0, 121.0, 121.0, 121.0, 120.0],
    );
    let tables =
        |groups: &[SideGroup]| Comparisons::of_groups(groups, &[Metric::Transactions], ALPHA);
    let are_doubtful = |groups: &[SideGroup]| {
        tables(groups)
            .iter()
            .map(|table| table.is_doubtful)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        are_doubtful(&[group(&quiet), group(&quiet)]),
        [false, false]
    );
    assert_eq!(are_doubtful(&[group(&quiet), group(&other)]), [true, true]);
}

#[test]
fn invalid_runs_are_listed_and_never_counted() {
    let baseline = || Baseline::alone(in_blocks("b", &[100.0; 10]));
    let mut side = in_blocks("a", &[90.0; 10]);
    for block in [2, 5] {
        side.runs[block].level = Level::Invalid;
        side.runs[block].values = [(Metric::Transactions, 1.0)].into();
    }
    let found = Comparisons::of(&baseline(), &[side.clone()], &[Metric::Transactions], ALPHA);
    let row = &found.rows[0];
    assert_eq!((row.count, row.invalid), (8, 2));
    assert!(is_near(row.estimate().unwrap().ratio, 0.9));
    assert_eq!(found.invalid.len(), 2);
    assert_eq!(found.invalid[1].block.as_ref().unwrap().number, 6);
    // A third INVALID block of ten exceeds the limit of 20 %.
    side.runs[7].level = Level::Invalid;
    assert_eq!(
        compared(side.clone(), baseline()).outcome,
        ComparisonOutcome::TooManyInvalid
    );
    // A second attempt at the block counts only if it has runs of both configurations.
    let mut again = run(Some(8), &[(Metric::Transactions, 90.0)]);
    again.block.as_mut().unwrap().attempt = 2;
    side.runs.push(again.clone());
    assert_eq!(
        compared(side.clone(), baseline()).outcome,
        ComparisonOutcome::TooManyInvalid,
        "half a block"
    );
    let mut base = baseline();
    again.values = [(Metric::Transactions, 100.0)].into();
    base.side.runs.push(again);
    let row = compared(side, base);
    assert_eq!((row.count, row.invalid), (8, 2));
    // The limit of 20 % also applies to runs that belong to no study.
    let mut side = apart("a", &[90.0; 5]);
    side.runs[0].level = Level::Invalid;
    assert!(
        compared(side.clone(), Baseline::alone(apart("b", &[1.0; 5])))
            .estimate()
            .is_some()
    );
    side.runs[1].level = Level::Invalid;
    side.runs[2].level = Level::Invalid;
    let found = compared(side, Baseline::alone(apart("b", &[1.0; 5])));
    assert_eq!(found.outcome, ComparisonOutcome::TooManyInvalid);
}

#[test]
fn unmeasured_metrics_and_missing_runs_are_distinguished() {
    let base = || Baseline::alone(in_blocks("b", &[100.0; 6]));
    let side = in_blocks("a", &[90.0; 6]);
    let found = Comparisons::of(
        &base(),
        std::slice::from_ref(&side),
        &["create.p99".parse().unwrap()],
        ALPHA,
    );
    assert_eq!(
        (found.rows[0].outcome, found.rows[0].without),
        (ComparisonOutcome::NotMeasured, 6)
    );
    let none = ComparedSide {
        runs: Vec::new(),
        ..side.clone()
    };
    assert_eq!(compared(none, base()).outcome, ComparisonOutcome::NoRuns);
    // The last block of a killed study is incomplete, but not INVALID.
    let mut short = side;
    short.runs.pop();
    let row = compared(short, base());
    assert_eq!((row.count, row.invalid, row.without), (5, 0, 0));
}

#[test]
fn different_conditions_are_reported() {
    let side = in_blocks("a", &[1.0; 5]);
    let mut other = in_blocks("b", &[1.0; 5]);
    assert_eq!(unlike(&side, &other), []);
    for run in &mut other.runs {
        run.conditions
            .insert(UnlikeWhat::CacheState, "cold".to_owned());
    }
    // A different condition of an INVALID run is not reported.
    other.runs[3].level = Level::Invalid;
    other.runs[3]
        .conditions
        .insert(UnlikeWhat::Host, "elsewhere".to_owned());
    let found = unlike(&side, &other);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].what, &*found[0].baseline),
        (UnlikeWhat::CacheState, &["cold".to_owned()][..])
    );
    // Different conditions of the runs of one configuration are reported as well.
    let mut mixed = side.clone();
    mixed.runs[0]
        .conditions
        .insert(UnlikeWhat::Host, "elsewhere".to_owned());
    assert_eq!(unlike(&mixed, &side)[0].what, UnlikeWhat::Host);
}

#[test]
fn blocks_needed_is_the_minimum_that_shows_the_difference() {
    let errors = Errors::of_interval(ALPHA);
    for (difference, spread) in [(0.01, 0.03), (0.05, 0.03), (0.002, 0.03), (-0.02, 0.05)] {
        let needed = errors.blocks_needed(difference, spread).unwrap();
        let shown = |blocks: u32| {
            let count = f64::from(blocks);
            errors.smallest_detectable(spread / count.sqrt(), count - 1.0) <= f64::abs(difference)
        };
        assert!(shown(needed), "{difference} {spread}: {needed}");
        assert!(
            needed == 5 || !shown(needed - 1),
            "{difference} {spread}: {needed}"
        );
    }
    assert_eq!(errors.blocks_needed(0.0, 0.03), None);
    assert_eq!(errors.blocks_needed(0.000_01, 0.5), None);
    assert_eq!(errors.blocks_needed(0.5, 0.0), Some(5));
}

#[test]
fn all_looks_together_spend_exactly_the_total_error() {
    for max in [1, 10, 11, 40, 100, 1_000] {
        let looks = Looks::new(max);
        let blocks = looks.blocks();
        assert!(blocks.is_sorted_by(|one, other| one < other), "{blocks:?}");
        assert_eq!(looks.max_blocks(), max.max(10));
        assert_eq!(blocks[0], if max == 11 { 11 } else { 10 });
        let spent: f64 = blocks
            .iter()
            .map(|look| looks.alpha(*look, 0.05).unwrap())
            .sum();
        assert!(is_near(spent, 0.05), "{max}: {spent}");
        assert!(
            blocks
                .iter()
                .all(|look| looks.alpha(*look, 0.05).unwrap() > 0.0)
        );
    }
    let looks = Looks::new(40);
    assert_eq!(looks.alpha(11, 0.05), None);
    let end = looks.alpha_at_end(12, 0.05) + looks.alpha(10, 0.05).unwrap();
    assert!(is_near(end, 0.05));
}

#[test]
fn a_study_with_looks_reports_intervals_with_the_unspent_error() {
    let text = |until: &str| {
        format!(
            "{until}blocks = 40\ntargets = [{{ name = \"b\", at = \"/b\" }}, {{ name = \"a\", at \
             = \"/a\" }}]\n[[workload]]\npreset = \"mail\"\n"
        )
    };
    let runs: Vec<StudyRun> = [
        in_blocks("b", &[100.0; 14]),
        in_blocks("a", &[90.0, 92.0].repeat(7)),
    ]
    .into_iter()
    .flat_map(|side| {
        side.runs.into_iter().map(move |observed| StudyRun {
            part: part(&side.label, observed.block.as_ref().unwrap().number),
            observed,
        })
    })
    .collect();
    let width = |text: String| {
        let design = Design::parse(&text).unwrap();
        let found = StudyComparisons::of(
            &design,
            &design.cells().unwrap(),
            &runs,
            &[Metric::Transactions],
        );
        assert!(is_near(found.tables[0].confidence, 0.95));
        let interval = found.tables[0].rows[0]
            .estimate()
            .unwrap()
            .interval
            .unwrap();
        (interval.high / interval.low).ln()
    };
    let alpha = Looks::new(40).alpha(14, ALPHA).unwrap();
    let expected = student_quantile(1.0 - alpha / 2.0, 13.0) / student_quantile(0.975, 13.0);
    let found = width(text("until = \"2%\"\n")) / width(text(""));
    assert!(is_near(found, expected), "{found} {expected}");
}

fn part(cell: &str, block: u32) -> StudyPart {
    StudyPart {
        cell: cell.to_owned(),
        block,
        ..StudyPart::default()
    }
}

#[test]
fn specification_and_program_agree_on_the_blocks_of_an_interval() {
    let specification = include_str!("../../../../docs/reference/comparisons.md");
    let words: Vec<&str> = specification.split_whitespace().collect();
    let minimum = study::statistics::BLOCKS_MIN;
    let stated = format!("Fewer than {minimum} samples have no interval.");
    assert!(words.join(" ").contains(&stated), "{stated}");
}
