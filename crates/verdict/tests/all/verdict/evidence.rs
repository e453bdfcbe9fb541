//! Rules that compare the evidence of a run with what the run claims.

use record::{
    Accounted, Action, DeviceCounters, DeviceReading, DeviceRole, EngineName, OwnIo, Phase,
    PhaseEvidence, Record, Residency, ResidencySample, ServerCounts, ServerRecord,
};
use system::network::InterfaceReading;
use system::{Class, DurabilityFacts, Fact, MessageCounter, MessageKind, MessagesReading, Sources};
use testkit::{Assert, Shows, table};
use verdict::rules::{
    AllocatedDuringRun, CacheNotDropped, ClientSaturated, ConnectionsLost, DeviceWroteNothing,
    OutcomesNotKnown, Retransmissions, ServerRestarted,
};
use verdict::summary::{Behind, DurabilityTier, EvidenceSummary, ServedBy};
use verdict::{Level, Reason, Summary};

use crate::verdict::made::{
    is_valid, kept, mount, others, phase, reason, target, transactions, well,
};

fn device(role: DeviceRole, written_bytes: u64, flushes: u64) -> DeviceReading {
    let known = Fact::Known;
    DeviceReading {
        name: format!("vd{}", role as u8),
        role,
        counters: Fact::Known(DeviceCounters {
            reads: known(10),
            reads_merged: known(0),
            read_bytes: known(40_960),
            reading_ms: known(1),
            writes: known(written_bytes / 4_096),
            writes_merged: known(0),
            written_bytes: known(written_bytes),
            writing_ms: known(1),
            in_flight: known(0),
            busy_ms: known(2),
            queued_ms: known(2),
            discards: known(0),
            discards_merged: known(0),
            discarded_bytes: known(0),
            discarding_ms: known(0),
            flushes: known(flushes),
            flushing_ms: known(1),
        }),
    }
}

fn counted(written_bytes: u64) -> Accounted {
    Accounted {
        own: OwnIo {
            read_bytes: Fact::Known(0),
            written_bytes: Fact::Known(written_bytes),
            cancelled_bytes: Fact::Known(0),
        },
        devices: Fact::Known(vec![device(DeviceRole::Target, written_bytes, 3)]),
        messages: Fact::NotApplicable,
        interfaces: Fact::NotApplicable,
        allocated_bytes: Fact::NotApplicable,
    }
}

fn seen(performing: Accounted, syncing: Option<Accounted>) -> PhaseEvidence {
    PhaseEvidence {
        performing,
        syncing,
        residency: None,
        server: None,
    }
}

fn evidence(record: &Record, which: Phase) -> EvidenceSummary {
    Summary::of(record)
        .phase(which)
        .unwrap()
        .evidence
        .clone()
        .unwrap()
}

fn messages(requests: u64, retransmissions: u64) -> MessagesReading {
    MessagesReading {
        counter: MessageCounter::NfsClient,
        protocol: "nfs3".to_owned(),
        of: "/mnt/nfs".to_owned(),
        age_s: Fact::Known(60),
        kinds: Fact::Known(vec![MessageKind {
            kind: "CREATE".to_owned(),
            requests,
            retransmissions: Fact::Known(retransmissions),
            sent_bytes: Fact::Known(100),
            received_bytes: Fact::Known(100),
            queued_ms: Fact::Known(0),
            round_trip_ms: Fact::Known(2 * requests),
            execution_ms: Fact::Known(3 * requests),
        }]),
        operations: Fact::NotApplicable,
        server_read_bytes: Fact::Known(0),
        server_written_bytes: Fact::Known(0),
    }
}

#[test]
fn a_cache_that_was_not_dropped_is_reported() {
    let resident = |cache: &'static str, cached| {
        move |record: &mut Record| {
            record.spec.cache = serde_json::from_value(cache.into()).unwrap();
            record.host.memory_total_bytes = Fact::Known(1_000_000);
            // The device serves all bytes that the transactions read.
            let reads = transactions(record).segments[0].operations.iter();
            let read_bytes = reads
                .filter(|of| of.action == Action::Read)
                .map(|of| of.meter.bytes)
                .sum();
            let mut all = counted(0);
            all.own.read_bytes = Fact::Known(read_bytes);
            let mut seen = seen(all, None);
            seen.residency = Some(Residency {
                before: Fact::Known(ResidencySample {
                    files: 10,
                    pages: 1_000,
                    cached,
                    dirty: Fact::Known(0),
                    under_write_back: Fact::Known(0),
                }),
                after: Fact::NotApplicable,
            });
            transactions(record).evidence = Some(seen);
        }
    };
    is_valid(resident("cold", 100));
    is_valid(resident("as-is", 1_000));
    for (cached, level) in [
        (101, Level::Doubtful),
        (500, Level::Doubtful),
        (501, Level::Invalid),
    ] {
        let expected = Reason::CacheNotDropped(CacheNotDropped {
            cache: "cold-data".to_owned(),
            cached,
            pages: 1_000,
        });
        assert_eq!(reason(resident("cold-data", cached)), (level, expected));
    }
}

#[test]
fn a_device_that_wrote_nothing_despite_a_sync_is_reported() {
    let wrote = |durability: &'static str, while_performing, while_syncing: Option<u64>| {
        move |record: &mut Record| {
            record.spec.durability = durability.parse().unwrap();
            phase(record, Phase::Prepare).evidence =
                Some(seen(counted(while_performing), while_syncing.map(counted)));
        }
    };
    is_valid(wrote("none", 0, Some(1)));
    is_valid(wrote("none", 4_096, Some(0)));
    // Without a sync the device need not write, so the run is valid.
    is_valid(wrote("none", 0, None));
    for (durability, level) in [("none", Level::Doubtful), ("fsync", Level::Invalid)] {
        let (found, told) = reason(wrote(durability, 0, Some(0)));
        assert_eq!(found, level, "{told:?}");
        assert!(
            matches!(
                told,
                Reason::DeviceWroteNothing(DeviceWroteNothing {
                    phase: Phase::Prepare,
                    ..
                })
            ),
            "{told:?}"
        );
    }
    // If the number of written bytes is not known, it does not count as 0, and the run is valid.
    is_valid(|record| {
        let mut unknown = counted(0);
        unknown.devices = Fact::Unavailable("/sys is masked".to_owned());
        phase(record, Phase::Prepare).evidence = Some(seen(unknown, Some(counted(0))));
    });
}

#[test]
fn retransmitted_requests_are_reported() {
    let sent = |retransmissions| {
        move |record: &mut Record| {
            let mut all = counted(1);
            all.messages = Fact::Known(vec![messages(10_000, retransmissions)]);
            transactions(record).evidence = Some(seen(all, None));
        }
    };
    is_valid(sent(10));
    let expected = Reason::Retransmissions(Retransmissions {
        of: "/mnt/nfs".to_owned(),
        retransmissions: 11,
        requests: 10_000,
    });
    assert_eq!(reason(sent(11)), (Level::Doubtful, expected));
}

#[test]
fn a_saturated_client_is_reported() {
    // An interface of 1 Gbit/s sends 125,000,000 bytes a second. The transactions last 60 s.
    let passed = |class, sent_bytes| {
        move |record: &mut Record| {
            target(record).class = Fact::Known(class);
            let mut all = counted(1);
            all.interfaces = Fact::Known(vec![InterfaceReading {
                name: "eth0".to_owned(),
                speed_bits_per_s: Fact::Known(1_000_000_000),
                received_bytes: Fact::Known(1),
                sent_bytes: Fact::Known(sent_bytes),
            }]);
            transactions(record).evidence = Some(seen(all, None));
        }
    };
    is_valid(passed(Class::Network, 5_900_000_000));
    is_valid(passed(Class::Block, 7_500_000_000));
    let (level, told) = reason(passed(Class::Network, 6_750_000_000));
    assert_eq!(level, Level::Doubtful);
    let Reason::ClientSaturated(ClientSaturated {
        workers: None,
        interface: Some((name, fraction)),
        host: None,
        others: None,
    }) = told
    else {
        panic!("{told:?}");
    };
    assert!(
        name == "eth0" && (fraction - 0.9).abs() < 0.01,
        "{name} {fraction}"
    );
}

#[test]
fn a_nearly_full_file_system_is_reported() {
    let filled = |fraction| {
        move |record: &mut Record| {
            let target = target(record);
            target.fill_fraction = Fact::Known(fraction);
            let Fact::Known(space) = &mut target.space else {
                panic!()
            };
            // The pool of the test's record contains 2,634,030 bytes, which are 1 % of this space.
            space.total_bytes = Fact::Known(263_403_000);
        }
    };
    is_valid(filled(0.88));
    let (level, told) = reason(filled(0.895));
    assert_eq!(level, Level::Doubtful);
    told.assert(matches!(&told, Reason::NearlyFull(told) if (told.fraction - 0.905).abs() < 1e-9));
    is_valid(|record| {
        filled(1.0)(record);
        target(record).class = Fact::Known(Class::Memory);
    });
}

#[test]
fn a_sparse_file_that_allocates_is_reported() {
    let allocated = |allocated_bytes: u64| {
        move |record: &mut Record| {
            let mut syncing = counted(600_000);
            syncing.allocated_bytes = Fact::Known(allocated_bytes);
            let mut performing = counted(400_000);
            performing.allocated_bytes = Fact::Known(0);
            transactions(record).evidence = Some(seen(performing, Some(syncing)));
        }
    };
    is_valid(allocated(100_000));
    let expected = Reason::AllocatedDuringRun(AllocatedDuringRun {
        allocated_bytes: 100_001,
        written_bytes: 1_000_000,
    });
    assert_eq!(reason(allocated(100_001)), (Level::Doubtful, expected));
}

#[test]
fn writes_flushes_and_messages_are_divided_by_the_work() {
    let mut record = well();
    record.spec.durability = "fsync".parse().unwrap();
    let prepare = phase(&mut record, Phase::Prepare);
    let creates = prepare.segments[0].operations[0].meter.clone();
    let mut all = counted(creates.bytes);
    // The kernel counts flushes for the whole disk only, not for its partitions.
    let Fact::Known(devices) = &mut all.devices else {
        panic!()
    };
    let Fact::Known(of_partition) = &mut devices[0].counters else {
        panic!()
    };
    of_partition.flushes = Fact::Unavailable("of the whole disk only".to_owned());
    devices.push(device(
        DeviceRole::WholeDisk,
        1 << 30,
        2 * creates.operations,
    ));
    devices.push(device(DeviceRole::Beneath, 1 << 31, 1));
    all.messages = Fact::Known(vec![messages(3 * creates.operations, 0)]);
    prepare.evidence = Some(seen(all, Some(counted(creates.bytes))));
    let found = evidence(&record, Phase::Prepare);
    assert_eq!(found.writes.written_bytes, creates.bytes);
    assert_eq!(
        found.writes.amplification,
        Some(2.0),
        "the sync after it is in it"
    );
    assert_eq!(found.flushes.durable_operations, creates.operations);
    assert_eq!(found.flushes.per_durable_operation, Some(2.0));
    assert_eq!(found.messages[0].per_done, Some(3.0));
    assert_eq!(found.messages[0].kinds[0].mean_round_trip_ms, Some(2.0));
    assert_eq!(found.messages[0].retransmissions, Some(0));
    assert_eq!(found.reads.fraction, None, "nothing was read");
    let disk = &found.commands[1];
    assert_eq!(
        (disk.role, disk.kinds[2].kind.as_str()),
        (DeviceRole::WholeDisk, "flushes")
    );
    assert_eq!(disk.kinds[2].per_done, Some(2.0));
    let of_partition: Vec<&str> = found.commands[0]
        .kinds
        .iter()
        .map(|kind| kind.kind.as_str())
        .collect();
    assert_eq!(
        of_partition,
        ["reads", "writes", "discards"],
        "its flushes are not counted"
    );
    let why = found.operations["create"].why().unwrap();
    why.shows("writes");
    record.spec.durability = "none".parse().unwrap();
    let found = evidence(&record, Phase::Prepare);
    assert_eq!(
        (
            found.flushes.durable_operations,
            found.flushes.per_durable_operation
        ),
        (0, None)
    );
}

#[test]
fn source_of_operations_is_known_only_in_phases_with_one_kind() {
    let mut record = kept();
    let (read, read_bytes) = {
        let operations = &transactions(&mut record).segments[0].operations;
        let read = operations
            .iter()
            .find(|of| of.action == Action::Read)
            .unwrap()
            .clone();
        (read.clone(), read.meter.bytes)
    };
    let mut all = counted(0);
    all.own.read_bytes = Fact::Known(read_bytes / 4);
    transactions(&mut record).evidence = Some(seen(all, None));
    let mixed = evidence(&record, Phase::Transactions);
    assert!(mixed.operations.len() > 1);
    assert!(
        mixed
            .operations
            .values()
            .all(|fact| fact.why().is_some_and(|why| why.starts_with("mixed")))
    );
    transactions(&mut record).segments[0].operations = vec![read];
    let alone = &evidence(&record, Phase::Transactions).operations["read"];
    let shares = alone.known().unwrap();
    assert!(
        (shares.device - 0.25).abs() < 1e-3 && shares.cache > 0.74 && shares.server == 0.0,
        "{shares:?}"
    );
    target(&mut record).class = Fact::Known(Class::Network);
    mount(&mut record).file_system_type = "nfs4".to_owned();
    let shares = *evidence(&record, Phase::Transactions).operations["read"]
        .known()
        .unwrap();
    shares.assert((shares.server - 0.25).abs() < 1e-3 && shares.device == 0.0);
    mount(&mut record).file_system_type = "fuse.sshfs".to_owned();
    let unknown = evidence(&record, Phase::Transactions);
    assert!(
        unknown.operations["read"]
            .why()
            .unwrap()
            .contains("fuse.sshfs")
    );
    assert_eq!(unknown.reads.fraction, None);
    mount(&mut record).file_system_type = "tmpfs".to_owned();
    target(&mut record).class = Fact::Known(Class::Memory);
    let memory = ServedBy {
        cache: 1.0,
        ..ServedBy::default()
    };
    assert_eq!(
        evidence(&record, Phase::Transactions).operations["read"]
            .known()
            .map(|of| of.server),
        Some(memory.server)
    );
}

/// Columns: file system, its class, mount options, durability policy, `direct` for direct I/O, and
/// the expected durability level, which is empty if it is not known.
const TIERS: &str = "
    ext4 | block |  | none |  | PageCache
    ext4 | block |  | batch:10 |  | PageCache
    ext4 | block |  | fsync |  | FlushAcknowledged
    ext4 | block |  | o-dsync |  | FlushAcknowledged
    ext4 | block | sync | none |  | FlushAcknowledged
    ext4 | block | nobarrier | fsync |  | HandedOver
    ext4 | block | barrier=0 | fsync+dir |  | HandedOver
    xfs | block |  | none | direct | HandedOver
    xfs | block |  | fsync | direct | FlushAcknowledged
    tmpfs | memory |  | fsync |  | Memory
    overlay | overlay |  | fsync |  | FlushAcknowledged
    overlay | overlay | volatile | fsync |  | PageCache
    nfs | network |  | none |  | HandedOver
    nfs4 | network |  | fsync |  | FlushAcknowledged
    cifs | network |  | none |  | HandedOver
    9p | network |  | none |  |
    9p | network |  | fsync |  | FlushAcknowledged
    fuse.sshfs | network |  | fsync |  | HandedOver
    fuse | other |  | none |  |
";

#[test]
fn acknowledged_changes_have_a_durability_level() {
    for [kind, class, options, durability, direct, expected] in table(TIERS) {
        let mut record = kept();
        mount(&mut record).file_system_type = kind.to_owned();
        mount(&mut record).super_options = vec![options.to_owned()];
        mount(&mut record).mount_options = Vec::new();
        let class = serde_json::from_value(class.into()).unwrap();
        target(&mut record).class = Fact::Known(class);
        target(&mut record).device = Fact::NotApplicable;
        record.spec.durability = durability.parse().unwrap();
        record.spec.direct = direct == "direct";
        let facts = DurabilityFacts::of(&Sources::beneath("/nowhere"), target(&mut record));
        record.locations[0].durability = Some(facts);
        let found = Summary::of(&record).durability;
        let tier = found.tier.known().map(|tier| format!("{tier:?}"));
        let tier = tier.unwrap_or_default();
        assert_eq!(tier, expected, "{kind} {options} {durability}: {found:?}");
        assert_eq!(found.policy, durability);
    }
}

/// Returns a change that makes a run use the program's own NFS client. The client sent `calls`
/// calls, and counted `counts`.
fn of_server(calls: u64, counts: ServerCounts) -> impl Fn(&mut Record) {
    move |record| {
        record.spec.engine = EngineName::from_name("nfs").unwrap();
        for location in &mut record.locations {
            location.target = Fact::NotApplicable;
            location.durability = None;
            location.server = Some(ServerRecord {
                protocol: "nfs3".to_owned(),
                url: "nfs://server/export".to_owned(),
                address: "10.0.0.1:2049".to_owned(),
                mount_port: Some(20_048),
                export: "/export".to_owned(),
                connections: 1,
                uid: Some(0),
                gid: Some(0),
                privileged_port: Some(false),
                read_bytes_max: Some(1 << 20),
                write_bytes_max: Some(1 << 20),
                listing_bytes: Some(1 << 16),
                timeout_ms: 60_000,
                stability: Some("UNSTABLE".to_owned()),
                region: None,
                style: None,
                payload: None,
                part_bytes: None,
            });
        }
        let mut all = counted(0);
        all.devices = Fact::NotApplicable;
        all.messages = Fact::Known(vec![MessagesReading {
            counter: MessageCounter::Engine,
            of: "nfs://server/export".to_owned(),
            ..messages(calls, 0)
        }]);
        transactions(record).evidence = Some(PhaseEvidence {
            server: Some(counts),
            ..seen(all, None)
        });
    }
}

#[test]
fn server_without_losses_serves_all_operations_of_a_valid_run() {
    let change = of_server(3_000, ServerCounts::default());
    is_valid(&change);
    let mut record = well();
    change(&mut record);
    let found = evidence(&record, Phase::Transactions);
    assert!(!found.operations.is_empty());
    for (operation, served) in &found.operations {
        let by_server = ServedBy {
            server: 1.0,
            ..ServedBy::default()
        };
        assert_eq!(*served, Fact::Known(by_server), "{operation}");
    }
    assert_eq!(found.reads.fetched_from, Fact::Known(Behind::Server));
    assert_eq!(found.writes.device_bytes, Fact::NotApplicable);
    let summary = Summary::of(&record);
    assert_eq!(summary.durability.stability.as_deref(), Some("UNSTABLE"));
    assert_eq!(
        summary.durability.tier,
        Fact::Known(DurabilityTier::HandedOver)
    );
    record.spec.durability = record::Durability::Fdatasync.into();
    let summary = Summary::of(&record);
    assert_eq!(
        summary.durability.tier,
        Fact::Known(DurabilityTier::FlushAcknowledged)
    );
}

#[test]
fn server_on_this_machine_does_not_count_as_other_load() {
    let change = of_server(3_000, ServerCounts::default());
    let loaded = |address: &'static str| {
        let change = &change;
        move |record: &mut Record| {
            change(record);
            for server in record
                .locations
                .iter_mut()
                .filter_map(|location| location.server.as_mut())
            {
                server.address = address.to_owned();
            }
            others(record, 0.5);
        }
    };
    for address in ["127.0.0.1:2049", "[::1]:2049"] {
        address.assert(is_valid(loaded(address)).others_fraction.why().is_some());
    }
    assert!(matches!(
        reason(loaded("10.0.0.1:2049")).1,
        Reason::OtherLoad(_)
    ));
}

#[test]
fn unknown_outcomes_restarts_and_lost_connections_are_reported() {
    let counts = ServerCounts {
        not_known: 2,
        ..ServerCounts::default()
    };
    let expected = Reason::OutcomesNotKnown(OutcomesNotKnown { operations: 2 });
    assert_eq!(reason(of_server(3_000, counts)), (Level::Invalid, expected));
    let counts = ServerCounts {
        verifier_changes: 1,
        rewritten_bytes: 4_096,
        ..ServerCounts::default()
    };
    let expected = Reason::ServerRestarted(ServerRestarted {
        times: 1,
        rewritten_bytes: 4_096,
    });
    assert_eq!(
        reason(of_server(3_000, counts)),
        (Level::Doubtful, expected)
    );
    let counts = ServerCounts {
        reconnections: 3,
        ..ServerCounts::default()
    };
    let expected = Reason::ConnectionsLost(ConnectionsLost { times: 3 });
    assert_eq!(
        reason(of_server(3_000, counts)),
        (Level::Doubtful, expected)
    );
}
