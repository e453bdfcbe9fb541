//! A FUSE file system in memory that forgets at a crash what was not synced: data, sizes and names.
//!
//! Its promises are those of a journaled file system: a sync of any file or directory makes all
//! earlier changes of names and attributes durable, and a sync of a file also its data and size.
//! [`Bug`] lists defects that can be planted, with which crash tests show that they can fail.
//!
//! Creating the directory [`CRASH_NAME`] in the root crashes the file system: everything that is
//! not durable is lost, and the call succeeds without creating anything. What was not synced may
//! survive by chance, which the seed determines.

mod bug;
mod model;
mod node;
mod requests;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::mount::{MountFlags, UnmountFlags};

pub use self::bug::{Bug, CRASH_NAME};
use self::model::Model;
use crate::device;

/// The file system that serves the requests of the kernel.
pub(crate) struct Forget {
    model: Mutex<Model>,
}

/// A mounted file system that forgets. Dropping the value unmounts it, and all its files are lost.
pub struct Forgetting {
    point: PathBuf,
    serving: Option<BackgroundSession>,
}

impl Forgetting {
    /// Mounts an empty file system at `point`, for all users. `bug` is `None` for an honest one.
    ///
    /// # Errors
    /// Returns the system's error; [`is_possible`](crate::is_possible) checks the requirements.
    pub fn mount(point: &Path, seed: u64, bug: Option<Bug>) -> io::Result<Self> {
        let point = point.canonicalize()?;
        let device = device()?;
        let data = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions",
            device.as_raw_fd()
        );
        rustix::mount::mount(
            "forget",
            &point,
            "fuse.forget",
            MountFlags::NODEV | MountFlags::NOSUID,
            CString::new(data)?.as_c_str(),
        )?;
        // From here on, dropping the value unmounts the file system after an error.
        let mut mounted = Self {
            point,
            serving: None,
        };
        let mut config = Config::default();
        config.acl = SessionACL::All;
        let files = Forget {
            model: Mutex::new(Model::new(seed, bug)),
        };
        let session = Session::from_fd(files, OwnedFd::from(device), SessionACL::All, config)?;
        mounted.serving = Some(session.spawn()?);
        Ok(mounted)
    }
}

impl Drop for Forgetting {
    fn drop(&mut self) {
        let unmounted =
            rustix::mount::unmount(&self.point, UnmountFlags::FORCE | UnmountFlags::DETACH);
        if let Some(serving) = self.serving.take() {
            // While the file system is mounted, joining the thread would block forever.
            if unmounted.is_ok() || serving.guard.is_finished() {
                let _ = serving.join();
            }
        }
    }
}
