//! Whether requests are answered, and when.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::options::{Delay, Delayed, RequestKind};

#[derive(Default)]
struct State {
    is_stalled: bool,
    /// The first request of this kind stalls the server.
    stall_at: Option<RequestKind>,
    /// A request of this thread stalls the server.
    stall_by: Option<u32>,
    /// A request waits.
    is_waiting: bool,
    has_ended: bool,
    delayed: Delayed,
}

/// Every request passes here before it is performed.
pub(crate) struct Gate {
    delay: Option<Delay>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn new(delay: Option<Delay>) -> Self {
        Self {
            delay,
            state: Mutex::default(),
            changed: Condvar::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps where the server is slow; then waits as long as it is stalled.
    pub(crate) fn pass(&self, operation: RequestKind) {
        if let Some(delay) = self.delay.filter(|delay| delay.at == operation) {
            let began = Instant::now();
            std::thread::sleep(delay.by);
            let delayed = &mut self.state().delayed;
            delayed.requests += 1;
            delayed.slept += began.elapsed();
        }
        let mut state = self.state();
        if state.stall_at == Some(operation) {
            (state.stall_at, state.is_stalled) = (None, true);
        }
        while state.is_stalled && !state.has_ended {
            state.is_waiting = true;
            self.changed.notify_all();
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.is_waiting = false;
    }

    /// The next request of a thread is the last one that the server takes.
    pub(crate) fn stall_by(&self, thread: u32) {
        self.state().stall_by = Some(thread);
    }

    /// A request that may be the one to stall at.
    pub(crate) fn pass_marked(&self, operation: RequestKind, thread: u32) {
        let mut state = self.state();
        if state.stall_by == Some(thread) {
            (state.stall_by, state.is_stalled) = (None, true);
        }
        drop(state);
        self.pass(operation);
    }

    pub(crate) fn delayed(&self) -> Delayed {
        self.state().delayed
    }

    pub(crate) fn stall_at(&self, operation: RequestKind) {
        self.state().stall_at = Some(operation);
    }

    pub(crate) fn resume(&self) {
        let mut state = self.state();
        (state.is_stalled, state.stall_at, state.stall_by) = (false, None, None);
        // What waited waits no longer, though its thread has yet to wake: whoever asks next asks
        // about a later request.
        state.is_waiting = false;
        self.changed.notify_all();
    }

    /// Lets all requests pass for good.
    pub(crate) fn end(&self) {
        self.state().has_ended = true;
        self.changed.notify_all();
    }

    /// Waits until a request waits; false where none did in that time.
    pub(crate) fn wait_for_request(&self, at_most: Duration) -> bool {
        let (state, _) = self
            .changed
            .wait_timeout_while(self.state(), at_most, |state| !state.is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        state.is_waiting
    }
}
