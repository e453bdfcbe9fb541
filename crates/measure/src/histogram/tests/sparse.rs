use proptest::prelude::*;

use super::super::durations::Buckets;
use super::super::layout::BUCKETS;
use super::super::packed::Packed;
use super::super::packed::{Packer, Reader};
use super::super::*;

fn dense(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

fn of(values: &[u64]) -> SparseHistogram {
    dense(values).take_sparse()
}

fn merged(a: &SparseHistogram, b: &SparseHistogram) -> SparseHistogram {
    let mut sum = a.clone();
    sum.merge(b);
    sum
}

/// Durations close together and far apart, including some beyond the range.
fn durations() -> impl Strategy<Value = Vec<u64>> {
    let duration = prop_oneof![
        0_u64..300,
        10_000_u64..12_000,
        any::<u64>(),
        (0_u32..64).prop_map(|bit| 1 << bit)
    ];
    prop::collection::vec(duration, 0..80)
}

proptest! {
    #[test]
    fn sparse_results_equal_dense_results(values in durations(), percent in 0.0_f64..=100.0) {
        let (dense, sparse) = (dense(&values), of(&values));
        prop_assert_eq!(sparse.percentile(percent), dense.percentile(percent));
        prop_assert_eq!(sparse.summary(), dense.summary());
        prop_assert_eq!((sparse.count(), sparse.overflow()), (dense.count(), dense.overflow()));
        prop_assert_eq!((sparse.min_ns(), sparse.max_ns()), (dense.min_ns(), dense.max_ns()));
        prop_assert_eq!(sparse.mean_ns(), dense.mean_ns());
    }

    #[test]
    fn merging_is_commutative_associative_and_equals_recording(a in durations(),
        b in durations(), c in durations()) {
        let all: Vec<u64> = [&a[..], &b, &c].concat();
        let (a, b, c) = (of(&a), of(&b), of(&c));
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&merged(&a, &b), &c), of(&all));
    }

    #[test]
    fn coarse_histograms_keep_totals_and_approximate_percentiles(values in durations(),
        percent in 0.0_f64..=100.0) {
        let fine = of(&values);
        let coarse = fine.coarse(4);
        prop_assert_eq!(coarse.coarse(4), coarse.clone());
        prop_assert_eq!((coarse.count(), coarse.overflow()), (fine.count(), fine.overflow()));
        prop_assert_eq!((coarse.min_ns(), coarse.max_ns()), (fine.min_ns(), fine.max_ns()));
        prop_assert_eq!(coarse.mean_ns(), fine.mean_ns());
        if let (Some(coarse), Some(fine)) = (coarse.percentile(percent),
            fine.percentile(percent)) {
            let bound = 1.0 / 32.0 + Histogram::ERROR_BOUND;
            prop_assert!(coarse.abs_diff(fine) as f64 <= fine as f64 * bound,
                "{coarse} for {fine}");
        }
        let json = serde_json::to_string(&coarse).unwrap();
        prop_assert_eq!(serde_json::from_str::<SparseHistogram>(&json).unwrap(), coarse);
    }

    #[test]
    fn take_sparse_empties_a_histogram_and_add_to_restores_it(a in durations(), b in durations()) {
        let mut histogram = dense(&a);
        let taken = histogram.take_sparse();
        prop_assert_eq!(&histogram, &Histogram::default());
        b.iter().for_each(|value| histogram.record(*value));
        taken.add_to(&mut histogram);
        prop_assert_eq!(histogram, dense(&[a, b].concat()));
    }

    #[test]
    fn compact_histograms_are_unchanged_by_serialisation(values in durations()) {
        let histogram = of(&values);
        let json = serde_json::to_string(&histogram).unwrap();
        prop_assert_eq!(serde_json::from_str::<SparseHistogram>(&json).unwrap(), histogram);
    }

    #[test]
    fn numbers_of_any_size_are_encoded(
        numbers in prop::collection::vec(
            (0_u32..64).prop_flat_map(|bits| 0..=u64::MAX >> bits), 1..20
        )
    ) {
        let mut packer = Packer::default();
        numbers.iter().for_each(|number| packer.number(*number));
        let mut reader = Reader { digits: packer.packed.iter(), next: 0 };
        let read: Vec<u64> = std::iter::from_fn(|| reader.number()).collect();
        prop_assert_eq!(read, numbers);
    }

    #[test]
    fn accepted_packed_texts_are_canonical(text in "[A-Za-z0-9+/!]{0,12}") {
        if let Ok(read) = Packed::read(text.clone(), &(0..BUCKETS)) {
            let mut packer = Packer::default();
            read.used().for_each(|(index, count)| packer.push(index, count));
            prop_assert_eq!(packer.packed, text.as_bytes());
        }
    }
}

#[test]
fn unpacked_is_the_inverse_of_packed() {
    for buckets in [
        vec![],
        vec![(5, 3), (6, 40), (9, 1)],
        vec![(BUCKETS - 1, u64::MAX)],
    ] {
        assert_eq!(unpacked(&packed(buckets.clone()).unwrap()), Some(buckets));
    }
    for buckets in [
        [(5, 1), (5, 1)],
        [(5, 1), (4, 1)],
        [(5, 0), (6, 1)],
        [(5, 1), (BUCKETS, 1)],
    ] {
        assert_eq!(packed(buckets), None, "{buckets:?}");
    }
    assert_eq!(
        (unpacked("F!"), unpacked("FjA"), unpacked("FA")),
        (None, None, None)
    );
}

#[test]
fn the_packed_format_is_as_documented() {
    // Three durations in bucket 5, forty in 6 and one in 9. The text contains the index 5, the
    // counts 3 and 40, the two empty buckets 7 and 8, and the count 1.
    let histogram = of(&[&[5; 3][..], &[6; 40], &[9]].concat());
    // 40 is 8 + 1 × 32. The digit 8 with 32 added is `o`, the digit 1 is `B`.
    assert_eq!(histogram.buckets.write(), "FDoBABB");
    assert_eq!(
        histogram.buckets.used().collect::<Vec<_>>(),
        [(5, 3), (6, 40), (9, 1)]
    );
}

#[test]
fn invalid_packed_histograms_are_refused() {
    let json = serde_json::to_string(&of(&[5, 5, 5])).unwrap();
    assert!(json.contains("\"FD\""));
    // `F!` has an invalid character. `F` and `Fj` are truncated. `FA` and `FAA` have a count of 0.
    // `FjA` has an unnecessary digit. `ED`, `GD` and `/////D` have a bucket outside of the range
    // from minimum to maximum. The empty text has no bucket.
    for packed in [
        "F!", "F", "Fj", "FA", "FAA", "FjA", "ED", "GD", "/////D", "",
    ] {
        let other = json.replace("\"FD\"", &format!("\"{packed}\""));
        assert!(
            serde_json::from_str::<SparseHistogram>(&other).is_err(),
            "{packed}"
        );
    }
    let other = json.replace("\"range_bits\":40", "\"range_bits\":41");
    assert!(serde_json::from_str::<SparseHistogram>(&other).is_err());
}
