//! A FUSE file system over a directory, whose server can be slow or stopped: a support of tests,
//! not a part of the program.
//!
//! Files are those of the backing directory, with the same inode numbers, owners, modes and times.
//! The kernel keeps no names or attributes, so that nearly every call on the mount is a request to
//! the server. One thread serves, in the process that mounted: while it is stalled, every call on
//! the mount waits, as with a server that hangs. The kernel answers to `flock` itself. Birth times,
//! `O_TMPFILE` and `SYNCFS` are not provided, as with most servers.
//!
//! Mounting needs root and `/dev/fuse`: [`is_possible`] tells.

mod files;
mod gate;
mod options;
mod tree;

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fuser::{BackgroundSession, Config, Session, SessionACL};
use rustix::mount::{MountFlags, UnmountFlags};

use crate::files::Files;
use crate::gate::Gate;
pub use crate::options::{Delay, Delayed, Options, RequestKind};

/// Whether a FUSE file system can be mounted here; why not, for a test that is skipped.
///
/// # Errors
/// What is missing.
pub fn is_possible() -> Result<(), &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("mounting needs root");
    }
    match device() {
        Ok(_) => Ok(()),
        Err(_) => Err("there is no /dev/fuse"),
    }
}

fn device() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/fuse")
}

/// What mounts a directory elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Passthrough;

impl Passthrough {
    /// Mounts `backing` at `point`, for all users.
    ///
    /// # Errors
    /// What the system answered.
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
        // From here on whatever happens unmounts.
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

/// A mounted file system; dropping it unmounts it, also where it is stalled or in use: who waits
/// for it gets an error.
pub struct Mounted {
    point: PathBuf,
    gate: Arc<Gate>,
    serving: Option<BackgroundSession>,
}

impl Mounted {
    /// Where it is mounted.
    #[must_use]
    pub fn point(&self) -> &Path {
        &self.point
    }

    /// What the delay that was asked for came to since the file system was mounted.
    #[must_use]
    pub fn delayed(&self) -> Delayed {
        self.gate.delayed()
    }

    /// The server hangs as a process does that was stopped: it takes no later request. Whoever
    /// waits for it can be killed, but not in a `close`: for its request the kernel waits
    /// whatever comes.
    ///
    /// # Panics
    /// Where the system has no thread.
    pub fn stall(&self) {
        let (gate, point) = (Arc::clone(&self.gate), self.point.clone());
        // A request of our own is the one that the server has taken: it keeps no other thread than
        // that one.
        let marks = thread::Builder::new()
            .name("stall".to_owned())
            .spawn(move || {
                gate.stall_by(
                    rustix::thread::gettid()
                        .as_raw_nonzero()
                        .get()
                        .unsigned_abs(),
                );
                // What it answers when it goes on is of no interest.
                let _ = rustix::fs::statvfs(&point);
            });
        marks.expect("the system has no thread");
        assert!(
            self.wait_for_request(Duration::from_secs(60)),
            "the server does not stall"
        );
    }

    /// The server hangs from the next request of this kind on, which it has taken: its caller waits
    /// until the server goes on or the connection is ended, and cannot even be killed.
    pub fn stall_at(&self, operation: RequestKind) {
        self.gate.stall_at(operation);
    }

    /// The server goes on, with what waited first.
    pub fn resume(&self) {
        self.gate.resume();
    }

    /// Waits until somebody waits for the stalled server; false where nobody did in that time.
    #[must_use]
    pub fn wait_for_request(&self, at_most: Duration) -> bool {
        self.gate.wait_for_request(at_most)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // By force: the kernel ends the connection first, and every request with it. Lazily:
        // whoever still has a file open keeps a dead one.
        let unmounted =
            rustix::mount::unmount(&self.point, UnmountFlags::FORCE | UnmountFlags::DETACH);
        self.gate.end();
        let Some(serving) = self.serving.take() else {
            return;
        };
        // Somebody else may have unmounted it. Where it is still there, its thread would never end.
        if unmounted.is_ok() || serving.guard.is_finished() {
            let _ = serving.join();
        }
    }
}
