//! The processes that keep a block device in use: those that have opened it, and those in whose
//! mount namespace it is mounted. Processes with an open file of its file system are not found,
//! because examining open files of other processes could wait for a server that does not answer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::mount::MountTable;
use crate::sources::Sources;

/// Maximum number of processes that are named.
const NAMED_MAX: usize = 3;

/// How a process keeps a block device in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceUse {
    /// The process has opened the device.
    Open,
    /// The device is mounted in the mount namespace of the process, and this namespace is not that
    /// of the caller. A new namespace begins with copies of all mounts, and a copy remains if the
    /// original is unmounted.
    OtherNamespace,
}

/// A process that keeps a block device in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceUser {
    pub name: String,
    pub process: u32,
    pub uses: DeviceUse,
}

/// Returns up to three processes that use the device at this path. Processes of other users are
/// missing if this process may not examine them, and so are processes that end during the search.
/// Of each other mount namespace with a mount of the device, only the first process is returned.
pub fn of(device: &Path) -> Vec<DeviceUser> {
    of_sources(&Sources::default(), device)
}

fn of_sources(sources: &Sources, device: &Path) -> Vec<DeviceUser> {
    let Ok(entries) = std::fs::read_dir(sources.path("/proc")) else {
        return Vec::new();
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    let namespace = |process: &str| -> Option<PathBuf> {
        std::fs::read_link(sources.path(&format!("/proc/{process}/ns/mnt"))).ok()
    };
    let mut searched: BTreeSet<Option<PathBuf>> = [namespace("self")].into();
    let users = numbers.into_iter().filter_map(|process| {
        let directory = sources.path(&format!("/proc/{process}"));
        let is_new = searched.insert(namespace(&process.to_string()));
        let is_open = has_open(&directory, &sources.path(&device.to_string_lossy()));
        let uses = match is_open {
            true => DeviceUse::Open,
            false if is_new && has_mounted(&directory, device) => DeviceUse::OtherNamespace,
            false => return None,
        };
        let name = std::fs::read_to_string(directory.join("comm")).unwrap_or_default();
        let name = name.trim().to_owned();
        Some(DeviceUser {
            name,
            process,
            uses,
        })
    });
    users.take(NAMED_MAX).collect()
}

/// Whether a process has opened the device.
fn has_open(process: &Path, device: &Path) -> bool {
    let Ok(open) = std::fs::read_dir(process.join("fd")) else {
        return false;
    };
    let mut paths = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    paths.any(|path| path == device)
}

/// Whether the mount namespace of a process contains a mount of the device.
fn has_mounted(process: &Path, device: &Path) -> bool {
    let table = std::fs::read(process.join("mountinfo")).unwrap_or_default();
    let table = MountTable::parse(table);
    table.is_ok_and(|table| {
        let mut mounts = table.mounts.iter();
        mounts.any(|mount| Path::new(&mount.source) == device)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::Tree;

    #[test]
    fn processes_with_the_device_open_or_mounted_elsewhere_are_named() {
        let tree = Tree::new(&[]);
        let process = |number: &str, namespace: &str, source: &str| {
            let of = |name: &str| format!("/proc/{number}/{name}");
            tree.link(&of("ns/mnt"), namespace);
            tree.link(&of("fd/0"), "/dev/null");
            tree.file(&of("comm"), &format!("p{number}\n"));
            let line = format!("21 1 7:0 / /mnt rw - ext4 {source} rw\n");
            tree.file(&of("mountinfo"), &line);
        };
        process("self", "mnt:[1]", "/dev/vda");
        process("1", "mnt:[1]", "/dev/loop7");
        process("20", "mnt:[1]", "/dev/vda");
        tree.link("/proc/20/fd/5", "/dev/loop7");
        process("30", "mnt:[2]", "/dev/loop7");
        process("31", "mnt:[2]", "/dev/loop7");
        process("40", "mnt:[3]", "/dev/loop70");
        let found = of_sources(&tree.sources, Path::new("/dev/loop7"));
        let user = |process: u32, uses| DeviceUser {
            name: format!("p{process}"),
            process,
            uses,
        };
        let expected = [
            user(20, DeviceUse::Open),
            user(30, DeviceUse::OtherNamespace),
        ];
        assert_eq!(found, expected);
    }
}
