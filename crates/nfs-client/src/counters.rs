//! What was called, and what went over the wire. Each session counts for itself, so that no two
//! threads write to one place; whoever asks adds up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::procedure::Procedure;

const PROCEDURES: usize = Procedure::ALL.len();

/// A number that one thread counts up and all may read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to it.
    #[inline]
    pub fn add(&self, more: u64) {
        // Nobody else writes, so nothing is lost between these two, which cost less than an
        // addition that is atomic.
        self.0
            .store(self.0.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Calls of one procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls<N = u64> {
    /// Requests, each counted once, when it leaves for the first time.
    pub calls: N,
    /// Transmissions of requests beyond the first.
    pub repetitions: N,
    /// Bytes of the requests with their headers, of all transmissions.
    pub sent_bytes: N,
    /// Bytes of the replies with their headers.
    pub received_bytes: N,
}

/// Declares what is counted besides calls.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// What one thread has counted.
        #[derive(Debug, Default)]
        pub struct Counters {
            procedures: [Calls<Count>; PROCEDURES],
            $($(#[$doc])* pub $name: Count,)+
        }

        /// What all threads have counted.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Totals {
            procedures: [Calls; PROCEDURES],
            $($(#[$doc])* pub $name: u64,)+
        }

        impl Totals {
            /// All counts but those of calls, by their names.
            pub fn by_name(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),+]
            }

            fn add(&mut self, counters: &Counters) {
                for (sum, one) in self.procedures.iter_mut().zip(&counters.procedures) {
                    sum.calls += one.calls.get();
                    sum.repetitions += one.repetitions.get();
                    sum.sent_bytes += one.sent_bytes.get();
                    sum.received_bytes += one.received_bytes.get();
                }
                $(self.$name += counters.$name.get();)+
            }
        }
    };
}

counters! {
    /// Bytes of contents that READ replies brought.
    read_bytes,
    /// Bytes of contents that WRITE requests took, those that were written again included.
    written_bytes,
    /// Connections that were opened.
    connections,
    /// Connections that were opened because one was lost.
    reconnections,
    /// Changes of the write verifier: the server had restarted, and may have lost what was not
    /// committed.
    verifier_changes,
    /// Bytes that were written again for that reason.
    rewritten_bytes,
    /// Operations of which it is not known whether the server has done them.
    not_known,
    /// Writes that the server made more durable than it was asked to.
    stronger_answers,
    /// Calls that were made again as the server wanted: it asked for them later, or an entry that
    /// went away had spoilt the page of a listing.
    delayed,
    /// Replies that belonged to no request in flight: repeated ones.
    stray_replies,
}

impl Totals {
    /// The procedures that were called, in the order of [`Procedure::ALL`].
    pub fn procedures(&self) -> impl Iterator<Item = (Procedure, Calls)> {
        let all = Procedure::ALL.into_iter().zip(self.procedures);
        all.filter(|(_, calls)| calls.calls + calls.repetitions > 0)
    }
}

impl Counters {
    /// A request of so many bytes is sent, for the first time or once more.
    #[inline]
    pub fn sends(&self, procedure: Procedure, bytes: usize, is_repetition: bool) {
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
    pub fn receives(&self, procedure: Procedure, bytes: usize) {
        self.procedures[procedure as usize]
            .received_bytes
            .add(bytes as u64);
    }
}

/// Those of all threads.
#[derive(Debug, Default)]
pub struct AllCounters(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Of threads that go on.
    live: Vec<Arc<Counters>>,
    /// Of those that have ended.
    ended: Totals,
}

impl AllCounters {
    /// Counters for one thread.
    pub fn add(&self) -> Arc<Counters> {
        let counters = Arc::default();
        self.inner().live.push(Arc::clone(&counters));
        counters
    }

    /// Nobody counts with these any more.
    pub fn end(&self, counters: &Arc<Counters>) {
        let mut inner = self.inner();
        let Some(at) = inner
            .live
            .iter()
            .position(|live| Arc::ptr_eq(live, counters))
        else {
            return;
        };
        let ended = inner.live.swap_remove(at);
        inner.ended.add(&ended);
    }

    /// All together.
    pub fn sum(&self) -> Totals {
        let inner = self.inner();
        let mut sum = inner.ended.clone();
        inner.live.iter().for_each(|counters| sum.add(counters));
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
        let calls = before.procedures().map(|(procedure, calls)| {
            let Calls {
                calls,
                repetitions,
                sent_bytes,
                received_bytes,
            } = calls;
            (
                procedure.name(),
                [calls, repetitions, sent_bytes, received_bytes],
            )
        });
        assert_eq!(
            calls.collect::<Vec<_>>(),
            [
                ("LOOKUP", [1, 0, 10, 0]),
                ("CREATE", [1, 1, 200, 30]),
                ("MNT", [1, 0, 50, 0]),
            ]
        );
        assert_eq!(before.rewritten_bytes, 7);
    }
}
