//! Two ranks use the same directory through separate mounts, each of which caches names and
//! attributes. If a rank notices a change of the other rank late, the record contains the delay. If
//! the mounts cache nothing, no change is noticed late.

use std::process::Command;
use std::time::Duration;

use record::{Outcome, Record};

use super::{Results, is_all, tell};
use crate::support::interface::program;

/// How long the clients use their caches without asking the server: `actimeo=10` in the script.
const BELIEVED: Duration = Duration::from_secs(10);
/// Additional time, because a rank is slow under emulation on a busy machine.
const SLACK: Duration = Duration::from_secs(5);

fn record(results: &Results, name: &str) -> Record {
    let record =
        Record::from_json(&results.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let check = |is_so, what: &str| results.assert(is_so, &format!("{name}: {what}"));
    check(
        record.actual.outcome == Outcome::Complete,
        "it is not complete",
    );
    check(record.actual.errors.is_empty(), "there are errors");
    check(record.spec.ranks == 2, "there are not two ranks");
    record
}

/// Asserts that a rank noticed one of the changes in `whats` late, and that the report
/// mentions the change.
fn late(results: &Results, name: &str, whats: &[&str]) {
    let Some(late) = record(results, name).actual.stale else {
        panic!("{name}: nothing was seen late\n{}", results.guest.said);
    };
    tell(&format!("two clients: {name}: {late:?}"));
    let check = |is_so, what: &str| results.assert(is_so, &format!("{name}: {what}: {late:?}"));
    let after = Duration::from_nanos(late.longest_ns);
    check(!after.is_zero() && after < BELIEVED + SLACK, "another time");
    let seen = whats.iter().any(|what| late.what.contains(what));
    check(
        seen && late.path.starts_with("/mnt/shared/postmark-"),
        "another thing",
    );

    let mut show = Command::new(program());
    let shown = show
        .args(["show", "--full"])
        .arg(results.path(name))
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(
        shown.contains("Seen late: "),
        "{name}: the report does not tell it:\n{shown}"
    );
}

/// Checks the records that `two-clients.sh` has written: each change that a rank noticed late must
/// be named.
pub(super) fn what_is_seen_late_is_named(results: &Results) {
    // A rank may have cached that a name did not exist, before another rank created the file. A
    // rank may also have cached the attributes of a file before another rank wrote to it.
    late(
        results,
        "late.json",
        &["No such file", "the file has 0 bytes"],
    );
    // A rank may have cached a name before another rank removed it. A rank may also have cached the
    // attributes of a file before another rank appended to it.
    late(
        results,
        "changed.json",
        &["its removal was acknowledged", " bytes instead of "],
    );
    if is_all() {
        let fresh = record(results, "fresh.json").actual.stale;
        results.assert(
            fresh.is_none(),
            &format!("seen late without caches: {fresh:?}"),
        );
    }
}
