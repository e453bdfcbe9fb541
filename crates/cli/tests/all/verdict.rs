//! The verdict of runs: every reason that can be provoked is, with the real binary on real file
//! systems, or with the runner on simulated storages and a virtual clock. Suspensions, steps of the
//! clock, changed clock sources and CPU steal are provoked in records alone
//! (`verdict/tests/all/verdict`), and so are rules of steady state and sweeps.
//!
//! Tests that mount or drop caches need root. Without it they say so on standard error and pass,
//! unless everything is to be tested (`CI` is set, or `POSTMARK_TEST_ALL=1`).

mod driven;
mod faults;
mod machine;
mod memory;
mod paused;
mod strict;

use std::path::{Path, PathBuf};

use verdict::{Level, Reason};

use crate::runs::Ran;
use crate::support::{TestDir, is_met};

/// Whether a verdict has a reason of a kind.
macro_rules! has {
    ($verdict:expr, $pattern:pat $(if $guard:expr)?) => {
        $verdict.reasons.iter().any(|reason| matches!(reason, $pattern $(if $guard)?))
    };
}
pub(crate) use has;

impl Ran {
    /// Asserts a level; what else went on on the machine may only make it worse.
    fn is(&self, level: Level) -> &Self {
        let verdict = &self.summary.verdict;
        let of_the_machine = |reason: &&Reason| {
            matches!(
                reason,
                Reason::OtherLoad(_)
                    | Reason::Steal(_)
                    | Reason::Emulated(_)
                    | Reason::Paused(_)
                    | Reason::Suspended(_)
                    | Reason::WallClockStepped(_)
                    | Reason::ClockSourceChanged(_)
            )
        };
        let of_the_run = verdict
            .reasons
            .iter()
            .filter(|reason| !of_the_machine(reason));
        let of_the_run = of_the_run.map(Reason::level).max().unwrap_or(Level::Valid);
        self.assert(
            of_the_run == level && verdict.level >= level,
            format_args!("the verdict is not {}: {verdict:#?}", level.name()),
        )
    }
}

/// A directory in memory; nothing where there is no file system for that.
fn in_memory(test_dir: &TestDir) -> Option<PathBuf> {
    /// `TMPFS_MAGIC` of statfs(2).
    const TMPFS: rustix::fs::FsWord = 0x0102_1994;
    let is_memory = rustix::fs::statfs(test_dir.path()).unwrap().f_type == TMPFS;
    is_met(is_memory, "a tmpfs on /dev/shm").then(|| test_dir.directory("location"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
