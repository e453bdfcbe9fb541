//! **`lock`** (locks). *Part*: the time that workers wait for each other. In a shared pool, this
//! includes the waits for files that other workers have claimed. In calls, it is the time that
//! workers sleep beyond the busy share of the target's device. For a target in memory, it is all
//! sleep in calls. Such sleep is a wait for locks of the file system, such as those of a directory
//! or the journal, or for kernel threads. *Evidence*: claim waits, unless workers keep several
//! operations in flight; processor time, run-queue wait and counters of devices. A limit that a
//! control group sets (`io.max`) delays requests before the device counts them, so this delay is in
//! this part.

use super::times::Times;
use super::waits_for::WaitsFor;

pub(super) fn part(times: &Times) -> f64 {
    let in_calls = match times.waits_for {
        Some(WaitsFor::Device { .. }) => times.asleep() - times.on_device(|_| 1.0),
        Some(WaitsFor::Memory) => times.asleep(),
        Some(WaitsFor::Server) | None => 0.0,
    };
    times.claims + in_calls
}
