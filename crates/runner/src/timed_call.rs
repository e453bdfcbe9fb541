//! Calls on a target that may never return: each in a thread of its own, waited for with a limit.
//! The thread that writes the record and reports makes no call on a target itself, nor does it
//! close what is open there: a server that hangs keeps a thread in the kernel, whatever signal
//! comes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::Stalled;

use crate::control::Control;
use crate::error::NoAnswer;
use crate::events::{Event, Events, Progress, Stage};

/// How often those who watch are told, and a signal is looked for.
pub(crate) const TELL_EVERY: Duration = Duration::from_millis(100);
/// What does not return for this many times the time after which it is named is given up.
pub(crate) const GIVE_UP_AFTER: u32 = 5;
/// A run that is to stop does not wait longer than this for a call that does not return: record and
/// report are to be there 10 s after a signal.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Makes a call in a thread of its own, and waits for its answer so long.
///
/// # Errors
/// Why there is no answer; the call may still be going on.
pub fn within<A: Send + 'static>(
    limit: Duration,
    act: impl FnOnce() -> A + Send + 'static,
) -> Result<A, NoAnswer> {
    wait(act, drop, &mut |waited| waited < limit, &AtomicU64::new(0))
}

/// Makes a call in a thread of its own, and waits as long as `goes_on` says of the time since
/// `progress` last changed. What comes too late is given to `late`, in the call's thread.
fn wait<A: Send + 'static>(
    act: impl FnOnce() -> A + Send + 'static,
    late: impl FnOnce(A) + Send + 'static,
    goes_on: &mut dyn FnMut(Duration) -> bool,
    progress: &AtomicU64,
) -> Result<A, NoAnswer> {
    // An answer is either taken by who waits or given to `late`, also where it comes at the moment
    // of giving up.
    let answer = Arc::new(Mutex::new(Answer {
        value: None,
        is_given_up: false,
    }));
    let shared = Arc::clone(&answer);
    let call = move || {
        let acted = act();
        let mut answer = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if answer.is_given_up {
            drop(answer);
            late(acted);
        } else {
            answer.value = Some(acted);
        }
    };
    let ended = wait_for_end(Box::new(call), goes_on, progress);
    let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
    answer.is_given_up = true;
    match (answer.value.take(), ended) {
        (Some(value), _) => Ok(value),
        (None, Ok(())) => Err(NoAnswer::Broken),
        (None, Err(why)) => Err(why),
    }
}

struct Answer<A> {
    value: Option<A>,
    is_given_up: bool,
}

/// Waits for the end of a call, for each kind of answer the same code.
fn wait_for_end(
    call: Box<dyn FnOnce() + Send>,
    goes_on: &mut dyn FnMut(Duration) -> bool,
    progress: &AtomicU64,
) -> Result<(), NoAnswer> {
    let (end, ends) = mpsc::channel();
    let acting = thread::Builder::new()
        .name("target".to_owned())
        .spawn(move || {
            call();
            // Who has given up does not listen.
            let _ = end.send(());
        });
    acting.map_err(NoAnswer::NoThread)?;
    let (mut seen, mut since) = (progress.load(Ordering::Relaxed), Instant::now());
    loop {
        match ends.recv_timeout(TELL_EVERY) {
            Ok(()) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(NoAnswer::Broken),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = progress.load(Ordering::Relaxed);
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        if !goes_on(since.elapsed()) {
            return Err(NoAnswer::Late(since.elapsed()));
        }
    }
}

/// A call on the target, as those who watch are told of it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// In words that a path can follow.
    pub what: String,
    pub path: String,
    /// Counts what it has done: while that goes on, so does the waiting.
    pub progress: Arc<AtomicU64>,
    /// The stage whose progress that is.
    pub stage: Option<Stage>,
}

impl Call {
    pub(crate) fn new(what: &str, path: String) -> Self {
        Self {
            what: what.to_owned(),
            path,
            progress: Arc::default(),
            stage: None,
        }
    }
}

/// How long calls are waited for, who may end that, and who is told.
pub(crate) struct Waiter<'e> {
    pub control: Control,
    /// A call that lasts longer is named.
    pub stall_timeout: Duration,
    pub events: &'e mut dyn Events,
    /// What was named.
    pub stalled: Vec<Stalled>,
}

impl<'e> Waiter<'e> {
    pub(crate) fn new(
        control: Control,
        stall_timeout: Duration,
        events: &'e mut dyn Events,
    ) -> Self {
        Self {
            control,
            stall_timeout,
            events,
            stalled: Vec::new(),
        }
    }

    pub(crate) fn wait_for<A: Send + 'static>(
        &mut self,
        call: &Call,
        act: impl FnOnce() -> A + Send + 'static,
    ) -> Result<A, NoAnswer> {
        self.wait_or(call, act, drop)
    }

    /// The same; `late` gets what comes when nobody waits any more.
    pub(crate) fn wait_or<A: Send + 'static>(
        &mut self,
        call: &Call,
        act: impl FnOnce() -> A + Send + 'static,
        late: impl FnOnce(A) + Send + 'static,
    ) -> Result<A, NoAnswer> {
        let began = Instant::now();
        let mut waiting = Waiting::default();
        let mut goes_on = |waited| self.goes_on(call, &mut waiting, waited);
        let answer = wait(act, late, &mut goes_on, &call.progress);
        if let Some(stalled) = waiting.named.and_then(|index| self.stalled.get_mut(index)) {
            stalled.came_back = answer.is_ok();
            stalled.ns = ns(began.elapsed());
        }
        answer
    }

    /// Tells of a call that has been waited for so long; whether it is waited for any longer.
    fn goes_on(&mut self, call: &Call, waiting: &mut Waiting, waited: Duration) -> bool {
        if let Some(stage) = call.stage {
            let done = call.progress.load(Ordering::Relaxed);
            let progress = Progress {
                done,
                completed: done,
                total: None,
            };
            self.events.event(Event::PhaseProgress(stage, progress));
        }
        if self.control.is_stopping() {
            waiting.stopping.get_or_insert_with(Instant::now);
        }
        let stopping = waiting.stopping;
        let is_in_vain = stopping.is_some_and(|since| since.elapsed().min(waited) >= GRACE);
        if (is_in_vain || waited >= self.stall_timeout) && waiting.named.is_none() {
            let stalled = Stalled {
                worker: None,
                operation: call.what.clone(),
                path: call.path.clone(),
                ns: ns(waited),
                came_back: false,
            };
            waiting.named = Some(self.stalled.len());
            self.events.event(Event::Stalled(stalled.clone()));
            self.stalled.push(stalled);
        }
        !is_in_vain && waited < self.stall_timeout * GIVE_UP_AFTER
    }
}

/// How a call is waited for.
#[derive(Default)]
struct Waiting {
    /// Where it stands among what is stalled, once it was named.
    named: Option<usize>,
    /// Since when the run is to stop.
    stopping: Option<Instant>,
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
