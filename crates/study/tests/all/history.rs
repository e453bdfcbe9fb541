//! Changes of a series: places, sizes, drifts, outliers, causes, and predictions for gates.

use study::{
    Cause, Decision, History, HistoryDoubt, HistoryGate, HistoryPoint, Levels, Metric, Prediction,
    SeriesKey, Shape,
};
use testkit::Random;
use verdict::Level;

/// Normal noise, always the same.
fn noise(seed: u64, count: usize, deviation: f64) -> Vec<f64> {
    let mut random = Random(seed);
    (0..count).map(|_| deviation * random.normal()).collect()
}

fn with_step(mut values: Vec<f64>, at: usize, size: f64) -> Vec<f64> {
    values.iter_mut().skip(at).for_each(|value| *value += size);
    values
}

fn history(values: &[f64], control: impl Fn(usize) -> Option<f64>) -> History {
    let point = |(place, log): (usize, &f64)| HistoryPoint {
        run: place as u64 + 1,
        id: String::new(),
        begun_unix_ns: place as u64,
        label: None,
        verdict: Level::Valid,
        value: Some(1_000.0 * log.exp()),
        control: control(place),
    };
    let runs = values.iter().enumerate().map(point).collect();
    let of = (SeriesKey::default(), Metric::Transactions);
    History::of(of, "time".to_owned(), (runs, 0))
}

#[test]
fn step_is_found_at_its_place_with_its_size() {
    let found = Levels::of(&with_step(noise(1, 60, 0.01), 40, -0.05));
    assert_eq!(found.starts(), [0, 40]);
    let change = found.changes[0];
    let (low, high) = change.interval();
    assert!(
        low < -0.05 && -0.05 < high && high - low < 0.02,
        "{change:?}"
    );
    assert_eq!(change.shape, Shape::Step);
}

#[test]
fn fall_that_was_repaired_has_two_changes() {
    let fallen = with_step(with_step(noise(2, 100, 0.01), 50, -0.06), 60, 0.06);
    assert_eq!(Levels::of(&fallen).starts(), [0, 50, 60]);
}

#[test]
fn series_without_a_change_has_one_level() {
    for seed in 0..20 {
        let found = Levels::of(&noise(100 + seed, 50, 0.03));
        assert!(found.changes.is_empty(), "seed {seed}: {found:?}");
    }
    for values in [vec![], vec![1.0], vec![1.0; 30], vec![1.0, 2.0, 3.0]] {
        assert!(Levels::of(&values).changes.is_empty(), "{values:?}");
    }
}

/// Values without noise, such as counts or percentiles of few distinct values.
#[test]
fn step_without_noise_is_found() {
    let values = with_step(vec![1.0; 30], 15, 1.0);
    assert_eq!(Levels::of(&values).starts(), [0, 15]);
}

/// Differences across a change are neither noise nor correlation.
#[test]
fn two_groups_of_runs_do_not_look_correlated() {
    let average = |of: &dyn Fn(u64) -> Vec<f64>| {
        let found = (0..40).map(|seed| Levels::of(&of(200 + seed)).correlation);
        found.sum::<f64>() / 40.0
    };
    let groups = average(&|seed| with_step(noise(seed, 16, 0.01), 8, -0.05));
    assert!(groups < 0.22, "{groups}");
    let correlated = average(&|seed| {
        let mut last = 0.0;
        let next = |new: f64| {
            last = 0.5 * last + new;
            last
        };
        noise(seed, 100, 0.01).into_iter().map(next).collect()
    });
    assert!((0.35..0.6).contains(&correlated), "{correlated}");
}

#[test]
fn outliers_are_no_change() {
    let mut values = noise(3, 60, 0.01);
    for place in [7, 20, 33, 34, 50] {
        values[place] -= 0.4;
    }
    assert!(Levels::of(&values).changes.is_empty());
}

#[test]
fn even_fall_is_a_drift() {
    let fallen: Vec<f64> = noise(4, 80, 0.01)
        .into_iter()
        .enumerate()
        .map(|(place, value)| value - 0.002 * place as f64)
        .collect();
    let found = Levels::of(&fallen);
    assert!(!found.changes.is_empty());
    let is_drift = |change: &study::LevelChange| change.shape == Shape::Drift;
    assert!(found.changes.iter().all(is_drift), "{found:?}");
}

#[test]
fn invalid_runs_are_kept_but_not_counted() {
    let mut history = history(&noise(5, 20, 0.01), |_| None);
    let of = (history.series.clone(), history.metric);
    history.runs[3].verdict = Level::Invalid;
    history.runs[3].value = Some(1e9);
    history.runs[4].value = None;
    let found = History::of(of, "time".to_owned(), (history.runs, 0));
    assert_eq!((found.runs.len(), found.levels[0].runs), (20, 18));
    assert!((found.levels[0].mean / 1_000.0 - 1.0).abs() < 0.01);
    assert_eq!(found.invalid().map(|run| run.run).collect::<Vec<_>>(), [4]);
}

#[test]
fn control_tells_host_from_system() {
    let values = with_step(noise(6, 40, 0.01), 20, -0.1);
    let other = noise(7, 40, 0.01);
    let cause = |step: f64| {
        let control = with_step(other.clone(), 20, step);
        let found = history(&values, |place| Some(500.0 * control[place].exp()));
        assert_eq!(found.changes.len(), 1);
        found.changes[0].cause.clone()
    };
    assert!(
        matches!(cause(-0.1), Cause::Host { .. }),
        "{:?}",
        cause(-0.1)
    );
    assert!(
        matches!(cause(0.0), Cause::System { .. }),
        "{:?}",
        cause(0.0)
    );
    assert!(
        matches!(cause(-0.05), Cause::Both { .. }),
        "{:?}",
        cause(-0.05)
    );
    let without = history(&values, |_| None);
    assert_eq!(without.changes[0].cause, Cause::NotAvailable);
}

#[test]
fn gate_fails_only_beyond_the_noise() {
    let earlier = history(&noise(8, 30, 0.02), |_| None);
    let new = |value: f64| HistoryPoint {
        run: 99,
        value: Some(value),
        ..earlier.runs[0].clone()
    };
    let decide = |value: f64| HistoryGate::of(&earlier, &[new(value)], false).unwrap();
    assert_eq!(decide(1_000.0).decision, Decision::Passed);
    assert_eq!(decide(980.0).decision, Decision::Passed);
    assert_eq!(decide(1_500.0).decision, Decision::Passed);
    let failed = decide(880.0);
    assert_eq!(failed.decision, Decision::Failed);
    assert!(failed.limit.unwrap() > 900.0 && failed.limit < failed.expected);
    let short = history(&noise(8, 9, 0.02), |_| None);
    let undecided = HistoryGate::of(&short, &[new(100.0)], false).unwrap();
    assert_eq!(
        (undecided.decision, undecided.limit),
        (Decision::Undecided, None)
    );
    assert!(HistoryGate::of(&earlier, &[], false).is_err());
}

/// Neither a pass nor a failure follows from DOUBTFUL runs, unless it is allowed.
#[test]
fn gate_against_the_history_is_undecided_if_runs_are_doubtful() {
    let decided = |(old, new): (usize, usize), value: f64, allows_doubtful: bool| {
        let mut earlier = history(&noise(8, 30, 0.02), |_| None);
        for run in &mut earlier.runs[..old] {
            run.verdict = Level::Doubtful;
        }
        let mut added = [0, 1].map(|run| HistoryPoint {
            run: 90 + run,
            value: Some(value),
            verdict: Level::Valid,
            ..earlier.runs[0].clone()
        });
        for run in &mut added[..new] {
            run.verdict = Level::Doubtful;
        }
        let gate = HistoryGate::of(&earlier, &added, allows_doubtful).unwrap();
        (gate.decision, gate.doubts.len())
    };
    for (runs, value, expected) in [
        ((0, 0), 1_000.0, (Decision::Passed, 0)),
        ((15, 1), 1_000.0, (Decision::Passed, 0)),
        ((16, 0), 1_000.0, (Decision::Undecided, 1)),
        ((0, 2), 1_000.0, (Decision::Undecided, 1)),
        ((30, 2), 1_000.0, (Decision::Undecided, 2)),
        ((30, 2), 200.0, (Decision::Undecided, 2)),
        ((15, 1), 200.0, (Decision::Failed, 0)),
    ] {
        assert_eq!(decided(runs, value, false), expected, "{runs:?}, {value}");
    }
    assert_eq!(decided((30, 2), 1_000.0, true), (Decision::Passed, 2));
    assert_eq!(decided((30, 2), 200.0, true), (Decision::Failed, 2));
}

/// Noise that hides a loss of more than a tenth prevents a pass, but not a failure.
#[test]
fn gate_does_not_pass_if_the_noise_hides_a_great_loss() {
    let earlier = history(&noise(8, 30, 0.2), |_| None);
    let decided = |value: f64, allows_doubtful: bool| {
        let new = HistoryPoint {
            run: 99,
            value: Some(value),
            ..earlier.runs[0].clone()
        };
        HistoryGate::of(&earlier, &[new], allows_doubtful).unwrap()
    };
    let undecided = decided(1_000.0, false);
    assert_eq!(undecided.decision, Decision::Undecided);
    let [HistoryDoubt::WideLimit { distance }] = undecided.doubts[..] else {
        panic!("{:?}", undecided.doubts);
    };
    assert!(distance > 0.1);
    assert_eq!(decided(1_000.0, true).decision, Decision::Passed);
    assert_eq!(decided(100.0, false).decision, Decision::Failed);
}

#[test]
fn prediction_continues_a_drift() {
    let falling: Vec<f64> = noise(9, 40, 0.005)
        .into_iter()
        .enumerate()
        .map(|(place, value)| value - 0.01 * place as f64)
        .collect();
    let predicted = Prediction::of(&falling, 0.0, 1).unwrap();
    assert!(
        predicted.drifts && !predicted.is_worse(-0.40),
        "{predicted:?}"
    );
    assert!(predicted.is_worse(-0.5));
}
