//! Mounting, unmounting, and telling an own mount from a foreign one.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::{Duration, Instant};

use observe::{Fact, Mount, MountTable, Sources};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use crate::directory::MadeDirectory;
use crate::error::MakeError;
use crate::loops;
use crate::tool::{self, Around, arguments};

/// What was used a moment ago (a process that is ending, an indexer) keeps a mount busy: so long it is waited for.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// What is to be mounted.
pub(crate) struct MountPlan<'a> {
    pub(crate) kind: &'a str,
    pub(crate) options: &'a [String],
    pub(crate) source: &'a str,
    pub(crate) at: &'a Path,
}

/// Mounts; gives the command line.
pub(crate) fn mount(plan: &MountPlan, around: Around) -> Result<String, MakeError> {
    let mut words: Vec<OsString> = vec!["-t".into(), plan.kind.into()];
    if !plan.options.is_empty() {
        words.extend(["-o".into(), plan.options.join(",").into()]);
    }
    words.extend([plan.source.into(), plan.at.into()]);
    tool::run("mount", words.clone(), Some(around), tool::LONG)?;
    Ok(tool::command_line("mount", &words))
}

/// All mounts that this process sees.
pub(crate) fn all() -> Result<Vec<Mount>, MakeError> {
    let why = match MountTable::read(&Sources::default()) {
        Fact::Known(table) => return Ok(table.mounts),
        Fact::Unavailable(why) => why,
        Fact::NotApplicable => "there is no such file here".to_owned(),
    };
    Err(MakeError::io(
        "read",
        Path::new("/proc/self/mountinfo"),
        std::io::Error::other(why),
    ))
}

/// The mounts on a directory, the covering one last.
pub(crate) fn mounts_at(at: &Path) -> Result<Vec<Mount>, MakeError> {
    let is_there = |mount: &Mount| Path::new(&mount.mount_point) == at;
    Ok(all()?.into_iter().filter(is_there).collect())
}

/// Whether a mount is what this program mounts in the directory; else what it is.
fn foreign(mount: &Mount, directory: &MadeDirectory) -> Option<String> {
    let is_ours = match mount.file_system_type.as_str() {
        "tmpfs" | "overlay" => mount.source == directory.source(),
        _ => {
            let name = mount.source.strip_prefix("/dev/").unwrap_or_default();
            loops::backing_file(OsStr::new(name)).is_some_and(|image| image == directory.image())
        }
    };
    (!is_ours).then(|| format!("{} from {}", mount.file_system_type, mount.source))
}

/// The mount that the program made on a directory of its own; that it is there and nothing covers it.
pub(crate) fn own(at: &Path, directory: &MadeDirectory) -> Result<Mount, MakeError> {
    let Some(mount) = mounts_at(at)?.pop() else {
        return Err(MakeError::MountGone { path: at.to_owned() });
    };
    match foreign(&mount, directory) {
        Some(why) => Err(MakeError::MountForeign {
            path: at.to_owned(),
            why,
        }),
        None => Ok(mount),
    }
}

/// Unmounts what this program mounted on a directory of its own; gives how many mounts there were.
///
/// The cleaner of nilfs2, a process that works on the mount, is ended by the helper of umount(8) alone.
pub(crate) fn unmount(at: &Path, directory: &MadeDirectory, around: Around) -> Result<usize, MakeError> {
    let began = Instant::now();
    let mut count = 0;
    loop {
        if mounts_at(at)?.is_empty() {
            return Ok(count);
        }
        if own(at, directory)?.file_system_type == "nilfs2" {
            let words = arguments(["--".as_ref(), at.as_os_str()]);
            tool::run("umount", words, Some(around), tool::LONG)?;
            count += 1;
            continue;
        }
        match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
            Ok(()) => count += 1,
            // Somebody was faster.
            Err(Errno::INVAL) => {}
            Err(Errno::BUSY) if began.elapsed() < BUSY_LIMIT => std::thread::sleep(Duration::from_millis(20)),
            Err(errno) => return Err(MakeError::io("unmount", at, errno)),
        }
    }
}
