//! Counters of requests and bytes. Each thread has its own counters, so only one thread writes to
//! each counter. Totals are sums over all threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::request::Kind;

const KINDS: usize = Kind::ALL.len();

/// A counter that one thread increments and all threads may read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `more`; only the thread that owns the counter may call this.
    #[inline]
    pub fn add(&self, more: u64) {
        // Only one thread writes, so no increment is lost between load and store.
        self.0.store(self.get() + more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts<N = u64> {
    /// Number of requests of which at least one byte was sent.
    pub requests: N,
    /// Bytes of requests including heads, but without the headers of TCP and IP.
    pub sent_bytes: N,
    /// Bytes of answers including heads, but without the headers of TCP and IP.
    pub received_bytes: N,
}

/// Declares the counters that are not kept by kind of request.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The counters of one thread.
        #[derive(Debug, Default)]
        pub struct Counters {
            kinds: [KindCounts<Count>; KINDS],
            $($(#[$doc])* pub $name: Count,)+
        }

        /// The sums of the counters of all threads.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Totals {
            kinds: [KindCounts; KINDS],
            $($(#[$doc])* pub $name: u64,)+
        }

        impl Totals {
            /// All counters that are not kept by kind of request, each with its name.
            pub fn by_name(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),+]
            }

            fn add(&mut self, counters: &Counters) {
                for (sum, one) in self.kinds.iter_mut().zip(&counters.kinds) {
                    sum.requests += one.requests.get();
                    sum.sent_bytes += one.sent_bytes.get();
                    sum.received_bytes += one.received_bytes.get();
                }
                $(self.$name += counters.$name.get();)+
            }
        }
    };
}

counters! {
    /// Bytes of the contents of objects in answers.
    read_bytes,
    /// Bytes of the contents of objects that the server acknowledged as written.
    written_bytes,
    /// Number of connections established.
    connections,
    /// Number of connections established after another one was lost. A connection does not count as
    /// lost if the server had announced that it closes the connection.
    reconnections,
    /// Number of operations for which it is not known whether the server performed them.
    not_known,
    /// Number of answers that ask to slow down, such as `503 SlowDown`.
    slow_downs,
    /// Number of creations without the condition that the object must not exist, because the server
    /// does not support this condition. The client first checks that the object does not exist.
    unconditional_creations,
}

impl Totals {
    /// The kinds of requests that were sent, each with its counters, in the order of [`Kind::ALL`].
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, KindCounts)> {
        let all = Kind::ALL.into_iter().zip(self.kinds);
        all.filter(|(_, counts)| counts.requests > 0)
    }
}

impl Counters {
    /// Counts a request that ended, and its bytes.
    #[inline]
    pub fn ends(&self, kind: Kind, sent_bytes: u64, received_bytes: u64) {
        let counts = &self.kinds[kind as usize];
        counts.requests.add(u64::from(sent_bytes > 0));
        counts.sent_bytes.add(sent_bytes);
        counts.received_bytes.add(received_bytes);
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
        let at = inner
            .live
            .iter()
            .position(|live| Arc::ptr_eq(live, counters));
        if let Some(at) = at {
            let ended = inner.live.swap_remove(at);
            inner.ended.add(&ended);
        }
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
        one.ends(Kind::Put, 100, 50);
        one.ends(Kind::Head, 0, 0);
        other.ends(Kind::Put, 10, 5);
        other.slow_downs.add(2);
        let before = all.sum();
        all.end(&one);
        all.end(&one);
        assert_eq!(all.sum(), before);
        let counts = KindCounts {
            requests: 2,
            sent_bytes: 110,
            received_bytes: 55,
        };
        assert_eq!(before.kinds().collect::<Vec<_>>(), [(Kind::Put, counts)]);
        assert_eq!(before.slow_downs, 2);
    }
}
