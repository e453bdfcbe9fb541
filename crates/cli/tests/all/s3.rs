//! Tests of the I/O engine `s3` with the real program and independent servers: versitygw on a
//! directory, and SeaweedFS (`s3/store.rs`). The tests of the crate `engines` use a server of their
//! own, which also answers wrongly.
//!
//! `POSTMARK_S3_OPERATIONS` sets the number of operations in each verified workload.

use std::collections::BTreeMap;

use record::{Action, Outcome, Phase};
use rustix::process::Signal;
use serde_json::Value;
use testkit::number_of;

use crate::runs::Ran;
use crate::support::{Ended, wait_until_unchanged};

mod encrypted;
mod hostile;
pub mod store;
mod trees;
mod wire;

use store::{SECRET, Store};

/// All operations that the protocol has requests for.
const MIX: &str = "--mix create=3,read=4,read-range=1,overwrite=1,replace=1,deliver=1,delete=3,\
                   stat=2,rename=1,list=1,list-stat=1,mkdir=1,rmdir=1,stat-missing=1,\
                   open-missing=1,mkdir-existing=1,copy-tree=2,remove-tree=1";

fn perform(store: &Store, options: &str) -> Ran {
    let ran = Ran::of(store.start(options).finish(), Vec::new());
    ran.ended.code(0);
    let actual = &ran.record.actual;
    ran.assert(actual.outcome == Outcome::Complete, "it is not complete")
        .assert(actual.errors.is_empty(), "there are errors")
        .assert(actual.clean_up.is_none(), "something was left");
    ran
}

fn traffic(ran: &Ran) -> Value {
    let record: Value = serde_json::from_str(&ran.ended.output).unwrap();
    record["record"]["actual"]["traffic"].clone()
}

fn requests(traffic: &Value) -> BTreeMap<String, u64> {
    let kinds = traffic["messages"]["kinds"]["known"].as_array().unwrap();
    let count = |kind: &Value| {
        let name = kind["kind"].as_str().unwrap().to_owned();
        (name, kind["requests"].as_u64().unwrap())
    };
    kinds.iter().map(count).collect()
}

#[test]
fn every_operation_is_performed_and_verified() {
    let operations = number_of("POSTMARK_S3_OPERATIONS", 600);
    for store in Store::all() {
        for (depth, workers) in [(1, "--workers 1"), (8, "--workers 2")] {
            let ran = perform(
                &store,
                &format!(
                    "{MIX} --files 60 --dirs subdirs:3 --size 1..12000 --transactions \
                     {operations} {workers} --depth {depth} --verify --calls"
                ),
            );
            for action in ran.record.spec.workload.mix().unwrap().weights.actions() {
                let phases = ran.record.actual.all_phases();
                let mut all = phases.flat_map(|phase| phase.all_operations());
                let is_there = all.any(|one| one.action == action && one.meter.operations > 0);
                ran.assert(is_there, format_args!("there was no '{}'", action.name()));
            }
            let steps = ran.record.actual.all_phases();
            let mut reads = steps
                .flat_map(|phase| phase.all_operations())
                .filter(|operation| operation.action == Action::Read);
            let has_first_byte = reads.any(|read| {
                let mut steps = read.steps.iter();
                steps.any(|step| step.step == "GetObject first byte")
            });
            ran.assert(has_first_byte, "the first byte is not timed");
        }
        assert_eq!(store.keys(), [""; 0], "{}", store.name());
    }
}

/// The access log of versitygw has as many requests as the record.
#[test]
fn counted_requests_equal_the_servers_access_log() {
    let Some(store) = Store::versitygw() else {
        return;
    };
    let ran = perform(
        &store,
        &format!("{MIX} --files 30 --transactions 200 --depth 4"),
    );
    let counted = requests(&traffic(&ran));
    let mut logged: BTreeMap<String, u64> = BTreeMap::new();
    for name in store.logged() {
        *logged.entry(name).or_default() += 1;
    }
    assert_eq!(counted, logged);
    assert!(counted["PutObject"] > 30);
}

#[test]
fn large_objects_are_verified_and_killed_runs_are_cleaned() {
    for store in Store::all() {
        let options = "--mix create=1,read=2,delete=1 --files 3 --size 6MiB..11MiB --depth 2";
        let store = store.with_parameters("&part=5");
        let ran = perform(&store, &format!("{options} --transactions 12 --verify"));
        let requests = requests(&traffic(&ran));
        assert!(requests["UploadPart"] >= 6, "{requests:?}");
        store.put("t/mine", "a user's object");
        let mut running = store.start(&format!("{options} --for 60s --no-space-check"));
        running.until("that it works", |running| {
            crate::support::interface::has_ended(&running.errors(), "prepare")
        });
        let killed = running.kill();
        killed.signal(Signal::KILL.as_raw());
        wait_until_unchanged(|| store.keys());
        assert!(store.keys().len() > 1, "nothing was left\n{killed}");
        store.postmark(&["clean", &store.url()]).code(0);
        assert_eq!(store.keys(), ["t/mine"], "{}", store.name());
        let again = store.postmark(&["clean", &store.url()]);
        again.code(0).shows("no files of a killed run");
    }
}

#[test]
fn kept_pool_is_reused_and_acknowledged_objects_are_found() {
    let mix = "--mix create=2,read=2,delete=2,replace=1,rename=1 --files 40 --depth 4";
    for store in Store::all() {
        perform_kept(&store, &format!("{mix} --transactions 50 --keep"));
        perform(&store, &format!("{mix} --transactions 50 --reuse --verify"));
        let log = store.path().join("acknowledged");
        let log = log.to_str().unwrap();
        let options = format!("{mix} --for 60s --workers 2 --ack-log {log}");
        let mut running = store.start(&options);
        running.until("that it works", |running| {
            crate::support::interface::has_ended(&running.errors(), "prepare")
        });
        running.kill().signal(Signal::KILL.as_raw());
        wait_until_unchanged(|| store.keys());
        let verified = store.postmark(&["verify-log", "--ack-log", log, &store.url()]);
        verified.code(0).shows("No loss");
        for lost in store.keys().iter().filter(|key| !key.ends_with(".json")) {
            store.delete(lost);
        }
        let verified = store.postmark(&["verify-log", "--ack-log", log, &store.url()]);
        verified.code(1);
        store.postmark(&["clean", &store.url()]).code(0);
    }
}

/// After a server was killed and started again, all acknowledged objects are found.
#[test]
fn acknowledged_objects_survive_the_kill_of_a_server() {
    let Some(mut store) = Store::versitygw() else {
        return;
    };
    let log = store.path().join("acknowledged");
    let log = log.to_str().unwrap().to_owned();
    let mix = "--mix create=2,read=2,delete=2,replace=1,rename=1 --files 40 --depth 4";
    let mut running = store.start(&format!("{mix} --for 60s --workers 2 --ack-log {log}"));
    running.until("that it works", |running| {
        crate::support::interface::has_ended(&running.errors(), "prepare")
    });
    store.kill();
    let failed = running.finish();
    failed.code(1).shows("clean");
    store.restart();
    let verified = store.postmark(&["verify-log", "--ack-log", &log, &store.url()]);
    verified.code(0).shows("No loss");
    store.postmark(&["clean", &store.url()]).code(0);
    assert_eq!(store.keys(), [""; 0]);
}

fn perform_kept(store: &Store, options: &str) {
    let ended = store.start(options).finish();
    ended.code(0);
    assert!(store.keys().len() > 1, "{ended}");
}

#[test]
fn record_contains_the_region_and_no_secret() {
    for store in Store::all() {
        let ran = perform(&store, "--mix create=1,delete=1 --files 5 --transactions 5");
        let server = ran.record.locations[0].server.as_ref().unwrap();
        assert_eq!(server.region.as_deref(), Some("us-east-1"));
        let text = format!("{}{}", ran.ended.output, ran.ended.errors);
        assert!(!text.contains(SECRET), "{text}");
        let shown =
            store.start_as_text("--mix create=1,delete=1 --files 5 --transactions 5 --full");
        let shown = shown.finish();
        shown.code(0).shows("bucket and prefix bucket/t");
        assert!(!shown.output.contains(SECRET), "{shown}");
    }
}

fn refused(store: &Store, options: &str, words: &str) {
    let ended: Ended = store.start(options).finish();
    ended.code(2).shows(words);
}

#[test]
fn what_the_protocol_lacks_is_refused_before_the_run() {
    let Some(store) = Store::versitygw() else {
        return;
    };
    for (options, words) in [
        (
            "--preset mail --durability none",
            "cannot perform 'append', 'read by mmap' and 'lock': S3 has no call for them (use",
        ),
        ("--mix create=1,truncate=1", "cannot perform 'truncate'"),
        ("--mix create=1,link=1", "cannot perform 'link'"),
        (
            "--mix create=1,clone-tree=1,link-tree=1",
            "cannot perform 'clone a tree' and 'link a tree'",
        ),
        (
            "--mix create=1,set-attributes=1",
            "cannot perform 'set attributes'",
        ),
        (
            "--mix create=1 --durability fsync",
            "S3 cannot sync (use none)",
        ),
        ("--mix create=1 --direct", "--direct"),
        ("--mix create=1 --depth 257", "256"),
    ] {
        refused(&store, options, words);
    }
    // A replay of the operations that the protocol has is performed.
    let trace = store.path().join("trace.txt");
    let text = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
1 write(3, \"\"..., 9) = 9
1 close(3) = 0
1 rename(\"a\", \"b\") = 0
1 unlink(\"b\") = 0
";
    std::fs::write(&trace, text).unwrap();
    let replay = format!("--replay {} --below /t", trace.display());
    let ran = perform(&store, &replay);
    let transactions = ran.record.actual.phase(Phase::Transactions).unwrap();
    ran.assert(transactions.issued() == 2, "not everything was done");
    let synced = text.replace("1 close(3)", "1 fsync(3) = 0\n1 close(3)");
    std::fs::write(&trace, synced).unwrap();
    refused(&store, &replay, "S3 cannot sync (use none)");
    std::fs::write(&trace, format!("{text}1 link(\"c\", \"d\") = 0\n")).unwrap();
    refused(&store, &replay, "cannot perform 'link'");
    std::fs::remove_file(&trace).unwrap();
    let store = store.with_parameters("&style=virtual");
    refused(&store, "--mix create=1", "cannot resolve bucket.127.0.0.1");
    let store = store.with_parameters("");
    assert_eq!(store.keys(), [""; 0]);
}
