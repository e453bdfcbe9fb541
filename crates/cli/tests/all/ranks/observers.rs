//! Ranks that perform no operations and observe their host.

use rustix::process::Signal;

use record::{Fact, Outcome, Phase, Record};
use testkit::Assert;
use verdict::Summary;

use super::Job;
use super::hosts::{AHEAD_NS, Hosts, record};
use crate::support::Running;

#[test]
fn observer_counts_its_host_while_four_ranks_work() {
    let Some(hosts) = Hosts::start(5) else { return };
    for named in ["host-5", "10.77.0.5"] {
        let ended = hosts.finish_run(
            5,
            &format!("--preset mail --workers 1 --files 300 --for 2s --monitor-host {named}"),
        );
        let output = &ended.code(0).output;
        let record = Record::from_json(output)
            .unwrap_or_else(|error| panic!("there is no record: {error}\n{ended}"));
        assert_eq!(record.actual.outcome, Outcome::Complete, "{ended}");
        let cluster = record.cluster.as_ref().unwrap();
        assert_eq!(
            (record.spec.ranks, cluster.launched, cluster.ranks.len()),
            (4, 4, 4)
        );
        assert!(
            cluster
                .hosts
                .iter()
                .all(|host| host.host.hostname != "host-5"),
            "{ended}"
        );
        let [observer] = &cluster.observers[..] else {
            panic!("{:?}\n{ended}", cluster.observers);
        };
        assert_eq!((observer.rank, &*observer.host.hostname), (4, "host-5"));
        for clock in [&observer.clock_begin, &observer.clock_end] {
            // Offsets are relative to the clock of rank 0, which is on host-1.
            let is_off_ns = (clock.offset_ns + 4 * AHEAD_NS).unsigned_abs();
            assert!(is_off_ns <= clock.error_ns, "{is_off_ns} ns off, {clock:?}");
        }
        // The clock of rank 0 gives the times of the phases, and the clock of the observer gives
        // the times of the readings. The times match only if the offset is right.
        let transactions = observer
            .phases
            .iter()
            .find(|phase| phase.phase == Phase::Transactions);
        let transactions = transactions.unwrap();
        transactions.assert((2_000_000_000..4_000_000_000).contains(&transactions.ns));
        let counted = transactions.counted.known().unwrap();
        let spent = counted.processors.known().unwrap();
        // Four ranks use a file system in memory, so the processors of the machine are busy.
        spent.assert(*spent.fraction_of(&spent.busy_ns).known().unwrap() > 0.3);
        let total_ns = *spent.total_ns.known().unwrap() as f64;
        let processors = *observer.host.processors.online.known().unwrap();
        let expected_ns = (transactions.ns * processors) as f64;
        assert!(
            (total_ns / expected_ns - 1.0).abs() < 0.1,
            "{total_ns} of {expected_ns} ns"
        );
        assert!(observer.readings >= 15, "{}", observer.readings);
        assert!(observer.whole_ns > transactions.ns);
        let rows = &Summary::of(&record).ranks.unwrap().observers[0].rows;
        assert_eq!(rows.len(), 1 + observer.phases.len());
        if !std::path::Path::new("/proc/net/rpc/nfsd").exists() {
            let calls = counted.requests();
            calls.assert(matches!(&calls, Fact::Unavailable(why) if why.contains("user space")));
        }
    }
}

#[test]
fn invalid_observers_are_refused() {
    let Some(hosts) = Hosts::start(3) else { return };
    let refused = |named: &str| {
        hosts.finish_run(
            3,
            &format!("--files 100 --transactions 100 --monitor-host {named}"),
        )
    };
    refused("host-1").code(2).shows(
        "rank 0 is on host-1, and rank 2 on host-3 is to work: observers must be the last ranks",
    );
    refused("host-7")
        .code(2)
        .shows("no rank was started on that host (there are ranks on host-1, host-2, host-3)");
    refused("host-1,host-2,host-3")
        .code(2)
        .shows("none is left");
    refused("host-3 --ranks 3")
        .code(2)
        .shows("3 processes, 1 of which observe");
    assert!(hosts.is_empty());
}

#[test]
fn run_ends_if_an_observer_is_lost() {
    let Some(hosts) = Hosts::start(2) else { return };
    let options = "--preset mail --workers 1 --files 20000 --for 60s --monitor-host host-2";
    hosts.loses(2, options, 1, Signal::STOP);
}

#[test]
fn signal_to_an_observer_ends_the_run() {
    let Some(hosts) = Hosts::start(2) else { return };
    let parts = hosts.job.parts();
    let options = "--preset mail --workers 1 --files 500 --for 60s --monitor-host host-2";
    let options = format!("{options} --parts {}", parts.display());
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut running = Running::start(hosts.run(2, &options), &hosts.job.target());
        hosts.job.until_completed(&mut running, 0, 1);
        hosts.job.send(1, signal);
        let ended = running.finish();
        ended.code(status);
        let outcome = Outcome::Interrupted {
            signal: signal.as_raw(),
        };
        assert_eq!(record(&ended.output).actual.outcome, outcome, "{ended}");
        assert!(hosts.is_empty(), "{ended}");
        std::fs::remove_dir_all(&parts).unwrap();
    }
}

#[test]
fn observe_option_requires_a_launcher() {
    let Some(job) = Job::new() else { return };
    let target = job.target();
    let words = [
        "run",
        "--monitor-host",
        "server",
        "--target",
        target.to_str().unwrap(),
    ];
    job.postmark(&words)
        .code(2)
        .shows("--monitor-host is for the processes that mpirun or srun starts");
}
