//! **`program`** (the program). *Part*: the overhead of all operations. It is at most the time that
//! workers run on a processor, or are ready to run while other workers use the processors. On the
//! engine `null`, the part is all time except waits for arrivals, for think times and for claims,
//! and except the part of `compute`. *Evidence*: the overhead of an operation. If the overhead was
//! not measured, this part is 0, and the part of `cpu` includes the overhead.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.program
}
