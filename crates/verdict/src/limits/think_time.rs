//! **`think-time`** (the think time). *Part*: with `--think`, the workers' time outside of
//! operations, claim waits, overhead and the part of `compute`. *Evidence*: `--think`, latencies,
//! claim waits, overhead, compute.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.thinking
}
