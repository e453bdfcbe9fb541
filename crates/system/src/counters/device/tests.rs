//! Tests with texts of the file `stat`: texts of old and new kernels, invalid texts, and pairs of
//! an earlier and a later text.

use super::*;
use crate::sources::tests::Tree;

const NEW: &str = " 1796262    14169 24675026   125997 10439263 31496739 306792263 13253867 \
     \x20      3  1536552 13642311      100        7   667256       63  2088887   262383\n";

fn parse(text: &str) -> DeviceCounters {
    DeviceCounters::parse(text, "stat", FlushCount::Counted).unwrap()
}

/// Parses a `stat` that begins with the numbers `first`. The missing numbers, up to 17, are 0.
fn stat(first: &[u64]) -> DeviceCounters {
    let numbers = (0..17).map(|index| first.get(index).copied().unwrap_or(0).to_string());
    parse(&numbers.collect::<Vec<_>>().join(" "))
}

#[test]
fn all_columns_of_stat_are_read_on_new_kernels() {
    let expected = DeviceCounters {
        reads: Fact::Known(1_796_262),
        reads_merged: Fact::Known(14_169),
        read_bytes: Fact::Known(24_675_026 * 512),
        reading_ms: Fact::Known(125_997),
        writes: Fact::Known(10_439_263),
        writes_merged: Fact::Known(31_496_739),
        written_bytes: Fact::Known(306_792_263 * 512),
        writing_ms: Fact::Known(13_253_867),
        in_flight: Fact::Known(3),
        busy_ms: Fact::Known(1_536_552),
        queued_ms: Fact::Known(13_642_311),
        discards: Fact::Known(100),
        discards_merged: Fact::Known(7),
        discarded_bytes: Fact::Known(667_256 * 512),
        discarding_ms: Fact::Known(63),
        flushes: Fact::Known(2_088_887),
        flushing_ms: Fact::Known(262_383),
    };
    assert_eq!(parse(NEW), expected);
    assert_eq!(
        parse(&format!("{} 5 words", NEW.trim())),
        expected,
        "a kernel to come"
    );
}

#[test]
fn discards_and_flushes_are_unavailable_on_old_kernels() {
    let eleven = parse("1 2 3 4 5 6 7 8 9 10 11");
    assert_eq!(eleven.queued_ms, Fact::Known(11));
    assert!(
        eleven
            .discards
            .why()
            .unwrap()
            .contains("does not count discards")
    );
    assert!(
        eleven
            .discarding_ms
            .why()
            .unwrap()
            .contains("does not count discards")
    );
    assert!(
        eleven
            .flushes
            .why()
            .unwrap()
            .contains("does not count flushes")
    );
    let fifteen = parse("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    assert_eq!(fifteen.discarded_bytes, Fact::Known(14 * 512));
    assert_eq!(fifteen.discarding_ms, Fact::Known(15));
    assert!(fifteen.flushing_ms.why().is_some());
    let difference = fifteen.since(&eleven, "stat");
    assert!(
        difference
            .discards
            .why()
            .unwrap()
            .contains("does not count discards")
    );
    assert!(difference.flushes.why().is_some());
    assert_eq!(difference.reads, Fact::Known(0), "counted as none");
}

#[test]
fn flushes_that_the_kernel_does_not_count_are_unavailable() {
    let of = |flushes| DeviceCounters::parse(NEW, "stat", flushes).unwrap();
    let partition = of(FlushCount::OfTheDisk);
    assert!(partition.flushes.why().unwrap().contains("whole disk"));
    let mapped = of(FlushCount::NotOfThisDriver);
    assert!(mapped.flushing_ms.why().unwrap().contains("no requests"));
    assert_eq!(mapped.discards, Fact::Known(100));
}

#[test]
fn invalid_stat_is_rejected() {
    let spoilt = [
        "",
        "0 0 0 0",
        "1 2 3 4 5 6 7 8 9 10",
        "1 2 3 4 5 6 7 8 9 10 x",
        "-1 2 3 4 5 6 7 8 9 10 11",
        "1 2 3 4 5 6 7 8 9 10 11 99999999999999999999999",
        "\u{fffd}\0",
    ];
    for text in spoilt {
        assert_eq!(
            DeviceCounters::parse(text, "stat", FlushCount::Counted),
            None,
            "{text}"
        );
        let tree = Tree::new(&[("/sys/class/block/sda/stat", text)]);
        let read = DeviceCounters::read(&tree.sources, "sda", FlushCount::Counted);
        assert!(read.why().unwrap().contains("eleven numbers"), "{text}");
    }
    let none = DeviceCounters::read(&Tree::new(&[]).sources, "sda", FlushCount::Counted);
    assert!(
        none.why()
            .unwrap()
            .contains("/sys/class/block/sda/stat: No such file")
    );
    let huge = parse(&["18446744073709551615"; 17].join(" "));
    assert_eq!(huge.read_bytes, Fact::Known(u64::MAX));
    assert_eq!(huge.since(&huge, "stat").read_bytes, Fact::Known(0));
}

#[test]
fn difference_of_device_counters_keeps_operations_in_flight() {
    let earlier = stat(&[
        10, 1, 100, 50, 20, 2, 200, 60, 4, 70, 110, 1, 0, 8, 1, 30, 9,
    ]);
    let later = stat(&[
        15, 3, 180, 53, 27, 6, 1200, 64, 2, 75, 117, 3, 1, 24, 4, 38, 20,
    ]);
    let expected = stat(&[5, 2, 80, 3, 7, 4, 1000, 4, 2, 5, 7, 2, 1, 16, 3, 8, 11]);
    assert_eq!(later.since(&earlier, "stat"), expected);
}

#[test]
fn difference_of_a_32_bit_time_is_correct_across_a_wrap() {
    let end = u64::from(u32::MAX);
    let earlier = stat(&[
        10,
        0,
        0,
        end - 4,
        20,
        0,
        0,
        60,
        0,
        end,
        end,
        0,
        0,
        0,
        end,
        0,
        end - 9,
    ]);
    let later = stat(&[11, 0, 0, 15, 20, 0, 0, 60, 0, 0, 1, 0, 0, 0, 2, 0, 0]);
    let difference = later.since(&earlier, "stat");
    assert_eq!(difference.reading_ms, Fact::Known(20));
    assert_eq!(difference.writing_ms, Fact::Known(0));
    assert_eq!(difference.busy_ms, Fact::Known(1));
    assert_eq!(difference.queued_ms, Fact::Known(2));
    assert_eq!(difference.discarding_ms, Fact::Known(3));
    assert_eq!(difference.flushing_ms, Fact::Known(10));
}

#[test]
fn counter_that_went_backwards_is_unavailable() {
    let earlier = stat(&[10, 0, 100, 50, 20, 0, 0, 4_000_000_000]);
    let later = stat(&[10, 0, 90, 40, 20, 0, 0, 5]);
    let difference = later.since(&earlier, "stat");
    assert!(
        difference
            .read_bytes
            .why()
            .unwrap()
            .contains("bytes read went backwards, from 51200 to 46080")
    );
    assert!(
        difference
            .reading_ms
            .why()
            .unwrap()
            .contains("time of reads went backwards")
    );
    assert_eq!(difference.reads, Fact::Known(0));
    assert_eq!(difference.writing_ms, Fact::Known(294_967_301));
    let another = stat(&[1, 0, 90, 40, 20, 0, 0, 5]).since(&earlier, "stat");
    assert!(another.reads.why().is_some());
    assert!(
        another
            .writing_ms
            .why()
            .unwrap()
            .contains("from 4000000000 to 5"),
        "no wrap"
    );
    let too_wide = stat(&[10, 0, 0, 5]).since(&stat(&[10, 0, 0, 1 << 40]), "stat");
    assert!(too_wide.reading_ms.why().is_some());
}

#[test]
fn growth_is_computed_between_devices_with_the_same_name() {
    let reading = |name: &str, counters| DeviceReading {
        name: name.to_owned(),
        role: DeviceRole::Target,
        counters,
    };
    let missing = || Fact::Unavailable("gone".to_owned());
    let earlier = [
        reading("vda", Fact::Known(stat(&[1]))),
        reading("vdb", Fact::Known(stat(&[5]))),
        reading("vdc", missing()),
    ];
    let now = |name| reading(name, Fact::Known(stat(&[9])));
    let reads = |reading: DeviceReading| reading.counters.and_then(|counters| counters.reads);
    assert_eq!(reads(now("vdb").since(&earlier)), Fact::Known(4));
    assert_eq!(now("vdc").since(&earlier).counters.why(), Some("gone"));
    assert!(
        now("vdd")
            .since(&earlier)
            .counters
            .why()
            .unwrap()
            .contains("was not read before")
    );
    assert_eq!(
        reading("vda", missing()).since(&earlier).counters.why(),
        Some("gone")
    );
}
