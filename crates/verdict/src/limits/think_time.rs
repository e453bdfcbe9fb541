//! **`think-time`** (the think time). *Part*: with `--think`, the workers' time outside of
//! operations, claim waits and overhead. *Evidence*: `--think`, latencies, claim waits, overhead.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.thinking
}
