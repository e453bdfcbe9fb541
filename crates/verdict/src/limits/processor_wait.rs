//! **`processor-wait`** (waiting for a processor). *Part*: the time that workers are ready to run
//! and wait for a processor that the run's workers do not use: other programs run on it, the kernel
//! serves interrupts, or a control group's limit (`cpu.max`) is reached. Each of n workers uses u
//! processors. While one of p processors is waited for, the other workers use the share
//! (n - 1) × u / (p - u). This share of the wait belongs to `cpu`, the rest is this part. So the
//! whole wait of a single worker is this part, and 16 workers that fill two processors are limited
//! by the CPU. *Evidence*: the run-queue wait and the processor time of the workers' threads, and
//! the number of processors that the program may use (with several ranks: that the machines have).
//! If several workers use processors of an unknown number, this part is 0, and the CPU's part
//! includes it.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.ready
}
