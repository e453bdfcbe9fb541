//! Repeated runs: means and intervals, excluded runs, the end by `until`, and the test of a drift.

use record::StudyPart;
use spec::{ConfigError, Options};
use study::drift::{pairs, pairs_needed};
use study::{Design, Drift, Looks, Metric, Repeats, StudyRun};
use testkit::{Assert, Random};
use verdict::Level;

use crate::made;

fn design(rest: &str) -> Design {
    let text = format!(
        "targets = [\"/mnt/disk\"]\ntwin = false\nmetrics = [\"transactions\", \"create.p99\"]\n\
         {rest}\n[[workload]]\npreset = \"mail\"\n"
    );
    Design::parse(&text).unwrap()
}

fn runs(rates: &[f64]) -> Vec<StudyRun> {
    let run = |(block, rate): (u32, &f64)| StudyRun {
        part: StudyPart {
            block,
            attempt: 1,
            ..StudyPart::default()
        },
        observed: made::run(Some(block), &[(Metric::Transactions, *rate)]),
    };
    (1..).zip(rates).map(run).collect()
}

fn repeats(rates: &[f64]) -> Repeats {
    Repeats::of(&design(""), "abc", &runs(rates))
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-3 * expected.abs()
}

#[test]
fn mean_deviation_and_interval_equal_those_of_a_worked_example() {
    // The quantile of Student's t for 97.5 % and 4 degrees of freedom is 2.7764.
    let found = repeats(&[18.0, 10.0, 16.0, 12.0, 14.0]);
    let rate = &found.metrics[0];
    assert!(is_near(rate.mean.unwrap(), 14.0));
    assert!(is_near(rate.standard_deviation.unwrap(), 3.1623));
    let interval = rate.interval.unwrap();
    interval.assert(is_near(interval.low, 10.0735) && is_near(interval.high, 17.9265));
    interval.assert(is_near(interval.half_width, 3.9265 / 14.0));
    assert_eq!((rate.count, rate.without), (5, 0));
    assert_eq!(found.fingerprints.len(), 1);
    // No run contains the second metric, the latency of creates.
    let create = &found.metrics[1];
    assert_eq!((create.count, create.without, create.mean), (0, 5, None));
    // Four runs have a deviation, but no interval.
    let few = repeats(&[18.0, 10.0, 16.0, 12.0]);
    assert!(few.metrics[0].standard_deviation.is_some());
    assert_eq!((few.metrics[0].interval, few.drift), (None, None));
}

#[test]
fn invalid_runs_are_counted_but_excluded() {
    let mut all = runs(&[10.0, 11.0, 900.0, 10.0, 11.0, 10.0]);
    all[2].observed.level = Level::Invalid;
    let found = Repeats::of(&design(""), "abc", &all);
    assert_eq!((found.verdicts.valid, found.verdicts.invalid), (5, 1));
    assert!(is_near(found.metrics[0].mean.unwrap(), 10.4));
    assert_eq!(found.runs.len(), 6);
    // Runs 0 and 2 are now INVALID. Two of six runs exceed the limit of 20 %, so no metric is
    // estimated.
    all[0].observed.level = Level::Invalid;
    let found = Repeats::of(&design(""), "abc", &all);
    assert!(found.has_too_many_invalid);
    assert_eq!((found.metrics[0].mean, found.drift), (None, None));
}

#[test]
fn interval_at_a_look_is_wider_than_that_of_a_fixed_number_of_runs() {
    let rates: Vec<f64> = (0..10)
        .map(|run| 1_000.0 + f64::from(run * 7 % 10))
        .collect();
    let half = |design: &Design| {
        let found = Repeats::of(design, "abc", &runs(&rates));
        assert!(is_near(found.confidence, 0.95));
        found.metrics[0].interval.unwrap().half_width
    };
    let until = design("until = \"2%\"");
    assert!(half(&until) > 1.2 * half(&design("")));
    // `is_narrow`, which ends a study, uses the same interval as the report.
    let alpha = Looks::new(until.blocks).alpha(10, 0.05).unwrap();
    let all = runs(&rates);
    let width = half(&until);
    assert!(Repeats::is_narrow(&until, &all, alpha, width * 1.001));
    assert!(!Repeats::is_narrow(&until, &all, alpha, width * 0.999));
}

/// Calls `found` with all orders of `values`.
fn orders(values: &mut Vec<f64>, first: usize, found: &mut dyn FnMut(&[f64])) {
    if first == values.len() {
        return found(values);
    }
    for place in first..values.len() {
        values.swap(first, place);
        orders(values, first + 1, found);
        values.swap(first, place);
    }
}

/// Number of pairs whose later value is higher, minus the number of pairs whose later value is not
/// higher.
fn balance(values: &[f64]) -> i32 {
    let mut balance = 0;
    for (place, value) in values.iter().enumerate() {
        for later in &values[place + 1..] {
            balance += if later > value { 1 } else { -1 };
        }
    }
    balance
}

#[test]
fn p_of_a_drift_equals_the_share_of_orders_that_are_as_far_from_random() {
    let mut all = Vec::new();
    let mut values: Vec<f64> = (1..=6).map(f64::from).collect();
    orders(&mut values, 0, &mut |order| {
        all.push((balance(order).abs(), Drift::of(order).unwrap().p));
    });
    assert_eq!(all.len(), 720);
    for (distance, p) in &all {
        let as_far = all.iter().filter(|(other, _)| other >= distance).count();
        assert!(is_near(*p, as_far as f64 / 720.0), "{distance}: {p}");
    }
}

#[test]
fn p_of_many_runs_continues_that_of_few() {
    // `Drift` computes `p` from all orders of up to 60 values, and from a normal distribution for
    // more. The added value 61 is the median of the first 60, so it hardly changes the drift.
    let mut random = Random(3);
    let mut value = |run: u32| random.normal() + f64::from(run) * 0.015;
    let mut values: Vec<f64> = (0..60).map(&mut value).collect();
    let exact = Drift::of(&values).unwrap().p;
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    values.push(f64::midpoint(sorted[29], sorted[30]));
    let normal = Drift::of(&values).unwrap().p;
    (exact, normal).assert(exact < 0.5 && (0.7..1.4).contains(&(normal / exact)));
}

#[test]
fn drift_is_seen_by_chance_in_at_most_5_percent_and_a_real_one_nearly_always() {
    let mut random = Random(11);
    let mut seen = [0; 2];
    for _ in 0..2_000 {
        for (fall, seen) in [0.0, 5.0].into_iter().zip(&mut seen) {
            let mut rate = |run: u32| 1_000.0 - fall * f64::from(run) + 10.0 * random.normal();
            let rates: Vec<f64> = (0..10).map(&mut rate).collect();
            let drift = Drift::of(&rates).unwrap();
            *seen += i32::from(drift.is_seen);
        }
    }
    seen.assert((60..=125).contains(&seen[0]) && seen[1] > 1_500);
    let falling: Vec<f64> = (0..10).map(|run| 100.0 - f64::from(run)).collect();
    let drift = Drift::of(&falling).unwrap();
    // The means of the halves are 98 and 93.
    assert!(drift.is_seen && is_near(drift.change, 93.0 / 98.0 - 1.0));
    assert!(!Drift::of(&[7.0; 10]).unwrap().is_seen);
    // Five runs show a drift only if all of their pairs are in order.
    let one_pair_swapped = [1.0, 2.0, 3.0, 5.0, 4.0];
    assert!(!Drift::of(&one_pair_swapped).unwrap().is_seen);
    assert_eq!([5, 9].map(pairs_needed), [10, 28]);
    assert_eq!([5, 9].map(pairs), [10, 36]);
}

#[test]
fn metrics_of_a_repeated_run_are_the_rate_and_the_p99_of_its_operations() {
    let metrics = |options: Options| -> Vec<String> {
        let asked = spec::Asked {
            options,
            file: Options::default(),
            preset: None,
            weights: &[],
            earlier_preset: None,
            invocation: spec::Invocation::default(),
            read: &|_| unreachable!("no option names a file"),
            replayed: None,
        };
        let resolved = spec::resolve::<ConfigError>(&asked, |_, _| unreachable!("no working set"));
        let metrics = study::repeats::metrics(&resolved.unwrap().spec.workload);
        metrics.iter().map(ToString::to_string).collect()
    };
    let mix = Options {
        mix: Some("read=3,stat=1".parse().unwrap()),
        ..Options::default()
    };
    assert_eq!(metrics(mix), ["transactions", "read.p99", "stat.p99"]);
    let without_data = Options {
        bias_read: Some(-1),
        ..Options::default()
    };
    assert_eq!(
        metrics(without_data),
        ["transactions", "create.p99", "delete.p99"]
    );
}
