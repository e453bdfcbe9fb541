//! **`overhead`** (DOUBTFUL, INVALID). The program itself used much of the workers' time. Without
//! its overhead, the rate of a closed loop would be higher by that share. *Threshold*: above 10 %
//! (the drift that is allowed for a steady run); INVALID: above 50 %, because most of the measured
//! time is then overhead. *Evidence*: the overhead of one operation, multiplied by the operations
//! of the transactions and divided by the workers' time. The overhead is measured with the same
//! stream on `null`. The processor time of the process is not used, because it includes the C
//! library, page faults and the file system itself. Not judged with `--engine null`. *What to do*:
//! compare latencies, which do not include the overhead.

use super::rule::*;

/// Maximum share of overhead in the workers' time. It equals the 10 % by which the rate of a steady
/// run may change. Without the overhead, rates would be higher by about this share.
const MAX: f64 = 0.10;

/// Above this share, the run is INVALID, because most of the measured time is overhead.
const INVALID: f64 = 0.50;

/// Overhead took much of the workers' time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Overhead {
    /// Share of overhead in the time of all workers, from 0 to 1.
    pub fraction: f64,
    /// Overhead of one operation, in nanoseconds.
    pub ns_per_operation: f64,
}

impl Rule for Overhead {
    const ADVICE: &str = "compare latencies, or use larger files or --durability";

    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let fraction = *seen.overhead_fraction.known()?;
        let ns_per_operation = record.actual.overhead.known()?.ns_per_operation;
        (fraction > MAX).then_some(Self {
            fraction,
            ns_per_operation,
        })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.fraction > INVALID)
    }

    fn sentence(&self) -> String {
        format!(
            "the program itself used {} of the workers' time ({} per operation), limit {}",
            percent(self.fraction),
            latency(self.ns_per_operation),
            percent(MAX)
        )
    }
}
