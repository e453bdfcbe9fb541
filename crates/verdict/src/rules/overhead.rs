//! **`overhead`** (DOUBTFUL, INVALID). The program itself used much of the workers' time. Without
//! its overhead, the rate of a closed loop would be higher by that share. *Threshold*: above 10 %
//! (as much as a steady run may drift); INVALID: above 50 %, where most of what was measured is the
//! program. *Evidence*: the program's overhead for an operation × operations of the transactions /
//! the workers' time. The overhead is that of the same stream on `null`, because the processor time
//! of the process includes the C library, page faults and the file system itself. Not judged of the
//! storage `null`. *What to do*: compare latencies, which do not include the overhead.

use super::rule::*;

/// The share of the workers' time that the program itself may have: by so much at most would the
/// rates be higher without it, and by so much may a steady run drift.
const MAX: f64 = 0.10;

/// Past this share of the workers' time most of what is measured is the program itself.
const INVALID: f64 = 0.50;

/// Much of the workers' time was the program's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Overhead {
    /// Its share of the time of all workers, from 0 to 1.
    pub fraction: f64,
    /// Its own time for each operation, in nanoseconds.
    pub ns_per_operation: f64,
}

impl Rule for Overhead {
    const ADVICE: &str = "Compare latencies, which do not include the overhead. Larger files or \
                          --durability reduce its share.";

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
            "Overhead: the program itself used {} of the workers' time, {:.0} ns per operation \
             (threshold {}).",
            percent(self.fraction),
            self.ns_per_operation,
            percent(MAX)
        )
    }
}
