//! The file system as a mount, and the crash between two requests or in the middle of one.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use fuser::{BackgroundSession, Config, Errno, Session, SessionACL};
use rustix::mount::{MountFlags, UnmountFlags};

use super::bug::Bug;
use super::model::Model;
use super::moment::Moment;
use crate::device::device;

/// What happens to requests.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Requests {
    #[default]
    Served,
    /// The file system has crashed, and the processes that use it are not yet killed.
    Wait,
    /// The processes are killed. A request that they made before, and that arrives now, must change
    /// nothing.
    Fail,
}

#[derive(Default)]
pub(super) struct Power {
    requests: Requests,
    /// The next request of this kind crashes the file system.
    crash_at: Option<Moment>,
}

/// The files, and whether the file system serves requests.
pub(super) struct Shared {
    state: Mutex<(Model, Power)>,
    /// Signals the serving thread that requests no longer wait.
    released: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Model, Power)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After a crash, waits until the processes that use the file system are killed. A request that
    /// arrived meanwhile fails, because the process that made it did not survive the crash.
    pub(super) fn serve(&self) -> Result<MutexGuard<'_, (Model, Power)>, Errno> {
        let state = self.lock();
        match state.1.requests {
            Requests::Served => Ok(state),
            Requests::Wait | Requests::Fail => Err(self.wait(state)),
        }
    }

    fn wait(&self, state: MutexGuard<'_, (Model, Power)>) -> Errno {
        let waits = |state: &mut (Model, Power)| state.1.requests == Requests::Wait;
        let released = self.released.wait_while(state, waits);
        drop(released.unwrap_or_else(PoisonError::into_inner));
        Errno::EIO
    }

    /// Crashes in the middle of a request of this kind if one was chosen: `act` performs the
    /// request, or chance omits it, and its reply is never sent. Returns the error for the request
    /// after its process was killed, or performs it without a crash.
    pub(super) fn at<T>(
        &self,
        moment: Moment,
        act: impl FnOnce(&mut Model) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut state = self.serve()?;
        let (model, power) = &mut *state;
        if power.crash_at != Some(moment) {
            return act(model);
        }
        if model.tosses() {
            // A request that fails changes nothing.
            let _ = act(model);
        }
        crash(model, power);
        Err(self.wait(state))
    }
}

fn crash(model: &mut Model, power: &mut Power) {
    model.crash();
    *power = Power {
        requests: Requests::Wait,
        crash_at: None,
    };
}

/// The file system that serves the requests of the kernel.
pub(super) struct Forget {
    pub(super) shared: Arc<Shared>,
}

/// A mounted file system that forgets. Dropping the value unmounts it, and all its files are lost.
pub struct Forgetting {
    point: PathBuf,
    shared: Arc<Shared>,
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
        let shared = Arc::new(Shared {
            state: Mutex::new((Model::new(seed, bug), Power::default())),
            released: Condvar::new(),
        });
        let mut mounted = Self {
            point,
            shared: Arc::clone(&shared),
            serving: None,
        };
        let mut config = Config::default();
        config.acl = SessionACL::All;
        let session = Session::from_fd(
            Forget { shared },
            OwnedFd::from(device),
            SessionACL::All,
            config,
        )?;
        mounted.serving = Some(session.spawn()?);
        Ok(mounted)
    }

    /// Sets the seed of what survives the next crash.
    pub fn seed(&self, seed: u64) {
        self.shared.lock().0.seed(seed);
    }

    /// Crashes the file system now.
    pub fn crash(&self) {
        let mut state = self.shared.lock();
        let (model, power) = &mut *state;
        if power.requests == Requests::Served {
            crash(model, power);
        }
    }

    /// Crashes the file system in the middle of the next request of this kind; `None` withdraws
    /// this.
    pub fn crash_at(&self, moment: Option<Moment>) {
        self.shared.lock().1.crash_at = moment;
    }

    #[must_use]
    pub fn has_crashed(&self) -> bool {
        self.shared.lock().1.requests != Requests::Served
    }

    /// Fails requests with EIO until [`revive`](Self::revive): those that wait since a crash, and
    /// later ones. The processes that use the file system must have been killed before; they end
    /// when their requests have failed.
    pub fn fail_requests(&self) {
        self.shared.lock().1.requests = Requests::Fail;
        self.shared.released.notify_all();
    }

    /// Serves requests again, with the files that are durable. The killed processes must have ended
    /// before: a request that one of them had begun could otherwise arrive now, and change a file.
    pub fn revive(&self) {
        self.shared.lock().1.requests = Requests::Served;
    }
}

impl Drop for Forgetting {
    fn drop(&mut self) {
        self.fail_requests();
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
