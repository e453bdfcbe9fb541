//! Four ranks on separate hosts use the engine `nfs` on one server, while a fifth rank on the host
//! of the server observes.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use record::{Outcome, Record};
use system::{MachineCounted, MessageCounter};
use testkit::Assert;
use verdict::Summary;

use super::hosts::{Hosts, record};
use crate::nfs::ganesha::{Ganesha, MOUNT_PORT, NFS_PORT};
use crate::nfs::wire::Capture;
use crate::nfs::{Traffic, tell};
use crate::support::Running;

#[test]
fn server_counts_the_calls_of_four_clients() {
    // The hosts must be dropped before `ganesha`. Variables are dropped in reverse order, so
    // `ganesha` is declared first.
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let Some(mut hosts) = Hosts::start(4) else {
        return;
    };
    hosts.order(&format!("join {}", ganesha.process()), "joined");
    let url = format!("nfs://10.77.0.100:{NFS_PORT}/export?mountport={MOUNT_PORT}");
    let options = "--mix read=4,append=1,create=2,delete=2,stat=1 --files 50 --transactions 300 \
                   --workers 2 --depth 4 --verify --monitor-host server";
    for neighbour in ["", " --neighbour 1"] {
        let Some(capture) = Capture::begin_at(&ganesha, "eth0") else {
            return;
        };
        let command = hosts.run_at(5, OsStr::new(&url), &format!("{options}{neighbour}"));
        let ended = Running::run_to_end(command, hosts.job.test_dir.path());
        let wire = capture.end();
        let record = record(&ended.code(0).output);
        ended.assert(
            record.actual.outcome == Outcome::Complete,
            "it did not complete",
        );
        ended.assert(record.actual.errors.is_empty(), "there are errors");
        let transactions = record.actual.transactions().next().unwrap();
        assert_eq!(transactions.issued(), 8 * 300);
        let sent = Traffic::of_output(&ended.output).sent();
        ended.assert(
            sent == wire.calls,
            &format!("the ranks count {sent:?}, the wire has {:?}", wire.calls),
        );
        observed(&record, &sent);
        tell(&format!("four clients{neighbour}: {sent:?}"));
        assert!(ganesha.names().is_empty());
    }
}

/// Asserts that the observer on the host of the server counted the calls of the clients and the
/// processor time of the server.
fn observed(record: &Record, sent: &BTreeMap<String, u64>) {
    let [observer] = &record.cluster.as_ref().unwrap().observers[..] else {
        panic!("{:?}", record.cluster);
    };
    assert_eq!((observer.rank, &*observer.host.hostname), (4, "server"));
    assert_eq!(&calls(&observer.whole), sent);
    let rows = &Summary::of(record).ranks.unwrap().observers[0].rows;
    let all: u64 = sent.values().sum();
    assert_eq!(
        (rows[0].server_calls.known(), rows[0].calls_differ()),
        (Some(&all), Some(0.0))
    );
    assert_eq!(rows.len(), 1 + record.actual.phases.len());
    for row in rows {
        assert!(*row.cpu_busy.known().unwrap() > 0.0, "{row:?}");
        tell(&format!(
            "{}: CPU {:.1} %, {} calls, {:.0} us each",
            row.phase.map_or("whole run", |phase| phase.name()),
            row.cpu_busy.known().unwrap() * 100.0,
            row.server_calls.known().unwrap(),
            row.cpu_ns_per_call.known().unwrap_or(&0.0) / 1e3
        ));
    }
    rows[0].assert(*rows[0].cpu_ns_per_call.known().unwrap() > 0.0);
    let of_phases: u64 = rows[1..]
        .iter()
        .filter_map(|row| row.server_calls.known())
        .sum();
    assert!((1..=all).contains(&of_phases), "{of_phases} of {all}");
}

/// Number of calls of each procedure, as counted by the server.
fn calls(counted: &MachineCounted) -> BTreeMap<String, u64> {
    let readings = counted.calls.known().unwrap();
    readings.assert(
        readings
            .iter()
            .all(|one| one.counter == MessageCounter::NfsGanesha),
    );
    let kinds = readings
        .iter()
        .filter_map(|one| one.kinds.known())
        .flatten();
    kinds
        .map(|kind| (kind.kind.clone(), kind.requests))
        .collect()
}
