//! Controls whether and when requests are answered.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::options::{Delay, Delayed, RequestKind};

#[derive(Default)]
struct State {
    is_stalled: bool,
    /// The next request of this kind stalls the server.
    stall_at: Option<RequestKind>,
    /// The next request of this thread that passes [`Gate::pass_marked`] stalls the server.
    stall_by: Option<u32>,
    /// Whether a request waits for the stalled server.
    is_waiting: bool,
    has_ended: bool,
    delayed: Delayed,
}

/// A gate that every request passes before it is performed.
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

    /// Sleeps if requests of this kind are delayed, then waits while the server is stalled.
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

    /// Stalls the server at the next request of this thread that passes
    /// [`pass_marked`](Self::pass_marked).
    pub(crate) fn stall_by(&self, thread: u32) {
        self.state().stall_by = Some(thread);
    }

    /// Passes a request; if it is from the thread selected by [`stall_by`](Self::stall_by), the
    /// server stalls first.
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
        // From now on, the waiting request counts as released, although its thread may not have
        // resumed yet. So `wait_for_request` does not return because of this request.
        state.is_waiting = false;
        self.changed.notify_all();
    }

    /// Releases all requests, now and in future.
    pub(crate) fn end(&self) {
        self.state().has_ended = true;
        self.changed.notify_all();
    }

    /// Waits until a request waits for the stalled server; returns `false` if no request does so
    /// within `at_most`.
    pub(crate) fn wait_for_request(&self, at_most: Duration) -> bool {
        let (state, _) = self
            .changed
            .wait_timeout_while(self.state(), at_most, |state| !state.is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        state.is_waiting
    }
}
