//! Calls on the file system between phases, and checks of the run's directories. Each call runs in
//! its own thread, so that the supervisor can report a call that never returns from a hanging file
//! system.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use document::units::bytes;
use record::{Fact, PhaseSync};
use workload::{End, Phase};

use super::state::Supervisor;
use crate::control::Control;
use crate::error::NoAnswer;
use crate::events::{Event, Progress, Stage};
use crate::timed_call::Call;
use rundir::run_directory::RunDirectories;

/// Interval between checks of the run's directories.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Longest wait for free space after deletion, in addition to the duration of the deletion.
const SPACE_BACK_MAX: Duration = Duration::from_secs(2);
/// Tolerance of the wait for free space, in bytes, in addition to the space of the run's own
/// directories.
const SPACE_SLACK_BYTES: u64 = 1 << 20;

impl Supervisor<'_> {
    /// Checks at regular intervals that the run's directories still exist. The check runs in its
    /// own thread, because a hanging file system may block it.
    pub(super) fn look_at_place(&mut self) {
        if let Some(look) = &self.look {
            match look.try_recv() {
                Err(TryRecvError::Empty) => return,
                Ok(looked) => {
                    self.look = None;
                    self.place_was(looked);
                }
                Err(TryRecvError::Disconnected) => self.look = None,
            }
        }
        if self.looked.elapsed() < CHECK_EVERY {
            return;
        }
        self.looked = Instant::now();
        let (tell, told) = mpsc::channel();
        let landmarks = self.watch.landmarks.clone();
        let looking = thread::Builder::new().spawn(move || {
            // The error is ignored: the supervisor may have ended.
            let _ = tell.send(landmarks.look());
        });
        // If no thread can be started, the next barrier checks the directories.
        self.look = looking.ok().map(|_| told);
    }

    /// Checks that the run's directories still exist, and waits for the result.
    pub(super) fn wait_for_look(&mut self) {
        if self.watched.abandoned {
            return;
        }
        self.looked = Instant::now();
        let landmarks = self.watch.landmarks.clone();
        if let Some(looked) = self.wait_for("check the run directory", move || landmarks.look()) {
            self.place_was(looked);
        }
    }

    pub(super) fn place_was(&mut self, looked: Result<(), String>) {
        if let Err(why) = looked {
            self.watched.gone.get_or_insert(why);
            self.waiter.control.stop();
        }
    }

    /// Writes back the dirty data of a phase. The call runs in its own thread, because it may never
    /// return.
    pub(super) fn sync(&mut self, phase: Phase) {
        if !self.watch.sync || self.is_stopping() {
            return;
        }
        self.tell(Event::PhaseStarted(Stage::PhaseSync, Progress::default()));
        self.evidence.begin();
        let began_ns = self.now_ns();
        let owned = Arc::clone(&self.watch.owned);
        let Some(synced) = self.wait_for("sync (syncfs)", move || owned.volumes().sync()) else {
            return;
        };
        let ended_ns = self.now_ns();
        let syncing = self.evidence.counted().map(|(counted, _)| counted);
        if let Some(evidence) = &mut self.watched.of_phase(phase).evidence {
            evidence.syncing = syncing;
        }
        if let Err(why) = synced {
            self.fail(format!(
                "cannot sync the file system after the phase '{}': {why}",
                phase.name()
            ));
            return;
        }
        self.watched.of_phase(phase).sync = Some(PhaseSync {
            began_ns,
            ended_ns,
            space_back_ns: Fact::NotApplicable,
        });
        self.tell(Event::PhaseEnded(
            Stage::PhaseSync,
            Progress::default(),
            End::Complete,
        ));
    }

    /// Waits until the file systems report the space of deleted files as free. At this point the
    /// pool's subdirectories are deleted, but the run's own directories are not.
    pub(super) fn wait_for_space(&mut self) {
        if self.watched.abandoned || self.is_stopping() {
            return;
        }
        let Some(sync) = &self.watched.of_phase(Phase::Delete).sync else {
            return;
        };
        let since_ns = sync.began_ns;
        let stage = Stage::FreeSpace;
        self.tell(Event::PhaseStarted(stage, Progress::default()));
        let back = self.synced_space_back();
        let ended = match back {
            Some(_) => Event::PhaseEnded(stage, Progress::default(), End::Complete),
            None => Event::PhaseAborted(stage, Progress::default()),
        };
        self.tell(ended);
        let Some(back) = back else {
            return;
        };
        let back = match back {
            Ok(()) => Fact::Known(self.now_ns().saturating_sub(since_ns)),
            Err(why) => Fact::Unavailable(why),
        };
        if let Some(sync) = &mut self.watched.of_phase(Phase::Delete).sync {
            sync.space_back_ns = back;
        }
    }

    /// Syncs the file systems and waits until the space of deleted files is free. Returns `None` if
    /// a call was abandoned or the sync failed.
    fn synced_space_back(&mut self) -> Option<Result<(), String>> {
        let owned = Arc::clone(&self.watch.owned);
        let synced = self.wait_for("sync the file system after deletion (syncfs)", move || {
            owned.volumes().sync()
        });
        matches!(synced, Some(Ok(())))
            .then(|| self.space_back())
            .flatten()
    }

    /// Reads the free space before the run creates files.
    pub(super) fn look_at_space(&mut self) {
        let owned = Arc::clone(&self.watch.owned);
        let free = self.wait_for("read the free space", move || owned.volumes().free_bytes());
        self.free_before = free.flatten();
    }

    /// Waits until the file systems report as much free space as before the run. Returns `None` if
    /// the wait was abandoned.
    fn space_back(&mut self) -> Option<Result<(), String>> {
        let Some(before) = self.free_before else {
            return Some(Err(
                "the file system does not report its free space".to_owned()
            ));
        };
        let owned = Arc::clone(&self.watch.owned);
        let control = self.waiter.control.clone();
        let at_most = SPACE_BACK_MAX + self.deletion_took;
        let call = self.call("wait for the space of deleted files");
        let looks = Arc::clone(&call.progress);
        self.wait_for_call(&call, move || {
            wait_for_space(&owned, &control, &looks, (before, at_most))
        })
    }

    /// Marks a reused pool as in use, in its manifest.
    pub(super) fn begin_use(&mut self) {
        let owned = Arc::clone(&self.watch.owned);
        match self.wait_for("rewrite the manifest", move || owned.begin_use()) {
            Some(Ok(())) => self.watched.in_use = true,
            Some(Err(why)) => {
                self.fail(why);
            }
            None => {}
        }
    }

    /// Writes back dirty data before caches are dropped, because dirty pages stay in the cache
    /// despite the advice to drop them. The pool of an earlier run may have dirty pages.
    pub(super) fn write_back(&mut self) {
        if self.is_stopping() {
            return;
        }
        let owned = Arc::clone(&self.watch.owned);
        let synced = self.wait_for(
            "write back before dropping the caches (syncfs)",
            move || owned.volumes().sync(),
        );
        if let Some(Err(why)) = synced {
            self.fail(format!(
                "cannot sync the file system before dropping the caches: {why}"
            ));
        }
    }

    pub(super) fn drop_caches(&mut self) {
        if !self.watch.drop_caches {
            return;
        }
        let owned = Arc::clone(&self.watch.owned);
        let dropped = self.wait_for("drop the caches", move || {
            owned.volumes().sync()?;
            system::drop_caches().map_err(|error| error.to_string())
        });
        if let Some(Err(why)) = dropped {
            self.fail(format!("cannot drop the system's caches: {why}"));
        }
    }

    fn call(&self, what: &str) -> Call {
        Call::new(what, self.watch.owned.describe())
    }

    /// Calls `act` in its own thread and waits with a time limit. Returns `None` if the call is
    /// abandoned.
    pub(super) fn wait_for<A: Send + 'static>(
        &mut self,
        what: &str,
        act: impl FnOnce() -> A + Send + 'static,
    ) -> Option<A> {
        let call = self.call(what);
        self.wait_for_call(&call, act)
    }

    fn wait_for_call<A: Send + 'static>(
        &mut self,
        call: &Call,
        act: impl FnOnce() -> A + Send + 'static,
    ) -> Option<A> {
        let why = match self.waiter.wait_for(call, act) {
            Ok(answer) => return Some(answer),
            Err(why) => why,
        };
        self.watched.abandoned |= matches!(why, NoAnswer::Late(_));
        self.fail(format!("cannot {}: {why}", call.what));
        None
    }
}

/// Waits until the free space reaches `before`, its value before the run created files, except for
/// a small tolerance.
///
/// # Errors
/// Returns how much space is missing if the time limit `at_most` is reached or the run stops.
fn wait_for_space(
    owned: &RunDirectories,
    control: &Control,
    looks: &AtomicU64,
    (before, at_most): (u64, Duration),
) -> Result<(), String> {
    let volumes = owned.volumes();
    let slack = SPACE_SLACK_BYTES + owned.own_bytes();
    let began = Instant::now();
    loop {
        let free = volumes.free_bytes().unwrap_or(0);
        if free.saturating_add(slack) >= before {
            return Ok(());
        }
        if began.elapsed() >= at_most || control.is_stopping() {
            return Err(format!(
                "the file system had not reported {} as free after {} s",
                bytes((before - free) as f64),
                began.elapsed().as_secs()
            ));
        }
        looks.fetch_add(1, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(10));
    }
}
