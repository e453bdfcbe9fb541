//! The device of a file system's journal, if it differs from the file system's device.
//!
//! For xfs, a mount option names this device (`logdev`). For ext4, the option may be missing, but
//! `/proc/fs/jbd2` lists the journal. The kernel names an internal journal after the file system's
//! device and an inode (`/proc/fs/jbd2/sda1-8`). It names an external journal after the journal's
//! device (`/proc/fs/jbd2/sdb1`, the task `jbd2/sdb1`).

use crate::device::{Device, number_of_source};
use crate::fact::Fact;
use crate::mount::{Mount, unescape};
use crate::sources::Sources;

/// Returns the device of an external journal. Not applicable if there is no external journal.
pub(super) fn device(sources: &Sources, mount: &Mount, device: &Fact<Device>) -> Fact<Device> {
    let source = match mount.file_system_type.as_str() {
        "xfs" => match mount.super_option("logdev") {
            Some(source) => Fact::Known(unescape(source)),
            None => Fact::NotApplicable,
        },
        "ext3" | "ext4" => match mount.super_option("journal_path") {
            Some(source) => Fact::Known(unescape(source)),
            None => device
                .as_ref()
                .and_then(|device| of_ext4(sources, &device.name)),
        },
        _ => Fact::NotApplicable,
    };
    source.and_then(|source| {
        let number = number_of_source(sources, &source);
        number.and_then(|number| Device::read(sources, &Fact::NotApplicable, number))
    })
}

/// Returns the path of the device of ext4's external journal; `name` is the file system's device.
fn of_ext4(sources: &Sources, name: &str) -> Fact<String> {
    let inside = format!("{}-", name.replace('/', "!"));
    let is_inside = |journal: &str| {
        let inode = journal.strip_prefix(&inside);
        inode.is_some_and(|inode| inode.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let journals = sources
        .names("/proc/fs/jbd2")
        .into_known()
        .unwrap_or_default();
    if journals.iter().any(|journal| is_inside(journal)) {
        return Fact::NotApplicable;
    }
    // The file `journal_task` exists since Linux 5.0. It contains 0 if the journal's task is in
    // another PID namespace.
    let path = format!("/sys/fs/ext4/{}/journal_task", name.replace('/', "!"));
    sources.text(&path).and_then(|task| {
        if task == "<none>" {
            return Fact::NotApplicable;
        }
        let task: Fact<u32> = sources.parse(&path, &task);
        let comm = task.map(|task| format!("/proc/{task}/comm"));
        comm.and_then(|comm| {
            let command = sources.text(&comm);
            command.and_then(|command| match command.strip_prefix("jbd2/") {
                Some(journal) if is_inside(journal) => Fact::NotApplicable,
                // The kernel cuts names of tasks after 15 bytes.
                Some(_) if command.len() == 15 => {
                    sources.unavailable(&comm, format!("`{command}` is cut off"))
                }
                Some(journal) => Fact::Known(format!("/dev/{journal}")),
                None => sources.unavailable(&comm, format!("`{command}` is not a journal")),
            })
        })
    })
}
