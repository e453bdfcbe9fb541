//! Finds the iSCSI session that provides a disk of another machine.

use crate::sources::Sources;

/// Returns the iSCSI session that provides a disk (`session3`). In sysfs, the directory of the
/// session contains the disk's device. `None` for other disks.
pub(crate) fn iscsi_session(sources: &Sources, disk: &str) -> Option<String> {
    let device =
        std::fs::canonicalize(sources.path(&format!("/sys/class/block/{disk}/device"))).ok()?;
    let is_session = |name: &&str| {
        let number = name.strip_prefix("session");
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let session = device
        .iter()
        .filter_map(|name| name.to_str())
        .find(is_session)?;
    // Directories that do not belong to iSCSI may have a name like `session3`, but
    // `/sys/class/iscsi_session` contains only iSCSI sessions.
    let of_class = sources.path(&format!("/sys/class/iscsi_session/{session}"));
    of_class.exists().then(|| session.to_owned())
}
