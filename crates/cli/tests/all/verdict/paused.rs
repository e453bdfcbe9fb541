//! Runs whose program is stopped for a while, and runs that end during think time.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::text;
use crate::support::interface::{has_ended, postmark};
use crate::support::{Running, TestDir};

#[test]
fn run_of_a_stopped_program_reports_the_pause() {
    stopped(&[], 1, Duration::from_millis(2_500));
}

#[test]
fn short_pauses_are_reported_without_a_series() {
    stopped(&["--no-series"], 4, Duration::from_millis(400));
}

/// Stops the program several times during a run, in total for more than 10 % of its duration.
/// Asserts that the verdict reports the pauses.
fn stopped(options: &[&str], times: u32, stop: Duration) {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let mut command = postmark("run --mix stat=1 --files 100 --engine posix --rate 1000 --for 7s");
    command.args(options).args(["--target", text(&location)]);
    let mut running = Running::start(command, &location);
    running.until("the transactions", |running| {
        has_ended(&running.errors(), "sync")
    });
    for _ in 0..times {
        std::thread::sleep(Duration::from_millis(500));
        running.stop();
        std::thread::sleep(stop);
        running.send(Signal::CONT);
    }
    let ended = running.finish();
    ended
        .code(0)
        .shows("paused: the program did not run for")
        .shows("  INVALID\n");
}

#[test]
fn end_of_a_run_does_not_wait_for_think_time() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let mut command =
        postmark("run --mix stat=1 --files 20 --engine posix --think 60s --for 1s --target");
    command.arg(text(&location));
    let began = Instant::now();
    Running::run_to_end(command, &location).code(0);
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "it took {:?}",
        began.elapsed()
    );
}
