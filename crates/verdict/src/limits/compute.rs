//! **`compute`** (the workload's own compute). *Part*: with `--compute`, the processor time that
//! workers spend before operations in place of an application. Waits for a processor during these
//! computations are in the part of `cpu` or `processor-wait`. *Evidence*: the processor time that
//! the record states for these computations.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.computing
}
