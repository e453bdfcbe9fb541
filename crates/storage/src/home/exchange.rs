//! Whether a place can be taken from under a run. Who may rename a directory may put another one in its place, with links to
//! files of whoever runs there: for root that is everything.

use std::path::Path;

use contract::home::Exchanger;
use rustix::fs::{AtFlags, CWD, getxattr, statat};
use rustix::io::Errno;

/// For root: who else may rename a directory, or one above it. Others have nothing to lose there that those could not take
/// from them anyway. A directory that is not there is for others to tell.
pub(super) fn who_may_exchange(path: &Path) -> Result<Option<Exchanger>, Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    // Without links: as the kernel knows it.
    let Ok(real) = std::fs::canonicalize(path) else {
        return Ok(None);
    };
    for directory in real.ancestors() {
        let facts = match statat(CWD, directory, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            facts => facts?,
        };
        let who = who_may_change(facts.st_uid, facts.st_gid, facts.st_mode)
            .or_else(|| named_in_list(directory, facts.st_mode));
        if let Some(who) = who {
            return Ok(Some(Exchanger {
                directory: directory.to_owned(),
                who,
            }));
        }
    }
    Ok(None)
}

/// The group's bits of a directory with an access control list are the most that anybody named there may do.
fn named_in_list(directory: &Path, mode: u32) -> Option<String> {
    let mut list = [0_u8; 4096];
    let may_write = mode & STICKY == 0 && mode & 0o020 != 0;
    let mut has_list = || {
        !matches!(
            getxattr(directory, "system.posix_acl_access", &mut list),
            Err(_) | Ok(0)
        )
    };
    (may_write && has_list()).then(|| "somebody in its access control list".to_owned())
}

const STICKY: u32 = 0o1000;

/// Who but root may rename the entries of a directory that are root's.
fn who_may_change(owner: u32, group: u32, mode: u32) -> Option<String> {
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
