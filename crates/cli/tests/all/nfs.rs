//! Tests of the I/O engine `nfs` with the real program and an independent server: NFS-Ganesha in a
//! network namespace (`nfs/ganesha.rs`). Some tests capture the packets (`nfs/wire.rs`), and some
//! use a proxy that delays and breaks messages (`nfs/proxy.rs`). `lab/nfs.rs` tests the server of
//! the Linux kernel.
//!
//! `POSTMARK_NFS_OPERATIONS` sets the number of operations in each verified workload.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use record::{Action, Outcome};
use serde_json::Value;

use crate::runs::Ran;
use crate::support::{Ended, Running};

mod cleaned;
mod counts;
mod faults;
pub mod ganesha;
mod gone;
mod hostile;
mod latency;
mod proxy;
pub mod records;
mod refused;
mod scripted;
mod space;
pub mod wire;
mod works;

use ganesha::Ganesha;

/// A test fails if its program takes longer than this.
const LIMIT: Duration = Duration::from_secs(120);

/// Starts a run in the network namespace of the server.
fn start(ganesha: &Ganesha, url: &str, options: &str) -> Running {
    let mut command = ganesha.postmark();
    command.args(["run", "--format", "json", "--target", url]);
    command.args(options.split_whitespace());
    Running::start(command, &ganesha.served("export"))
}

/// Waits until a program ends. Panics after `limit`.
fn within(mut running: Running, limit: Duration) -> Ended {
    let began = Instant::now();
    loop {
        if let Some(status) = running.status() {
            return running.ended(status);
        }
        if began.elapsed() > limit {
            panic!(
                "it hangs: after {limit:?} it has not ended\n{}",
                running.kill()
            );
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Performs a run, which must write a record.
fn perform(ganesha: &Ganesha, url: &str, options: &str) -> Ran {
    let before = ganesha.names();
    Ran::of(within(start(ganesha, url, options), LIMIT), before)
}

/// Asserts that the run is complete, without errors, and leaves no files.
fn is_whole(ran: &Ran) {
    ran.ended.code(0);
    let actual = &ran.record.actual;
    ran.assert(
        actual.outcome == Outcome::Complete,
        "the outcome is not 'complete'",
    )
    .assert(!ran.summary.partial, "the summary calls it partial")
    .assert(actual.errors.is_empty(), "there are errors")
    .assert(actual.stalled.is_empty(), "somebody was stalled")
    .assert(
        actual.clean_up.is_none(),
        "something was left to be cleaned up",
    )
    .assert(
        actual.phases.iter().all(|phase| phase.complete),
        "a phase is not complete",
    )
    .leaves_nothing();
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.ended.output).unwrap()
}

/// The counts of requests and other events that the record of a run contains.
pub struct Traffic(Value);

impl Traffic {
    fn of(ran: &Ran) -> Self {
        Self::of_output(&ran.ended.output)
    }

    pub fn of_output(output: &str) -> Self {
        let record: Value = serde_json::from_str(output).unwrap();
        Self(record["record"]["actual"]["traffic"].clone())
    }

    /// A counter of the engine, such as `reconnections`.
    fn number(&self, name: &str) -> u64 {
        let number = self.0["counts"][name].as_u64();
        number.unwrap_or_else(|| panic!("there is no {name} in {}", self.0))
    }

    /// Number of requests of each procedure, without repetitions.
    fn calls(&self) -> BTreeMap<String, u64> {
        requests(&self.0["messages"])
    }

    /// Number of requests of each procedure, including repetitions.
    pub fn sent(&self) -> BTreeMap<String, u64> {
        let mut sent = self.calls();
        for (name, count) in self.repeated() {
            *sent.entry(name).or_default() += count;
        }
        sent
    }

    fn repeated(&self) -> BTreeMap<String, u64> {
        by_kind(&self.0["messages"], |kind| {
            kind["retransmissions"]["known"].as_u64()
        })
    }

    fn repetitions(&self) -> u64 {
        self.repeated().values().sum()
    }
}

fn by_kind(reading: &Value, number: fn(&Value) -> Option<u64>) -> BTreeMap<String, u64> {
    let kinds = reading["kinds"]["known"].as_array();
    let kinds = kinds.unwrap_or_else(|| panic!("there are no calls in {reading}"));
    let named = kinds.iter().map(|kind| {
        (
            kind["kind"].as_str().unwrap().to_owned(),
            number(kind).unwrap(),
        )
    });
    named.filter(|(_, count)| *count > 0).collect()
}

fn requests(reading: &Value) -> BTreeMap<String, u64> {
    by_kind(reading, |kind| kind["requests"].as_u64())
}

/// Number of requests of each procedure in one phase.
fn calls_in(ran: &Ran, phase: &str) -> BTreeMap<String, u64> {
    let record = json(ran);
    let phases = record["record"]["actual"]["phases"].as_array().unwrap();
    let found = phases.iter().find(|found| found["phase"] == phase).unwrap();
    let readings = found["evidence"]["performing"]["messages"]["known"].as_array();
    let of_engine = |reading: &&Value| reading["counter"] == "engine";
    let reading = readings.and_then(|readings| readings.iter().find(of_engine));
    requests(
        reading.unwrap_or_else(|| panic!("no messages in {}", found["evidence"]["performing"])),
    )
}

/// The operations of mixes that NFS version 3 does not support.
const LACKS: [&str; 10] = [
    "set-xattr",
    "get-xattr",
    "open-close",
    "read-mmap",
    "lock",
    "copy",
    "clone",
    "install-copy",
    "install-clone",
    "clone-tree",
];

/// All operations of mixes that NFS version 3 supports.
fn asked() -> Vec<Action> {
    let asked = Action::operations().filter(|action| action.is_asked_for());
    asked
        .filter(|action| !LACKS.contains(&action.name()))
        .collect()
}

/// Runs a command of the program other than `run`.
fn about(ganesha: &Ganesha, words: &[&str]) -> Ended {
    let mut command = ganesha.postmark();
    command.args(words);
    within(Running::start(command, &ganesha.served("export")), LIMIT)
}

/// Prints a line even if the test passes: the test framework would hide `println!`.
pub fn tell(what: &str) {
    use std::io::Write as _;
    let _ = std::io::stderr().write_all(format!("{what}\n").as_bytes());
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
