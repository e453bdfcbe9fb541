//! Calls on a target that may never return. Each call runs in its own thread, and the caller waits
//! with a time limit.
//!
//! The thread that writes the record and the report neither calls a target nor closes files on it.
//! If a server hangs, such a call could keep the thread in the kernel, even after a signal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::Stalled;

use crate::control::Control;
use crate::error::NoAnswer;
use crate::events::{Event, Events, Progress, Stage};

/// Interval at which a wait sends progress and checks for signals.
pub(crate) const TELL_EVERY: Duration = Duration::from_millis(100);
/// Number of stall timeouts after which a call is abandoned.
pub(crate) const GIVE_UP_AFTER: u32 = 5;
/// Longest time that a stopping run waits for a call. The record and the report must be ready 10 s
/// after a signal.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Calls `act` in its own thread and waits up to `limit` for its result.
///
/// # Errors
/// Returns the reason why there is no result. The call may still be running.
pub fn within<A: Send + 'static>(
    limit: Duration,
    act: impl FnOnce() -> A + Send + 'static,
) -> Result<A, NoAnswer> {
    wait(act, drop, &mut |waited| waited < limit, &AtomicU64::new(0))
}

/// Calls `act` in its own thread and waits for its result. During the wait, `goes_on` is called
/// with the time since the last change of `progress`, and ends the wait by returning false. If
/// `act` returns later, its thread passes the result to `late`.
fn wait<A: Send + 'static>(
    act: impl FnOnce() -> A + Send + 'static,
    late: impl FnOnce(A) + Send + 'static,
    goes_on: &mut dyn FnMut(Duration) -> bool,
    progress: &AtomicU64,
) -> Result<A, NoAnswer> {
    // The lock ensures that each result goes either to the caller or to `late`, even if it arrives
    // just as the caller stops waiting.
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

/// Waits until a call ends. Not generic, so that this code is compiled only once for all types of
/// results.
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
            // The error is ignored: the receiver no longer exists if the caller has stopped
            // waiting.
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

/// A call on the target, with its description for events.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The action as a verb phrase. Messages consist of this phrase and the path.
    pub what: String,
    pub path: String,
    /// Counter of the call's progress. The wait is extended whenever the counter changes.
    pub progress: Arc<AtomicU64>,
    /// The stage whose progress the counter reports; `None` if no progress is reported.
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

/// Waits for calls with a time limit, handles stop requests and sends events.
pub(crate) struct Waiter<'e> {
    pub control: Control,
    /// Time after which a call is reported as stalled.
    pub stall_timeout: Duration,
    pub events: &'e mut dyn Events,
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

    /// Waits as [`Self::wait_for`] does, and passes a result that arrives after the wait to `late`.
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

    /// Sends the progress of a call that has taken `waited`, and reports a stalled call. Returns
    /// whether to continue waiting.
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

#[derive(Default)]
struct Waiting {
    /// Index in the list of stalled calls, if the call was reported.
    named: Option<usize>,
    /// Time at which the wait first noticed the stop request.
    stopping: Option<Instant>,
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
