//! **`cpu`** (the CPU). *Part*: the time that workers run on a processor, or are ready to run while
//! other workers of the run use the processors. It includes system calls, locks that spin, and page
//! faults, but not the parts of `program` and `compute`. *Evidence*: the processor time and the
//! run-queue wait of the workers' threads (`/proc/self/task/*/schedstat`).

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.running - times.program - times.computing
}
