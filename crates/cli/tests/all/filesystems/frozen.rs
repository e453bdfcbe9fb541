//! A frozen file system: changes wait in the kernel and cannot be interrupted. The run names the
//! stalled worker, and writes record and report. When the file system is unfrozen, all files can be
//! removed.

use std::time::{Duration, Instant};

use record::{Outcome, Record};

use crate::mounted::{Mounted, on};
use crate::runs::{Ran, Run};
use crate::support::interface::{clean, has_ended};
use crate::support::{Running, names};

/// After this time a worker is reported as stalled. After five times this duration, the run ends
/// without that worker.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);
/// Additional time for polling intervals, barriers, and delays on a busy machine.
const SLACK: Duration = Duration::from_secs(5);

/// Waits until `look` returns a value, for at most `most`. Returns the value and how long that
/// took. Does not check whether the program has ended, because it cannot end while the file system
/// is frozen.
fn wait<T>(
    running: &Running,
    what: &str,
    most: Duration,
    look: impl Fn() -> Option<T>,
) -> (T, Duration) {
    let began = Instant::now();
    loop {
        if let Some(seen) = look() {
            return (seen, began.elapsed());
        }
        assert!(
            began.elapsed() < most,
            "after {most:?} there is still no sign of: {what}\n{}",
            running.errors()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn stalled_worker_is_named_and_record_is_written(mounted: Mounted) {
    let report = mounted.elsewhere("report.json");
    let before = names(&mounted.at).unwrap();
    let mut running = Run::new(
        &mounted.at,
        "--files 200 --transactions 1000000 --workers 2",
    )
    .and("--mix create=1,delete=1,append=1,read=1 --stall-timeout 1s")
    .with("--output", &report)
    .start();
    running.until("the transactions", |running| {
        has_ended(&running.errors(), "prepare")
    });
    std::thread::sleep(Duration::from_millis(200));
    // `frozen` is declared last, so it is dropped first if the test fails. The other values need a
    // usable file system for their cleanup.
    let frozen = mounted.freeze();
    let named = |line: &str| line.contains("worker ") && line.contains(" is stalled in '");
    let line = || {
        running
            .errors()
            .lines()
            .find(|line| named(line))
            .map(str::to_owned)
    };
    let (line, after) = wait(
        &running,
        "a worker that is named",
        STALL_TIMEOUT + SLACK,
        line,
    );
    assert!(
        after > STALL_TIMEOUT / 2,
        "'{line}' came after {after:?}, before anybody was stalled"
    );
    // The report file exists from the start, and is empty until the run has ended.
    let whole = || {
        let text = std::fs::read_to_string(&report).unwrap_or_default();
        text.ends_with('\n').then_some(text)
    };
    let (text, after) = wait(&running, "the record", STALL_TIMEOUT * 5 + SLACK, whole);
    assert!(
        after > STALL_TIMEOUT * 2,
        "the record was there {after:?} after a worker was named: five times as long was said"
    );
    let record = Record::from_json(&text).unwrap();
    let still_there = std::path::Path::new(&format!("/proc/{}", running.process())).exists();
    assert!(
        still_there,
        "the process has ended while its file system was frozen"
    );
    frozen.thaw();
    let ran = Ran::with_record(running.finish(), record, before);
    ran.ended.code(1);
    let actual = &ran.record.actual;
    ran.assert(
        matches!(actual.outcome, Outcome::Failed { .. }),
        "the outcome is not 'failed'",
    )
    .assert(
        !actual.stalled.is_empty(),
        "the record names nobody who was stalled",
    );
    let left = actual.clean_up.iter().flat_map(|clean_up| &clean_up.left);
    ran.assert(
        left.clone().count() == 1 && left.clone().all(|left| left.why.contains("postmark clean")),
        "the record does not say what is left and what to do",
    );
    for stalled in &actual.stalled {
        let operations = ["create", "delete", "append", "read"];
        ran.assert(stalled.worker.is_some(), "no worker is named")
            .assert(!stalled.came_back, "it did not return")
            .assert(
                operations.contains(&stalled.operation.as_str()),
                format_args!("'{}' is not an operation of the mix", stalled.operation),
            )
            .assert(
                crate::mounted::is_below(&stalled.path, &mounted.at),
                format_args!("{} is no path of the run", stalled.path),
            )
            .assert(
                stalled.ns >= 4 * STALL_TIMEOUT.as_nanos() as u64,
                format_args!("it was stalled for {} ns only", stalled.ns),
            );
        let said = format!(
            "worker {} is stalled in '{}' of {}",
            stalled.worker.unwrap(),
            stalled.operation,
            stalled.path
        );
        ran.ended.shows(&said);
    }
    let cleaned = clean(&mounted.at);
    cleaned.code(0);
    ran.leaves_nothing();
}
on!(stalled_worker_is_named_and_record_is_written: ext4);
