//! Mounts and unmounts scratch file systems, and distinguishes their mounts from other mounts.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use system::{Fact, Mount, MountTable, Sources};

use crate::directory::{IMAGE, MadeDirectory};
use crate::error::MakeError;
use crate::held_path::shown;
use crate::loops::{self, OverImage};
use crate::owned::{MadeLeft, Owned};
use crate::stop::MakeStop;
use crate::tool;

/// Time limit for unmounting a busy file system. A process that is ending, or an indexer, may keep
/// it busy for a moment.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

pub(crate) struct MountPlan<'a> {
    pub(crate) kind: &'a str,
    pub(crate) options: &'a [String],
    pub(crate) source: &'a str,
    /// Name of the mount point in the directory of the scratch file system.
    pub(crate) at: &'a str,
}

/// Mounts a file system, and returns the command line. mount(8) runs in the scratch directory and
/// gets a relative mount point, which it does not resolve to an absolute path. If another directory
/// has taken the path of the scratch directory, nothing is mounted in that other directory.
pub(crate) fn mount(plan: &MountPlan, owned: &Owned, stop: &MakeStop) -> Result<String, MakeError> {
    owned.check_directory(plan.at)?;
    let mut words: Vec<OsString> = vec!["-t".into(), plan.kind.into()];
    if !plan.options.is_empty() {
        words.extend(["-o".into(), plan.options.join(",").into()]);
    }
    words.extend([
        "--no-canonicalize".into(),
        plan.source.into(),
        plan.at.into(),
    ]);
    tool::run(
        "mount",
        words.clone(),
        Some(owned.around(Some(stop))),
        tool::LONG,
    )?;
    Ok(tool::command_line("mount", &words))
}

/// Returns all mounts that this process sees.
fn all() -> Result<MountTable, MakeError> {
    let why = match MountTable::read(&Sources::default()) {
        Fact::Known(table) => return Ok(table),
        Fact::Unavailable(why) => why,
        Fact::NotApplicable => "there is no such file here".to_owned(),
    };
    Err(MakeError::io(
        "read",
        Path::new("/proc/self/mountinfo"),
        std::io::Error::other(why),
    ))
}

/// Returns the mount on a name in a directory; `None` if nothing is mounted there.
fn on(directory: &MadeDirectory, name: &str) -> Result<Option<Mount>, MakeError> {
    let at = directory.at(name);
    let error = |answer| MakeError::io("look at", &at, answer);
    match std::fs::symlink_metadata(&at) {
        Ok(facts) if facts.is_dir() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(answer) => return Err(error(answer)),
    }
    let table = all()?;
    let of = |path: &Path| match table.mount_of(path) {
        Fact::Known(mount) => Ok(mount),
        Fact::Unavailable(why) => Err(error(std::io::Error::other(why))),
        Fact::NotApplicable => Err(error(ErrorKind::NotFound.into())),
    };
    let (inner, outer) = (of(&at)?, of(directory.call())?);
    Ok((inner.mount_id != outer.mount_id).then_some(inner))
}

/// Returns a description of a mount that this program did not make; `None` for a mount of this
/// program.
fn foreign(mount: &Mount, owned: &Owned) -> Option<String> {
    let is_ours = match mount.file_system_type.as_str() {
        "tmpfs" | "overlay" => mount.source == owned.source(),
        _ => {
            mount.source.starts_with("/dev/loop")
                && loops::is_over_image(&mount.source, owned, IMAGE)
        }
    };
    (!is_ours).then(|| format!("{} from {}", mount.file_system_type, mount.source))
}

/// Returns the mount that this program made on the subdirectory `name`. Fails if the mount does not
/// exist or if another mount covers it.
pub(crate) fn own(owned: &Owned, name: &str) -> Result<Mount, MakeError> {
    let at = owned.directory.at(name);
    let Some(mount) = on(&owned.directory, name)? else {
        return Err(MakeError::new(format!(
            "another process has unmounted {}",
            shown(&at).display()
        )));
    };
    match foreign(&mount, owned) {
        Some(why) => Err(MakeError::foreign_mount(&at, &why)),
        None => Ok(mount),
    }
}

/// Unmounts all mounts that this program made on the subdirectory `name`, and returns their number.
///
/// A nilfs2 is unmounted by umount(8), because its helper program also ends the cleaner, a process
/// that works on the mounted file system.
pub(crate) fn unmount(owned: &Owned, name: &str) -> Result<usize, MakeError> {
    let at = owned.directory.at(name);
    let began = Instant::now();
    let mut count = 0;
    loop {
        let Some(mount) = on(&owned.directory, name)? else {
            return Ok(count);
        };
        if let Some(why) = foreign(&mount, owned) {
            return Err(MakeError::foreign_mount(&at, &why));
        }
        if mount.file_system_type == "nilfs2" {
            let words = ["--no-canonicalize", "--", name];
            tool::run("umount", words, Some(owned.around(None)), tool::LONG)?;
            count += 1;
            continue;
        }
        match rustix::mount::unmount(&at, UnmountFlags::NOFOLLOW) {
            Ok(()) => count += 1,
            // Another process has already unmounted the file system.
            Err(Errno::INVAL) => {}
            Err(Errno::BUSY) if began.elapsed() < BUSY_LIMIT => {
                std::thread::sleep(Duration::from_millis(20))
            }
            Err(errno) => return Err(MakeError::io("unmount", &at, errno)),
        }
    }
}

/// Returns all mount points at which another program has also mounted the scratch file system.
pub(crate) fn elsewhere(owned: &Owned, devices: &[OverImage]) -> Result<Vec<PathBuf>, MakeError> {
    let source = owned.source();
    let is_it = |mount: &Mount| match mount.file_system_type.as_str() {
        "tmpfs" | "overlay" => mount.source == source,
        _ => devices.iter().any(|over| over.device == mount.source),
    };
    let mounts = all()?.mounts.into_iter().filter(is_it);
    Ok(mounts.map(|mount| mount.mount_point).collect())
}

/// Checks that no file system is mounted inside the directory. The mounts of this program are
/// already removed, so any remaining mount was made by another program.
pub(crate) fn none_inside(directory: &MadeDirectory) -> Result<(), MadeLeft> {
    let path = directory.present();
    let left = |path: PathBuf, why: String| MadeLeft { path, why };
    let table = all().map_err(|error| left(path.clone(), error.to_string()))?;
    match table
        .mounts
        .into_iter()
        .find(|mount| mount.mount_point.starts_with(&path))
    {
        Some(mount) => Err(left(
            mount.mount_point,
            "is mounted here by another program (unmount it)".to_owned(),
        )),
        None => Ok(()),
    }
}
