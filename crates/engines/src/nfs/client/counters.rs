//! What was called, and what went over the wire. Each session counts for itself, so that no two
//! threads write to one place; whoever asks adds up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::server::{CallCount, ServerTraffic};

use super::procedure::{Procedure, Program};

const PROCEDURES: usize = Procedure::ALL.len();

/// A number that one thread counts up and all may read.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        // Nobody else writes, so nothing is lost between these two, which cost less than an
        // addition that is atomic.
        self.0
            .store(self.0.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Of one procedure.
#[derive(Debug, Default)]
struct OfProcedure {
    calls: Count,
    repetitions: Count,
    sent_bytes: Count,
    received_bytes: Count,
}

/// Of one thread.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    procedures: [OfProcedure; PROCEDURES],
    pub(crate) read_bytes: Count,
    pub(crate) written_bytes: Count,
    pub(crate) connections: Count,
    pub(crate) reconnections: Count,
    pub(crate) verifier_changes: Count,
    pub(crate) rewritten_bytes: Count,
    pub(crate) not_known: Count,
    pub(crate) stronger_answers: Count,
    pub(crate) delayed: Count,
    pub(crate) stray_replies: Count,
}

impl Counters {
    /// A request of so many bytes is sent, for the first time or once more.
    #[inline]
    pub(crate) fn sends(&self, procedure: Procedure, bytes: usize, is_repetition: bool) {
        let counts = &self.procedures[procedure as usize];
        let times = if is_repetition {
            &counts.repetitions
        } else {
            &counts.calls
        };
        times.add(1);
        counts.sent_bytes.add(bytes as u64);
    }

    /// A reply of so many bytes has come.
    #[inline]
    pub(crate) fn receives(&self, procedure: Procedure, bytes: usize) {
        self.procedures[procedure as usize]
            .received_bytes
            .add(bytes as u64);
    }

    fn add_to(&self, sum: &mut ServerTraffic) {
        for (procedure, counts) in Procedure::ALL.into_iter().zip(&self.procedures) {
            let (calls, repetitions) = (counts.calls.get(), counts.repetitions.get());
            if calls + repetitions == 0 {
                continue;
            }
            if procedure.program() != Program::Nfs {
                sum.other_calls += calls + repetitions;
                continue;
            }
            let name = procedure.name();
            let at = sum.calls.iter().position(|line| line.procedure == name);
            let at = at.unwrap_or_else(|| {
                sum.calls.push(CallCount {
                    procedure: name,
                    calls: 0,
                    repetitions: 0,
                    sent_bytes: 0,
                    received_bytes: 0,
                });
                sum.calls.len() - 1
            });
            let line = &mut sum.calls[at];
            line.calls += calls;
            line.repetitions += repetitions;
            line.sent_bytes += counts.sent_bytes.get();
            line.received_bytes += counts.received_bytes.get();
        }
        for (to, from) in [
            (&mut sum.read_bytes, &self.read_bytes),
            (&mut sum.written_bytes, &self.written_bytes),
            (&mut sum.connections, &self.connections),
            (&mut sum.reconnections, &self.reconnections),
            (&mut sum.verifier_changes, &self.verifier_changes),
            (&mut sum.rewritten_bytes, &self.rewritten_bytes),
            (&mut sum.not_known, &self.not_known),
            (&mut sum.stronger_answers, &self.stronger_answers),
            (&mut sum.delayed, &self.delayed),
            (&mut sum.stray_replies, &self.stray_replies),
        ] {
            *to += from.get();
        }
    }
}

/// Those of all threads.
#[derive(Debug, Default)]
pub(crate) struct AllCounters(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Of threads that go on.
    live: Vec<Arc<Counters>>,
    /// Of those that have ended.
    ended: ServerTraffic,
}

impl AllCounters {
    /// Counters for one thread.
    pub(crate) fn add(&self) -> Arc<Counters> {
        let counters = Arc::default();
        self.inner().live.push(Arc::clone(&counters));
        counters
    }

    /// Nobody counts with these any more.
    pub(crate) fn end(&self, counters: &Arc<Counters>) {
        let mut inner = self.inner();
        let Some(at) = inner
            .live
            .iter()
            .position(|live| Arc::ptr_eq(live, counters))
        else {
            return;
        };
        inner.live.swap_remove(at).add_to(&mut inner.ended);
    }

    /// All together. The procedures are in the order of their numbers.
    pub(crate) fn sum(&self) -> ServerTraffic {
        let inner = self.inner();
        let mut sum = inner.ended.clone();
        inner
            .live
            .iter()
            .for_each(|counters| counters.add_to(&mut sum));
        let place = |name| {
            Procedure::ALL
                .iter()
                .position(|procedure| procedure.name() == name)
        };
        sum.calls.sort_by_key(|line| place(line.procedure));
        sum
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_threads_have_counted_stays() {
        let all = AllCounters::default();
        let (one, other) = (all.add(), all.add());
        one.sends(Procedure::Create, 100, false);
        one.sends(Procedure::Mount, 50, false);
        one.receives(Procedure::Create, 30);
        other.sends(Procedure::Lookup, 10, false);
        other.sends(Procedure::Create, 100, true);
        other.rewritten_bytes.add(7);
        let before = all.sum();
        all.end(&one);
        assert_eq!(all.sum(), before);
        all.end(&one);
        assert_eq!(all.sum(), before);
        let lines: Vec<_> = before
            .calls
            .iter()
            .map(|line| (line.procedure, line.calls, line.repetitions))
            .collect();
        assert_eq!(lines, [("LOOKUP", 1, 0), ("CREATE", 1, 1)]);
        assert_eq!(
            (before.calls[1].sent_bytes, before.calls[1].received_bytes),
            (200, 30)
        );
        assert_eq!((before.other_calls, before.rewritten_bytes), (1, 7));
    }
}
