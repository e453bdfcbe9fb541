//! Reports of runs whose engine called a server: the server, its messages, and the durability
//! level.

use record::{
    BusyProgram, Durability, EngineName, Fact, MessageCounter, MessageKind, MessagesReading, Phase,
    PhaseEvidence, Record, ServerCounts, ServerRecord,
};
use testkit::Shows;

use crate::built;
use crate::golden::valid;

const RUN: &str = include_str!("../golden/run.json");

/// An NFS server at an address.
fn server(address: &str) -> ServerRecord {
    ServerRecord {
        protocol: "nfs3".to_owned(),
        url: "nfs://server/export".to_owned(),
        address: address.to_owned(),
        mount_port: Some(20_048),
        export: "/export".to_owned(),
        connections: 2,
        uid: Some(1_000),
        gid: Some(100),
        privileged_port: Some(true),
        read_bytes_max: Some(1 << 20),
        write_bytes_max: Some(1 << 18),
        listing_bytes: Some(1 << 16),
        timeout_ms: 20_000,
        stability: Some("UNSTABLE, then COMMIT".to_owned()),
        region: None,
        style: None,
        payload: None,
        part_bytes: None,
    }
}

/// The stored record of a real run, changed as if the run had used the engine `nfs`. `counts` are
/// the events in its communication with the server.
fn on_server(counts: ServerCounts) -> Record {
    let mut record = Record::from_json(RUN).unwrap();
    record.spec.engine = EngineName::from_name("nfs").unwrap();
    record.spec.depth = 8;
    for location in &mut record.locations {
        location.directory = "nfs://server/export/postmark-1-2-0".to_owned();
        location.target = Fact::NotApplicable;
        location.durability = None;
        location.server = Some(server("10.0.0.1:2049"));
    }
    record.spec.durability = Durability::Fsync.into();
    let mut phases = record.actual.phases.iter_mut();
    let transactions = phases
        .find(|phase| phase.phase == Phase::Transactions)
        .unwrap();
    let mut performing = built::evidence(Fact::Known(0), 0).performing;
    performing.devices = Fact::NotApplicable;
    performing.messages = Fact::Known(vec![MessagesReading {
        counter: MessageCounter::Engine,
        protocol: "nfs3".to_owned(),
        of: "nfs://server/export".to_owned(),
        age_s: Fact::NotApplicable,
        kinds: Fact::Known((1..=12).map(kind).collect()),
        operations: Fact::NotApplicable,
        server_read_bytes: Fact::Known(4_096),
        server_written_bytes: Fact::Known(8_192),
    }]);
    transactions.evidence = Some(PhaseEvidence {
        performing,
        syncing: None,
        residency: None,
        server: Some(counts),
    });
    record
}

fn kind(number: u64) -> MessageKind {
    MessageKind {
        kind: format!("PROCEDURE{number}"),
        requests: 10 * number,
        retransmissions: Fact::Known(0),
        sent_bytes: Fact::Known(100),
        received_bytes: Fact::Known(100),
        queued_ms: Fact::NotApplicable,
        round_trip_ms: Fact::NotApplicable,
        execution_ms: Fact::NotApplicable,
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn report_shows_all_procedures_sent_to_the_server() {
    let text = words(&report::text::render(&on_server(ServerCounts::default())));
    for expected in [
        "engine nfs, on nfs3 10.0.0.1:2049:/export (in user space)",
        "8 operations in flight for each worker",
        "Server nfs3 at 10.0.0.1:2049, export /export (MOUNT port 20048); uid 1000, gid 100, \
         connections of each worker: 2, privileged port",
        "READ up to 1.00 MiB, WRITE up to 256.00 KiB, listings of 64.00 KiB; a reply is waited \
         for 20 s",
        "all operations were served by the server: no cache of this machine lies between",
        "acknowledged: contents on what the server says is stable storage (fsync: UNSTABLE, then \
         COMMIT), names on stable storage by the protocol's rule",
    ] {
        text.shows(expected);
    }
    // All 12 procedures are shown, although only 8 kinds are shown for the kernel's counters.
    for number in 1..=12 {
        let line = format!("PROCEDURE{number} {} ", 10 * number);
        text.shows(&line);
    }
    text.does_not_show("lost and opened again");
}

#[test]
fn report_counts_lost_connections_and_unknown_outcomes() {
    let text = words(&report::text::render(&on_server(ServerCounts {
        reconnections: 1,
        not_known: 2,
        delayed: 3,
        ..ServerCounts::default()
    })));
    for expected in [
        "1 connection lost and opened again; 2 operations with an unknown outcome; 3 calls made \
         again as the server wanted",
        "outcome of 2 operations unknown, because a connection was lost",
        "1 connection to the server lost, so latencies include reconnection",
    ] {
        text.shows(expected);
    }
}

#[test]
fn markdown_shows_all_procedures_sent_to_the_server() {
    let record = on_server(ServerCounts::default());
    let markdown = document::markdown(&report::text::report(&record));
    markdown.shows("PROCEDURE12");
}

/// A busy processor may be the server's, so the verdict does not cover other load. The report names
/// the programs from which a user can tell.
#[test]
fn load_of_other_programs_is_noted_as_not_judged_beside_a_server_on_this_machine() {
    let mut record = valid();
    for location in &mut record.locations {
        location.server = Some(server("127.0.0.1:2049"));
    }
    record.during.busiest = Some(Fact::Known(vec![BusyProgram {
        name: "ganesha.nfsd".to_owned(),
        pid: 12,
        fraction: 0.301,
    }]));
    let reports = |record: &Record| {
        let short = document::text(&report::text::short(record), 300);
        [short, report::text::render(record)]
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for text in reports(&record) {
        text.shows("VALID").shows(
            "Note: other-load not judged: the server on this machine counts as another program, \
             busiest ganesha.nfsd (process 12) 30.1 % (these show whether programs other than the \
             server are busy)",
        );
    }
    record.during.busiest = None;
    reports(&record)[0].shows("('top' during a run shows whether programs other than");
    for location in &mut record.locations {
        location.server = Some(server("10.0.0.1:2049"));
    }
    reports(&record)[0].does_not_show("other-load");
}
