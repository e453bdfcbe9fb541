//! A FUSE file system on top of a directory, whose server can be slowed or stalled.
//!
//! Files are those of the backing directory, with the same inode numbers, owners, modes and times.
//! The kernel caches neither names nor attributes, so almost every call on the mount is a request
//! to the server. One thread of the mounting process serves all requests. While this thread is
//! stalled, every call on the mount waits, as with a server that hangs. The kernel handles `flock`
//! itself. Birth times, `O_TMPFILE` and `SYNCFS` are not supported, as on most servers.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::mount::{MountFlags, UnmountFlags};

use crate::device::device;
use crate::files::Files;
use crate::gate::Gate;
use crate::options::{Delayed, Options, RequestKind};

/// Mounts a directory at another path.
#[derive(Clone, Copy, Debug)]
pub struct Passthrough;

impl Passthrough {
    /// Mounts `backing` at `point`, for all users.
    pub fn mount(backing: &Path, point: &Path, options: Options) -> io::Result<Mounted> {
        let point = point.canonicalize()?;
        let device = device()?;
        let gate = Arc::new(Gate::new(options.delay));
        let files = Files::new(File::open(backing)?, options, Arc::clone(&gate))?;
        let data = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions",
            device.as_raw_fd()
        );
        rustix::mount::mount(
            "passthrough",
            &point,
            "fuse.passthrough",
            MountFlags::NODEV | MountFlags::NOSUID,
            CString::new(data)?.as_c_str(),
        )?;
        // From here on, dropping `mounted` unmounts the file system after an error.
        let mut mounted = Mounted {
            point,
            gate,
            serving: None,
        };
        let mut config = Config::default();
        config.acl = SessionACL::All;
        let session = Session::from_fd(files, OwnedFd::from(device), SessionACL::All, config)?;
        mounted.serving = Some(session.spawn()?);
        Ok(mounted)
    }
}

/// A mounted file system. Dropping the value unmounts the file system even if the server is stalled
/// or files are open; waiting calls then fail.
pub struct Mounted {
    point: PathBuf,
    gate: Arc<Gate>,
    serving: Option<BackgroundSession>,
}

impl Mounted {
    #[must_use]
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// The number of delayed requests, and the total time of delays, since the file system was
    /// mounted.
    #[must_use]
    pub fn delayed(&self) -> Delayed {
        self.gate.delayed()
    }

    /// Stalls the server as if its process were stopped: the server accepts no further request.
    /// Processes that wait for the server can be killed, except in `close`, whose request the
    /// kernel does not interrupt.
    ///
    /// # Panics
    /// Panics if the system cannot start a thread.
    pub fn stall(&self) {
        let (gate, point) = (Arc::clone(&self.gate), self.point.clone());
        // The server is stalled by a request of a separate thread, so no thread of the test is
        // blocked.
        let marks = thread::Builder::new()
            .name("stall".to_owned())
            .spawn(move || {
                gate.stall_by(
                    rustix::thread::gettid()
                        .as_raw_nonzero()
                        .get()
                        .unsigned_abs(),
                );
                // The result after the server resumes is not needed.
                let _ = rustix::fs::statvfs(&point);
            });
        marks.expect("the system has no thread");
        assert!(
            self.wait_for_request(Duration::from_secs(60)),
            "the server does not stall"
        );
    }

    /// Stalls the server after it has accepted the next request of this kind. The process that made
    /// the request waits until the server resumes or the connection ends, and cannot be killed.
    pub fn stall_at(&self, operation: RequestKind) {
        self.gate.stall_at(operation);
    }

    /// Resumes the server; waiting requests are performed first.
    pub fn resume(&self) {
        self.gate.resume();
    }

    /// Waits until a request waits for the stalled server; returns `false` if no request does so
    /// within `at_most`.
    #[must_use]
    pub fn wait_for_request(&self, at_most: Duration) -> bool {
        self.gate.wait_for_request(at_most)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // FORCE makes the kernel end the connection and all its requests first. DETACH unmounts
        // although files are open; calls on the open descriptors fail afterwards.
        let unmounted =
            rustix::mount::unmount(&self.point, UnmountFlags::FORCE | UnmountFlags::DETACH);
        self.gate.end();
        let Some(serving) = self.serving.take() else {
            return;
        };
        // The serving thread ends when the file system is unmounted, here or by another process.
        // While the file system is mounted, joining the thread would block forever.
        if unmounted.is_ok() || serving.guard.is_finished() {
            let _ = serving.join();
        }
    }
}
