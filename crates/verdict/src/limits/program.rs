//! **`program`** (the program). *Part*: the overhead of all operations, but at most the time that
//! workers run on a processor or wait for one that the run's workers use. On the engine `null` it
//! is all time except waits for arrivals, for think times and for claims. *Evidence*: the overhead
//! of an operation. If the overhead was not measured, this part is 0, and the CPU's part includes
//! it.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.program
}
