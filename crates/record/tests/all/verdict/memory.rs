//! Memory in the place of a device.

use observe::Class;
use observe::device::DeviceKind;
use record::{Fact, Level, Phase, Reason, Record, Workers};

use crate::verdict::made::{is_valid, known, mount, of, reads, reason, target, transactions};

/// What the cache was asked for, and of 1,000,000 bytes that were read so many from the device.
fn served_by(record: &mut Record, cache: &str, device_bytes: u64) {
    record.spec.cache = serde_json::from_value(cache.into()).unwrap();
    reads(record, Fact::Known(device_bytes), 1_000_000);
}

/// The pool of the kept record has 2,634,030 bytes.
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
        is_valid(fits(600_000, POOL_BYTES - 1));
        is_valid(fits(900_000, POOL_BYTES));
        let expected = Reason::FitsInMemory {
            cache: cache.to_owned(),
            pool_bytes: POOL_BYTES,
            cache_bytes: POOL_BYTES,
        };
        assert_eq!(reason(fits(899_999, POOL_BYTES)), (Level::Doubtful, expected.clone()));
        // Where nobody knows what was fetched, it is all that there is to go by.
        let found = reason(|record| {
            fits(0, POOL_BYTES)(record);
            transactions(record).evidence = None;
        });
        assert_eq!(found, (Level::Doubtful, expected));
    }
    // Nobody has said anything of the cache, or it is gone round.
    is_valid(|record| served_by(record, "as-is", 0));
    is_valid(|record| {
        served_by(record, "cold", 1_000_000);
        record.spec.direct = true;
    });
}

#[test]
fn a_pool_that_was_taken_has_the_size_that_is_expected_of_it() {
    // 500 files of 500 to 10,000 bytes in each of two pools.
    let taken = |memory_bytes| {
        move |record: &mut Record| {
            served_by(record, "cold", 600_000);
            memory(record, memory_bytes);
            record.spec.workload.workers = Workers::Private { workers: 2 };
            record.actual.phases.retain(|phase| phase.phase != Phase::Prepare);
        }
    };
    is_valid(taken(5_249_999));
    let (_, found) = reason(taken(5_250_000));
    assert!(
        matches!(
            found,
            Reason::FitsInMemory {
                pool_bytes: 5_250_000,
                ..
            }
        ),
        "{found:?}"
    );
}

#[test]
fn reads_that_do_not_come_from_where_they_should() {
    let beyond = |record: &mut Record| memory(record, 1_000_000);
    for (device_bytes, expected) in [
        (500_000, None),
        (499_999, Some(Level::Doubtful)),
        (10_000, Some(Level::Doubtful)),
        (9_999, Some(Level::Invalid)),
    ] {
        for (asked, is_direct) in [("cold", false), ("cold-data", false), ("direct", true)] {
            let verdict = of(|record| {
                beyond(record);
                served_by(record, if is_direct { "as-is" } else { asked }, device_bytes);
                record.spec.direct = is_direct;
            });
            assert_eq!(
                verdict.reasons.first().map(Reason::level),
                expected,
                "{asked} {device_bytes}"
            );
            if expected.is_some() {
                let reason = Reason::ReadsFromMemory {
                    asked: asked.to_owned(),
                    device_bytes,
                    read_bytes: 1_000_000,
                };
                assert_eq!(verdict.reasons, [reason]);
            }
        }
    }
    // Of a network nobody counts what is fetched.
    is_valid(|record| {
        beyond(record);
        served_by(record, "cold", 0);
        target(record).class = Fact::Known(Class::Network);
    });
    is_valid(|record| served_by(record, "warm", 100_000));
    let expected = Reason::ReadsFromDevice {
        device_bytes: 100_001,
        read_bytes: 1_000_000,
    };
    let found = reason(|record| served_by(record, "warm", 100_001));
    assert_eq!(found, (Level::Doubtful, expected));
}

/// The target is a tmpfs.
fn in_memory(record: &mut Record) {
    mount(record).file_system_type = "tmpfs".to_owned();
    let target = target(record);
    target.class = Fact::Known(Class::Memory);
    target.device = Fact::NotApplicable;
}

#[test]
fn durability_in_memory_is_none() {
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
    let Reason::DurabilityInMemory {
        durability,
        place,
        is_beneath,
        ..
    } = found
    else {
        panic!("{found:?}");
    };
    assert_eq!(
        (durability.as_str(), place.as_str(), is_beneath),
        ("fsync", "tmpfs (memory), 0 % full", false)
    );
    // An image in memory, and a disk of memory: the file system does its work, and the device is none that lasts.
    let beneath: [fn(&mut Record); 2] = [
        |record| {
            let device = known(&mut target(record).device);
            let backing = known(&mut device.loop_backing);
            known(&mut backing.mount).file_system_type = "tmpfs".to_owned();
            backing.device = Fact::NotApplicable;
        },
        |record| {
            let device = known(&mut target(record).device);
            device.loop_backing = Fact::NotApplicable;
            device.kind = DeviceKind::Ram;
        },
    ];
    for change in beneath {
        let (level, found) = reason(asked("o-sync", change));
        assert_eq!(level, Level::Doubtful);
        assert!(
            matches!(found, Reason::DurabilityInMemory { is_beneath: true, .. }),
            "{found:?}"
        );
    }
}
