//! Paths through an open directory, for calls and programs that do not accept a descriptor.

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Directory of this thread's descriptors. The process's directory is not used, because the thread
/// may have its own descriptor table.
const DESCRIPTORS: &str = "/proc/thread-self/fd";

/// Returns the path by which calls of this thread reach an open file or directory.
pub(crate) fn of(held: &impl AsRawFd) -> PathBuf {
    Path::new(DESCRIPTORS).join(held.as_raw_fd().to_string())
}

/// Replaces the descriptor in a path such as `/proc/thread-self/fd/5/image` by the current path of
/// the open directory, for messages.
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
    // The kernel adds the suffix ` (deleted)` to the path of a removed file.
    let bytes = present.into_os_string().into_vec();
    let plain = bytes.strip_suffix(b" (deleted)").map(<[u8]>::to_vec);
    let present = PathBuf::from(OsString::from_vec(plain.unwrap_or(bytes)));
    match names.as_path() {
        rest if rest.as_os_str().is_empty() => present,
        rest => present.join(rest),
    }
}
