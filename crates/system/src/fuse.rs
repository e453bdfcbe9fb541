//! Finds the server processes of FUSE mounts: the processes that hold `/dev/fuse` open for the
//! mount's connection.
//!
//! `/proc/PID/fdinfo/FD` names the connection since Linux 6.16. On older kernels, every process
//! that holds `/dev/fuse` open is assumed to be a server. The processor time of servers of other
//! mounts then cannot be separated from that of the target's server. Only root can read descriptors
//! of other users' processes. Processes in other PID namespaces are not visible.

use std::collections::BTreeSet;
use std::path::Path;

use crate::fact::Fact;
use crate::mount::Mount;
use crate::sources::Sources;

/// The device from which a FUSE server reads its requests.
const DEVICE: &str = "/dev/fuse";

/// Returns the process numbers of the servers of FUSE mounts. Not applicable if no mount is FUSE.
pub fn servers<'mount>(
    sources: &Sources,
    mounts: impl IntoIterator<Item = &'mount Mount>,
) -> Fact<BTreeSet<i32>> {
    let mounts: Vec<&Mount> = mounts.into_iter().filter(|mount| mount.is_fuse()).collect();
    let connections: BTreeSet<u64> = mounts.iter().map(|mount| connection(mount)).collect();
    if connections.is_empty() {
        return Fact::NotApplicable;
    }
    let holders = match std::fs::read_dir(sources.path("/proc")) {
        Ok(entries) => entries.filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((pid, held_by(sources, pid)?))
        }),
        Err(error) => return sources.unavailable("/proc", error),
    };
    let holders: Vec<(i32, BTreeSet<u64>)> = holders.collect();
    let is_told = holders.iter().any(|(_, held)| !held.is_empty());
    let served: BTreeSet<u64> = holders.iter().flat_map(|(_, held)| held).copied().collect();
    let not_found = connections
        .iter()
        .find(|connection| !served.contains(connection));
    match not_found {
        Some(connection) if is_told || holders.is_empty() => Fact::Unavailable(format!(
            "no process that can be seen here holds {DEVICE} open for the target's connection \
             {connection}"
        )),
        Some(_) if mounts.iter().any(|mount| is_hidden(mount)) => Fact::Unavailable(format!(
            "the target's FUSE server is another user's process, and the kernel does not tell who \
             holds {DEVICE} open"
        )),
        _ => {
            let serves = |held: &BTreeSet<u64>| !is_told || !held.is_disjoint(&connections);
            let servers = holders.iter().filter(|(_, held)| serves(held));
            Fact::Known(servers.map(|(pid, _)| *pid).collect())
        }
    }
}

/// Whether this process has no permission to read the file descriptors of the mount's server,
/// because the server belongs to another user.
fn is_hidden(mount: &Mount) -> bool {
    let own = rustix::process::geteuid();
    !own.is_root() && mount.super_option("user_id") != Some(&own.as_raw().to_string())
}

/// Returns the number of a mount's FUSE connection, which is the device number of the mount's
/// superblock.
fn connection(mount: &Mount) -> u64 {
    u64::from(mount.device.major) << 20 | u64::from(mount.device.minor)
}

/// Returns the connections for which a process holds `/dev/fuse` open, as far as the kernel reports
/// them. `None` if the process does not hold `/dev/fuse` open.
fn held_by(sources: &Sources, pid: i32) -> Option<BTreeSet<u64>> {
    let descriptors = std::fs::read_dir(sources.path(&format!("/proc/{pid}/fd"))).ok()?;
    let mut held = None;
    for descriptor in descriptors.flatten() {
        if !std::fs::read_link(descriptor.path()).is_ok_and(|to| to == Path::new(DEVICE)) {
            continue;
        }
        let connections: &mut BTreeSet<u64> = held.get_or_insert_default();
        let number = descriptor.file_name();
        let info = sources.text(&format!("/proc/{pid}/fdinfo/{}", number.to_string_lossy()));
        let lines = info.known().map_or("", String::as_str).lines();
        connections.extend(lines.filter_map(|line| {
            let number = line.strip_prefix("fuse_connection:")?;
            number.trim().parse::<u64>().ok()
        }));
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::MountTable;
    use crate::sources::tests::Tree;

    /// Adds a process that holds `/dev/fuse` open. `info` is the text of the descriptor's `fdinfo`.
    fn holder(tree: &Tree, pid: i32, info: &str) {
        let link = tree.sources.path(&format!("/proc/{pid}/fd/4"));
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(DEVICE, link).unwrap();
        tree.file(&format!("/proc/{pid}/fdinfo/4"), info);
    }

    fn found(tree: &Tree, mountinfo: &str) -> Fact<BTreeSet<i32>> {
        tree.file("/proc/self/mountinfo", mountinfo);
        let table = MountTable::read(&tree.sources).into_known().unwrap();
        servers(&tree.sources, &table.mounts)
    }

    const TARGET: &str = "42 27 0:39 / /mnt rw - fuse /backing rw,user_id=0\n";

    #[test]
    fn server_is_the_process_that_holds_the_connection() {
        let tree = Tree::new(&[("/proc/30/fd/3", "a file")]);
        holder(&tree, 10, "pos:\t0\nfuse_connection:\t39\n");
        holder(&tree, 11, "pos:\t0\nfuse_connection:\t40\n");
        // Process 12 opened the device but mounted nothing.
        holder(&tree, 12, "pos:\t0\n");
        assert_eq!(found(&tree, TARGET), Fact::Known(BTreeSet::from([10])));
        // The connection of a FUSE file system on a block device (fuseblk) has the number of this
        // device: for 8:1 it is 8 << 20 | 1.
        holder(&tree, 13, "fuse_connection:\t8388609\n");
        let on_disk = "43 27 8:1 / /disk rw - fuseblk /dev/sda1 rw\n";
        assert_eq!(found(&tree, on_disk), Fact::Known(BTreeSet::from([13])));
        let elsewhere = found(&tree, "42 27 0:77 / /mnt rw - fuse /backing rw\n");
        assert!(
            elsewhere.why().unwrap().contains("connection 77"),
            "{elsewhere:?}"
        );
    }

    #[test]
    fn all_holders_of_dev_fuse_are_servers_without_connection_numbers() {
        let tree = Tree::new(&[]);
        assert!(found(&tree, TARGET).why().is_some());
        holder(&tree, 10, "pos:\t0\n");
        holder(&tree, 11, "pos:\t0\n");
        assert_eq!(found(&tree, TARGET), Fact::Known(BTreeSet::from([10, 11])));
        assert_eq!(
            found(&tree, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"),
            Fact::NotApplicable
        );
    }
}
