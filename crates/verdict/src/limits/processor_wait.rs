//! **`processor-wait`** (waiting for a processor). *Part*: the time that workers are ready to run
//! and wait for a processor that the run's workers do not use: other programs run on it, the kernel
//! serves interrupts, or a control group's limit (`cpu.max`) is reached. The wait is divided as
//! follows: each of n workers uses u of p processors on average. While one worker waits, the other
//! workers use the share (n - 1) × u / (p - u) of the remaining processor time. This share of the
//! wait belongs to `cpu`, the rest to this part. So the whole wait of a single worker is in this
//! part, and 16 workers that fill two processors are limited by the CPU. *Evidence*: the run-queue
//! wait and the processor time of the workers' threads, and the number of processors that the
//! program may use (with several ranks: the processors of all their machines). If several workers
//! use an unknown number of processors, this part is 0, and the part of `cpu` includes the wait.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.ready
}
