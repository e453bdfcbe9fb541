//! Where a run lives on the target: its directories, the mark it leaves there, and how it goes again.
//!
//! The rule is: own only what you made. A place is looked through before the first file is made; whatever
//! bears a name that the run would use keeps the run from starting.

mod before;
mod clean;
pub mod manifest;
mod prepare;
mod removal;

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};

use record::CleanUp;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, stat, statat, unlinkat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

pub use clean::{CleanError, Cleaned, clean};
pub use prepare::PrepareError;
pub(crate) use prepare::{Wish, prepare};

use crate::advice;
use manifest::{Kind, Manifest};
use removal::Removal;

/// A run's place.
pub(crate) trait Site: Sync {
    /// Whether the place is still the one that the run began in.
    fn check(&self) -> Result<(), String>;

    /// Removes what the run has made and left, and its mark. Its files have running numbers up to `numbers_made`;
    /// whatever bears a higher one is somebody else's.
    fn leave(&mut self, numbers_made: u64, progress: &mut dyn FnMut(u64)) -> CleanUp;
}

/// Now, by the clock with which the kernel stamps files.
fn stamp_ns() -> i64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// Storages that touch no file system have no place.
pub(crate) struct NoSite;

impl Site for NoSite {
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn leave(&mut self, _: u64, _: &mut dyn FnMut(u64)) -> CleanUp {
        CleanUp::default()
    }
}

/// A directory that holds files of the run.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The directory of the files, from the root.
    pub(crate) directory: PathBuf,
    /// The same, held open: it stays reachable when its path does not.
    held: OwnedFd,
    /// Where the user's own directory is held: the one above, or the same.
    users: OwnedFd,
    manifest: Manifest,
    /// Locked as long as the run lives.
    _lock: File,
    device: u64,
    inode: u64,
    /// When the place was last seen to be the same, in nanoseconds of the epoch by the clock that stamps files.
    well_at_ns: AtomicI64,
}

/// The places of a run on real file systems.
#[derive(Debug)]
pub(crate) struct Grounds(pub(crate) Vec<Ground>);

impl Ground {
    fn check(&self) -> Result<(), String> {
        let path = self.directory.display();
        // Before the look: what is made in another place later has a later stamp.
        let looked_at_ns = stamp_ns();
        match stat(&self.directory) {
            Ok(now) if (now.st_dev, now.st_ino) == (self.device, self.inode) => {
                self.well_at_ns.store(looked_at_ns, Ordering::Relaxed);
                Ok(())
            }
            Ok(now) if now.st_dev != self.device => Err(format!(
                "{path} is on another file system than when the run began: that one was unmounted or another was mounted over it"
            )),
            Ok(_) => Err(format!(
                "{path} is another directory than when the run began: it was moved or replaced"
            )),
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => Err(format!(
                "{path} cannot be found any more ({errno}): its file system was unmounted, or it was moved or removed"
            )),
            Err(errno) => {
                let advice = advice::for_errno(Some(errno.raw_os_error()));
                Err(format!("{path} cannot be examined any more: {errno}{advice}"))
            }
        }
    }

    /// Removes what the run made here; then its mark, its own directory, and the traces in the user's.
    fn leave(&self, numbers_made: u64, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let (mut done, all_gone) = match Removal::new(&self.manifest, &self.held, numbers_made, progress) {
            Ok(mut removal) => {
                removal.directory(&self.held, &self.directory);
                if self.check().is_err() {
                    self.leave_beneath(&mut removal);
                }
                removal.finish()
            }
            Err(errno) => (
                left(&self.directory, format!("its manifest cannot be examined: {errno}")),
                false,
            ),
        };
        if all_gone {
            self.unmark(&mut done);
        } else {
            let why = format!(
                "its manifest stays: 'postmark clean {}' removes the rest when that can be done",
                self.directory.display()
            );
            done.left.extend(left(&self.directory, why).left);
        }
        done
    }

    /// Where the path leads elsewhere now, calls by path may have made files there.
    fn leave_beneath(&self, removal: &mut Removal<'_>) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Nothing at the path: nothing can have been made there.
        if let Ok(beneath) = openat(CWD, &self.directory, flags, Mode::empty()) {
            removal.beneath(&beneath, &self.directory, self.well_at_ns.load(Ordering::Relaxed));
        }
    }

    /// Whether the run's own directory still has this name in the user's.
    fn is_named(&self, name: &OsStr) -> Result<(), Errno> {
        let named = statat(&self.users, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (named.st_dev, named.st_ino) == (self.device, self.inode) {
            Ok(())
        } else {
            Err(Errno::NOENT)
        }
    }

    fn unmark(&self, done: &mut CleanUp) {
        let mut unmarked = unlinkat(&self.held, manifest::NAME, AtFlags::empty());
        if self.manifest.kind == Kind::OwnDirectory {
            let name = self.directory.file_name().unwrap_or_default();
            unmarked = unmarked
                .and_then(|()| self.is_named(name))
                .and_then(|()| unlinkat(&self.users, name, AtFlags::REMOVEDIR));
            if unmarked.is_ok() {
                done.directories += 1;
            }
        }
        // Times that cannot be set back are no reason to fail: the directory may be another owner's.
        let _ = self.manifest.before.restore(&self.users);
        if let Err(errno) = unmarked {
            done.left
                .extend(left(&self.directory, format!("cannot be removed: {errno}")).left);
        }
    }
}

fn left(path: &std::path::Path, why: String) -> CleanUp {
    CleanUp {
        left: vec![record::Left {
            path: path.to_string_lossy().into_owned(),
            why,
        }],
        ..CleanUp::default()
    }
}

impl Site for Grounds {
    fn check(&self) -> Result<(), String> {
        self.0.iter().try_for_each(Ground::check)
    }

    fn leave(&mut self, numbers_made: u64, progress: &mut dyn FnMut(u64)) -> CleanUp {
        let mut done = CleanUp::default();
        // The last one first: a directory that two of them lie in then gets back its times before the first.
        for ground in self.0.iter().rev() {
            let before = done.files;
            let part = ground.leave(numbers_made, &mut |files| progress(before + files));
            done.files += part.files;
            done.directories += part.directories;
            done.beneath += part.beneath;
            done.left.extend(part.left);
        }
        done
    }
}

impl Ground {
    fn new(directory: PathBuf, held: OwnedFd, users: OwnedFd, manifest: Manifest, lock: File) -> Result<Self, Errno> {
        let facts = fstat(&held)?;
        Ok(Self {
            directory,
            held,
            users,
            manifest,
            _lock: lock,
            device: facts.st_dev,
            inode: facts.st_ino,
            well_at_ns: AtomicI64::new(0),
        })
    }
}
