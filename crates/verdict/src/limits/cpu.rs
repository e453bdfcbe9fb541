//! **`cpu`** (the CPU). *Part*: the time that workers run on a processor, or are ready to run and
//! wait for one that other workers of the run use, without the program's part. It includes system
//! calls, locks that spin, and page faults. *Evidence*: the processor time and the run-queue wait
//! of the workers' threads (`/proc/self/task/*/schedstat`).

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.running - times.program
}
