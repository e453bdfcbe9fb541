use proptest::prelude::*;

use super::*;
use crate::Histogram;
use crate::noise::Noise;

type Handed = (u64, u8, u64);

/// Returns the meter of one operation that took `ns` nanoseconds.
fn meter(ns: u64) -> SliceMeter {
    let mut latency = Histogram::default();
    latency.record(ns);
    SliceMeter {
        operations: 1,
        bytes: ns / 3,
        failed: ns % 2,
        latency: latency.take_sparse(),
    }
}

fn of(handed: &[Handed]) -> Slices<u8> {
    let mut slices = Slices::default();
    for (index, key, ns) in handed {
        slices.add(*index, *key, meter(*ns));
    }
    slices
}

/// Returns the expected operations, bytes, failures and latencies of each slice and key. `width` is
/// the width of a slice in seconds.
fn by_hand(handed: &[Handed], width: u64) -> BTreeMap<(u64, u8), (u64, u64, u64, Histogram)> {
    let mut slices: BTreeMap<(u64, u8), (u64, u64, u64, Histogram)> = BTreeMap::new();
    for (index, key, ns) in handed {
        let sum = slices.entry((index / width, *key)).or_default();
        sum.0 += 1;
        sum.1 += ns / 3;
        sum.2 += ns % 2;
        sum.3.record(*ns);
    }
    slices
}

/// Operations of short and of long runs: second, key and duration in nanoseconds.
fn handed() -> impl Strategy<Value = Vec<Handed>> {
    (0_u32..14).prop_flat_map(|bits| {
        prop::collection::vec((0..1_u64 << bits, 0_u8..3, 0_u64..1 << 34), 0..60)
    })
}

proptest! {
    #[test]
    fn slices_contain_all_operations_and_exact_percentiles(handed in handed()) {
        let slices = of(&handed);
        prop_assert!(slices.len() <= SLICES_MAX);
        let width = slices.width_ns() / SLICE_NS;
        let last = handed.iter().map(|handed| handed.0).max().unwrap_or(0);
        prop_assert!(width == 1 || last / (width / 2) >= SLICES_MAX as u64,
            "{last} would have fitted");
        let mut expected = by_hand(&handed, width);
        for (index, slice) in (0..).zip(slices.iter()) {
            for (key, meter) in slice {
                let (operations, bytes, failed, dense) = expected.remove(&(index, *key)).unwrap();
                prop_assert_eq!((meter.operations, meter.bytes, meter.failed), (operations, bytes,
                    failed));
                prop_assert_eq!(meter.latency.summary(), dense.summary());
                prop_assert_eq!(meter.latency.mean_ns(), dense.mean_ns());
            }
        }
        prop_assert!(expected.is_empty());
        let totals = by_hand(&handed, u64::MAX);
        prop_assert_eq!(slices.totals().len(), totals.len());
        for (key, meter) in slices.totals() {
            let (operations, bytes, failed, dense) = &totals[&(0, key)];
            prop_assert_eq!((meter.operations, meter.bytes, meter.failed), (*operations, *bytes,
                *failed));
            prop_assert_eq!(meter.latency.summary(), dense.summary());
        }
    }

    #[test]
    fn slices_are_the_same_for_any_order_of_operations(
        handed in handed().prop_shuffle(),
        cut in 0_usize..60,
    ) {
        let mut sorted = handed.clone();
        sorted.sort_unstable();
        let together = of(&sorted);
        prop_assert_eq!(&of(&handed), &together);
        let (one, two) = handed.split_at(cut.min(handed.len()));
        let (mut ahead, mut behind) = (of(one), of(two));
        ahead.merge(of(two));
        behind.merge(of(one));
        prop_assert_eq!(&ahead, &together);
        prop_assert_eq!(&behind, &together);
    }

    #[test]
    fn slices_are_unchanged_by_serialisation(handed in handed()) {
        let slices = of(&handed);
        for slices in [slices.clone(), slices.recorded()] {
            let json = serde_json::to_string(&slices).unwrap();
            prop_assert_eq!(serde_json::from_str::<Slices<u8>>(&json).unwrap(), slices);
        }
    }

    #[test]
    fn recorded_slices_share_latencies_and_keep_counts(handed in handed()) {
        let slices = of(&handed);
        let recorded = slices.clone().recorded();
        prop_assert_eq!(&recorded.clone().recorded(), &recorded);
        prop_assert_eq!((recorded.len(), recorded.width_ns()), (slices.len(), slices.width_ns()));
        let groups = recorded.len().div_ceil(recorded.sharing());
        prop_assert!(groups <= LATENCY_SLICES_MAX, "{groups}");
        prop_assert!(recorded.sharing() == 1 ||
            recorded.len().div_ceil(recorded.sharing() / 2) > LATENCY_SLICES_MAX);
        let latencies = |slices: &[&BTreeMap<u8, SliceMeter>], key: u8| {
            let mut sum = SparseHistogram::default();
            slices.iter().filter_map(|slice| slice.get(&key)).for_each(|meter|
                sum.merge(&meter.latency));
            sum
        };
        let (fine, coarse): (Vec<_>, Vec<_>) = (slices.iter().collect(), recorded.iter().collect());
        for (fine,
            coarse) in fine.chunks(recorded.sharing()).zip(coarse.chunks(recorded.sharing())) {
            for key in 0..3 {
                prop_assert_eq!(latencies(coarse, key), latencies(fine,
                    key).coarse(LATENCY_PRECISION_BITS));
                let with = coarse.iter().filter_map(|slice| slice.get(&key));
                prop_assert!(with.skip(1).all(|meter| meter.latency.count() == 0));
            }
            for (fine, coarse) in fine.iter().zip(coarse) {
                let counts = |(key, meter): (&u8, &SliceMeter)| (*key, meter.operations,
                    meter.bytes, meter.failed);
                prop_assert!(fine.iter().map(counts).eq(coarse.iter().map(counts)));
            }
        }
    }
}

#[test]
fn width_of_slices_doubles_beyond_the_maximum_number_of_slices() {
    let mut slices = of(&[(1_799, 0, 5)]);
    assert_eq!((slices.len(), slices.width_ns()), (1_800, SLICE_NS));
    slices.take(Slice {
        index: 1_800,
        meters: vec![(0, meter(7)), (1, meter(9))],
    });
    assert_eq!((slices.len(), slices.width_ns()), (901, 2 * SLICE_NS));
    // The operations of a second are added to the slice that contains this second, even if they
    // arrive late.
    slices.add(3, 0, meter(11));
    let keys: Vec<usize> = slices.iter().map(BTreeMap::len).collect();
    assert_eq!((keys[1], keys[899], keys[900]), (1, 1, 2));
    assert_eq!(slices.totals()[&0].operations, 3);
    assert!(!slices.is_empty() && Slices::<u8>::default().is_empty());
}

#[test]
fn invalid_series_are_refused() {
    let json = serde_json::to_string(&of(&[(1, 0, 5), (2, 1, 5)])).unwrap();
    for (from, to) in [
        ("\"width_ns\":1000000000", "\"width_ns\":1500000000"),
        ("\"width_ns\":1000000000", "\"width_ns\":3000000000"),
        ("\"width_ns\":1000000000", "\"width_ns\":0"),
        (
            "\"width_ns\":1000000000",
            "\"width_ns\":2000000000,\"latency_width_ns\":1000000000",
        ),
        (
            "\"width_ns\":1000000000",
            "\"width_ns\":1000000000,\"latency_width_ns\":1000000000",
        ),
        (
            "\"width_ns\":1000000000",
            "\"width_ns\":1000000000,\"latency_width_ns\":3000000000",
        ),
        ("\"index\":2", "\"index\":1"),
        ("\"index\":2", "\"index\":1800"),
        ("\"failed\"", "\"lost\""),
    ] {
        assert!(json.contains(from));
        let other = json.replace(from, to);
        assert!(
            serde_json::from_str::<Slices<u8>>(&other).is_err(),
            "{from} as {to}"
        );
    }
}

/// Returns the meter of 5,000 operations of one kind, as in one second of a busy file system. Most
/// latencies are lognormal around the median of the kind (sigma 0.5). Three in a hundred include a
/// wait for the device, and are lognormal around 5 ms (sigma 0.8).
fn second(noise: &mut Noise, key: u8) -> SliceMeter {
    const OPERATIONS: u64 = 5_000;
    let mut latency = Histogram::default();
    for _ in 0..OPERATIONS {
        let (median_ns, sigma) = if noise.unit() < 0.03 {
            (5e6, 0.8)
        } else {
            (15e3 * f64::from(1_u32 << key), 0.5)
        };
        latency.record((median_ns * (sigma * noise.normal()).exp()) as u64);
    }
    SliceMeter {
        operations: OPERATIONS,
        bytes: OPERATIONS * 9_000,
        failed: 0,
        latency: latency.take_sparse(),
    }
}

#[test]
fn time_series_of_a_day_stays_small() {
    const DAY_SECONDS: u64 = 86_400;
    // The number of different seconds that the test generates; they repeat in turn. The number
    // exceeds 64, so every slice of 64 s contains 64 different seconds.
    const DIFFERENT: u64 = 97;
    let mut noise = Noise::new(1);
    let seconds: Vec<Vec<SliceMeter>> = (0..DIFFERENT)
        .map(|_| (0..6).map(|key| second(&mut noise, key)).collect())
        .collect();
    let mut slices = Slices::default();
    for index in 0..DAY_SECONDS {
        for (key, meter) in (0_u8..).zip(&seconds[(index % DIFFERENT) as usize]) {
            slices.add(index, key, meter.clone());
        }
    }
    assert_eq!((slices.len(), slices.width_ns()), (1_350, 64 * SLICE_NS));
    assert_eq!(slices.totals()[&5].operations, DAY_SECONDS * 5_000);
    let in_memory: usize = slices
        .iter()
        .flat_map(BTreeMap::values)
        .map(|meter| {
            let packed = serde_json::to_vec(&meter.latency).unwrap();
            packed.len() + size_of::<SliceMeter>()
        })
        .sum();
    let json = serde_json::to_vec(&slices).unwrap().len();
    println!("a day: {json} bytes of JSON, about {in_memory} in memory");
    assert!(json < 30_000_000, "{json} bytes");
    assert!(in_memory < 30_000_000, "{in_memory} bytes");
    let recorded = slices.recorded();
    assert_eq!(recorded.sharing(), 16);
    let mut of_many = Slices::default();
    (0..24_u8).for_each(|key| of_many.add(99, key, meter(5)));
    assert_eq!(
        of_many.recorded().sharing(),
        4,
        "100 slices of 24 keys: 25 times 24 are left"
    );
    let json = serde_json::to_vec(&recorded).unwrap().len();
    println!("as it is recorded: {json} bytes of JSON");
    assert!(json < 2_000_000, "{json} bytes");
}
