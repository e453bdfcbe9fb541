//! What a directory of the user's was like before a run, so that afterwards it can be made like that again,
//! its times included.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Dir, Mode, OFlags, StatxFlags, Timespec, Timestamps, futimens, openat, statx};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::manifest;
use super::ownership::{Stamp, born, facts};

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Before {
    /// How many names it had.
    names: u64,
    /// The sum of XXH3 hashes of each name with the number and the birth of what it stands for: the same things under the
    /// same names in any order give the same sum.
    names_sum: u64,
    /// When it was last read and changed.
    accessed: Stamp,
    modified: Stamp,
}

/// Of a directory with more names only the numbers are looked at that come with the names: a look at each thing would read
/// all of them from the disk.
const LOOKED_AT_MAX: u64 = 10_000;

impl Before {
    /// What a directory is like, with a look at every name in it.
    pub(crate) fn read(directory: impl AsFd, mut seen: impl FnMut(&[u8])) -> Result<Self, Errno> {
        let times = statx(&directory, "", rustix::fs::AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        let mut before = Self {
            names: 0,
            names_sum: 0,
            accessed: (times.stx_atime.tv_sec, times.stx_atime.tv_nsec),
            modified: (times.stx_mtime.tv_sec, times.stx_mtime.tv_nsec),
        };
        for_each_entry(&directory, |name, inode| {
            if !manifest::is_mark(name) {
                before.names += 1;
                let born = match before.names <= LOOKED_AT_MAX {
                    true => facts(&directory, OsStr::from_bytes(name)).map_or((0, 0), |facts| born(&facts)),
                    false => (0, 0),
                };
                let thing = [
                    name,
                    b"/",
                    &inode.to_ne_bytes(),
                    &born.0.to_ne_bytes(),
                    &born.1.to_ne_bytes(),
                ]
                .concat();
                before.names_sum = before.names_sum.wrapping_add(xxh3_64(&thing));
            }
            seen(name);
            Ok(())
        })?;
        Ok(before)
    }

    /// Gives a directory the times that it had, where it has the same things under the same names again. Otherwise somebody
    /// else has changed it too, and its times are true.
    pub(crate) fn restore(&self, directory: impl AsFd) -> Result<(), Errno> {
        let now = Self::read(&directory, |_| ())?;
        if (now.names, now.names_sum) != (self.names, self.names_sum) {
            return Ok(());
        }
        let time = |(seconds, nanoseconds): Stamp| Timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds.into(),
        };
        futimens(
            directory,
            &Timestamps {
                last_access: time(self.accessed),
                last_modification: time(self.modified),
            },
        )
    }
}

/// Calls for every name of a directory but `.` and `..`.
pub(crate) fn for_each_name(
    directory: impl AsFd,
    mut each: impl FnMut(&[u8]) -> Result<(), Errno>,
) -> Result<(), Errno> {
    for_each_entry(directory, |name, _| each(name))
}

/// The same with the number of what each name stands for.
fn for_each_entry(directory: impl AsFd, mut each: impl FnMut(&[u8], u64) -> Result<(), Errno>) -> Result<(), Errno> {
    // A description of its own, so that nobody else's position in the directory moves; and without a trace of the
    // reading in the directory's times, which is the owner's right.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let own = match openat(&directory, ".", flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => openat(&directory, ".", flags, Mode::empty())?,
        opened => opened?,
    };
    for entry in Dir::new(own)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(name, entry.ino())?;
        }
    }
    Ok(())
}
