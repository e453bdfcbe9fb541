//! **`compute`** (the workload's own compute). *Part*: with `--compute`, the processor time that
//! workers spend before operations in place of an application. Waits for a processor meanwhile
//! belong to the CPU's part. *Evidence*: the processor time that the record counts for them.

use super::times::Times;

pub(super) fn part(times: &Times) -> f64 {
    times.computing
}
