//! **`think-time`** (the think time). *Part*: with `--think`, the workers' time outside of
//! operations, claim waits, overhead and the part of `compute`. *Evidence*: `--think`, latencies,
//! claim waits, overhead, and the processor time of computations.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.thinking
}
