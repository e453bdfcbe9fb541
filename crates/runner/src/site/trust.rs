//! Whether a place can be taken from under a run. Who may rename a directory may put another one in its place, with links to
//! files of whoever runs there: for root that is everything.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::Errno;

/// Somebody who may rename, or exchange, a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    /// The directory whose entries are theirs to rename.
    pub directory: PathBuf,
    /// Who, in words.
    pub who: String,
}

/// For root: who else may rename a directory that is held open, or one above it. Others have nothing to lose there that
/// those could not take from them anyway.
pub(crate) fn who_may_rename(held: impl AsFd, path: &Path) -> Result<Option<Other>, Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    // Without links: as the kernel knows it.
    let real = std::fs::read_link(format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&held.as_fd())
    ));
    let real = real
        .ok()
        .filter(|real| real.is_absolute())
        .unwrap_or_else(|| path.to_owned());
    for directory in real.ancestors() {
        let facts = match statat(CWD, directory, AtFlags::SYMLINK_NOFOLLOW) {
            // A directory that has no path any more cannot be renamed.
            Err(Errno::NOENT) => continue,
            facts => facts?,
        };
        if let Some(who) = who_may_change(facts.st_uid, facts.st_gid, facts.st_mode) {
            return Ok(Some(Other {
                directory: directory.to_owned(),
                who,
            }));
        }
    }
    Ok(None)
}

/// Who but root may rename the entries of a directory that are root's.
fn who_may_change(owner: u32, group: u32, mode: u32) -> Option<String> {
    const STICKY: u32 = 0o1000;
    if owner != 0 {
        return Some(format!("user {owner}, its owner,"));
    }
    // With the sticky bit only the owner of an entry may rename it.
    if mode & STICKY != 0 {
        return None;
    }
    if mode & 0o002 != 0 {
        return Some("every user".to_owned());
    }
    (mode & 0o020 != 0 && group != 0).then(|| format!("group {group}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_rename_what_is_roots() {
        for (owner, group, mode, expected) in [
            (0, 0, 0o755, None),
            (0, 0, 0o1777, None),
            (0, 0, 0o775, None),
            (0, 50, 0o2755, None),
            (0, 50, 0o2775, Some("group 50")),
            (0, 0, 0o777, Some("every user")),
            (7, 0, 0o700, Some("user 7, its owner,")),
            (7, 0, 0o1777, Some("user 7, its owner,")),
        ] {
            assert_eq!(
                who_may_change(owner, group, mode).as_deref(),
                expected,
                "{owner} {group} {mode:o}"
            );
        }
    }
}
