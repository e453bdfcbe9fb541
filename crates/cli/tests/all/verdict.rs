//! Causes each reason of a verdict that a test can cause, and checks the verdict. The tests use the
//! real program on real file systems, or the runner on the simulated engine and a virtual clock.
//! Other reasons are tested on records (`verdict/tests/all/verdict`): suspensions, clock steps,
//! changed clock sources, CPU steal, steady states and sweeps.
//!
//! Tests that mount file systems or drop caches need root. Without root, these tests print that
//! they are skipped, unless all tests must run (`CI` is set, or `POSTMARK_TEST_ALL=1`).

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

/// Whether a verdict contains a reason that matches a pattern.
macro_rules! has {
    ($verdict:expr, $pattern:pat $(if $guard:expr)?) => {
        $verdict.reasons.iter().any(|reason| matches!(reason, $pattern $(if $guard)?))
    };
}
pub(crate) use has;

impl Ran {
    /// Asserts the level of the verdict. The level may be worse if the verdict has reasons about
    /// the machine, such as other load.
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

/// A directory in memory, or `None` if /dev/shm is not a tmpfs.
fn in_memory(test_dir: &TestDir) -> Option<PathBuf> {
    /// `TMPFS_MAGIC` of statfs(2).
    const TMPFS: rustix::fs::FsWord = 0x0102_1994;
    let is_memory = rustix::fs::statfs(test_dir.path()).unwrap().f_type == TMPFS;
    is_met(is_memory, "a tmpfs on /dev/shm").then(|| test_dir.directory("location"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
