//! **`offered-rate`** (the offered rate). The workers of an open loop keep up with its arrivals, so
//! a faster target would not complete more transactions. *Part*: the time that workers wait until a
//! transaction is due: their time outside of operations, claim waits, overhead and the part of
//! `compute`. *Rule*: this is the limit if every worker caught up with its arrivals in the last
//! fifth of the measured time, however small the part. Otherwise `offered-rate` is never the limit.
//! The part may be small: at 95 % of the saturation rate, workers wait for only 5 % of their time.
//! *Evidence*: `--rate`, service times, claim waits, overhead, the moment until which all workers
//! caught up.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.awaiting_arrivals
}
