//! The inputs of the supervisor, and the watch of mount changes.

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

/// Builds the names of files in a worker's pool, for messages and for samples of the pool.
pub(crate) struct PoolOfWorker {
    pub namer: Namer,
    /// Name of the worker's directory in each location; `None` for a shared pool or a single
    /// worker.
    pub directory: Option<String>,
}

pub(crate) struct Watch {
    pub messages: Receiver<(u32, Message)>,
    /// Number of this process's first worker among the workers of all ranks. In all lists by
    /// worker, index 0 is this worker.
    pub first_worker: u32,
    /// Channels for answers to the workers, by worker.
    pub answers: Vec<Sender<Answer>>,
    /// Status slots by worker, one for each operation that can be in flight.
    pub slots: Vec<Vec<Arc<Slot>>>,
    /// The pools that the workers prepare, by worker.
    pub pools: Vec<PoolOfWorker>,
    /// The pools that workers change to after the preparation; empty if workers keep their own
    /// pools.
    pub neighbours: Vec<PoolOfWorker>,
    /// The pools that workers check for other ranks; empty if workers check none.
    pub checked: Vec<PoolOfWorker>,
    pub owned: Arc<RunDirectories>,
    pub landmarks: Landmarks,
    pub sync: bool,
    /// Whether caches are dropped before the transactions.
    pub drop_caches: bool,
    /// Whether the pool is from an earlier run.
    pub reuse: bool,
    pub drive: Drive,
    /// The devices whose counters are read in each second; `None` if they are not read.
    pub devices: Option<Fact<WatchedDevices>>,
    /// `None` if pauses are not detected.
    pub pauses: Option<PauseWatch>,
    /// The counters to read at the start and end of phases; `None` if the engine creates no files.
    pub account: Option<WatchedAccount>,
    /// The servers whose messages are part of the evidence; `None` if the engine has no network
    /// client.
    pub servers: Option<WatchedServers>,
    /// Identity of this host in a run with several ranks; `None` with a single process.
    pub host: Option<HostId>,
    /// Operations that workers acknowledged, for checks by other ranks.
    pub acknowledged: AcknowledgedByAll,
    pub now_ns: Box<dyn Fn() -> u64>,
    pub origin_ns: u64,
    /// The counters at the start of the run; `None` if no sink takes records.
    pub since: Option<Arc<Since>>,
    /// The merged record of all ranks, without incomplete phases. Only the first rank stores and
    /// updates it; `None` if its event sink takes no records.
    pub merged: Option<Box<Record>>,
    /// Mount changes are watched until this value is dropped.
    pub mounts: Option<OwnedFd>,
}

/// Stops the workers when a mount change hides the run's directories, because calls by path would
/// then reach other directories.
///
/// Watches until the returned value is dropped. Returns `None` if the system cannot watch mount
/// changes. In that case the regular checks still detect the change within a second.
pub(crate) fn watch_mounts(control: Control, landmarks: Landmarks) -> Option<OwnedFd> {
    let changes = MountChanges::watch(&Sources::default()).ok()?;
    let (until, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).ok()?;
    let watching = thread::Builder::new()
        .name("mounts".to_owned())
        .spawn(move || {
            while let Ok(Waited::Changed) = changes.wait(&until) {
                if landmarks.look().is_err() {
                    // `landmarks` stores the reason, and the supervisor reports it.
                    control.stop();
                }
            }
        });
    watching.ok().map(|_| end)
}
