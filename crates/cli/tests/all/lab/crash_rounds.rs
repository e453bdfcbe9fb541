//! Rounds of `postmark crash` with power cuts of a dm-log-writes device, which most kernels of test
//! machines lack.

use super::{Results, Script, tell};

const ROUNDS: u64 = 20;

/// The durability policies of the rounds.
const ALL: [&str; 2] = ["fsync+dir", "none"];

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
        let is_promised = rounds == "fsync+dir";
        results.assert(is_promised == (*allowed == 0), &what);
    }
}
