//! **`paused`** (DOUBTFUL, INVALID). The program was stopped (SIGSTOP, a debugger, the control
//! group's freezer), while the machine ran. In an open loop all transactions that were due
//! meanwhile are late; in a closed loop the rate includes the pause. *Threshold*: pauses of more
//! than 1 % of a phase's time, because the 99th percentile may then be that of pauses; INVALID:
//! more than 10 % (the drift that is allowed for a steady run). Phases below 1 s are not judged.
//! *Evidence*: a thread of the program that wakes up every 20 ms. A pause is a delay of at least 30
//! ms, after subtracting the time that the thread waited for a processor (its run delay in
//! `schedstat`, Documentation/scheduler/sched-stats.rst): time in which other programs use the
//! processors is not a pause. In a test with six busy loops on two processors and a load of at
//! least 10, there were 4,466 delays of up to 195 ms. Without the time spent waiting for a
//! processor, none reached 5 ms. If the kernel does not count the run delay, a pause is a delay of
//! at least 1 s. A suspension of the machine is not a pause, because the monotonic clock stops
//! during it. *What to do*: find out what stops the program.

use super::processors::SHARES_FROM_NS;
use super::rule::*;

/// Above this share of pauses in a phase's time, the 99th percentile of latencies may be that of
/// the pauses.
const MAX: f64 = 0.01;

/// Share of pauses above which the run is INVALID. It equals the 10 % by which the rate of a steady
/// run may change.
const INVALID: f64 = 0.10;

/// The program was stopped while the machine ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Paused {
    /// Number of pauses in the phases whose share of pauses is above the limit.
    pub times: u64,
    /// The longest of these pauses, in nanoseconds.
    pub longest_ns: u64,
    /// Greatest share of pauses in a phase's time, from 0 to 1.
    pub fraction: f64,
}

impl Rule for Paused {
    const ADVICE: &str =
        "find what pauses it (SIGSTOP, a debugger, the control group's freezer or cpu.max)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let pauses = record.actual.all_phases().filter_map(|phase| phase.pauses);
        let judged = pauses
            .filter(|pauses| pauses.watched_ns >= SHARES_FROM_NS && pauses.fraction() > MAX)
            .map(|pauses| Self {
                times: pauses.times,
                longest_ns: pauses.longest_ns,
                fraction: pauses.fraction(),
            });
        judged.reduce(|found, pauses| Self {
            times: found.times + pauses.times,
            longest_ns: found.longest_ns.max(pauses.longest_ns),
            fraction: found.fraction.max(pauses.fraction),
        })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.fraction > INVALID)
    }

    fn sentence(&self) -> String {
        format!(
            "the program did not run for {} of a phase ({}, longest {}), limit {}",
            percent(self.fraction),
            counted(self.times, "pause"),
            latency(self.longest_ns as f64),
            percent(MAX)
        )
    }
}
