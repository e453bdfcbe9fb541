//! Paths that lead through a held directory, for calls and programs that take no descriptor.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Descriptors of this thread, which may have a table of its own.
const DESCRIPTORS: &str = "/proc/thread-self/fd";

/// The path by which calls of this thread reach what is held.
pub(crate) fn of(held: &impl AsRawFd) -> PathBuf {
    Path::new(DESCRIPTORS).join(held.as_raw_fd().to_string())
}

/// A path as its reader knows it: a call's path has the present path of its directory.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let Ok(rest) = path.strip_prefix(DESCRIPTORS) else {
        return path.to_owned();
    };
    let mut names = rest.components();
    let held = names
        .next()
        .map(|number| Path::new(DESCRIPTORS).join(number));
    let Some(present) = held.and_then(|held| std::fs::read_link(held).ok()) else {
        return path.to_owned();
    };
    // As the kernel shows what was removed.
    let bytes = present.into_os_string().into_vec();
    let plain = bytes.strip_suffix(b" (deleted)").map(<[u8]>::to_vec);
    let present = PathBuf::from(OsString::from_vec(plain.unwrap_or(bytes)));
    match names.as_path() {
        rest if rest.as_os_str().is_empty() => present,
        rest => present.join(rest),
    }
}
