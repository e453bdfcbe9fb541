//! **`device`** (the device). *Part*: the time that workers sleep in calls while the target's
//! device is busy, without the part of `flushes`. A worker waits for a device only while the device
//! is busy, so this time is at most the device's busy share. Background write-back also keeps a
//! device busy, so waits for locks at that time count here. *Evidence*: as for `flushes`.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.on_device(|flushing| 1.0 - flushing)
}
