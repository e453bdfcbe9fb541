//! Rounds of `postmark crash` on devices of the device mapper, which most kernels of test machines
//! lack: dm-flakey loses all writes, dm-log-writes those that were not flushed.

use super::{Results, Script, tell};

const ROUNDS: u64 = 20;

/// The ways to crash, with the durability policies of the runs.
const ALL: [&str; 4] = [
    "log-writes:fsync+dir",
    "log-writes:none",
    "flakey:fsync+dir",
    "flakey:none",
];

pub(super) fn script() -> Script {
    let mut arguments = vec![ROUNDS.to_string()];
    arguments.extend(ALL.map(str::to_owned));
    Script {
        name: "crash-rounds",
        // The first disk stores the log of all writes.
        disks: [&["8G"][..], &["64M"; ALL.len()]].concat(),
        arguments,
        check: promised_changes_survive,
    }
}

fn promised_changes_survive(results: &Results) {
    for rounds in ALL {
        let report = results.json(&format!("{rounds}.json"));
        let crashes = &report["crashes"];
        let lossy = &report["crashes_with_loss"];
        let allowed = &report["crashes_with_allowed_loss"];
        tell(&format!(
            "{rounds}: {crashes} crashes, {lossy} with a loss, {allowed} with an allowed one"
        ));
        let what = format!("{rounds}: {report}");
        results.assert(*crashes == ROUNDS && *lossy == 0, &what);
        let is_promised = rounds.ends_with(":fsync+dir");
        results.assert(is_promised == (*allowed == 0), &what);
    }
}
