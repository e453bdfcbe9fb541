//! What the supervisor watches, and the watch of mounts.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use record::{Fact, HostId, Record};
use rundir::landmark::Landmarks;
use rundir::run_directory::RunDirectories;
use rundir::worker_status::Slot;
use rustix::pipe::PipeFlags;
use spec::Drive;
use system::{MountChanges, Sources, Waited, WatchedAccount, WatchedDevices};

use super::messages::Message;
use crate::acknowledged::AcknowledgedByAll;
use crate::control::Control;
use crate::counter_baseline::Since;
use crate::path_builder::Namer;
use crate::pauses::PauseWatch;
use crate::servers::WatchedServers;
use crate::worker::Answer;

/// Names things of a pool that a worker is at.
pub(crate) struct PoolOfWorker {
    pub namer: Namer,
    /// Its directory in each location; nothing where there is one pool.
    pub directory: Option<String>,
}

/// What the supervisor is to do, and with what.
pub(crate) struct Watch {
    pub messages: Receiver<(u32, Message)>,
    /// The number of this process's first worker among those of all ranks; all that is here by
    /// worker begins with it.
    pub first_worker: u32,
    /// By worker.
    pub answers: Vec<Sender<Answer>>,
    /// By worker, of each of its flights.
    pub slots: Vec<Vec<Arc<Slot>>>,
    /// By worker, the pool that it is at.
    pub pools: Vec<PoolOfWorker>,
    /// Those that workers turn to after the preparation; empty where they stay at theirs.
    pub neighbours: Vec<PoolOfWorker>,
    /// Those that workers check for others; empty where they check none.
    pub checked: Vec<PoolOfWorker>,
    pub owned: Arc<RunDirectories>,
    pub landmarks: Landmarks,
    pub sync: bool,
    /// Whether caches are dropped before the transactions.
    pub drop_caches: bool,
    /// Whether the pool is one of an earlier run.
    pub reuse: bool,
    pub drive: Drive,
    /// The devices to be watched, where the kernel's counters are to be read over time.
    pub devices: Option<Fact<WatchedDevices>>,
    /// Nothing where nobody watches for pauses.
    pub pauses: Option<PauseWatch>,
    /// What is to be read at the borders of phases; nothing where the storage touches no file
    /// system.
    pub account: Option<WatchedAccount>,
    /// The servers whose traffic belongs to it; nothing where the storage speaks to none.
    pub servers: Option<WatchedServers>,
    /// The machine, for a run of several ranks.
    pub host: Option<HostId>,
    /// What workers have acknowledged, for those of other ranks.
    pub acknowledged: AcknowledgedByAll,
    pub now_ns: Box<dyn Fn() -> u64>,
    pub origin_ns: u64,
    /// When the machine's counters began to count for the run; nothing where nobody takes records.
    pub since: Option<Arc<Since>>,
    /// Where somebody on the first of several ranks takes records: the record of all ranks, on
    /// that one as far as they have come.
    pub merged: Option<Box<Record>>,
    /// Mounts are watched until it is dropped.
    pub mounts: Option<OwnedFd>,
}

/// Stops the workers as soon as a change of mounts takes their place away: calls by path would meet
/// what lies beneath. Watches until what it gives is dropped; gives nothing where the system has no
/// such watch, and the looks of every second remain.
pub(crate) fn watch_mounts(control: Control, landmarks: Landmarks) -> Option<OwnedFd> {
    let changes = MountChanges::watch(&Sources::default()).ok()?;
    let (until, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).ok()?;
    let watching = thread::Builder::new()
        .name("mounts".to_owned())
        .spawn(move || {
            while let Ok(Waited::Changed) = changes.wait(&until) {
                if landmarks.look().is_err() {
                    // The landmarks keep what was found, and who looks on says it.
                    control.stop();
                }
            }
        });
    watching.ok().map(|_| end)
}
