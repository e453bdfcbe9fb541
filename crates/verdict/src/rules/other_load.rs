//! **`other-load`** (DOUBTFUL). Other programs used the processors. Only DOUBTFUL, because the
//! share does not show whether a worker had to wait. *Threshold*: more than 5 % of all processors'
//! time in user mode. This is half the drift that is allowed for a steady run, because a comparison
//! of two runs includes it twice. *Evidence*: the processor time in user mode. Write-back, journals
//! and loop devices work for the run, but are kernel threads without time in user mode. Not judged
//! for runs below 1 s (the kernel counts in ticks of 10 ms), nor with `--engine nfs` or `s3` and a
//! server on the loopback interface, because this server is another program. The report of a VALID
//! run then notes that the load was not judged, and names the busiest programs; programs other than
//! the server are other load. A FUSE server is a program as well: its processor time, with that of
//! its descendants, is subtracted and reported separately
//! (`summary.verdict.seen.fuse_servers_fraction`, `during.fuse_servers`). The server is the process
//! that holds `/dev/fuse` open for the target's connection (`/proc/PID/fdinfo`, since Linux 6.16).
//! On earlier kernels, all processes that hold `/dev/fuse` open count as the server, so other load
//! of these processes is not detected. Programs that work for a server, but were not started by it,
//! count as other load. Not judged if the server is not visible, because it belongs to another user
//! or PID namespace, or if it ended during the run. Of the programs that still run at the end, the
//! three largest above 1 % are named with process number and share; programs that ended before are
//! missing.
//! *What to do*: stop the other programs. If only process 1 is named, which cannot be stopped, use
//! a dedicated machine. If none is named, or those that are named used less than half of the time,
//! the programs have ended or are not visible: start none during a run, such as builds and timers.

use system::BusyProgram;

use super::processors::{runs, without_servers};
use super::rule::*;

/// Maximum share of other programs in all processors' time. It is half of the 10 % by which the
/// rate of a steady run may change, because a comparison of two runs includes it twice.
const MAX: f64 = 0.05;

/// Programs with a smaller share are not named: stopping them would not change the verdict.
const SHOWN_MIN: f64 = 0.01;

/// Other programs used the processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct OtherLoad {
    /// Share of other programs in all processors' time, from 0 to 1.
    pub fraction: f64,
    /// The programs that used most processor time, the largest first; empty if they are not
    /// available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busiest: Vec<BusyProgram>,
}

impl Rule for OtherLoad {
    fn find(record: &Record, seen: &Seen) -> Option<Self> {
        let fraction = *seen.others_fraction.known()?;
        if fraction <= MAX {
            return None;
        }
        let during = runs(record).find(|during| without_servers(during) == Fact::Known(fraction));
        let busiest = during.and_then(|during| during.busiest.as_ref()?.known().cloned());
        Some(Self {
            fraction,
            busiest: busiest.unwrap_or_default(),
        })
    }

    fn sentence(&self) -> String {
        let shown: Vec<String> = self
            .shown()
            .map(|one| {
                let (name, share) = (sanitize(&one.name), percent(one.fraction));
                format!("{name} (process {}) {share}", one.pid)
            })
            .collect();
        let largest = match (shown.is_empty(), self.are_most_shown()) {
            (true, _) => ", by programs that have ended or are not visible".to_owned(),
            (false, true) => format!(", largest {}", shown.join(", ")),
            (false, false) => format!(
                ", most by programs that have ended or are not visible, the others by {}",
                shown.join(", ")
            ),
        };
        format!(
            "other programs used {} of all processors' time in user mode, limit {}{largest}",
            percent(self.fraction),
            percent(MAX)
        )
    }

    fn advice(&self) -> &'static str {
        let shown = self.shown().filter(|_| self.are_most_shown());
        match (shown.clone().next(), shown.clone().any(can_be_stopped)) {
            (_, true) => "stop the other programs",
            (Some(_), false) => "use a dedicated machine",
            (None, _) => "start no other programs during a run, such as builds and timers",
        }
    }
}

impl OtherLoad {
    fn shown(&self) -> impl Iterator<Item = &BusyProgram> + Clone {
        self.busiest.iter().filter(|one| one.fraction >= SHOWN_MIN)
    }

    /// Whether the programs that are named used at least half of the time. Otherwise, stopping them
    /// would not change the verdict.
    fn are_most_shown(&self) -> bool {
        let shown: f64 = self.shown().map(|one| one.fraction).sum();
        shown >= self.fraction / 2.0
    }
}

/// Whether a user can stop a program. The first process of a machine or container cannot be
/// stopped. Kernel threads have no time in user mode, so they are not named.
fn can_be_stopped(program: &BusyProgram) -> bool {
    program.pid != 1
}
