//! Counters of this machine's NFS server for all of its clients: `/proc/net/rpc/nfsd` (the format
//! is defined in fs/nfsd/stats.c of Linux; nfsstat(8) shows the numbers).
//!
//! The messages of NFS version 4 are `COMPOUND` requests; the operations in these requests are
//! counted in [`MessagesReading::operations`].

use super::reading::{CompoundOperation, MessageKind, MessagesReading, WatchedCounter, sorted};
use crate::fact::Fact;
use crate::mount::unescape;
use crate::sources::Sources;
use crate::target::Target;

pub(super) const NFSD: &str = "/proc/net/rpc/nfsd";

/// Versions of the NFS protocol, each with its own counters in the kernel.
pub const NFS_VERSIONS: [&str; 2] = ["nfs3", "nfs4"];

/// Value of [`MessagesReading::of`] if a target is mounted from this machine.
pub(super) const THIS_MACHINE: &str = "this machine";

/// Value of [`MessagesReading::of`] if a target is a directory that this machine exports.
pub(super) const OTHER_CLIENTS: &str = "this machine, for other clients";

/// Value of [`MessagesReading::of`] for counters of a server that include the calls of all clients.
pub const ALL_CLIENTS: &str = "all clients";

/// Names of the procedures of NFS version 3; the index is the number of the procedure (RFC 1813,
/// section 3).
const PROCEDURES: [&str; 22] = [
    "NULL",
    "GETATTR",
    "SETATTR",
    "LOOKUP",
    "ACCESS",
    "READLINK",
    "READ",
    "WRITE",
    "CREATE",
    "MKDIR",
    "SYMLINK",
    "MKNOD",
    "REMOVE",
    "RMDIR",
    "RENAME",
    "LINK",
    "READDIR",
    "READDIRPLUS",
    "FSSTAT",
    "FSINFO",
    "PATHCONF",
    "COMMIT",
];

/// Names of the operations of NFS version 4; the index plus 3 is the number of the operation: RFC
/// 7530, section 16; RFC 8881, section 18; RFC 7862, section 15; RFC 8276, section 8.4.
const OPERATIONS: [&str; 73] = [
    "ACCESS",
    "CLOSE",
    "COMMIT",
    "CREATE",
    "DELEGPURGE",
    "DELEGRETURN",
    "GETATTR",
    "GETFH",
    "LINK",
    "LOCK",
    "LOCKT",
    "LOCKU",
    "LOOKUP",
    "LOOKUPP",
    "NVERIFY",
    "OPEN",
    "OPENATTR",
    "OPEN_CONFIRM",
    "OPEN_DOWNGRADE",
    "PUTFH",
    "PUTPUBFH",
    "PUTROOTFH",
    "READ",
    "READDIR",
    "READLINK",
    "REMOVE",
    "RENAME",
    "RENEW",
    "RESTOREFH",
    "SAVEFH",
    "SECINFO",
    "SETATTR",
    "SETCLIENTID",
    "SETCLIENTID_CONFIRM",
    "VERIFY",
    "WRITE",
    "RELEASE_LOCKOWNER",
    "BACKCHANNEL_CTL",
    "BIND_CONN_TO_SESSION",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "FREE_STATEID",
    "GET_DIR_DELEGATION",
    "GETDEVICEINFO",
    "GETDEVICELIST",
    "LAYOUTCOMMIT",
    "LAYOUTGET",
    "LAYOUTRETURN",
    "SECINFO_NO_NAME",
    "SEQUENCE",
    "SET_SSV",
    "TEST_STATEID",
    "WANT_DELEGATION",
    "DESTROY_CLIENTID",
    "RECLAIM_COMPLETE",
    "ALLOCATE",
    "COPY",
    "COPY_NOTIFY",
    "DEALLOCATE",
    "IO_ADVISE",
    "LAYOUTERROR",
    "LAYOUTSTATS",
    "OFFLOAD_CANCEL",
    "OFFLOAD_STATUS",
    "READ_PLUS",
    "SEEK",
    "WRITE_SAME",
    "CLONE",
    "GETXATTR",
    "SETXATTR",
    "LISTXATTRS",
    "REMOVEXATTR",
];

/// Number of the first operation; smaller numbers are not assigned.
const FIRST_OPERATION: usize = 3;

/// Whether the kernel's NFS server runs: it has threads (line `th`).
pub(super) fn serves(sources: &Sources) -> bool {
    let text = sources.text(NFSD).into_known().unwrap_or_default();
    let threads = text.lines().find_map(|line| line.strip_prefix("th "));
    let count = threads.and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
    count.is_some_and(|count| count > 0)
}

/// Whether this machine exports the target or a directory above it (exports(5)). The directory
/// above may be on another file system.
pub(super) fn exports(sources: &Sources, target: &Target) -> bool {
    let Some(path) = target.canonical_path.known() else {
        return false;
    };
    // The first file is the table of all exports, but this process may be unable to read it. The
    // second file is the kernel's list of exports that clients have used.
    ["/var/lib/nfs/etab", "/proc/fs/nfsd/exports"]
        .iter()
        .any(|list| {
            let text = sources.text(list).into_known().unwrap_or_default();
            let directories = text
                .lines()
                .filter_map(|line| line.split_ascii_whitespace().next());
            let is_above = |directory: &str| {
                directory.starts_with('/') && std::path::Path::new(path).starts_with(directory)
            };
            directories
                .map(unescape)
                .any(|directory| is_above(&directory))
        })
}

pub(super) fn parse(watched: &WatchedCounter, text: &str) -> MessagesReading {
    if watched.protocol == NFS_VERSIONS[0] {
        return watched.reading(counts(text, "proc3").map(|counts| kinds(&PROCEDURES, &counts)));
    }
    MessagesReading {
        operations: counts(text, "proc4ops").map(|counts| operations(&counts)),
        ..watched.reading(counts(text, "proc4").map(|counts| kinds(&["NULL", "COMPOUND"], &counts)))
    }
}

/// Parses the counts of a line `proc3 22 747 7259760 …`. Its first number states how many counts
/// follow.
fn counts(text: &str, name: &str) -> Fact<Vec<u64>> {
    // A line without a line break may be truncated.
    let lines = text
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n'));
    let line = lines
        .filter_map(|line| line.split_once(' '))
        .find(|(first, _)| *first == name);
    let Some((_, numbers)) = line else {
        return Fact::Unavailable(format!("{NFSD}: no line `{name}`"));
    };
    let numbers: Option<Vec<u64>> = numbers
        .split_ascii_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    match numbers.as_deref() {
        Some([count, counts @ ..]) if *count == counts.len() as u64 => Fact::Known(counts.to_vec()),
        _ => Fact::Unavailable(format!(
            "{NFSD}: `{name}` has not as many numbers as it says"
        )),
    }
}

fn kinds(names: &[&str], counts: &[u64]) -> Vec<MessageKind> {
    let kind = |(name, count): (String, u64)| MessageKind::counted(&name, count);
    sorted(named(names, 0, counts).map(kind).collect())
}

fn operations(counts: &[u64]) -> Vec<CompoundOperation> {
    let counts = counts.get(FIRST_OPERATION..).unwrap_or_default();
    let operation = |(operation, count)| CompoundOperation { operation, count };
    let operations = named(&OPERATIONS, FIRST_OPERATION, counts);
    sorted(operations.map(operation).collect())
}

/// Returns the counts above 0, each with the name of its procedure or operation. An operation newer
/// than this program is named by its number.
fn named(names: &[&str], first: usize, counts: &[u64]) -> impl Iterator<Item = (String, u64)> {
    let name = move |index: usize| match names.get(index) {
        Some(name) => (*name).to_owned(),
        None => format!("{}", first + index),
    };
    let counts = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    counts.map(move |(index, count)| (name(index), *count))
}
