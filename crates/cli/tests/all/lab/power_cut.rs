//! Power cuts after which everything is lost that the device has not flushed. Operations that were
//! acknowledged as durable must survive. Without a durability policy, or if the file system sends
//! no flushes, `verify-log` must find losses.

use serde_json::Value;

use super::{Results, Script, is_all, tell};

/// The runs, as file system and durability policy; `nobarrier` means that the file system sends no
/// flushes. xfs has no such mount option.
const ALL: [&str; 14] = [
    "ext4:fsync+dir",
    "ext4:none",
    "ext4:fsync+dir:nobarrier",
    "f2fs:fsync+dir",
    "f2fs:none",
    "f2fs:fsync+dir:nobarrier",
    "nilfs2:fsync+dir",
    "nilfs2:none",
    "nilfs2:fsync+dir:nobarrier",
    "xfs:fsync+dir",
    "xfs:none",
    "btrfs:fsync+dir",
    "btrfs:none",
    "btrfs:fsync+dir:nobarrier",
];
/// The runs that the test performs without `POSTMARK_LAB=all`.
const SOME: [&str; 3] = ["ext4:fsync+dir", "ext4:none", "ext4:fsync+dir:nobarrier"];

/// The runs, and the number of power cuts in each.
fn runs() -> (&'static [&'static str], usize) {
    if is_all() { (&ALL, 20) } else { (&SOME, 2) }
}

pub(super) fn script() -> Script {
    let (runs, moments) = runs();
    // The first disk stores the log of all writes of the runs.
    let mut disks = vec!["8G"];
    disks.extend(runs.iter().map(|run| {
        if run.starts_with("ext4") {
            "64M"
        } else {
            // The log of xfs does not fit on a smaller disk, nor does btrfs.
            "320M"
        }
    }));
    let mut arguments = vec![moments.to_string()];
    arguments.extend(runs.iter().map(|&run| run.to_owned()));
    Script {
        name: "power-cut",
        disks,
        arguments,
        check: acknowledged_operations_survive_power_cuts,
    }
}

fn acknowledged_operations_survive_power_cuts(results: &Results) {
    let (runs, moments) = runs();
    for run in runs {
        let is_promised = run.ends_with(":fsync+dir");
        let mut losses = Vec::new();
        for phase in 1..=moments {
            let verified = results.json(&format!("{run}/{phase}.json"));
            let what = format!("{run}, moment {phase}: {verified}");
            results.assert(number(&verified, "checked") > 0, &what);
            results.assert(
                verified["ended"] == false && verified["contents_checked"] == true,
                &what,
            );
            let lost = lost(&verified);
            results.assert(!is_promised || lost == 0, &what);
            losses.push(format!("{lost} of {}", number(&verified, "checked")));
        }
        tell(&format!("{run}: lost: {}", losses.join(", ")));
        let is_lost = losses.iter().any(|lost| !lost.starts_with("0 "));
        results.assert(
            is_promised || is_lost,
            &format!("{run}: no loss was found at any moment"),
        );
        if is_promised {
            damage_is_named(results, run);
        }
    }
}

/// Asserts that `verify-log` reports exactly the three files that the script has damaged after the
/// last power cut.
fn damage_is_named(results: &Results, run: &str) {
    let verified = results.json(&format!("{run}/damaged.json"));
    let mut found: Vec<String> = verified["lost"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| {
            let name = loss["path"]
                .as_str()
                .and_then(|path| path.rsplit('/').next());
            format!("{} {}", loss["kind"].as_str().unwrap(), name.unwrap())
        })
        .collect();
    found.sort();
    let damage = results.text(&format!("{run}/damage"));
    let mut damage: Vec<&str> = damage.lines().collect();
    damage.sort_unstable();
    let what = format!("{run}: after {damage:?} verify-log names {found:?}");
    results.assert(found == damage && lost(&verified) == 3, &what);
}

fn lost(verified: &Value) -> u64 {
    let counts = verified["lost_counts"].as_array().unwrap().iter();
    counts.map(|count| number(count, "count")).sum()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {value}"))
}
