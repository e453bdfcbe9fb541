//! The write verifier of a server, which changes when the server restarts.

use nfs_client::{Counters, WriteVerifier};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// All write verifiers that sessions received from a server.
#[derive(Debug, Default)]
pub(crate) struct Verifiers {
    /// The newest verifier that a reply contained.
    now: AtomicU64,
    all: Mutex<Vec<u64>>,
}

impl Verifiers {
    /// Records the verifier of a reply. Each new verifier except the first one is counted as a
    /// change.
    #[inline]
    pub(crate) fn saw(&self, verifier: &WriteVerifier, counters: &Counters) {
        let number = u64::from_ne_bytes(*verifier);
        if self.now.load(Ordering::Relaxed) != number || number == 0 {
            self.saw_other(number, counters);
        }
    }

    #[cold]
    fn saw_other(&self, number: u64, counters: &Counters) {
        /// Verifiers are not recorded beyond this number.
        const VERIFIERS_MAX: usize = 1024;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        // A verifier that was received before is no change, because replies from before and after a
        // restart may be processed in any order.
        if !all.contains(&number) {
            counters.verifier_changes.add(u64::from(!all.is_empty()));
            if all.len() < VERIFIERS_MAX {
                all.push(number);
            }
            self.now.store(number, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs_client::AllCounters;

    #[test]
    fn verifier_change_is_counted_once() {
        let (all, verifiers) = (AllCounters::default(), Verifiers::default());
        let counters = all.add();
        for (verifier, changes) in [(0, 0), (0, 0), (1, 1), (0, 1), (1, 1), (2, 2), (1, 2)] {
            verifiers.saw(&[verifier; 8], &counters);
            assert_eq!(all.sum().verifier_changes, changes, "{verifier}");
        }
    }
}
