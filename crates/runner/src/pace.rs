//! Due times of transactions in an open loop: at an offered rate, or those of a trace.

use std::sync::Arc;

use workload::arrivals::{ArrivalProcess, Arrivals};
use workload::replay::Steps;

/// Maximum number of overdue transactions that [`Pacer::waiting`] counts.
const COUNTED_MAX: u64 = 10_000_000;

/// Computes the due times of one worker's transactions.
#[derive(Debug)]
pub(crate) struct Pacer {
    /// The arrival process, its seed, this worker's number, and the number of workers. `None` if
    /// every load is a closed loop.
    process: Option<(ArrivalProcess, u64, (u32, u32))>,
    /// `None` in a closed loop, where a transaction is due when the previous one is complete.
    arrivals: Option<Arrivals>,
    /// The worker's operations of a replay with the times of its trace.
    traced: Option<Traced>,
    origin_ns: u64,
}

/// Operations with the times of a trace.
#[derive(Debug)]
struct Traced {
    steps: Arc<Steps>,
    worker: u32,
    /// Index of the worker's next operation.
    next: usize,
}

impl Traced {
    fn next_due_ns(&mut self) -> Option<u64> {
        let due_ns = self.steps.of_worker(self.worker, self.next)?.due_ns;
        self.next += 1;
        Some(due_ns)
    }
}

impl Pacer {
    /// Returns a pacer for closed loops, which have no due times.
    pub(crate) fn closed() -> Self {
        Self {
            process: None,
            arrivals: None,
            traced: None,
            origin_ns: 0,
        }
    }

    /// Returns a pacer for the operations of a worker in a replay, at the times of the trace.
    pub(crate) fn traced(steps: Arc<Steps>, worker: u32) -> Self {
        Self {
            traced: Some(Traced {
                steps,
                worker,
                next: 0,
            }),
            ..Self::closed()
        }
    }

    /// Returns a pacer for open loops, whose rates are passed to [`Pacer::begin`].
    pub(crate) fn of(process: ArrivalProcess, seed: u64, worker: (u32, u32)) -> Self {
        Self {
            process: Some((process, seed, worker)),
            ..Self::closed()
        }
    }

    /// Whether the run may apply an open loop.
    pub(crate) fn may_be_open(&self) -> bool {
        self.process.is_some() || self.traced.is_some()
    }

    /// Whether the current load is an open loop.
    pub(crate) fn is_open(&self) -> bool {
        self.arrivals.is_some() || self.traced.is_some()
    }

    /// Starts transactions at `now_ns`. `rate` is the rate of all workers together in an open loop;
    /// `None` is a closed loop.
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

    /// Due time of the next transaction; `None` in a closed loop.
    #[inline]
    pub(crate) fn next_due_ns(&mut self) -> Option<u64> {
        let due_ns = match (&mut self.arrivals, &mut self.traced) {
            (Some(arrivals), _) => arrivals.next_due_ns(),
            (None, Some(traced)) => traced.next_due_ns()?,
            (None, None) => return None,
        };
        Some(self.origin_ns.saturating_add(due_ns))
    }

    /// Counts the transactions that are due by `now_ns` and were not started, up to a limit.
    /// Counting consumes their due times, so [`Pacer::next_due_ns`] must not be called afterwards.
    pub(crate) fn waiting(&mut self, now_ns: u64) -> u64 {
        let mut waiting = 0;
        while waiting < COUNTED_MAX && self.next_due_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            waiting += 1;
        }
        waiting
    }
}
