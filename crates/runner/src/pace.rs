//! When transactions are due.

use workload::arrivals::Arrivals;

/// A worker's own.
#[derive(Debug)]
pub(crate) enum Pacer {
    /// A closed loop: the next one is due when the last one is done.
    Closed,
    /// An open loop: they are due whatever became of those before.
    Open { arrivals: Arrivals, origin_ns: u64 },
}

impl Pacer {
    /// Whether operations are due by themselves.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// The transactions begin at this moment.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        if let Self::Open { origin_ns, .. } = self {
            *origin_ns = now_ns;
        }
    }

    /// When the next transaction is due; nothing in a closed loop.
    #[inline]
    pub(crate) fn next_due_ns(&mut self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Open { arrivals, origin_ns } => Some(origin_ns.saturating_add(arrivals.next_due_ns())),
        }
    }
}
