//! Rules about runs in which memory serves reads or stores changes instead of a device.

use record::{Fact, Phase, Record};
use system::Class;
use system::device::DeviceKind;
use testkit::{Assert, runs::private};
use verdict::rules::{
    DurabilityInMemory, FitsInMemory, MemoryBeneath, ReadsFromDevice, ReadsFromMemory,
};
use verdict::{Level, Reason};

use crate::verdict::made::{is_valid, known, mount, of, reads, reason, target, transactions};

/// Requests a cache state, and records 1,000,000 bytes read, of which the device served
/// `device_bytes`.
fn served_by(record: &mut Record, cache: &str, device_bytes: u64) {
    record.spec.cache = serde_json::from_value(cache.into()).unwrap();
    reads(record, Fact::Known(device_bytes), 1_000_000);
}

/// Sets the size of the machine's memory, which decides whether the pool fits in it.
fn memory(record: &mut Record, bytes: u64) {
    record.host.memory_total_bytes = Fact::Known(bytes);
}

const POOL_BYTES: u64 = 2_634_030;

#[test]
fn a_cold_run_whose_pool_fits_in_memory_is_doubtful() {
    for cache in ["cold", "cold-data"] {
        let fits = |device_bytes, memory_bytes| {
            move |record: &mut Record| {
                served_by(record, cache, device_bytes);
                memory(record, memory_bytes);
            }
        };
        is_valid(fits(900_000, POOL_BYTES - 1));
        is_valid(fits(900_000, POOL_BYTES));
        let expected = Reason::FitsInMemory(FitsInMemory {
            cache: cache.to_owned(),
            pool_bytes: POOL_BYTES,
            cache_bytes: POOL_BYTES,
        });
        let verdict = of(fits(899_999, POOL_BYTES));
        assert_eq!(verdict.reasons[0], expected);
        verdict.assert(matches!(verdict.reasons[1..], [Reason::ReadsFromMemory(_)]));
        // If the fetched bytes are not known, the rule applies whenever the pool fits in memory.
        let found = reason(|record| {
            fits(0, POOL_BYTES)(record);
            transactions(record).evidence = None;
        });
        assert_eq!(found, (Level::Doubtful, expected));
    }
    // The rule does not apply if no cache state was requested, or if direct I/O bypasses the cache.
    is_valid(|record| served_by(record, "as-is", 0));
    is_valid(|record| {
        served_by(record, "cold", 1_000_000);
        record.spec.direct = true;
    });
}

#[test]
fn size_of_a_kept_pool_is_computed_from_the_workload() {
    // Each of two pools contains 500 files of 500 to 10,000 bytes: 5,250 bytes on average.
    let taken = |memory_bytes| {
        move |record: &mut Record| {
            served_by(record, "cold", 600_000);
            transactions(record).evidence = None;
            memory(record, memory_bytes);
            record.spec.workload.workers = private(2);
            record
                .actual
                .phases
                .retain(|phase| phase.phase != Phase::Prepare);
        }
    };
    is_valid(taken(5_249_999));
    let (_, found) = reason(taken(5_250_000));
    found.assert(matches!(
        found,
        Reason::FitsInMemory(FitsInMemory {
            pool_bytes: 5_250_000,
            ..
        })
    ));
}

#[test]
fn reads_from_an_unexpected_source_are_reported() {
    let beyond = |record: &mut Record| memory(record, 1_000_000);
    for (asked, is_direct, enough) in [
        ("cold", false, 900_000),
        ("cold-data", false, 900_000),
        ("direct", true, 990_000),
    ] {
        for (device_bytes, expected) in [
            (enough, None),
            (enough - 1, Some(Level::Doubtful)),
            (10_000, Some(Level::Doubtful)),
            (9_999, Some(Level::Invalid)),
        ] {
            let verdict = of(|record| {
                beyond(record);
                served_by(
                    record,
                    if is_direct { "as-is" } else { asked },
                    device_bytes,
                );
                record.spec.direct = is_direct;
            });
            assert_eq!(
                verdict.reasons.first().map(Reason::level),
                expected,
                "{asked} {device_bytes}"
            );
            if expected.is_some() {
                let reason = Reason::ReadsFromMemory(ReadsFromMemory {
                    asked: asked.to_owned(),
                    device_bytes,
                    read_bytes: 1_000_000,
                });
                assert_eq!(verdict.reasons, [reason]);
            }
        }
    }
    // If a server stores the files, the fetched bytes are not counted, so the rule does not apply.
    is_valid(|record| {
        beyond(record);
        served_by(record, "cold", 0);
        target(record).class = Fact::Known(Class::Network);
    });
    is_valid(|record| served_by(record, "warm", 100_000));
    let expected = Reason::ReadsFromDevice(ReadsFromDevice {
        device_bytes: 100_001,
        read_bytes: 1_000_000,
    });
    let found = reason(|record| served_by(record, "warm", 100_001));
    assert_eq!(found, (Level::Doubtful, expected));
}

/// Makes the loop device read its file through the page cache. The disk below it read `disk_bytes`.
fn caching(record: &mut Record, disk_bytes: Option<u64>) {
    let device = known(&mut target(record).device);
    known(&mut device.loop_backing).direct_io = Fact::Known(false);
    let Some(bytes) = disk_bytes else { return };
    let mut devices = known(&mut record.during.counted.devices).clone();
    for device in &mut devices {
        let read = if device.name == "loop0" {
            1_000_000
        } else {
            bytes
        };
        known(&mut device.counters).read_bytes = Fact::Known(read);
    }
    let evidence = transactions(record).evidence.as_mut().unwrap();
    evidence.performing.devices = Fact::Known(devices);
}

#[test]
fn source_of_reads_is_unknown_behind_a_caching_loop_device() {
    let asked = |device_bytes| {
        move |record: &mut Record| {
            memory(record, 1_000_000);
            served_by(record, "as-is", 1_000_000);
            record.spec.direct = true;
            caching(record, device_bytes);
        }
    };
    for (device_bytes, expected) in [
        (None, Level::Doubtful),
        (Some(2_000_000), Level::Doubtful),
        (Some(10_000), Level::Doubtful),
        (Some(9_999), Level::Invalid),
    ] {
        let (level, found) = reason(asked(device_bytes));
        assert_eq!(level, expected, "{device_bytes:?}");
        let Reason::MemoryBeneath(MemoryBeneath {
            loop_device,
            device_bytes: beneath,
            read_bytes,
            ..
        }) = found
        else {
            panic!("{found:?}");
        };
        assert_eq!(loop_device.as_deref(), Some("loop0"));
        assert_eq!((beneath, read_bytes), (device_bytes, 1_000_000));
    }
    let mut record = crate::verdict::made::well();
    asked(Some(200_000))(&mut record);
    let reads = verdict::Summary::of(&record).reads.unwrap();
    assert_eq!((reads.fraction, reads.cached_fraction()), (None, Some(0.0)));
    assert_eq!(reads.fetched_bytes, Fact::Known(1_000_000));
    assert_eq!(reads.beneath_loop_bytes, Fact::Known(200_000));
    let why = reads.fetched_from.why().unwrap();
    assert_eq!(why, "a loop device caches: /dev/loop0 has no direct I/O");
    // The rule does not apply to a run that requests neither a cold cache nor direct I/O.
    is_valid(|record| {
        served_by(record, "as-is", 0);
        caching(record, Some(0));
    });
}

#[test]
fn a_device_in_memory_counts_as_memory() {
    let (level, found) = reason(|record| {
        memory(record, 1_000_000);
        served_by(record, "cold", 1_000_000);
        on_an_image_in_memory(record);
    });
    assert_eq!(level, Level::Doubtful);
    assert!(
        matches!(
            found,
            Reason::MemoryBeneath(MemoryBeneath {
                loop_device: None,
                device_bytes: None,
                ..
            })
        ),
        "{found:?}"
    );
    let mut record = crate::verdict::made::well();
    served_by(&mut record, "as-is", 1_000_000);
    on_an_image_in_memory(&mut record);
    let reads = verdict::Summary::of(&record).reads.unwrap();
    assert_eq!(reads.fraction, Some(0.0));
    assert_eq!(
        reads.fetched_from,
        Fact::Known(verdict::summary::Behind::Memory)
    );
}

fn on_an_image_in_memory(record: &mut Record) {
    let device = known(&mut target(record).device);
    let backing = known(&mut device.loop_backing);
    known(&mut backing.mount).file_system_type = "tmpfs".to_owned();
    backing.device = Fact::NotApplicable;
}

fn in_memory(record: &mut Record) {
    mount(record).file_system_type = "tmpfs".to_owned();
    let target = target(record);
    target.class = Fact::Known(Class::Memory);
    target.device = Fact::NotApplicable;
}

#[test]
fn durability_in_memory_is_reported() {
    let asked = |durability: &str, change: fn(&mut Record)| {
        let durability = durability.parse().unwrap();
        move |record: &mut Record| {
            record.spec.durability = durability;
            change(record);
        }
    };
    is_valid(asked("fsync", |_| ()));
    is_valid(asked("none", in_memory));
    let (level, found) = reason(asked("fsync", in_memory));
    assert_eq!(level, Level::Invalid);
    let Reason::DurabilityInMemory(DurabilityInMemory {
        durability,
        place,
        is_beneath,
        ..
    }) = found
    else {
        panic!("{found:?}");
    };
    assert_eq!(
        (durability.as_str(), place.as_str(), is_beneath),
        ("fsync", "tmpfs (memory), 0 % full", false)
    );
    // The device is an image file in memory or a RAM disk. The file system writes to this device,
    // but the data is lost at a power failure.
    let beneath: [fn(&mut Record); 2] = [on_an_image_in_memory, |record| {
        let device = known(&mut target(record).device);
        device.loop_backing = Fact::NotApplicable;
        device.kind = DeviceKind::Ram;
    }];
    for change in beneath {
        let (level, found) = reason(asked("o-sync", change));
        assert_eq!(level, Level::Invalid);
        assert!(
            matches!(
                found,
                Reason::DurabilityInMemory(DurabilityInMemory {
                    is_beneath: true,
                    ..
                })
            ),
            "{found:?}"
        );
    }
}
