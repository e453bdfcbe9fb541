//! **`flushes`** (the device's flushes). *Part*: the time that workers sleep in calls while the
//! target's device is busy, multiplied by the share of cache flushes in the device's busy time. A
//! flush that the kernel sends before or after a write of the journal counts as a flush, not as a
//! write. *Evidence*: the counters of the target's devices: time with requests in flight
//! (`busy_ms`), number and duration of flushes (since Linux 5.5). For partitions and stacked
//! devices, the flushes are those of the whole disk, or those of the devices below. A device
//! without a volatile cache receives no flushes; `fsync` then waits for writes.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.on_device(|flushing| flushing)
}
