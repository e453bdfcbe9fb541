//! Waits before a run until the machine is quiet: dirty data of other programs is written back, and
//! the processors are idle.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use document::units::bytes;
use record::{Note, QuietTime, Stop};
use runner::{Control, RunSpec};
use system::counters::SystemCounters;
use system::{Fact, MountTable, Sources};

use crate::calibration::lies_in_memory;
use crate::user::User;

/// Maximum amount of dirty data on a quiet machine, in bytes. Some dirty data is allowed, because
/// system services write logs all the time.
const UNWRITTEN_MAX: u64 = 16 << 20;
/// Maximum fraction of processor time in use on a quiet machine.
const BUSY_MAX: f64 = 0.1;
/// Duration of each observation of the machine.
const LOOK: Duration = Duration::from_millis(500);
/// Maximum time for which a run waits until the writes of other programs are on their devices.
const WRITE_BACK_MAX: Duration = Duration::from_secs(15);
/// A run of limited time waits for write-back only if it measures for at least this long.
const MEASURED_MIN: Duration = Duration::from_secs(10);

/// Waits until the machine is quiet, until the time `most` has passed, or until `is_stopped`
/// returns true. A value that is not available counts as quiet.
pub fn wait_for_quiet(most: Duration, is_stopped: &dyn Fn() -> bool) -> QuietTime {
    let (began, sources) = (Instant::now(), Sources::default());
    let mut before = SystemCounters::read(&sources);
    loop {
        thread::sleep(LOOK.min(most.saturating_sub(began.elapsed())));
        let now = SystemCounters::read(&sources);
        let unwritten_bytes = unwritten_bytes(&now);
        let busy = now.since(&before).times.and_then(|times| {
            let total = times.total_ns.map(|total| total.max(1) as f64);
            times
                .busy_ns
                .and_then(|busy| total.map(|total| busy as f64 / total))
        });
        before = now;
        let is_quiet = !matches!(unwritten_bytes, Fact::Known(bytes) if bytes > UNWRITTEN_MAX)
            && !matches!(busy, Fact::Known(busy) if busy > BUSY_MAX);
        if is_quiet || began.elapsed() >= most || is_stopped() {
            return QuietTime {
                waited_ns: ns(began.elapsed()),
                is_quiet,
                unwritten_bytes,
                busy,
            };
        }
    }
}

/// Waits before a run until most data of other programs is on its devices, because the write-back
/// would slow down the measurement. Asks the kernel to write back the targets' file systems now;
/// otherwise it would begin 30 s after the data was written. Tells `user` that the run waits.
/// Returns a note about the wait; `None` if the run need not wait. Runs that measure for less than
/// 10 s, or for a number of transactions, do not wait. Runs in memory and runs that will be refused
/// do not wait either; nor do runs with an acknowledgement log, because writing the log slows them.
pub fn wait_for_write_back(
    spec: &RunSpec,
    control: Option<Control>,
    user: Option<User>,
) -> Option<Note> {
    let is_long = match spec.drive.stop {
        Stop::After(time) => time >= MEASURED_MIN,
        Stop::Steady(_) => true,
        Stop::Transactions => false,
    };
    let is_measured = is_long && spec.engine.makes_files() && spec.ack_log.is_none();
    let (began, sources) = (Instant::now(), Sources::default());
    if !is_measured || is_in_memory(spec, &sources) {
        return None;
    }
    let unwritten = || unwritten_bytes(&SystemCounters::read(&sources)).into_known();
    let before_bytes = unwritten().filter(|bytes| *bytes > UNWRITTEN_MAX)?;
    runner::dispatch::judge(spec).ok()?;
    if let Some(user) = user {
        user.tell(format_args!(
            "waiting until {} of earlier writes are on their devices (at most {} s)",
            bytes(before_bytes as f64),
            WRITE_BACK_MAX.as_secs()
        ));
    }
    write_back(spec, &sources);
    loop {
        thread::sleep(LOOK);
        let left_bytes = unwritten().unwrap_or(0);
        let is_stopped = control
            .as_ref()
            .is_some_and(|of| of.signal_caught().is_some());
        let is_over = began.elapsed() >= WRITE_BACK_MAX || is_stopped;
        if left_bytes <= UNWRITTEN_MAX || is_over {
            return Some(Note::WaitedForWriteBack {
                waited_ns: ns(began.elapsed()),
                before_bytes,
                left_bytes,
            });
        }
    }
}

/// Asks the kernel to write back the file systems of all targets but those on servers, which may
/// not answer. A thread waits for each, because a slow device takes longer than the run waits. An
/// error is not reported here: a device that cannot be written to fails the run's own writes.
fn write_back(spec: &RunSpec, sources: &Sources) {
    let Fact::Known(mounts) = MountTable::read(sources) else {
        return;
    };
    let targets = spec.targets.iter().map(|target| spec::directory(target));
    for target in targets.filter(|target| !mounts.leads_to_server(target)) {
        if let Ok(directory) = File::open(target) {
            // Without a thread, the run waits until the kernel writes back by itself.
            let _ = thread::Builder::new().spawn(move || rustix::fs::syncfs(&directory));
        }
    }
}

/// Whether all targets lie in memory. Targets on servers are not accessed, because the access could
/// block for ever.
fn is_in_memory(spec: &RunSpec, sources: &Sources) -> bool {
    let Fact::Known(mounts) = MountTable::read(sources) else {
        return false;
    };
    let mut targets = spec.targets.iter().map(|target| spec::directory(target));
    targets.all(|target| !mounts.leads_to_server(target) && lies_in_memory(target))
}

/// Returns the data that waits to be written to a device or is being written.
fn unwritten_bytes(counters: &SystemCounters) -> Fact<u64> {
    let under_write_back = counters.write_back_bytes.clone();
    let dirty = counters.dirty_bytes.clone();
    dirty.and_then(|dirty| under_write_back.map(|under_write_back| dirty + under_write_back))
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
