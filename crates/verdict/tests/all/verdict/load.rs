//! Rules about processors and clocks.

use record::{BusyProgram, Fact, Pauses, Record};
use testkit::Shows;
use verdict::rules::{
    ClockSourceChanged, Emulated, OtherLoad, Overhead, Paused, Suspended, WallClockStepped,
};
use verdict::{Level, Reason};

use crate::verdict::made::{
    SECOND, close, is_valid, known, mount, of, others, overhead, reason, steal, transactions,
};

#[test]
fn overhead_above_10_percent_is_doubtful_and_above_50_percent_invalid() {
    // The worker takes one millisecond for each operation, so 100,000 ns of overhead are 10 %.
    for (ns, expected) in [
        (100_000.0, None),
        (100_001.0, Some(Level::Doubtful)),
        (500_000.0, Some(Level::Doubtful)),
        (500_001.0, Some(Level::Invalid)),
    ] {
        let verdict = of(|record| overhead(record, ns));
        close(*verdict.seen.overhead_fraction.known().unwrap(), ns / 1e6);
        assert_eq!(verdict.reasons.first().map(Reason::level), expected, "{ns}");
        if let Some(reason) = verdict.reasons.first() {
            assert!(
                matches!(reason, Reason::Overhead(Overhead { ns_per_operation,
                    .. }) if *ns_per_operation == ns)
            );
        }
    }
    // On the engine `null` all of the time is overhead, so the rule does not apply.
    is_valid(|record| {
        overhead(record, 900_000.0);
        record.spec.engine = record::EngineName::NULL;
    });
}

#[test]
fn other_load_is_doubtful() {
    let seen = is_valid(|record| others(record, 0.05));
    close(*seen.others_fraction.known().unwrap(), 0.05);
    let (level, found) = reason(|record| others(record, 0.051));
    assert_eq!(level, Level::Doubtful);
    assert!(matches!(&found, Reason::OtherLoad(OtherLoad { fraction,
            busiest }) if (fraction - 0.051).abs() < 1e-9 && busiest.is_empty()));
    let program = BusyProgram {
        name: "rustc".to_owned(),
        pid: 4_711,
        fraction: 0.04,
    };
    let (_, found) = reason(|record| {
        others(record, 0.051);
        record.during.busiest = Some(Fact::Known(vec![program.clone()]));
    });
    let Reason::OtherLoad(OtherLoad { busiest, .. }) = &found else {
        panic!("{found:?}");
    };
    assert_eq!(busiest.as_slice(), std::slice::from_ref(&program));
    found.line().shows(": stop the other programs");
    // Process 1 cannot be stopped, so the advice differs.
    let (_, found) = reason(|record| {
        others(record, 0.051);
        let first = BusyProgram {
            pid: 1,
            ..program.clone()
        };
        record.during.busiest = Some(Fact::Known(vec![first]));
    });
    found
        .line()
        .shows("process 1")
        .shows(": use a dedicated machine");
    // Programs that ended before the end of the run cannot be named, and stopping them is too late.
    let (_, found) = reason(|record| {
        others(record, 0.051);
        record.during.busiest = Some(Fact::Known(Vec::new()));
    });
    found
        .line()
        .shows("by programs that have ended or are not visible")
        .shows(": start no other programs during a run");
    // Processor time in the kernel is not other load, because kernel threads also work for the run.
    is_valid(|record| {
        let times = known(&mut record.during.counted.system.times);
        times.busy_ns = Fact::Known(122 * SECOND);
        times.system_ns = Fact::Known(107 * SECOND);
    });
}

#[test]
fn cpu_steal_above_1_percent_is_doubtful_and_above_10_percent_invalid() {
    is_valid(|record| steal(record, 0.01));
    for (fraction, expected) in [
        (0.011, Level::Doubtful),
        (0.1, Level::Doubtful),
        (0.101, Level::Invalid),
    ] {
        let (level, found) = reason(|record| steal(record, fraction));
        assert_eq!(level, expected);
        assert!(matches!(found, Reason::Steal(found) if (found.fraction - fraction).abs() < 1e-9));
    }
}

#[test]
fn a_machine_is_doubtful_only_if_it_is_known_to_be_emulated() {
    let (level, found) = reason(|record| record.host.emulated = Some(Fact::Known(true)));
    assert_eq!(
        (level, found),
        (Level::Doubtful, Reason::Emulated(Emulated {}))
    );
    for other in [
        None,
        Some(Fact::Known(false)),
        Some(Fact::Unavailable("hidden".to_owned())),
    ] {
        is_valid(|record| record.host.emulated = other.clone());
    }
}

#[test]
fn processor_shares_are_unknown_in_short_runs_and_with_unknown_fuse_servers() {
    let loaded = |record: &mut Record| {
        others(record, 0.4);
        steal(record, 0.4);
    };
    let seen = is_valid(|record| {
        loaded(record);
        record.during.clocks.elapsed_ns = SECOND - 1;
    });
    assert!(seen.others_fraction.why().is_some() && seen.steal_fraction.why().is_some());
    let verdict = of(|record| {
        loaded(record);
        record.during.clocks.elapsed_ns = SECOND;
    });
    assert_eq!(verdict.reasons.len(), 2, "{verdict:?}");
    for kind in ["fuse", "fuse.sshfs"] {
        let seen = is_valid(|record| {
            others(record, 0.4);
            mount(record).file_system_type = kind.to_owned();
        });
        assert!(seen.others_fraction.why().unwrap().contains("FUSE"));
    }
    let seen = is_valid(|record| {
        on_fuse(record, 0.4, 0.0);
        let why = "no process holds /dev/fuse open".to_owned();
        record.during.fuse_servers = Some(Fact::Unavailable(why));
    });
    assert_eq!(
        seen.others_fraction.why(),
        Some("no process holds /dev/fuse open")
    );
    // If the kernel does not report processor times, the run remains valid.
    let seen = is_valid(|record| {
        record.during.counted.system.times = Fact::Unavailable("no /proc".to_owned())
    });
    assert_eq!(seen.steal_fraction.why(), Some("no /proc"));
}

/// Changes the record: the target is a FUSE file system, and other programs used the share `all` of
/// processor time. This includes the share `server` of the FUSE server.
fn on_fuse(record: &mut Record, all: f64, server: f64) {
    others(record, all);
    mount(record).file_system_type = "fuse".to_owned();
    record.during.fuse_servers = Some(Fact::Known(vec![BusyProgram {
        name: "bindfs".to_owned(),
        pid: 4_712,
        fraction: server,
    }]));
}

#[test]
fn fuse_server_does_not_count_as_other_load_but_other_programs_do() {
    let seen = is_valid(|record| on_fuse(record, 0.45, 0.4));
    close(*seen.others_fraction.known().unwrap(), 0.05);
    close(*seen.fuse_servers_fraction.known().unwrap(), 0.4);
    // The server's time is counted over a slightly longer period than the machine's time, so it may
    // exceed the time of all other programs.
    close(
        *is_valid(|record| on_fuse(record, 0.4, 0.41))
            .others_fraction
            .known()
            .unwrap(),
        0.0,
    );
    let (level, found) = reason(|record| on_fuse(record, 0.6, 0.4));
    assert_eq!(level, Level::Doubtful);
    assert!(
        matches!(&found, Reason::OtherLoad(found) if (found.fraction - 0.2).abs() < 1e-9),
        "{found:?}"
    );
}

#[test]
fn suspension_clock_steps_and_changed_clock_sources_are_reported() {
    let found = reason(|record| record.during.clocks.suspended_ns = 1);
    assert_eq!(
        found,
        (Level::Invalid, Reason::Suspended(Suspended { ns: 1 }))
    );
    for ns in [1, -1] {
        let found = reason(|record| record.during.clocks.wall_clock_stepped_ns = ns);
        assert_eq!(
            found,
            (
                Level::Doubtful,
                Reason::WallClockStepped(WallClockStepped { ns })
            )
        );
    }
    let found = reason(|record| {
        let clocks = &mut record.during.clocks;
        clocks.clock_source_changed = Fact::Known(true);
        clocks.clock_source_after = Fact::Known("hpet".to_owned());
    });
    let expected = Reason::ClockSourceChanged(ClockSourceChanged {
        before: "tsc".to_owned(),
        after: "hpet".to_owned(),
    });
    assert_eq!(found, (Level::Invalid, expected));
    is_valid(|record| {
        record.during.clocks.clock_source_changed = Fact::Unavailable("no /sys".to_owned())
    });
}

#[test]
fn pauses_of_the_program_are_reported() {
    let paused = |times, longest_ns, total_ns, seconds: u64| {
        move |record: &mut Record| {
            transactions(record).pauses = Some(Pauses {
                watched_ns: seconds * SECOND,
                shortest_ns: SECOND / 50,
                times,
                total_ns,
                longest_ns,
            });
        }
    };
    let expected = |times, longest_ns, fraction| {
        Reason::Paused(Paused {
            times,
            longest_ns,
            fraction,
        })
    };
    // Of 10 s, pauses of 0.1 s (1 %) are valid, 0.5 s (5 %) are DOUBTFUL, and 4.5 s (45 %) are
    // INVALID.
    is_valid(paused(2, SECOND / 20, SECOND / 10, 10));
    let found = reason(paused(3, SECOND / 5, SECOND / 2, 10));
    assert_eq!(found, (Level::Doubtful, expected(3, SECOND / 5, 0.05)));
    let found = reason(paused(10, 45 * SECOND / 100, 9 * SECOND / 2, 10));
    assert_eq!(
        found,
        (Level::Invalid, expected(10, 45 * SECOND / 100, 0.45))
    );
    // In a phase of less than a second, the share of pauses is not judged.
    is_valid(paused(1, SECOND / 5, SECOND / 2, 0));
    // Without a thread that detects pauses, the pauses are not known, and the run remains valid.
    is_valid(|record| transactions(record).pauses = None);
}
