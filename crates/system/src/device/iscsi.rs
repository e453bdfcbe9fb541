//! Whether a disk is another machine's that an iSCSI session provides.

use crate::sources::Sources;

/// The session that provides a disk (`session3`), if one does: the disk's device
/// lies below it.
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
    // Something else may be called so; the class has those of iSCSI.
    let of_class = sources.path(&format!("/sys/class/iscsi_session/{session}"));
    of_class.exists().then(|| session.to_owned())
}
