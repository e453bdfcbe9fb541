mod sparse;

use proptest::prelude::*;

use super::layout::{BUCKETS, RANGE_BITS, bucket, middle};
use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

fn merged(a: &Histogram, b: &Histogram) -> Histogram {
    let mut sum = a.clone();
    sum.merge(b);
    sum
}

#[test]
fn a_percentile_needs_ten_durations_beyond_it() {
    for (count, p50, p99, p99_9) in [
        (0, false, false, false),
        (19, false, false, false),
        (20, true, false, false),
        (999, true, false, false),
        (1_000, true, true, false),
        (10_000, true, true, true),
    ] {
        let mut histogram = Histogram::default();
        (0..count).for_each(|ns| histogram.record(ns));
        let summary = histogram.summary();
        let shown = [summary.p50, summary.p99, summary.p99_9].map(|ns| ns.is_some());
        assert_eq!(shown, [p50, p99, p99_9], "{count}");
        assert_eq!(summary.max, histogram.max_ns());
    }
}

proptest! {
    #[test]
    fn middle_of_a_bucket_is_within_the_error_bound(ns in 0..Histogram::RANGE_NS) {
        let back = middle(bucket(ns));
        prop_assert!(back.abs_diff(ns) as f64 <= Histogram::ERROR_BOUND * ns as f64,
            "{ns} came back as {back}");
    }

    #[test]
    fn a_percentile_is_the_nearest_rank(mut values in prop::collection::vec(0_u64..1 << 30,
        1..300), percent in 0.1_f64..100.0) {
        let histogram = of(&values);
        values.sort_unstable();
        let rank = ((percent / 100.0 * values.len() as f64).ceil() as usize).clamp(1,
            values.len());
        let exact = values[rank - 1];
        let read = histogram.percentile(percent).unwrap();
        prop_assert!(read.abs_diff(exact) as f64 <= Histogram::ERROR_BOUND * exact as f64,
            "{exact} came back as {read}");
    }

    #[test]
    fn merging_is_commutative_associative_and_equals_recording(
        a in prop::collection::vec(any::<u64>(), 0..50),
        b in prop::collection::vec(any::<u64>(), 0..50),
        c in prop::collection::vec(any::<u64>(), 0..50),
    ) {
        let all: Vec<u64> = [&a[..], &b, &c].concat();
        let (a, b, c) = (of(&a), of(&b), of(&c));
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&merged(&a, &b), &c), of(&all));
    }

    #[test]
    fn histograms_are_unchanged_by_serialisation(
        values in prop::collection::vec(any::<u64>(), 0..100),
    ) {
        let histogram = of(&values);
        prop_assert_eq!(read(&histogram), histogram);
    }

    #[test]
    fn parsed_histograms_behave_as_recorded_ones(
        a in durations(), b in durations(), more in any::<u64>(), percent in 0.0_f64..=100.0,
    ) {
        let (one, two) = (of(&a), of(&b));
        let both = merged(&one, &two);
        for (one, two) in [(read(&one), two.clone()), (one.clone(), read(&two)), (read(&one),
            read(&two))] {
            let mut sum = merged(&one, &two);
            prop_assert_eq!(&sum, &both);
            prop_assert_eq!(sum.count(), both.count());
            prop_assert_eq!(sum.percentile(percent), both.percentile(percent));
            prop_assert_eq!(serde_json::to_string(&sum).unwrap(),
                serde_json::to_string(&both).unwrap());
            let mut recorded = both.clone();
            recorded.record(more);
            sum.record(more);
            prop_assert_eq!(&sum, &recorded);
            prop_assert_eq!(sum.take_sparse(), recorded.take_sparse());
            let mut added = read(&one);
            two.clone().take_sparse().add_to(&mut added);
            prop_assert_eq!(&added, &both);
        }
    }
}

fn read(histogram: &Histogram) -> Histogram {
    let json = serde_json::to_string(histogram).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn durations() -> impl Strategy<Value = Vec<u64>> {
    let some =
        |many| prop::collection::vec(prop_oneof![0_u64..300, any::<u64>(), 0_u64..1 << 24], many);
    prop_oneof![some(0..40), some(700..1_200)]
}

#[test]
fn parsed_histograms_allocate_only_used_buckets() {
    let two = read(&of(&[1, Histogram::RANGE_NS - 1]));
    assert_eq!(
        (two.buckets.counts.capacity(), two.buckets.few.capacity()),
        (0, 2)
    );
    let sum = merged(&two, &read(&of(&[7])));
    assert_eq!(
        (sum.buckets.counts.capacity(), sum.buckets.few.capacity()),
        (0, 3)
    );
    assert_eq!(read(&Histogram::default()).buckets.few.capacity(), 0);
}

#[test]
fn buckets_are_contiguous_and_cover_the_range() {
    let mut last = 0;
    for power in 0..RANGE_BITS {
        for ns in [
            (1_u64 << power) - 1,
            1 << power,
            (1 << power) + (1 << power) / 2,
        ] {
            let index = bucket(ns);
            assert!(
                index >= last && index < BUCKETS,
                "{ns} is in bucket {index} behind {last}"
            );
            last = index;
        }
    }
    assert_eq!(bucket(Histogram::RANGE_NS - 1), BUCKETS - 1);
    assert_eq!(bucket(Histogram::RANGE_NS), BUCKETS);
}

#[test]
fn overflow_is_counted_and_the_maximum_is_exact() {
    let histogram = of(&[1, Histogram::RANGE_NS + 5]);
    assert_eq!((histogram.count(), histogram.overflow()), (2, 1));
    assert_eq!(histogram.max_ns(), Some(Histogram::RANGE_NS + 5));
    assert_eq!(histogram.percentile(100.0), Some(Histogram::RANGE_NS + 5));
}

#[test]
fn histogram_with_other_precision_or_buckets_is_refused() {
    let json = serde_json::to_string(&of(&[5])).unwrap();
    let other = json.replace("\"precision_bits\":7", "\"precision_bits\":6");
    assert!(serde_json::from_str::<Histogram>(&other).is_err());
    for bucket in ["[99999,1]", "[4,1]", "[6,1]"] {
        let other = json.replace("[5,1]", bucket);
        assert!(
            serde_json::from_str::<Histogram>(&other).is_err(),
            "{bucket}"
        );
    }
}

#[test]
fn inconsistent_histograms_are_refused() {
    let json = serde_json::to_string(&of(&[5, 7, 7])).unwrap();
    assert!(serde_json::from_str::<Histogram>(&json).is_ok());
    for (part, other, why) in [
        ("[7,2]", "[7,18446744073709551615]", "more than 2^64"),
        (
            "\"overflow\":0",
            "\"overflow\":18446744073709551613",
            "more than 2^64",
        ),
        ("[7,2]", "[7,0]", "bucket 7"),
        ("[5,1],[7,2]", "[7,2],[5,1]", "bucket 5"),
        ("[5,1],[7,2]", "[5,1],[5,2]", "bucket 5"),
        ("[5,1],[7,2]", "", "has none"),
        ("\"sum_ns\":19", "\"sum_ns\":14", "the sum"),
        ("\"sum_ns\":19", "\"sum_ns\":22", "the sum"),
        ("\"min_ns\":5", "\"min_ns\":null", "outside"),
        ("\"max_ns\":7", "\"max_ns\":4", "outside"),
    ] {
        let other = json.replace(part, other);
        assert_ne!(other, json, "{part}");
        let error = serde_json::from_str::<Histogram>(&other)
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{other}: {error}");
    }
}

#[test]
fn sums_above_64_bits_are_unchanged_by_json() {
    let histogram = of(&[u64::MAX; 3]);
    let json = serde_json::to_string(&histogram).unwrap();
    assert_eq!(serde_json::from_str::<Histogram>(&json).unwrap(), histogram);
}
