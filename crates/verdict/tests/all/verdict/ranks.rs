//! Rules about ranks and hosts.

use record::{
    ArrivalProcess, Class, Climb, ClusterRecord, Fact, HostPhase, HostRecord, HostWorkers, Load,
    MissingRank, Outcome, Phase, RankClock, RankClockOffset, RankRecord, Record, Sweep, SweepStep,
    Tool, WorkerPhase,
};
use testkit::{Assert, Shows};
use verdict::rules::{ClientSaturated, ClocksNotAligned, HostsApart, RanksNotDone, TooFewClients};
use verdict::{Level, Reason, Summary, Verdict};

use super::made::{BEGAN, SECOND, is_valid, known, of, reason, transactions, well};

/// Changes the record to a run of one minute by four ranks on two hosts. Each rank has two workers.
/// `rates` contains, for each host, the transactions a second of one worker.
fn cluster(record: &mut Record, rates: [u64; 2]) {
    let mut hosts = Vec::new();
    let mut of_hosts = Vec::new();
    for number in 0..2 {
        let mut machine = record.host.clone();
        machine.hostname = format!("client{number}");
        machine.boot_id = Fact::Known(format!("boot{number}"));
        let host = HostRecord {
            host: machine,
            during: record.during.clone(),
            tool: Tool::this(),
        };
        of_hosts.push(HostPhase {
            host: host.id(),
            ranks: 2,
            workers: None,
            evidence: None,
        });
        hosts.push(host);
    }
    let clock = RankClockOffset {
        at_ns: 0,
        offset_ns: 0,
        error_ns: 20_000,
    };
    let ranks = (0..4).map(|rank| RankRecord {
        rank,
        host: rank / 2,
        process: rank,
        first_worker: rank * 2,
        workers: 2,
        processors: Fact::NotApplicable,
        clock: RankClock {
            begin: Fact::Known(clock),
            end: Fact::Known(clock),
            wall_offset_ns: 0,
        },
        outcome: Outcome::Complete,
        end: Fact::NotApplicable,
        worker_hashes: Vec::new(),
    });
    record.cluster = Some(ClusterRecord {
        launched: 4,
        ranks: ranks.collect(),
        hosts,
        missing: Vec::new(),
        observers: Vec::new(),
    });
    let phase = transactions(record);
    let kept = phase.workers[0].clone();
    phase.workers = (0..8)
        .map(|worker| WorkerPhase {
            worker,
            transactions: rates[worker as usize / 4] * 60,
            ..kept.clone()
        })
        .collect();
    phase.hosts = of_hosts;
}

fn ranks(record: &mut Record) -> &mut ClusterRecord {
    record.cluster.as_mut().unwrap()
}

fn on_a_server(record: &mut Record) {
    known(&mut record.locations[0].target).class = Fact::Known(Class::Network);
}

#[test]
fn hosts_with_similar_rates_are_valid() {
    is_valid(|record| cluster(record, [100, 100]));
    is_valid(|record| cluster(record, [100, 71]));
}

#[test]
fn a_rank_that_failed_or_is_missing_is_named() {
    let found = of(|record| {
        cluster(record, [100, 100]);
        ranks(record).ranks[2].outcome = Outcome::Unfinished;
        ranks(record).ranks.pop();
        ranks(record).missing = vec![MissingRank {
            rank: 3,
            why: "it is not there".to_owned(),
        }];
    });
    let expected = Reason::RanksNotDone(RanksNotDone {
        failed: vec![2],
        missing: vec![3],
        launched: 4,
    });
    assert!(found.reasons.contains(&expected), "{found:?}");
    assert_eq!(expected.level(), Level::Invalid);
}

#[test]
fn hosts_with_rates_more_than_30_percent_apart_are_reported() {
    let (level, told) = reason(|record| cluster(record, [100, 69]));
    assert_eq!(level, Level::Doubtful);
    let Reason::HostsApart(HostsApart {
        slowest,
        fastest,
        fraction,
    }) = told
    else {
        panic!("{told:?}")
    };
    assert_eq!((slowest.as_str(), fastest.as_str()), ("client1", "client0"));
    assert!((fraction - 0.31).abs() < 1e-9, "{fraction}");
}

#[test]
fn most_saturated_host_is_named() {
    let used = |fractions: [u64; 2]| {
        move |record: &mut Record| {
            cluster(record, [100, 100]);
            on_a_server(record);
            for (host, percent) in transactions(record).hosts.iter_mut().zip(fractions) {
                host.workers = Some(HostWorkers {
                    count: 4,
                    cpu_ns: percent * SECOND,
                    ns: 100 * SECOND,
                });
            }
        }
    };
    is_valid(used([90, 20]));
    let (level, told) = reason(used([20, 95]));
    assert_eq!(level, Level::Doubtful);
    let saturated = |host: &str, fraction, others| {
        Reason::ClientSaturated(ClientSaturated {
            workers: Some(fraction),
            interface: None,
            host: Some(host.to_owned()),
            others,
        })
    };
    assert_eq!(told, saturated("client1", 0.95, None));
    let (_, told) = reason(used([99, 95]));
    assert_eq!(told, saturated("client0", 0.99, Some(1)));
}

#[test]
fn sweep_with_a_still_rising_rate_has_too_few_clients() {
    let swept = |last: u64, cpu: u64| {
        let mut record = well();
        cluster(&mut record, [100, 100]);
        on_a_server(&mut record);
        let phase = transactions(&mut record).clone();
        record
            .actual
            .phases
            .retain(|phase| phase.phase != Phase::Transactions);
        let step = |workers: u32, done: u64| {
            let mut phase = phase.clone();
            phase.segments[0].transactions = done;
            phase.hosts[0].workers = Some(HostWorkers {
                count: 4,
                cpu_ns: cpu,
                ns: 100,
            });
            SweepStep {
                load: Load::Workers(workers),
                name: None,
                workers,
                phases: vec![phase],
                of_run: None,
            }
        };
        record.actual.sweep_steps = vec![step(4, 1_000), step(8, last)];
        let reasons = Verdict::of(&record).reasons;
        reasons
            .into_iter()
            .find(|reason| matches!(reason, Reason::TooFewClients(_)))
    };
    assert_eq!(swept(1_100, 10), None);
    assert_eq!(
        swept(1_500, 95),
        None,
        "a client that is saturated is told of by itself"
    );
    let Some(Reason::TooFewClients(TooFewClients {
        workers,
        fewer,
        gain,
    })) = swept(1_500, 10)
    else {
        panic!("more clients brought more")
    };
    assert_eq!((workers, fewer), (8, 4));
    assert!((gain - 0.5).abs() < 1e-9, "{gain}");
}

#[test]
fn clock_errors_above_1_percent_of_the_time_are_reported() {
    let off = |error_ns: u64| {
        move |record: &mut Record| {
            cluster(record, [100, 100]);
            let clock = &mut ranks(record).ranks[3].clock.end;
            known(clock).error_ns = error_ns;
        }
    };
    is_valid(off(SECOND * 30 / 100));
    let (level, told) = reason(off(SECOND));
    assert_eq!(level, Level::Doubtful);
    assert_eq!(
        told,
        Reason::ClocksNotAligned(ClocksNotAligned {
            error_ns: 2 * SECOND,
            measured_ns: 60 * SECOND
        })
    );
    // A clock that runs faster or slower changes its offset during the run. This change adds to the
    // error.
    let drifts = |by_ns: i64| {
        move |record: &mut Record| {
            cluster(record, [100, 100]);
            known(&mut ranks(record).ranks[2].clock.end).offset_ns = by_ns;
        }
    };
    is_valid(drifts(-200_000_000));
    let (_, told) = reason(drifts(-1_000_000_000));
    told.assert(matches!(&told, Reason::ClocksNotAligned(told) if told.error_ns > 2 * SECOND));
}

#[test]
fn ranks_on_one_host_do_not_count_as_other_load() {
    // Each host used 15 s of processor time in user mode, of which its ranks used `ranks_share`
    // percent.
    let busy = |ranks_share: u64| {
        move |record: &mut Record| {
            cluster(record, [100, 100]);
            for host in &mut ranks(record).hosts {
                known(&mut host.during.counted.process).user_ns = 15 * SECOND * ranks_share / 100;
            }
        }
    };
    is_valid(busy(100));
    let (_, told) = reason(busy(0));
    assert!(matches!(told, Reason::OtherLoad(_)), "{told:?}");
    // Both hosts are containers of one machine, so the processor time of all ranks belongs to the
    // run.
    is_valid(|record| {
        busy(50)(record);
        for host in &mut ranks(record).hosts {
            host.host.boot_id = Fact::Known("the same".to_owned());
        }
        let hosts: Vec<_> = ranks(record).hosts.iter().map(HostRecord::id).collect();
        for (seen, id) in transactions(record).hosts.iter_mut().zip(hosts) {
            seen.host = id;
        }
    });
}

#[test]
fn other_load_at_the_first_level_of_a_sweep_of_ranks_is_reported() {
    let busy = |first_ns: u64, is_of_ranks: bool| {
        move |record: &mut Record| {
            cluster(record, [100, 100]);
            for host in &mut ranks(record).hosts {
                known(&mut host.during.counted.process).user_ns = 15 * SECOND;
            }
            known(&mut record.during.counted.process).user_ns = first_ns;
            // In a sweep of ranks, the record's hosts are those of the last load level (4 ranks).
            // `record.during` belongs to the first level (2 ranks).
            record.spec.drive.sweep = is_of_ranks.then(|| Sweep {
                climb: Climb::Ranks(vec![2, 4]),
                arrivals: ArrivalProcess::Poisson,
                fresh: true,
                slo_operation: None,
                slo_p99_ns: None,
            });
        }
    };
    let is_told = |change: &dyn Fn(&mut Record)| {
        let found = of(change).reasons;
        found
            .iter()
            .any(|reason| matches!(reason, Reason::OtherLoad(_)))
    };
    assert!(is_told(&busy(0, true)));
    assert!(!is_told(&busy(15 * SECOND, true)));
    assert!(
        !is_told(&busy(0, false)),
        "without a sweep the hosts are all there is"
    );
}

#[test]
fn ranks_and_hosts_have_rates_and_shares_of_the_work() {
    let mut record = well();
    cluster(&mut record, [100, 50]);
    let phase = transactions(&mut record);
    phase.workers[7].transactions = 0;
    phase.workers[7].ended_ns = BEGAN + SECOND;
    let ranks = Summary::of(&record).ranks.unwrap();
    assert_eq!(ranks.phase, Some(Phase::Transactions));
    let shares: Vec<u64> = ranks.ranks.iter().map(|rank| rank.done.count).collect();
    assert_eq!(shares, [12_000, 12_000, 6_000, 3_000]);
    assert_eq!(ranks.ranks[0].fraction, Some(12.0 / 33.0));
    assert_eq!(ranks.hosts[1].done.count, 9_000);
    assert_eq!(ranks.hosts[1].fraction, Some(9.0 / 33.0));
    assert_eq!(ranks.hosts[0].per_worker, Some(100.0));
    let slowest = ranks.slowest_rank.unwrap();
    assert_eq!((slowest.rank, slowest.host.as_str()), (3, "client1"));
    let spread = ranks.ranks_spread.unwrap();
    assert_eq!(
        (spread.min_per_second, spread.max_per_second),
        (50.0, 200.0)
    );
    assert_eq!(
        (spread.median_per_second, spread.apart_fraction),
        (150.0, 0.75)
    );
    assert_eq!(ranks.clock_error_ns, Fact::Known(40_000));
    assert!(ranks.differences.is_empty(), "{:?}", ranks.differences);
}

#[test]
fn differences_between_hosts_are_reported() {
    use verdict::summary::HostFact;
    let mut record = well();
    cluster(&mut record, [100, 100]);
    let cluster = ranks(&mut record);
    cluster.hosts[1].tool.version = "9.9.9".to_owned();
    cluster.hosts[1].host.kernel.release = "5.10".to_owned();
    cluster.hosts[1].host.clock_source = Fact::Known("hpet".to_owned());
    cluster.hosts[1].host.processors.model = Fact::Unavailable("no".to_owned());
    cluster.ranks[2].clock.wall_offset_ns = 1_500_000_000;
    let differences = Summary::of(&record).ranks.unwrap().differences;
    let facts: Vec<HostFact> = differences.iter().map(|differ| differ.fact).collect();
    assert_eq!(
        facts,
        [
            HostFact::Program,
            HostFact::Kernel,
            HostFact::ClockSource,
            HostFact::WallClock
        ]
    );
    let wall: Vec<&str> = differences[3]
        .values
        .iter()
        .map(|alike| alike.value.as_str())
        .collect();
    assert_eq!(wall, ["within 1 s", "+1.5 s"]);
}

#[test]
fn a_record_with_impossible_ranks_is_refused() {
    let refused = |spoil: fn(&mut ClusterRecord)| {
        let mut record = well();
        cluster(&mut record, [100, 100]);
        Record::from_json(&verdict::to_json(&record)).unwrap();
        spoil(ranks(&mut record));
        Record::from_json(&verdict::to_json(&record))
            .unwrap_err()
            .to_string()
    };
    for (spoil, told) in [
        (
            (|cluster| cluster.ranks[1].host = 2) as fn(&mut ClusterRecord),
            "ranks[1].host",
        ),
        (
            |cluster| cluster.ranks[1].rank = 0,
            "one of them is there twice",
        ),
        (|cluster| cluster.ranks.swap(0, 1), "ranks[1].rank"),
        (|cluster| cluster.ranks[3].rank = 4, "ranks[3].rank"),
        (
            |cluster| cluster.ranks[2].first_worker = 3,
            "ranks[2].first_worker",
        ),
        (|cluster| cluster.launched = 3, "cluster.ranks"),
        (|cluster| cluster.launched = u32::MAX, "cluster.ranks"),
        (
            |cluster| cluster.hosts[0].host.hostname = "x".repeat(300),
            "hosts[0].host.hostname",
        ),
        (
            |cluster| cluster.ranks[0].clock.wall_offset_ns = i64::MIN,
            "wall_offset_ns",
        ),
    ] {
        let error = refused(spoil);
        error.shows(told);
    }
}
