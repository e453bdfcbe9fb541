//! Waits before a run until the machine is quiet: dirty data of other programs is written back, and
//! the processors are idle.

use std::thread;
use std::time::{Duration, Instant};

use record::QuietTime;
use system::counters::SystemCounters;
use system::{Fact, Sources};

/// Maximum amount of dirty data on a quiet machine, in bytes. Some dirty data is allowed, because
/// system services write logs all the time.
const UNWRITTEN_MAX: u64 = 16 << 20;
/// Maximum fraction of processor time in use on a quiet machine.
const BUSY_MAX: f64 = 0.1;
/// Duration of each observation of the machine.
const LOOK: Duration = Duration::from_millis(500);

/// Waits until the machine is quiet, until the time `most` has passed, or until `is_stopped`
/// returns true. A value that is not available counts as quiet.
pub fn wait_for_quiet(most: Duration, is_stopped: &dyn Fn() -> bool) -> QuietTime {
    let (began, sources) = (Instant::now(), Sources::default());
    let mut before = SystemCounters::read(&sources);
    loop {
        thread::sleep(LOOK.min(most.saturating_sub(began.elapsed())));
        let now = SystemCounters::read(&sources);
        let dirty = now.dirty_bytes.clone();
        let under_write_back = now.write_back_bytes.clone();
        let unwritten_bytes = dirty
            .and_then(|dirty| under_write_back.map(|under_write_back| dirty + under_write_back));
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
                waited_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
                is_quiet,
                unwritten_bytes,
                busy,
            };
        }
    }
}
