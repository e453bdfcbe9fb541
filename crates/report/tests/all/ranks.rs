//! Reports of runs with several ranks.

use record::{
    ClusterRecord, Fact, HostRecord, MessagesReading, ObserverRecord, Outcome, Phase, RankClock,
    RankClockOffset, RankRecord, Record, ServerCounts, ServerTotals, Tool, WorkerPhase,
};
use serde_json::json;
use testkit::{Shows, kept};

/// The stored record of a real run (`kept`), changed to `count` ranks of one worker each, with two
/// ranks on each host. Each rank is faster than the previous one by a tenth of the rate of rank 0.
fn of_ranks(count: u32) -> Record {
    let mut record = kept();
    let host = |number: u32| {
        let mut machine = record.host.clone();
        machine.hostname = format!("client{number}");
        machine.boot_id = Fact::Known(format!("boot{number}"));
        HostRecord {
            host: machine,
            during: record.during.clone(),
            tool: Tool::this(),
        }
    };
    let hosts: Vec<HostRecord> = (0..count.div_ceil(2)).map(host).collect();
    let rank = |rank: u32| {
        let offset = RankClockOffset {
            at_ns: 0,
            offset_ns: i64::from(rank) * -1_500,
            error_ns: 2_500,
        };
        RankRecord {
            rank,
            host: rank / 2,
            process: 100 + rank,
            first_worker: rank,
            workers: 1,
            processors: Fact::NotApplicable,
            clock: RankClock {
                begin: Fact::Known(offset),
                end: Fact::Known(offset),
                wall_offset_ns: 0,
            },
            outcome: Outcome::Complete,
            end: Fact::NotApplicable,
            worker_hashes: Vec::new(),
        }
    };
    record.cluster = Some(ClusterRecord {
        launched: count,
        ranks: (0..count).map(rank).collect(),
        hosts,
        missing: Vec::new(),
        observers: Vec::new(),
    });
    let mut phases = record.actual.phases.iter_mut();
    let phase = phases
        .find(|phase| phase.phase == Phase::Transactions)
        .unwrap();
    let worker = phase.workers[0].clone();
    phase.workers = (0..count)
        .map(|number| WorkerPhase {
            worker: number,
            began_ns: worker.began_ns,
            ended_ns: worker.began_ns + 1_000_000_000,
            transactions: 100 + 10 * u64::from(number),
            ..worker.clone()
        })
        .collect();
    record
}

fn section(record: &Record) -> String {
    let text = report::text::render(record);
    let (_, rest) = text
        .split_once("Ranks in transactions")
        .expect("the section is there");
    rest.split("\n\n").next().unwrap().to_owned()
}

#[test]
fn report_shows_shares_and_rates_of_hosts_and_ranks() {
    let text = section(&of_ranks(4));
    text.shows_all(
        "client0      2        2  45.7 %         210            105        0.0    2.5 | \
         client1      2        2  54.3 %         250            125       -3.0    2.5 | \
         Rates of 4 ranks: least 100/s, median 115/s, greatest 130/s (23.1 % apart). | \
         The slowest: rank 0 on client0, 100/s. | Clocks: moments of two ranks are within 5.0 µs.",
    );
    text.shows("1   130  28.3 %         130");
    assert!(!text.contains("differ"), "{text}");
}

#[test]
fn report_lists_hosts_instead_of_many_ranks_and_at_most_32_hosts() {
    let text = section(&of_ranks(18));
    text.shows("client8");
    text.does_not_show("rank  host");
    let text = section(&of_ranks(80));
    text.shows("client31").does_not_show("client32");
    text.shows("The 32 slowest hosts of 40; all are in the record.");
}

#[test]
fn report_warns_of_differences_between_hosts() {
    let mut record = of_ranks(6);
    let cluster = record.cluster.as_mut().unwrap();
    cluster.hosts[2].host.kernel.release = "5.10\u{1b}[31m".to_owned();
    let text = section(&record);
    text.shows("Hosts differ in the kernel: ");
    text.shows("(2 hosts, the first is client0)");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn run_of_one_process_has_no_ranks_section() {
    assert!(!report::text::render(&kept()).contains("Ranks"));
}

/// The record of an observer that counted `calls` calls in the whole run, half of them in the
/// transactions.
fn observer(record: &Record, calls: Option<u64>) -> ObserverRecord {
    let spent = |busy: u64| {
        json!({"known": {"total_ns": {"known": 1000}, "user_ns": {"known": busy},
            "nice_ns": {"known": 0},
            "system_ns": {"known": 0}, "idle_ns": {"known": 900 - busy},
                "iowait_ns": {"known": 100},
            "irq_ns": {"known": 0}, "softirq_ns": {"known": 0}, "steal_ns": {"known": 0},
                "busy_ns": {"known": busy}}})
    };
    let counted = |busy: u64, calls: Option<u64>| {
        let kind = |calls: u64| {
            json!({"kind": "GETATTR", "requests": calls, "retransmissions": "not_applicable",
                "sent_bytes": "not_applicable",
                "received_bytes": "not_applicable", "queued_ms": "not_applicable",
                    "round_trip_ms": "not_applicable",
                "execution_ms": "not_applicable"})
        };
        let of_kernel = |calls: u64| {
            json!({"known": [{"counter": "nfs-server", "protocol": "nfs3", "of": "all clients",
                "age_s": "not_applicable",
                "kinds": {"known": [kind(calls)]}, "operations": "not_applicable",
                    "server_read_bytes": "not_applicable",
                "server_written_bytes": "not_applicable"}]})
        };
        let calls = calls.map_or_else(|| json!({"unavailable": "no nfsd"}), of_kernel);
        json!({"processors": spent(busy), "devices": {"known": []}, "calls": calls,
            "interfaces": {"known": [
            {"name": "eth0", "speed_bits_per_s": "not_applicable",
                "received_bytes": {"known": 4096},
                "sent_bytes": {"known": 0}}]}})
    };
    let clock = json!({"at_ns": 0, "offset_ns": 5, "error_ns": 1500});
    serde_json::from_value(json!({
        "rank": 9, "host": record.host, "clock_begin": clock, "clock_end": clock, "readings": 30,
        "interval_ns": 101_000_000, "whole_ns": 2_000_000_000, "whole": counted(250, calls),
            "cpu_busy_p99": {"known": 0.75},
        "phases": [{"step": null, "phase": "transactions", "ns": 1_000_000_000,
            "cpu_busy_p99": {"unavailable": "shorter than 2 s"}, "counted": {"known": counted(800,
                calls.map(|calls| calls / 2))}}],
    }))
    .unwrap()
}

fn observed(record: &Record) -> String {
    let text = report::text::render(record);
    let (_, rest) = text.split_once("Observers").expect("the section is there");
    // A table that is too wide is split into two parts.
    rest.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn observed_calls_are_compared_with_sent_calls() {
    let mut record = of_ranks(2);
    let found = observer(&record, Some(1_020));
    let messages = found.whole.calls.known().unwrap()[0].clone();
    record.actual.traffic = Some(ServerTotals {
        messages: MessagesReading {
            kinds: messages.kinds.map(|mut kinds| {
                kinds[0].requests = 1_000;
                kinds
            }),
            ..messages
        },
        counts: ServerCounts::default(),
    });
    record.cluster.as_mut().unwrap().observers = vec![found];
    let text = observed(&record);
    for told in [
        "counters read every 101 ms",
        "moments within 1.5 µs",
        "Calls in whole run: clients sent 1,000,",
        "counted 1,020 (2.0 % more)",
        // The observer's processors were busy for 250 ns: 0.245 ns for each of 1,020 calls.
        "0.25 ns",
    ] {
        text.shows(told);
    }
    let row = |name: &str| {
        text.lines()
            .find(|line| line.contains(name))
            .unwrap()
            .to_owned()
    };
    let whole = row("whole run");
    assert!(
        whole.contains("25.0 %")
            && whole.contains("75.0 %")
            && whole.contains("10.0 %")
            && whole.contains("1,020"),
        "{text}"
    );
    let transactions = row("transactions");
    assert!(
        transactions.contains("80.0 %") && transactions.contains("510"),
        "{text}"
    );
    assert!(
        text.lines()
            .all(|line| line.chars().count() <= document::WIDTH),
        "{text}"
    );
}

#[test]
fn calls_that_an_observer_could_not_count_are_reported_as_not_available() {
    let mut record = of_ranks(2);
    let found = observer(&record, None);
    record.cluster.as_mut().unwrap().observers = vec![found];
    let text = observed(&record);
    text.shows("NFS calls are not available (no nfsd)");
    text.does_not_show("Calls in");
}
