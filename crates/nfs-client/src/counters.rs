//! Counters of calls and bytes. Each thread has its own counters, so only one thread writes to each
//! counter. Totals are sums over all threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::procedure::Procedure;

const PROCEDURES: usize = Procedure::ALL.len();

/// A counter that one thread increments and all threads may read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `more`; only the thread that owns the counter may call this.
    #[inline]
    pub fn add(&self, more: u64) {
        // Only one thread writes, so no increment is lost between load and store. Load and store
        // together cost less than an atomic addition.
        self.0
            .store(self.0.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one procedure, such as READ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls<N = u64> {
    /// Number of requests; each is counted once, when it is sent for the first time.
    pub calls: N,
    /// Number of repeated transmissions of requests.
    pub repetitions: N,
    /// Bytes of requests including headers, for all transmissions.
    pub sent_bytes: N,
    /// Bytes of replies including headers.
    pub received_bytes: N,
}

/// Declares the counters that are not kept per procedure.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The counters of one thread.
        #[derive(Debug, Default)]
        pub struct Counters {
            procedures: [Calls<Count>; PROCEDURES],
            $($(#[$doc])* pub $name: Count,)+
        }

        /// The sums of the counters of all threads.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Totals {
            procedures: [Calls; PROCEDURES],
            $($(#[$doc])* pub $name: u64,)+
        }

        impl Totals {
            /// All counters that are not kept per procedure, each with its name.
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
    /// Bytes of contents in replies to READ.
    read_bytes,
    /// Bytes of contents that the server accepted in WRITE, including bytes that were written
    /// again.
    written_bytes,
    /// Number of connections established.
    connections,
    /// Number of connections established after the previous connection was lost.
    reconnections,
    /// Number of changes of the write verifier. Each change shows that the server restarted and may
    /// have lost uncommitted data.
    verifier_changes,
    /// Bytes that were written again after a change of the write verifier.
    rewritten_bytes,
    /// Number of operations for which it is not known whether the server executed them.
    not_known,
    /// Number of WRITEs that the server stored with a higher stability than requested, such as
    /// FILE_SYNC instead of UNSTABLE.
    stronger_answers,
    /// Number of calls repeated because the server requested a delay, or because the page of a
    /// listing changed while the server read it.
    delayed,
    /// Number of replies that belong to no request in flight, such as repeated replies.
    stray_replies,
}

impl Totals {
    /// The procedures that were called, each with its counters, in the order of [`Procedure::ALL`].
    pub fn procedures(&self) -> impl Iterator<Item = (Procedure, Calls)> {
        let all = Procedure::ALL.into_iter().zip(self.procedures);
        all.filter(|(_, calls)| calls.calls + calls.repetitions > 0)
    }
}

impl Counters {
    /// Counts a sent request of `bytes` bytes, as a first transmission or as a repetition.
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

    /// Counts a received reply of this length.
    #[inline]
    pub fn receives(&self, procedure: Procedure, bytes: usize) {
        self.procedures[procedure as usize]
            .received_bytes
            .add(bytes as u64);
    }
}

/// The counters of active threads, and the totals of threads that ended.
#[derive(Debug, Default)]
pub struct AllCounters(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    live: Vec<Arc<Counters>>,
    ended: Totals,
}

impl AllCounters {
    /// Creates the counters of a thread, which [`sum`](Self::sum) includes.
    pub fn add(&self) -> Arc<Counters> {
        let counters = Arc::default();
        self.inner().live.push(Arc::clone(&counters));
        counters
    }

    /// Adds a thread's counters to the totals of ended threads. The thread must not use the
    /// counters afterwards.
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

    /// Returns the sums of all counters, including those of threads that ended.
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
    fn totals_include_threads_that_ended() {
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
