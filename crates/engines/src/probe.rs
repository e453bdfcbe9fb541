//! Probes whether a file system supports direct I/O, and whether files can share blocks.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::DIRECT_ALIGNMENT;
use engine::namespace::Access;
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};

use crate::acting_user::Acting;
use crate::buffers::Memory;
use crate::kernel_namespace;

/// Probes whether files in a directory can be read and written with direct I/O. One block is
/// written to an unnamed file (`O_TMPFILE`). If the file system does not support such files, a file
/// with a unique name is created and then removed.
///
/// # Errors
/// Returns the system's error; `EINVAL` if the file system does not support direct I/O.
pub fn probe_direct(directory: &Path) -> io::Result<()> {
    in_directory(directory, |held| {
        match open(held, ".", NAMELESS | OFlags::DIRECT) {
            Ok(file) => write_and_read(&file),
            Err(without_name) => match open(held, ".", NAMELESS) {
                // Without `O_DIRECT`, an unnamed file can be opened. So the first attempt failed
                // because of `O_DIRECT`.
                Ok(_) => Err(without_name),
                Err(_) => probe_by_name(held),
            },
        }
    })
}

/// Probes whether a file can share the blocks of another file (`FICLONE`), with two unnamed files.
/// Also returns `Ok` if the file system does not support unnamed files, because the probe is then
/// not possible.
///
/// # Errors
/// Returns the system's error; `EOPNOTSUPP` if the file system cannot share blocks.
pub fn probe_clone(directory: &Path) -> io::Result<()> {
    in_directory(directory, |held| {
        let files = [NAMELESS; 2].map(|flags| open(held, ".", flags));
        let [Ok(from), Ok(to)] = files else {
            return Ok(());
        };
        from.write_all_at(&[1; 4096], 0)?;
        Ok(rustix::fs::ioctl_ficlone(&to, &from)?)
    })
}

/// The flags of an unnamed file.
const NAMELESS: OFlags = OFlags::TMPFILE.union(OFlags::RDWR);

/// Opens a directory and calls `probe`. Uses the rights of the user in [`Access::As`]; in other
/// cases, the process's own rights.
fn in_directory(
    directory: &Path,
    probe: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> io::Result<()> {
    let (held, access) = kernel_namespace::exchange::open(directory)?;
    let user = match access {
        Access::As(user, _) => Some(user),
        Access::Own | Access::Refused(_) | Access::Link(_) => None,
    };
    let _acting = Acting::begin(user)?;
    probe(&held)
}

fn probe_by_name(directory: &OwnedFd) -> io::Result<()> {
    static PROBES: AtomicU64 = AtomicU64::new(0);
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let name = format!(".postmark-direct-{}-{number}", std::process::id());
    // The file is created without `O_DIRECT`, because some file systems create the file before they
    // reject that flag.
    let made = open(
        directory,
        &name,
        OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR,
    )?;
    // The file is opened a second time through its descriptor, because another process could have
    // replaced the name.
    let again = format!("/proc/self/fd/{}", made.as_raw_fd());
    let answer = open(directory, &again, OFlags::RDWR | OFlags::DIRECT)
        .and_then(|file| write_and_read(&file));
    unlinkat(directory, &name, AtFlags::empty())?;
    answer
}

fn open(directory: &OwnedFd, name: &str, flags: OFlags) -> io::Result<File> {
    let mode = Mode::from_raw_mode(0o600);
    Ok(openat(directory, name, flags | OFlags::CLOEXEC, mode)?.into())
}

fn write_and_read(file: &File) -> io::Result<()> {
    let mut memory =
        Memory::new(DIRECT_ALIGNMENT).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let block = memory.bytes();
    let written = file.write_at(block, 0)?;
    let read = file.read_at(block, 0)?;
    if written == read && read == block.len() {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EINVAL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_and_unnamed_probe_files_yield_the_same_result() {
        let directory = tempfile::tempdir().unwrap();
        let held = File::open(directory.path()).unwrap().into();
        let answers = [probe_direct(directory.path()), probe_by_name(&held)];
        let [without, with] = answers.map(|answer| answer.map_err(|error| error.raw_os_error()));
        assert_eq!(without, with);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
