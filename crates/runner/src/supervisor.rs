//! The thread that looks on while the worker works: lets it pass the borders of phases, watches that the
//! place is still the same, and tells those who watch how far it is.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::Scope;
use std::time::{Duration, Instant};

use observe::{MountChanges, Sources, Waited};
use rustix::pipe::PipeFlags;
use workload::End;

use crate::control::Control;
use crate::events::{Event, Events, Progress, Stage};
use crate::site::Site;
use crate::worker::Rendezvous;

/// How often watchers are told.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// How often the place is looked at.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// What a worker says at a border.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Message {
    Begins(Stage),
    Ended(Stage, u64, End),
}

/// The worker's end: it waits for an answer before each stage.
pub(crate) struct Border {
    pub messages: Sender<Message>,
    pub answers: Receiver<bool>,
}

impl Rendezvous for Border {
    fn begins(&mut self, stage: Stage) -> bool {
        // A supervisor that is gone has nothing more to allow.
        self.messages.send(Message::Begins(stage)).is_ok() && self.answers.recv().unwrap_or(false)
    }

    fn ended(&mut self, stage: Stage, done: u64, end: End) {
        // Nobody left to be told is no reason to stop.
        let _ = self.messages.send(Message::Ended(stage, done, end));
    }
}

/// Stops the worker as soon as a change of mounts takes its place away: calls by path would meet what lies
/// beneath. Watches until what it gives is dropped; gives nothing where the system has no such watch, and the
/// looks of every second remain.
pub(crate) fn watch_mounts<'scope>(
    scope: &'scope Scope<'scope, '_>,
    control: &'scope Control,
    site: &'scope dyn Site,
) -> Option<OwnedFd> {
    let changes = MountChanges::watch(&Sources::default()).ok()?;
    let (until, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).ok()?;
    scope.spawn(move || {
        while let Ok(Waited::Changed) = changes.wait(&until) {
            if site.check().is_err() {
                // Who looks on will find the same and say it.
                control.stop();
            }
        }
    });
    Some(end)
}

/// Looks on until the worker is done. Gives what became of the place, where that was not well.
pub(crate) fn supervise(
    messages: &Receiver<Message>,
    answers: &Sender<bool>,
    control: &Control,
    site: &dyn Site,
    events: &mut dyn Events,
) -> Option<String> {
    let mut gone = None;
    let mut current = None;
    let mut checked = Instant::now();
    loop {
        let message = messages.recv_timeout(TELL_EVERY);
        let at_a_border = matches!(message, Ok(Message::Begins(_)));
        if gone.is_none() && (at_a_border || checked.elapsed() >= CHECK_EVERY) {
            gone = site.check().err();
            checked = Instant::now();
            if gone.is_some() {
                control.stop();
            }
        }
        match message {
            Ok(Message::Begins(stage)) => {
                let goes_on = !control.is_stopping();
                if goes_on {
                    events.event(Event::Began(stage, control.progress()));
                    current = Some(stage);
                }
                // The worker waits for this answer, so it is there to take it.
                let _ = answers.send(goes_on);
            }
            Ok(Message::Ended(stage, done, end)) => {
                // The counters may be the next stage's already.
                let progress = Progress {
                    done,
                    total: Some(done),
                };
                events.event(Event::Ended(stage, progress, end));
                current = None;
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(stage) = current {
                    events.event(Event::Going(stage, control.progress()));
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if let Some(stage) = current {
        events.event(Event::Broken(stage, control.progress()));
    }
    gone
}
