//! Determines with whose rights a directory is used. A user who may rename a directory can replace
//! it with a directory of links to files that this process may access. A process of root may access
//! all files.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use engine::namespace::{Access, ActingUser, Exchanger};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, getxattr, openat, readlinkat, statat,
};
use rustix::io::Errno;

use crate::acting_user::Acting;

/// The user and group ID that owns no files (nobody, nogroup).
const NOBODY: u32 = 65_534;
/// The maximum number of symbolic links in a path, as in the kernel.
const LINKS_MAX: usize = 40;
/// Linux's `PATH_MAX`, which includes the terminating NUL: the longest path is one byte shorter.
const PATH_BYTES_MAX: usize = 4_096;
const ON_THE_WAY: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a directory and determines with whose rights the directory is used.
pub(crate) fn open(path: &Path) -> Result<(OwnedFd, Access), Errno> {
    // Only a process of root needs this protection: links in a replaced directory could redirect
    // its calls to any file of the machine.
    if !rustix::process::geteuid().is_root() {
        return Ok((openat(CWD, path, super::OPEN, Mode::empty())?, Access::Own));
    }
    let mut walk = Walk::begin()?;
    // `Walk` resolves a path of any length, but other system calls reject a path of this length.
    if path.as_os_str().len() >= PATH_BYTES_MAX {
        return Err(Errno::NAMETOOLONG);
    }
    let path = std::path::absolute(path).map_err(|_| Errno::NOENT)?;
    walk.put(&path);
    while let Some(name) = walk.names.pop() {
        if let Some(link) = walk.step(&name)? {
            return Ok((walk.at, Access::Link(link)));
        }
    }
    let facts = fstat(&walk.at)?;
    let opened = openat(&walk.at, ".", super::OPEN, Mode::empty())?;
    let access = match walk.access(&facts) {
        // Acting as another user needs capabilities that some containers lack.
        Access::As(user, exchanger) if Acting::begin(Some(user)).is_err() => {
            Access::Refused(exchanger)
        }
        access => access,
    };
    Ok((opened, access))
}

/// The resolution of a path, name by name, through directories that are held open. If a directory
/// is renamed between check and use, this process still uses the directory that it has checked.
struct Walk {
    at: OwnedFd,
    /// The path of the directory `at`.
    shown: PathBuf,
    /// The names still to be resolved, in reverse order.
    names: Vec<OsString>,
    links: usize,
    /// The first user or group that may rename entries of a directory on the path.
    exchanger: Option<Exchanger>,
}

impl Walk {
    fn begin() -> Result<Self, Errno> {
        let mut walk = Self {
            at: openat(CWD, "/", ON_THE_WAY, Mode::empty())?,
            shown: PathBuf::from("/"),
            names: Vec::new(),
            links: 0,
            exchanger: None,
        };
        walk.look()?;
        Ok(walk)
    }

    /// Adds the names of `path` in front of the names still to be resolved.
    fn put(&mut self, path: &Path) {
        let names = path
            .components()
            .rev()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some("..".into()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
            });
        self.names.extend(names);
    }

    /// Records the user or group that may rename entries of the current directory. If an earlier
    /// directory of the path has such a user or group, its record remains.
    fn look(&mut self) -> Result<(), Errno> {
        if self.exchanger.is_none() {
            let facts = fstat(&self.at)?;
            let who = who_may_change(facts.st_uid, facts.st_gid, facts.st_mode)
                .or_else(|| named_in_list(&self.shown, facts.st_mode));
            self.exchanger = who.map(|who| Exchanger {
                directory: self.shown.clone(),
                who,
            });
        }
        Ok(())
    }

    /// Resolves one name. A symbolic link that another user or group may replace is not followed;
    /// this user or group is returned instead.
    fn step(&mut self, name: &OsStr) -> Result<Option<Exchanger>, Errno> {
        match openat(&self.at, name, ON_THE_WAY, Mode::empty()) {
            Ok(next) => {
                self.at = next;
                match name == ".." {
                    true => drop(self.shown.pop()),
                    false => self.shown.push(name),
                }
                self.look()?;
                return Ok(None);
            }
            Err(Errno::NOTDIR | Errno::LOOP) => {}
            Err(errno) => return Err(errno),
        }
        let facts = statat(&self.at, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(facts.st_mode) != FileType::Symlink {
            return Err(Errno::NOTDIR);
        }
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Errno::LOOP);
        }
        if let Some(exchanger) = &self.exchanger {
            return Ok(Some(exchanger.clone()));
        }
        // In a directory with the sticky bit, the owner of a link may replace the link.
        if facts.st_uid != 0 {
            return Ok(Some(Exchanger {
                directory: self.shown.join(name),
                who: format!("user {}, its owner,", facts.st_uid),
            }));
        }
        let target = PathBuf::from(OsString::from_vec(
            readlinkat(&self.at, name, Vec::new())?.into_bytes(),
        ));
        if target.is_absolute() {
            self.at = openat(CWD, "/", ON_THE_WAY, Mode::empty())?;
            self.shown = PathBuf::from("/");
        }
        self.put(&target);
        Ok(None)
    }

    /// Determines with whose rights the directory at the end of the path is used; `facts` are its
    /// attributes.
    fn access(self, facts: &Stat) -> Access {
        let is_listed = named_in_list(&self.shown, facts.st_mode).is_some();
        match self.exchanger {
            None => Access::Own,
            Some(exchanger) => access(
                exchanger,
                (facts.st_uid, facts.st_gid, facts.st_mode),
                is_listed,
            ),
        }
    }
}

/// Determines with whose rights a directory is used if another user (`exchanger`) may rename the
/// directory or its entries. A process that acts as the owner gets the group nogroup, because the
/// owner needs no rights of a group.
fn access(exchanger: Exchanger, (owner, group, mode): (u32, u32, u32), is_listed: bool) -> Access {
    let act_as = |user, group| ActingUser { user, group };
    if owner != 0 {
        return Access::As(act_as(owner, NOBODY), exchanger);
    }
    // The directory is held open from now on. Even if its name is replaced, only root can change
    // its entries.
    if who_may_change(owner, group, mode).is_none() && !is_listed {
        return Access::Own;
    }
    if mode & 0o003 == 0o003 {
        return Access::As(act_as(NOBODY, NOBODY), exchanger);
    }
    if mode & 0o030 == 0o030 && group != 0 && !is_listed {
        return Access::As(act_as(NOBODY, group), exchanger);
    }
    Access::Refused(exchanger)
}

/// Returns a description of the users in a directory's access control list (ACL) if they may rename
/// entries of the directory. If there is an ACL, the group bits of the mode limit the rights of all
/// users and groups in the ACL.
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

/// Returns a user or group other than root that may rename root's entries in a directory. `owner`,
/// `group` and `mode` are the attributes of the directory.
fn who_may_change(owner: u32, group: u32, mode: u32) -> Option<String> {
    if owner != 0 {
        return Some(format!("user {owner}, its owner,"));
    }
    // With the sticky bit, only the owner of an entry may rename it.
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
    fn access_uses_the_least_sufficient_rights() {
        let theirs = |user, group| Some(ActingUser { user, group });
        for (facts, is_listed, expected) in [
            ((12_345, 0, 0o755), false, theirs(12_345, NOBODY)),
            ((12_345, 6, 0o1777), true, theirs(12_345, NOBODY)),
            ((0, 0, 0o777), false, theirs(NOBODY, NOBODY)),
            ((0, 50, 0o777), true, theirs(NOBODY, NOBODY)),
            ((0, 50, 0o775), false, theirs(NOBODY, 50)),
            ((0, 50, 0o775), true, None),
            ((0, 0, 0o775), true, None),
        ] {
            let exchanger = Exchanger {
                directory: "/there".into(),
                who: "somebody".to_owned(),
            };
            let found = match access(exchanger.clone(), facts, is_listed) {
                Access::As(user, _) => Some(user),
                Access::Refused(_) => None,
                other => panic!("{facts:?}: {other:?}"),
            };
            assert_eq!(found, expected, "{facts:?}");
            // In a directory that only root may write, the process's own rights are safe.
            assert_eq!(access(exchanger, (0, 0, 0o755), false), Access::Own);
        }
    }

    #[test]
    fn users_who_may_rename_entries_of_root_are_detected() {
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
