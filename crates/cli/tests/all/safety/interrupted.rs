//! Runs that are interrupted by SIGINT or SIGTERM. The run removes all its files, marks its results
//! as partial, and exits with 128 plus the number of the signal. A second signal ends the program
//! immediately.

use rustix::process::Signal;

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{PHASES, clean, has_ended, own_directories};
use crate::support::test_dir::create_user_files;
use crate::support::{Ended, INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Work};

fn interrupted(interface: Interface, phase: Phase, signal: Signal) {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let subdirectories = if phase == Phase::Transactions { 7 } else { 1 };
    let work = Work::long(&location, phase).in_subdirectories(subdirectories);
    let running = interface.begin(&work, &test_dir, phase);
    running.send(signal);
    let ended = running.finish();
    ended
        .code(128 + signal.as_raw())
        .shows("PARTIAL")
        .shows(&format!("interrupted by signal {}", signal.as_raw()))
        .does_not_show("not removed")
        .does_not_show("Left:");
    before.assert_kept(&location, &ended);
    if interface.is_prompt() {
        // The session ends without a report, and reads no further line.
        ended
            .does_not_show("seconds total")
            .does_not_show("pm>")
            .shows("PARTIAL RESULT, not a report");
    }
}

/// Interrupts a run of each interface in a phase. The signal alternates with interface and phase,
/// so that the tests of all phases together send both signals to each interface.
fn interrupted_in(phase: Phase) {
    let at = PHASES.iter().position(|known| *known == phase).unwrap();
    for (index, interface) in INTERFACES.into_iter().enumerate() {
        let signals = [Signal::INT, Signal::TERM];
        interrupted(interface, phase, signals[(index + at) % 2]);
    }
}

#[test]
fn interrupted_run_removes_its_files_in_prepare() {
    interrupted_in(Phase::Prepare);
}

#[test]
fn interrupted_run_removes_its_files_in_transactions() {
    interrupted_in(Phase::Transactions);
}

#[test]
fn interrupted_run_removes_its_files_in_delete() {
    interrupted_in(Phase::Delete);
}

/// Interrupts a run while it creates or, if `is_at_the_end`, removes its subdirectories. Returns
/// false if the run had ended before the signal.
fn interrupted_among_directories(
    interface: Interface,
    is_at_the_end: bool,
    subdirectories: u32,
) -> bool {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    create_user_files(&location);
    let before = Snapshot::of(&location);
    let work = Work {
        files: 10,
        transactions: 10,
        ..Work::small(&location).in_subdirectories(subdirectories)
    };
    let mut running = Running::start(interface.command(&work, &test_dir), &location);
    let is_met = running.meets("directories", |running| match (interface, is_at_the_end) {
        (Prompt(_), false) => location.join("s50").exists(),
        (Prompt(_), true) => running.output().contains("Deleting subdirectories"),
        (Run(_), false) => own_directories(&location)
            .iter()
            .any(|own| own.join("s50").exists()),
        (Run(_), true) => has_ended(&running.errors(), "delete"),
    });
    if is_met {
        running.send(Signal::TERM);
    }
    let ended = running.finish();
    let is_interrupted = ended.status.code() != Some(0);
    if is_interrupted {
        ended
            .code(143)
            .does_not_show("not removed")
            .does_not_show("Left:");
    }
    before.assert_kept(&location, &ended);
    is_interrupted
}

#[test]
fn run_interrupted_while_creating_or_removing_subdirectories_leaves_no_files() {
    for interface in [Prompt(Stdio), Prompt(Raw), Run(Posix)] {
        for is_at_the_end in [false, true] {
            // On a busy machine the run may end before the signal arrives. Then the test tries a
            // run with more subdirectories.
            let met = [60_000, 120_000, 240_000, 480_000, 960_000]
                .into_iter()
                .find(|subdirectories| {
                    interrupted_among_directories(interface, is_at_the_end, *subdirectories)
                });
            assert!(met.is_some(), "{interface:?}, at the end: {is_at_the_end}");
        }
    }
}

/// The record of an interrupted run is marked as interrupted, and counts the completed operations.
#[test]
fn record_of_an_interrupted_run_is_partial() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = Work::long(&location, Phase::Transactions);
    let mut command = Run(Posix).command(&work, &test_dir);
    command.args(["--format", "json"]);
    let mut running = Running::start(command, &location);
    Run(Posix).wait_for(&mut running, &work, Phase::Transactions);
    running.send(Signal::TERM);
    let ended = running.finish();
    ended.code(143);
    let record: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    let actual = &record["record"]["actual"];
    assert_eq!(actual["outcome"]["interrupted"]["signal"], 15, "{ended}");
    let phases = actual["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 2, "{ended}");
    assert_eq!(phases[0]["complete"], true);
    assert_eq!(phases[1]["complete"], false);
    let transactions = phases[1]["segments"][0]["transactions"].as_u64().unwrap();
    assert!(transactions < work.transactions, "{ended}");
    let made = |phase: usize| {
        let operations = &phases[phase]["segments"][0]["operations"];
        let count = |action: &str| {
            let mut all = operations.as_array().unwrap().iter();
            all.find(|operation| operation["action"] == action)
                .map_or(0, |found| found["meter"]["operations"].as_u64().unwrap())
        };
        (count("create"), count("delete"))
    };
    assert_eq!(made(0), (work.files, 0), "{ended}");
    let removed = actual["clean_up"]["files"].as_u64().unwrap();
    let (created, deleted) = made(1);
    assert_eq!(removed, work.files + created - deleted, "{ended}");
}

/// After the second signal, the remaining files stay until `clean` removes them.
#[test]
fn second_signal_ends_the_program_immediately() {
    for interface in [Prompt(Raw), Prompt(Stdio), Run(Posix)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        let work = Work::long(&location, Phase::Transactions);
        let mut running = interface.begin(&work, &test_dir, Phase::Transactions);
        running.send(Signal::INT);
        running.until("the first signal's effect", |running| {
            if interface.is_prompt() {
                running.output().ends_with(".\n") || running.output().ends_with("transactions\n")
            } else {
                has_ended(&running.errors(), "transactions")
            }
        });
        running.send(Signal::TERM);
        let ended = running.finish();
        ended.signal(Signal::TERM.as_raw());
        ended.assert(
            before != Snapshot::of(&location),
            "it has removed everything",
        );
        let cleaned = clean(&location);
        cleaned.code(0);
        before.assert_kept(&location, &cleaned);
    }
}

/// Whether the tests were started with this signal ignored. Shells start background jobs with
/// SIGINT ignored, and child processes inherit this.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
}

/// While no run is in progress, a signal ends the session, as by default.
#[test]
fn signal_at_the_prompt_ends_the_session() {
    let test_dir = TestDir::new();
    for signal in [Signal::INT, Signal::TERM] {
        if is_ignored(signal) {
            eprintln!("skipped: {signal:?} is ignored here");
            continue;
        }
        let mut command = Running::command(crate::support::interface::program());
        command
            .current_dir(test_dir.path())
            .stdin(std::process::Stdio::piped());
        let mut running = Running::start(command, test_dir.path());
        running.until("the prompt", |running| running.output().ends_with("pm>"));
        running.send(signal);
        let ended: Ended = running.finish();
        ended.signal(signal.as_raw());
    }
}
