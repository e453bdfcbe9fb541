//! How a thread spends the time between its operations on files: it computes, sleeps, or waits for
//! others.
//!
//! strace stops a thread before and after each call. What this adds is estimated from the trace and
//! subtracted: between two calls the median gap, because most calls of a program follow each other
//! without much work, and within a call the time of the shortest calls.

use std::collections::HashMap;

use learn::Distribution;

use crate::call::Call;
use crate::done::Stamp;
use crate::own_time::{Awaited, OwnTime};

/// A tracer that adds more than this to a call would be slower than any that was measured. Gaps of
/// a program that computes between all calls are longer.
const TRACER_MAX_NS: u64 = 100_000;
/// The share of calls that take no longer than what the tracer adds.
const SHORTEST_CALLS: f64 = 0.05;
/// The estimates are renewed after this number of calls, and at each power of two before.
const RENEW_EVERY: u64 = 4096;

/// What a call does, as far as it matters for a thread's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is part of an operation on a file of the directory.
    OfOperation,
    /// The thread works, for example with other files.
    Work,
    /// The thread sleeps.
    Sleep,
    /// The thread waits for others.
    Wait,
}

impl Role {
    /// The role of a call that does not concern a file of the directory. `is_file` is whether its
    /// first argument is a descriptor of a file.
    pub fn of(call: &Call<'_>, is_file: bool) -> Self {
        let has_timed_out = call.answer == Some(0);
        match call.name {
            "nanosleep" | "clock_nanosleep" => Self::Sleep,
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait"
            | "epoll_pwait2"
                if has_timed_out =>
            {
                Self::Sleep
            }
            "futex" | "rt_sigtimedwait" if call.error.is_some_and(is_time_limit) => Self::Sleep,
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait"
            | "epoll_pwait2" | "futex" | "futex_waitv" | "wait4" | "waitid" | "pause"
            | "rt_sigsuspend" | "rt_sigtimedwait" | "accept" | "accept4" | "connect"
            | "recvfrom" | "recvmsg" | "recvmmsg" | "io_getevents" | "vfork" => Self::Wait,
            "clone" | "clone3"
                if (0..call.arguments.len()).any(|at| call.has(at, "CLONE_VFORK")) =>
            {
                Self::Wait
            }
            "read" | "readv" if !is_file => Self::Wait,
            _ => Self::Work,
        }
    }
}

fn is_time_limit(error: &str) -> bool {
    matches!(error, "ETIMEDOUT" | "EAGAIN")
}

/// The own times of all threads since their last operations.
#[derive(Debug, Default)]
pub struct OwnTimes {
    /// The ends of the last calls, in nanoseconds.
    ended_ns: HashMap<u32, u64>,
    since: HashMap<u32, OwnTime>,
    /// The times after the last operations of threads that ended.
    rest: OwnTime,
    operation_ns: i64,
    tracer: Tracer,
}

impl OwnTimes {
    /// Adds the time from a thread's last call to its next one.
    pub fn begin_call(&mut self, thread: u32, begin: Stamp) {
        let before = self.ended_ns.get(&thread);
        let Some((begin, end)) = begin.ns.zip(before.copied()) else {
            return;
        };
        let gap = begin.saturating_sub(end);
        let gap = self.tracer.without(gap, |tracer| &mut tracer.between);
        self.of(thread).compute(gap);
    }

    /// Adds the time of a call itself.
    pub fn end_call(&mut self, thread: u32, call: &Call<'_>, role: Role, end: Stamp) {
        let Some((end_ns, took_ns)) = end.ns.zip(call.took_ns) else {
            return;
        };
        self.ended_ns.insert(thread, end_ns);
        let net = self.tracer.without(took_ns, |tracer| &mut tracer.within);
        let own = self.of(thread);
        match role {
            Role::OfOperation => self.operation_ns = self.operation_ns.saturating_add(net),
            Role::Work => own.compute(net),
            Role::Sleep => own.idle_ns = own.idle_ns.saturating_add(took_ns),
            Role::Wait => {
                own.wait_ns = own.wait_ns.saturating_add(took_ns);
                own.awaited = Some(Awaited {
                    order: end.order,
                    thread: awaited(call),
                });
            }
        }
    }

    /// Notes that a thread created another one, which therefore starts after it.
    pub fn create(&mut self, parent: u32, thread: u32, begin: Stamp) {
        self.of(thread).awaited.get_or_insert(Awaited {
            order: begin.order,
            thread: Some(parent),
        });
    }

    /// Removes and returns the time since a thread's last operation, and what other threads did
    /// after their last operations. Calls that were shorter than the estimated cost of the tracer
    /// shorten the next time.
    pub fn take(&mut self, thread: u32) -> OwnTime {
        let taken = std::mem::take(&mut self.rest) + self.since.remove(&thread).unwrap_or_default();
        if taken.compute_ns < 0 {
            self.of(thread).compute_ns = taken.compute_ns;
        }
        OwnTime {
            compute_ns: taken.compute_ns.max(0),
            ..taken
        }
    }

    /// Ends a thread. The next operation of any thread follows the time since its last one.
    pub fn end(&mut self, thread: u32) {
        self.ended_ns.remove(&thread);
        let since = self.since.remove(&thread).unwrap_or_default();
        self.rest = self.rest + since;
        self.rest.awaited = None;
    }

    /// The number of calls with times.
    pub fn calls(&self) -> u64 {
        self.tracer.within.all.count()
    }

    /// The nanoseconds in calls of operations.
    pub fn operation_ns(&self) -> u64 {
        u64::try_from(self.operation_ns).unwrap_or(0)
    }

    /// The nanoseconds that the tracer added to all calls.
    pub fn tracer_ns(&self) -> u64 {
        self.tracer.added_ns
    }

    fn of(&mut self, thread: u32) -> &mut OwnTime {
        self.since.entry(thread).or_default()
    }
}

/// The process whose end a call awaited.
fn awaited(call: &Call<'_>) -> Option<u32> {
    let answer = call.answer.filter(|_| call.name == "wait4");
    answer.and_then(|answer| u32::try_from(answer).ok())
}

/// What the tracer adds to the time between two calls, and to the time of a call.
#[derive(Debug)]
struct Tracer {
    between: Added,
    within: Added,
    added_ns: u64,
}

/// Times of a kind, of which a quantile is the time that the tracer adds.
#[derive(Debug)]
struct Added {
    all: Distribution,
    share: f64,
    ns: u64,
}

impl Default for Tracer {
    fn default() -> Self {
        let added = |share| Added {
            all: Distribution::default(),
            share,
            ns: 0,
        };
        Self {
            between: added(0.5),
            within: added(SHORTEST_CALLS),
            added_ns: 0,
        }
    }
}

impl Tracer {
    /// Returns a time without what the tracer adds, and improves the estimate of that.
    fn without(&mut self, ns: u64, part: impl Fn(&mut Self) -> &mut Added) -> i64 {
        let added_ns = part(self).add(ns);
        self.added_ns = self.added_ns.saturating_add(added_ns);
        let [ns, added_ns] = [ns, added_ns].map(|ns| i64::try_from(ns).unwrap_or(i64::MAX));
        ns - added_ns
    }
}

impl Added {
    fn add(&mut self, ns: u64) -> u64 {
        self.all.add(ns);
        let count = self.all.count();
        if count.is_power_of_two() || count.is_multiple_of(RENEW_EVERY) {
            let found = self.all.quantile(self.share).unwrap_or(0);
            self.ns = found.min(TRACER_MAX_NS);
        }
        self.ns
    }
}
