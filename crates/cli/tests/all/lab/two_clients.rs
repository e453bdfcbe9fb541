//! Two ranks on mounts of their own, which cache names and attributes: what one has acknowledged and the other sees late is named,
//! with its time. Where clients always ask the server, nothing is late.

use std::process::Command;
use std::time::Duration;

use record::{Outcome, Record};

use super::{Booted, tell};
use crate::support::faces::program;

/// So long the clients believe what they have cached: `actimeo=3` in the script.
const BELIEVED: Duration = Duration::from_secs(3);
/// From there to the next look under emulation, on a busy machine.
const SLACK: Duration = Duration::from_secs(5);

fn record(booted: &Booted, name: &str) -> Record {
    let record = Record::from_json(&booted.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let check = |is_so, what: &str| booted.assert(is_so, &format!("{name}: {what}"));
    check(record.actual.outcome == Outcome::Complete, "it is not complete");
    check(record.actual.errors.is_empty(), "there are errors");
    check(record.spec.ranks == 2, "there are not two ranks");
    record
}

/// What `two-clients.sh` has left.
pub(super) fn what_is_seen_late_is_named(booted: &Booted) {
    let late = record(booted, "late.json").actual.stale;
    let Some(late) = late else {
        panic!("nothing was seen late\n{}", booted.said);
    };
    tell(&format!("two clients: {late:?}"));
    let after = Duration::from_nanos(late.longest_ns);
    booted.assert(
        !after.is_zero() && after < BELIEVED + SLACK,
        &format!("another time: {late:?}"),
    );
    // Its name was cached as missing, or its attributes from before it was written.
    let seen = ["No such file", "the file has 0 bytes"]
        .iter()
        .any(|what| late.what.contains(what));
    booted.assert(
        seen && late.path.starts_with("/mnt/shared/postmark-"),
        &format!("another thing: {late:?}"),
    );

    let shown = Command::new(program())
        .args(["show", "--full"])
        .arg(booted.path("late.json"))
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("Seen late: "), "the report does not tell it:\n{shown}");

    let fresh = record(booted, "fresh.json").actual.stale;
    booted.assert(fresh.is_none(), &format!("seen late without caches: {fresh:?}"));
}
