//! Verdicts that depend on processor time: that of other programs, and the overhead of this
//! program.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use record::{Fact, Phase, Record};
use verdict::rules::OtherLoad;
use verdict::{Level, Reason, Verdict};

use super::has;
use crate::hung::Bound;
use crate::runs::Run;
use crate::support::{TestDir, is_met, is_root};

/// A program that keeps a processor busy. It is killed when this value is dropped.
struct Busy(Child);

impl Busy {
    fn new() -> Self {
        let shell = Command::new("/bin/sh")
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn();
        Self(shell.unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn run_beside_busy_programs_is_doubtful() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let processors = std::thread::available_parallelism().unwrap().get();
    // In memory, stat is so fast that the overhead alone could make the run INVALID.
    let ran = {
        let _busy: Vec<Busy> = (0..processors).map(|_| Busy::new()).collect();
        Run::new(
            &location,
            "--mix stat=1 --files 100 --for 1500ms --no-overhead",
        )
        .perform()
    };
    ran.is_complete().is(Level::Doubtful);
    let verdict = &ran.summary.verdict;
    // The busy programs use about half of the processor time, or less if other tests run at the
    // same time. So the test only requires 20 %.
    let told = has!(verdict, Reason::OtherLoad(OtherLoad { fraction,
        busiest }) if *fraction > 0.2 && !busiest.is_empty());
    ran.assert(told, format_args!("{verdict:#?}"));
}

/// Share of the processor time that other programs used, including the FUSE server of the target.
fn all_others(record: &Record) -> f64 {
    *record
        .during
        .counted
        .others_user_fraction()
        .known()
        .unwrap()
}

#[test]
fn other_load_excludes_the_fuse_server() {
    if !is_root() || !is_met(Path::new("/dev/fuse").exists(), "/dev/fuse") {
        return;
    }
    let test_dir = TestDir::in_memory();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    let Some(served) = Bound::mount(&backing, &at, &[]) else {
        return;
    };
    let ran = {
        let _busy: Vec<Busy> = (0..6).map(|_| Busy::new()).collect();
        Run::new(&at, "--mix stat=1 --files 100 --for 1500ms").perform()
    };
    ran.is_complete();
    let verdict = &ran.summary.verdict;
    let told = has!(verdict, Reason::OtherLoad(OtherLoad { fraction, busiest })
        if *fraction > 0.2 && busiest.iter().all(|program| program.pid != served.server()));
    ran.assert(told, format_args!("{verdict:#?}"));
    let servers = ran
        .record
        .during
        .fuse_servers
        .as_ref()
        .unwrap()
        .known()
        .unwrap();
    let [server] = &servers[..] else {
        panic!("{servers:?}\n{ran}");
    };
    ran.assert(
        (&*server.name, server.pid) == ("bindfs", served.server()),
        format_args!("{server:?}"),
    );
    // `all` includes the share of the server, which `others` excludes.
    let own = *verdict.seen.fuse_servers_fraction.known().unwrap();
    let others = *verdict.seen.others_fraction.known().unwrap();
    let all = all_others(&ran.record);
    ran.assert(
        (others + own - all).abs() < 1e-9 || (others == 0.0 && own > all),
        format_args!("{others} and {own} of {all}"),
    );
    let text = document::text(&report::text::report(&ran.record), document::WIDTH);
    ran.assert(text.contains("bindfs (process "), &text);
}

/// The process of this test is the FUSE server. Other tests in the same process add to its
/// processor time.
#[test]
fn fuse_server_of_the_target_is_not_other_load() {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    let test_dir = TestDir::in_memory();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    let mounted = faultfs::Passthrough::mount(&backing, &at, faultfs::Options::default()).unwrap();
    let ran = Run::new(&at, "--mix stat=1 --files 100 --for 1500ms").perform();
    drop(mounted);
    let servers = ran
        .record
        .during
        .fuse_servers
        .as_ref()
        .unwrap()
        .known()
        .unwrap();
    let own = i32::try_from(std::process::id()).unwrap();
    ran.assert(
        servers.iter().map(|server| server.pid).eq([own]) && servers[0].fraction > 0.0,
        format_args!("{servers:?}"),
    );
    let others = ran.summary.verdict.seen.others_fraction.known().copied();
    let expected = (all_others(&ran.record) - servers[0].fraction).max(0.0);
    ran.assert(
        others.is_some_and(|others| (others - expected).abs() < 1e-9),
        format_args!("{others:?}, not {expected}"),
    );
}

#[test]
fn other_load_is_no_reason_in_very_short_runs() {
    let test_dir = TestDir::in_memory();
    let ran = Run::new(
        &test_dir.directory("location"),
        "--files 50 --transactions 50",
    )
    .perform();
    let verdict = &ran.summary.verdict;
    let why = verdict
        .seen
        .others_fraction
        .why()
        .is_some_and(|why| why.contains("shorter than a second"));
    ran.assert(why, format_args!("{verdict:#?}"));
    ran.assert(
        !has!(verdict, Reason::OtherLoad(_) | Reason::Steal(_)),
        "it is too short",
    );
}

/// Mean time that a worker needs for an operation of the transactions phase, in nanoseconds.
fn ns_per_operation(record: &Record) -> f64 {
    let phase = record.actual.phase(Phase::Transactions).unwrap();
    let ns: u64 = phase
        .workers
        .iter()
        .map(|worker| worker.ended_ns - worker.began_ns)
        .sum();
    let operations: u64 = phase.workers.iter().map(|worker| worker.operations).sum();
    ns as f64 / operations as f64
}

/// On a file system in memory, stat is nearly as fast as the program can call it, so the overhead
/// is a large share.
#[test]
fn large_overhead_on_a_fast_target_is_a_reason() {
    const WORK: &str =
        "--mix stat=1 --files 1000 --transactions 200000 --popularity zipf:0.99 --names hashed:64";
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let ran = Run::new(&location, WORK).perform();
    // The overhead that the program measures after the run.
    let own = ran.record.actual.overhead.known().unwrap();
    // The time for this measurement is limited, so the number of operations depends on the machine.
    assert!(own.operations >= 10_000, "{own:?}");
    let verdict = Verdict::of(&ran.record);
    let fraction = *verdict.seen.overhead_fraction.known().unwrap();
    let all_ns = ns_per_operation(&ran.record);
    assert!(
        (fraction - (own.ns_per_operation / all_ns).min(1.0)).abs() < 1e-9,
        "{fraction}: {own:?} of {all_ns} ns"
    );
    // The measured overhead differs between machines, so it is replaced in the record. At 20 % the
    // rule must report it, at 5 % it must not.
    for (part, reported) in [(0.2, true), (0.05, false)] {
        let mut record = ran.record.clone();
        let mut own = own.clone();
        own.ns_per_operation = all_ns * part;
        record.actual.overhead = Fact::Known(own);
        let verdict = Verdict::of(&record);
        assert_eq!(
            has!(verdict, Reason::Overhead(_)),
            reported,
            "{part}: {verdict:#?}"
        );
    }
    // With the engine `null`, the whole time would be overhead. So the overhead is not measured,
    // and cannot be a reason of the verdict.
    let null = Run::new(&location, WORK).and("--engine null").perform();
    let verdict = Verdict::of(&null.record);
    assert_eq!(null.record.actual.overhead, Fact::NotApplicable);
    assert!(!has!(verdict, Reason::Overhead(_)), "{verdict:#?}");
}
