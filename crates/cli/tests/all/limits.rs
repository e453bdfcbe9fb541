//! What limits a run, on systems whose limit is known: slow servers and devices, one processor, one
//! file for all workers, an offered rate, and the engine `null`.

use std::path::Path;
use std::time::Duration;

use faultfs::{Delay, Mounted, Options, Passthrough, RequestKind};
use record::Fact;
use verdict::RunLimit;

use crate::runs::{Ran, Run};
use crate::support::running::in_shell;
use crate::support::{FileSystem, Running, TestDir, Volume, is_met};

/// Mounts a file system on `at` whose server delays each request of one kind. `None` if the test
/// cannot mount.
fn slow(backing: &Path, at: &Path, requests: RequestKind, delay_ms: u64) -> Option<Mounted> {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return None;
    }
    let options = Options {
        delay: Some(Delay {
            at: requests,
            by: Duration::from_millis(delay_ms),
        }),
        ..Options::default()
    };
    Some(Passthrough::mount(backing, at, options).unwrap())
}

/// Asserts that `limit` accounts for more than the share `at_least` of the workers' time, and that
/// the short and the full report name it.
fn is_limited_by(ran: &Ran, limit: RunLimit, at_least: f64) {
    ran.ended.code(0);
    let Some(Fact::Known(found)) = &ran.summary.limit else {
        panic!("{:?}\n{ran}", ran.summary.limit);
    };
    ran.assert(
        found.limit == limit && found.fraction > at_least,
        format_args!("{found:?} instead of {limit:?} above {at_least}"),
    );
    let sum: f64 = found.parts.iter().map(|part| part.fraction).sum();
    ran.assert((sum - 1.0).abs() < 1e-9, format_args!("{found:?}"));
    for report in [report::text::short, report::text::report] {
        let text = document::text(&report(&ran.record), document::WIDTH);
        // The space between a number and its unit does not break.
        let text = text.replace(['\u{a0}', '\n'], " ");
        let expected = format!("limited by: {} (", limit.name());
        ran.assert(text.contains(&expected), text);
    }
}

#[test]
fn slow_fuse_server_is_the_limit() {
    let test_dir = TestDir::in_memory();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    let Some(_mounted) = slow(&backing, &at, RequestKind::Create, 2) else {
        return;
    };
    let ran = Run::new(&at, "--mix create=1 --files 20 --for 1s --workers 2").perform();
    is_limited_by(&ran, RunLimit::Server, 0.8);
}

/// Creates files with `--durability fsync` on ext4 on a loop device, and asserts that `limit` is
/// the limit. The image of the loop device is on a file system whose server delays requests of one
/// kind. Other tests may delay requests of another kind more, so the run is repeated, at most
/// eleven times, until `limit` has its share.
fn slow_device_is_the_limit(requests: RequestKind, delay_ms: u64, limit: RunLimit) {
    const AT_LEAST: f64 = 0.6;
    if !FileSystem::Ext4.is_available() {
        return;
    }
    let test_dir = TestDir::in_memory();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    // `device` contains the image of `_volume`. Because `device` is declared before `_volume`, it
    // is dropped after `_volume`.
    let device = TestDir::in_memory();
    let Some(_slow) = slow(&backing, device.path(), requests, delay_ms) else {
        return;
    };
    let _volume = Volume::with_image(FileSystem::Ext4, &device, &at, 64, &["-N", "20000"]);
    let work = "--mix create=1 --files 20 --size 1000..1000 --for 2s --durability fsync";
    let perform = || Run::new(&at, work).perform();
    let is = |ran: &Ran| match &ran.summary.limit {
        Some(Fact::Known(found)) => found.limit == limit && found.fraction > AT_LEAST,
        _ => false,
    };
    let ran = (0..10).map(|_| perform()).find(is);
    is_limited_by(&ran.unwrap_or_else(perform), limit, AT_LEAST);
}

#[test]
fn slow_flushes_of_a_device_are_the_limit_of_fsync() {
    slow_device_is_the_limit(RequestKind::Sync, 20, RunLimit::Flushes);
}

#[test]
fn slow_writes_of_a_device_are_the_limit_of_fsync() {
    slow_device_is_the_limit(RequestKind::Write, 10, RunLimit::Device);
}

#[test]
fn one_processor_is_the_limit_of_two_workers_in_memory() {
    let test_dir = TestDir::in_memory();
    let run = Run::new(
        &test_dir.directory("location"),
        "--mix read=1 --files 50 --size 256k..256k --workers 2 --for 1s",
    );
    // Programs of other tests may use most of the processor, so that the workers wait for them.
    for attempts_left in (0..5).rev() {
        let ran = on_processor(0, "exec", &run, &test_dir);
        let limit = ran.summary.limit.as_ref().and_then(Fact::known);
        if attempts_left == 0 || limit.is_some_and(|found| found.limit == RunLimit::Cpu) {
            return is_limited_by(&ran, RunLimit::Cpu, 0.4);
        }
    }
}

/// Performs a run on one processor. `words` are the shell words before `taskset`, such as `exec
/// nice -n 19`.
fn on_processor(number: usize, words: &str, run: &Run, test_dir: &TestDir) -> Ran {
    let script = format!("{words} taskset --cpu-list {number} \"$0\" \"$@\"");
    let ended = Running::run_to_end(in_shell(&script, &run.command()), test_dir.path());
    Ran::of(ended, Vec::new())
}

/// A program that always runs on one processor. It ends with the test.
struct BusyLoop(std::process::Child);

impl BusyLoop {
    fn on_processor(number: usize) -> Self {
        let mut shell = std::process::Command::new("taskset");
        shell.arg("--cpu-list").arg(number.to_string());
        shell.args(["sh", "-c", "while :; do :; done"]);
        Self(shell.spawn().unwrap())
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The run has the lowest priority, so the other program gets nearly all of the processor's time.
#[test]
fn run_that_another_program_starves_waits_for_a_processor() {
    let test_dir = TestDir::in_memory();
    let run = Run::new(
        &test_dir.directory("location"),
        "--mix read=1 --files 5 --size 64k..64k --workers 2 --for 2s",
    );
    // The test above uses processor 0, so this test uses the last processor.
    let last = std::thread::available_parallelism().unwrap().get() - 1;
    let _busy = BusyLoop::on_processor(last);
    let ran = on_processor(last, "exec nice -n 19", &run, &test_dir);
    is_limited_by(&ran, RunLimit::ProcessorWait, 0.6);
}

#[test]
fn hot_file_of_a_shared_pool_is_the_limit() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = "--mix overwrite=1 --files 1 --size 1m..1m --writers 8 --for 1s";
    is_limited_by(&Run::new(&location, work).perform(), RunLimit::Lock, 0.6);
}

#[test]
fn offered_rate_below_saturation_is_the_limit() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = "--mix read=1,create=1,delete=1 --files 50 --rate 200 --workers 2 --for 1s";
    let ran = Run::new(&location, work).perform();
    is_limited_by(&ran, RunLimit::OfferedRate, 0.8);
}

#[test]
fn think_time_is_the_limit_of_workers_that_think() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = "--mix read=1,create=1,delete=1 --files 50 --think 5ms --for 1s";
    let ran = Run::new(&location, work).perform();
    is_limited_by(&ran, RunLimit::ThinkTime, 0.8);
}

#[test]
fn compute_is_the_limit_of_workers_that_compute() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = "--mix read=1,stat=1 --files 50 --compute read=500us,stat=500us --for 1s";
    let ran = Run::new(&location, work).perform();
    ran.ended.code(0);
    let Some(Fact::Known(found)) = &ran.summary.limit else {
        panic!("{:?}\n{ran}", ran.summary.limit);
    };
    // On a busy machine, workers may wait longer for a processor than they compute.
    let part = |limit| {
        let part = found.parts.iter().find(|part| part.limit == limit);
        part.map_or(0.0, |part| part.fraction)
    };
    let waits = part(RunLimit::ProcessorWait);
    ran.assert(
        matches!(found.limit, RunLimit::Compute | RunLimit::ProcessorWait)
            && part(RunLimit::Compute) > 0.8 * (1.0 - waits),
        format_args!("{found:?}"),
    );
    let settings = ran.record.spec.settings();
    ran.assert(
        settings.contains(&"compute read=500us,stat=500us".to_owned()),
        "the report does not show the option",
    );
}

#[test]
fn program_is_the_limit_of_the_engine_null() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = "--mix read=1,create=1,delete=1 --files 50 --for 500ms --engine null";
    is_limited_by(&Run::new(&location, work).perform(), RunLimit::Program, 0.9);
}
