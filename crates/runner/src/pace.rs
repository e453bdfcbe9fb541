//! When transactions are due.

use workload::arrivals::{ArrivalProcess, Arrivals};

/// More arrivals than these are not counted when it is asked how many wait.
const COUNTED_MAX: u64 = 10_000_000;

/// A worker's own.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// How they arrive: the process, the seed, and which of how many workers this is. Nothing
    /// where every loop is closed.
    process: Option<(ArrivalProcess, u64, (u32, u32))>,
    /// Nothing in a closed loop: there the next one is due when the last one is done.
    arrivals: Option<Arrivals>,
    origin_ns: u64,
}

impl Pacer {
    /// Every loop is closed.
    pub(crate) fn closed() -> Self {
        Self {
            process: None,
            arrivals: None,
            origin_ns: 0,
        }
    }

    /// Arrivals at the rates that [`Pacer::begin`] is told.
    pub(crate) fn of(process: ArrivalProcess, seed: u64, worker: (u32, u32)) -> Self {
        Self {
            process: Some((process, seed, worker)),
            ..Self::closed()
        }
    }

    /// Whether operations may be due by themselves.
    pub(crate) fn may_be_open(&self) -> bool {
        self.process.is_some()
    }

    /// Whether they are now.
    pub(crate) fn is_open(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Transactions begin at this moment, so many a second of all workers together; nothing: in a
    /// closed loop.
    pub(crate) fn begin(&mut self, now_ns: u64, rate: Option<f64>) {
        self.origin_ns = now_ns;
        self.arrivals = self
            .process
            .zip(rate)
            .map(|((process, seed, worker), rate)| {
                let arrivals = Arrivals::new(process, rate, seed, worker);
                arrivals.unwrap_or_else(|wrong| {
                    unreachable!("rates are checked before they are begun: {wrong}")
                })
            });
    }

    /// When the next transaction is due; nothing in a closed loop.
    #[inline]
    pub(crate) fn next_due_ns(&mut self) -> Option<u64> {
        let arrivals = self.arrivals.as_mut()?;
        Some(self.origin_ns.saturating_add(arrivals.next_due_ns()))
    }

    /// How many that were not asked for yet are due by this moment, up to a limit; none are asked
    /// for afterwards.
    pub(crate) fn waiting(&mut self, now_ns: u64) -> u64 {
        let mut waiting = 0;
        while waiting < COUNTED_MAX && self.next_due_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            waiting += 1;
        }
        waiting
    }
}
