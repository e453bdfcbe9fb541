//! What is asked of the file system between phases, and of the place while they go on: each in a thread of its own, as a file
//! system that does not answer would keep the thread, and nobody would be told.

use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use record::{Fact, Settle, Stuck};
use workload::{End, Phase};

use super::{CHECK_EVERY, GIVE_UP_AFTER, GRACE, SPACE_BACK_MAX, SPACE_SLACK_BYTES, Supervisor, TELL_EVERY};
use crate::events::{Event, Progress, Stage};
use crate::site::Volumes;

impl Supervisor<'_, '_> {
    /// Looks every now and then whether the place is still the same: in a thread of its own, as a file system that does
    /// not answer would keep the look, and nobody would be told.
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
            // Nobody may be waiting any more.
            let _ = tell.send(landmarks.look());
        });
        // Where there is no thread to be had, the next border looks.
        self.look = looking.ok().map(|_| told);
    }

    /// Looks whether the place is still the same, and waits for the answer.
    pub(super) fn wait_for_look(&mut self) {
        if self.watched.abandoned {
            return;
        }
        self.looked = Instant::now();
        let landmarks = self.watch.landmarks.clone();
        if let Some(looked) = self.wait_for("look at the place", move || landmarks.look()) {
            self.place_was(looked);
        }
    }

    pub(super) fn place_was(&mut self, looked: Result<(), String>) {
        if let Err(why) = looked {
            self.watched.gone.get_or_insert(why);
            self.watch.control.stop();
        }
    }

    /// Has the file systems write back what a phase has left. In a thread of its own: it may take for ever.
    pub(super) fn settle(&mut self, phase: Phase) {
        if !self.watch.settle || self.watch.control.is_stopping() {
            return;
        }
        self.events.event(Event::Began(Stage::Settle, Progress::default()));
        let began_ns = self.now_ns();
        let volumes = self.watch.site.volumes();
        let Some(synced) = self.wait_for("settle (syncfs)", move || volumes.sync()) else {
            return;
        };
        let ended_ns = self.now_ns();
        if let Err(why) = synced {
            self.watched.failed = Some(format!(
                "cannot sync the file system after the phase '{}': {why}",
                phase.name()
            ));
            self.watch.control.stop();
            return;
        }
        self.watched.settled.insert(
            phase,
            Settle {
                began_ns,
                ended_ns,
                space_back_ns: Fact::NotApplicable,
            },
        );
        self.events
            .event(Event::Ended(Stage::Settle, Progress::default(), End::Complete));
    }

    /// Waits until the file systems show the space of what was deleted. The directories are gone by then, too, but for
    /// those of the run itself.
    pub(super) fn wait_for_space(&mut self) {
        if self.watched.abandoned || self.watch.control.is_stopping() {
            return;
        }
        let Some(since_ns) = self.watched.settled.get(&Phase::Delete).map(|settle| settle.began_ns) else {
            return;
        };
        let volumes = self.watch.site.volumes();
        let syncs = volumes.clone();
        let synced = self.wait_for("sync the file system after deletion (syncfs)", move || syncs.sync());
        if !matches!(synced, Some(Ok(()))) {
            return;
        }
        let back = self.space_back(&volumes, since_ns);
        if let Some(settle) = self.watched.settled.get_mut(&Phase::Delete) {
            settle.space_back_ns = back;
        }
    }

    pub(super) fn space_back(&self, volumes: &Volumes, since_ns: u64) -> Fact<u64> {
        let Some(before) = self.free_before else {
            return Fact::Unavailable("the file system does not tell its free space".to_owned());
        };
        let slack = SPACE_SLACK_BYTES + self.watch.site.own_bytes();
        let began = Instant::now();
        loop {
            let free = volumes.free_bytes().unwrap_or(0);
            if free.saturating_add(slack) >= before {
                return Fact::Known(self.now_ns().saturating_sub(since_ns));
            }
            if began.elapsed() >= SPACE_BACK_MAX + self.deletion_took || self.watch.control.is_stopping() {
                return Fact::Unavailable(format!(
                    "{} bytes were still missing after {} s",
                    before - free,
                    began.elapsed().as_secs()
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Has everything written back, since what is dirty stays in the cache whatever is advised. A pool of an earlier run
    /// may have been left dirty.
    pub(super) fn write_back(&mut self) {
        if self.watch.control.is_stopping() {
            return;
        }
        let volumes = self.watch.site.volumes();
        if let Some(Err(why)) = self.wait_for("write back before the cache is cooled (syncfs)", move || volumes.sync())
        {
            self.watched.failed = Some(format!("cannot sync the file system before the cache is cooled: {why}"));
            self.watch.control.stop();
        }
    }

    pub(super) fn drop_caches(&mut self) {
        if !self.watch.drop_caches {
            return;
        }
        let volumes = self.watch.site.volumes();
        let dropped = self.wait_for("drop the caches", move || {
            volumes.sync()?;
            observe::drop_caches().map_err(|error| error.to_string())
        });
        if let Some(Err(why)) = dropped {
            self.watched.failed = Some(format!("cannot drop the system's caches: {why}"));
            self.watch.control.stop();
        }
    }

    /// Does something in a thread of its own, and waits for it, but not for ever. Nothing where the run is given up.
    pub(super) fn wait_for<A: Send + 'static>(
        &mut self,
        what: &str,
        act: impl FnOnce() -> A + Send + 'static,
    ) -> Option<A> {
        let (tell, told) = mpsc::channel();
        let acting = thread::Builder::new().spawn(move || {
            // Nobody may be waiting any more.
            let _ = tell.send(act());
        });
        if let Err(error) = acting {
            self.watched.failed = Some(format!("cannot {what}: no thread can be started: {error}"));
            self.watch.control.stop();
            return None;
        }
        let began = Instant::now();
        let mut named = None;
        let mut stopping_since = None;
        loop {
            match told.recv_timeout(TELL_EVERY) {
                Ok(answer) => {
                    if let Some(index) = named {
                        let stuck: &mut Stuck = &mut self.watched.stuck[index];
                        stuck.came_back = true;
                        stuck.ns = began.elapsed().as_nanos() as u64;
                    }
                    return Some(answer);
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let elapsed = began.elapsed();
            if elapsed >= self.watch.stuck_after && named.is_none() {
                named = Some(self.watched.stuck.len());
                self.name_stuck(Stuck {
                    worker: None,
                    operation: what.to_owned(),
                    path: self.watch.site.describe(),
                    ns: elapsed.as_nanos() as u64,
                    came_back: false,
                });
            }
            if self.watch.control.is_stopping() {
                stopping_since.get_or_insert_with(Instant::now);
            }
            let in_vain = stopping_since.is_some_and(|since| since.elapsed() >= GRACE);
            if in_vain || elapsed >= self.watch.stuck_after * GIVE_UP_AFTER {
                self.watched.abandoned = true;
                self.watched.failed = Some(format!(
                    "cannot {what}: it did not come back for {} s",
                    elapsed.as_secs()
                ));
                self.watch.control.stop();
                return None;
            }
        }
    }
}
