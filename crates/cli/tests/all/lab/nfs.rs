//! The engine `nfs` with the NFS server of the Linux kernel. The server counts exactly the calls
//! that the program counts. The test needs a separate boot, so it runs only for releases.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Results, Script, counts, tell};
use crate::nfs::records::Procedure;

/// Names of the runs in the script: at depth 1, at depth 8, and with COMMIT.
const RUNS: [&str; 3] = ["one", "eight", "synced"];

fn served(text: &str) -> BTreeMap<&'static str, u64> {
    let procedures = counts(text).into_iter().filter_map(|(name, count)| {
        let number = name.strip_prefix("procedure")?.parse().ok()?;
        Some((Procedure(number).name(), count))
    });
    procedures.collect()
}

fn counted(record: &Value) -> BTreeMap<String, u64> {
    let kinds = record["record"]["actual"]["traffic"]["messages"]["kinds"]["known"].as_array();
    let kinds = kinds.unwrap_or_else(|| panic!("the record has no calls"));
    let named = kinds.iter().map(|kind| {
        (
            kind["kind"].as_str().unwrap().to_owned(),
            kind["requests"].as_u64().unwrap(),
        )
    });
    named.filter(|(_, count)| *count > 0).collect()
}

pub(super) fn script() -> Script {
    Script {
        name: "nfs",
        disks: vec!["512M"],
        arguments: vec!["20000".to_owned()],
        check: recorded_calls_equal_those_counted_by_the_kernel_server,
    }
}

fn recorded_calls_equal_those_counted_by_the_kernel_server(results: &Results) {
    for run in RUNS {
        let record = results.json(&format!("{run}.json"));
        let check = |is_so, what: &str| results.assert(is_so, &format!("{run}: {what}"));
        check(
            record["record"]["actual"]["outcome"] == "complete",
            "the run is not complete",
        );
        let (ours, theirs) = (counted(&record), results.text(&format!("{run}.server")));
        let theirs = served(&theirs);
        tell(&format!("{run}: the program counts {ours:?}"));
        let equal = ours.len() == theirs.len()
            && ours
                .iter()
                .all(|(name, count)| theirs.get(name.as_str()) == Some(count));
        check(
            equal,
            &format!("the program counts {ours:?}, the server {theirs:?}"),
        );
        let of_reads = ["LOOKUP", "READ", "WRITE", "CREATE", "REMOVE", "READDIRPLUS"];
        check(
            of_reads.iter().all(|name| theirs.contains_key(name)),
            "a procedure was not called",
        );
        check(
            theirs.contains_key("COMMIT") == (run == "synced"),
            "COMMIT belongs to the synced run alone",
        );
        let emulated = &record["record"]["host"]["emulated"]["known"];
        check(
            *emulated == true,
            "nothing says that the machine is emulated",
        );
    }
}
