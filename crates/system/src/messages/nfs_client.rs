//! Counters of the NFS client for each file system: `/proc/self/mountstats` (the format is defined
//! in fs/proc_namespace.c, fs/nfs/super.c and net/sunrpc/stats.c of Linux; nfsiostat(8) and
//! mountstats(8) explain the numbers).
//!
//! `procfs-core` is not used for this file: it parses all lines of all mounts, fails as a whole at
//! one invalid line, leaves escapes in mount points, and accepts a truncated file.

use super::reading::{MessageKind, MessagesReading, Named as _, WatchedCounter, sorted};
use crate::fact::Fact;
use crate::mount::{Mount, unescape};

pub(super) const MOUNTSTATS: &str = "/proc/self/mountstats";

/// Returns the protocol with the version in the option `vers` (`nfs4.2`). Without this option,
/// returns the type of the file system.
pub(super) fn protocol(mount: &Mount) -> String {
    match mount.super_option("vers") {
        Some(version) => format!("nfs{version}"),
        None => mount.file_system_type.clone(),
    }
}

pub(super) fn parse(watched: &WatchedCounter, text: &str) -> MessagesReading {
    let section = section(text, &watched.of);
    let of_line = |name: &str, field: usize| -> Fact<u64> {
        section.clone().and_then(|section| {
            let line = section
                .lines()
                .find_map(|line| line.trim_start().strip_prefix(name));
            let number =
                line.and_then(|line| line.split_ascii_whitespace().nth(field)?.parse().ok());
            let missing = || missing(&watched.of, &format!("no number in `{name}`"));
            number.map_or_else(missing, Fact::Known)
        })
    };
    MessagesReading {
        age_s: of_line("age:", 0),
        server_read_bytes: of_line("bytes:", 4),
        server_written_bytes: of_line("bytes:", 5),
        ..watched.reading(section.and_then(|section| kinds(&watched.of, section)))
    }
}

fn missing<T>(mount_point: &str, why: &str) -> Fact<T> {
    Fact::Unavailable(format!("{MOUNTSTATS}: {mount_point}: {why}"))
}

/// Returns the lines about the file system at a mount point. If a later mount covers an earlier one
/// at this mount point, the lines of the later mount are returned.
fn section<'text>(text: &'text str, mount_point: &str) -> Fact<&'text str> {
    // Searches only for the beginnings of headings, because the other lines amount to a megabyte on
    // a machine with hundreds of mounts.
    let next_lines = memchr::memmem::find_iter(text.as_bytes(), b"\ndevice ").map(|at| at + 1);
    let lines = std::iter::once(0).chain(next_lines);
    let headings = lines.filter_map(|at| {
        text[at..]
            .split_inclusive('\n')
            .next()
            .map(|line| (at, line))
    });
    let last = headings
        .filter(|(_, line)| heading(line, mount_point))
        .last();
    let Some((at, line)) = last else {
        return missing(mount_point, "no NFS is mounted there");
    };
    let rest = &text[at + line.len()..];
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        // The kernel ends the section of a file system with an empty line.
        if line == "\n" || is_heading(line) {
            return Fact::Known(&rest[..length]);
        }
        length += line.len();
    }
    missing(mount_point, "the file ends within it")
}

/// Whether the line begins the section of a mount. The section of a mount without a device name
/// begins with `no device`.
fn is_heading(line: &str) -> bool {
    line.starts_with("device ") || line.starts_with("no device ")
}

/// Whether the line begins the section of an NFS mount at `mount_point`: `device server:/path
/// mounted on /mnt with fstype nfs4 statvers=1.1`. White space in names is escaped.
fn heading(line: &str, mount_point: &str) -> bool {
    let mut words = line.split(' ').skip(2);
    let is_mount = words.next() == Some("mounted") && words.next() == Some("on");
    let place = words.next().unwrap_or_default();
    let is_there = place == mount_point || (place.contains('\\') && unescape(place) == mount_point);
    let is_typed = words.next() == Some("with") && words.next() == Some("fstype");
    is_mount
        && is_there
        && is_typed
        && matches!(words.next().map(str::trim_end), Some("nfs" | "nfs4"))
}

fn kinds(mount_point: &str, section: &str) -> Fact<Vec<MessageKind>> {
    let mut lines = section.lines();
    if !lines.any(|line| line.trim() == "per-op statistics") {
        return missing(mount_point, "no counts by operation");
    }
    let mut kinds = Vec::new();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        match kind(line) {
            Some(kind) => kinds.push(kind),
            None => return missing(mount_point, &format!("`{}` is not understood", line.trim())),
        }
    }
    kinds.retain(MessageKind::occurred);
    let kinds = sorted(kinds);
    match kinds.windows(2).find(|pair| pair[0].kind == pair[1].kind) {
        Some(pair) => missing(mount_point, &format!("`{}` is there twice", pair[0].kind)),
        None => Fact::Known(kinds),
    }
}

/// Parses `READ: 3 4 0 528 1024 0 1 2 0`: operations completed, transmissions, major timeouts,
/// bytes sent and received, milliseconds in the queue, of the round trip and of execution, and
/// errors (since Linux 5.3).
fn kind(line: &str) -> Option<MessageKind> {
    let (name, numbers) = line.trim().split_once(':')?;
    let mut columns = [0u64; 8];
    let mut numbers = numbers.split_ascii_whitespace();
    for column in &mut columns {
        *column = numbers.next()?.parse().ok()?;
    }
    let [
        requests,
        transmissions,
        _,
        sent_bytes,
        received_bytes,
        times_ms @ ..,
    ] = columns;
    let time = |what: &str, ms: u64| match i64::try_from(ms) {
        Ok(_) => Fact::Known(ms),
        // Some kernels add negative times, so a sum can be below 0.
        Err(_) => Fact::Unavailable(format!("{MOUNTSTATS}: {name}: {what} is below 0")),
    };
    Some(MessageKind {
        kind: name.to_owned(),
        requests,
        retransmissions: Fact::found(transmissions.checked_sub(requests), || {
            format!("{MOUNTSTATS}: {name}: {transmissions} transmissions of {requests} operations")
        }),
        sent_bytes: Fact::Known(sent_bytes),
        received_bytes: Fact::Known(received_bytes),
        queued_ms: time("time in the queue", times_ms[0]),
        round_trip_ms: time("round-trip time", times_ms[1]),
        execution_ms: time("execution time", times_ms[2]),
    })
}
