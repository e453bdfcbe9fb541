//! State shared by a run's workers and its supervisor: stop requests, counters, and the current
//! operation of each worker. Access to this state never waits for an operation to complete.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ranks::Ranks;
use record::Outcome;
use rundir::worker_status::Slot;
use workload::Workload;

use crate::events::Progress;
use crate::ranks::Processes;

/// Supplies the handle that can stop a run, and the ranks of the run.
pub trait TakeControl {
    /// The handle that [`take`](Self::take) returned for an earlier run in this process. This
    /// handle can also stop the new run, even during the preflight checks.
    fn taken(&self) -> Option<Control>;

    /// Returns the handle for a run that is about to start. From this call on, a signal ends the
    /// run with a clean-up instead of ending the process at once.
    fn take(&mut self) -> Control;

    /// The ranks that perform the run together, including this process; `None` without a launcher.
    fn ranks(&self) -> Option<Ranks> {
        None
    }
}

impl<F: FnMut() -> Control> TakeControl for F {
    fn taken(&self) -> Option<Control> {
        None
    }

    fn take(&mut self) -> Control {
        self()
    }
}

/// The handle that stops and watches a run. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<ControlState>,
    signal: Arc<AtomicUsize>,
    processes: Processes,
}

#[derive(Debug, Default)]
struct ControlState {
    stop: AtomicBool,
    /// Whether workers must start no further transactions: the time limit is reached, the
    /// steady-state rule has decided, or no operation is possible.
    over: AtomicBool,
    /// Start of the current phase on all ranks, by the run's clock.
    phase_began_ns: AtomicU64,
    /// Current segment of the transactions, from 0. The warm-up, the measurement window, and each
    /// round of a steady-state run are segments.
    segment: AtomicU32,
    /// Offered transactions a second as the bits of an `f64`; 0 for a closed loop.
    rate: AtomicU64,
    /// Number of failed operations of all workers.
    errors: AtomicU64,
    /// The status slots of all workers, one for each operation that can be in flight. They are
    /// stored before the workers start.
    slots: Mutex<Vec<Arc<Slot>>>,
}

impl Control {
    /// Returns a handle for a run that ends when `signal` changes from 0 to a signal number.
    pub fn stopped_by(signal: Arc<AtomicUsize>) -> Self {
        Self {
            signal,
            ..Self::default()
        }
    }

    /// Connects this handle to the other ranks of the run, so that all ranks stop if one stops.
    pub(crate) fn among(self, processes: Processes) -> Self {
        let (own, others) = (self.clone(), self.clone());
        processes.tie(move || own.stop_reason(), move || others.stop());
        Self { processes, ..self }
    }

    pub(crate) fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Whether this process is rank 0, or the only process.
    pub fn is_first(&self) -> bool {
        self.processes.number() == 0
    }

    /// The variable in which the signal handler stores the number of the signal that ends the run.
    pub fn signal(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }

    /// Returns a separate handle for another run. The handles share only the signal variable.
    pub(crate) fn for_another(&self) -> Self {
        Self::stopped_by(self.signal())
    }

    /// The number of the signal that ends the run. The signal was caught by this process, or by the
    /// rank that stopped the run.
    pub fn signal_caught(&self) -> Option<i32> {
        let own = self.signal.load(Ordering::Relaxed) as i32;
        let of_any = || self.processes.stop_reason();
        let signal = if own == 0 { of_any()? as i32 } else { own };
        (signal != 0).then_some(signal)
    }

    /// The signal number that is sent to other ranks if this rank stops the run; 0 if no signal
    /// arrived.
    fn stop_reason(&self) -> Option<u32> {
        self.is_stopping()
            .then(|| self.signal.load(Ordering::Relaxed) as u32)
    }

    /// Between two runs of a sequence, returns the outcome `Interrupted` if any rank caught a
    /// signal, and `Failed` if a rank is lost. All ranks must call this method at the same point.
    pub fn ended_between_runs(&self) -> Option<Outcome> {
        match self.processes.signal_of_any(self.signal_caught()) {
            Ok(signal) => signal.map(|signal| Outcome::Interrupted { signal }),
            Err(why) => Some(Outcome::Failed { why }),
        }
    }

    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether workers must stop before their next operation.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) || self.signal.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn begin_phase(&self, now_ns: u64) {
        self.shared.phase_began_ns.store(now_ns, Ordering::Relaxed);
    }

    pub(crate) fn phase_began_ns(&self) -> u64 {
        self.shared.phase_began_ns.load(Ordering::Relaxed)
    }

    /// Ends the transactions: workers start no further ones, but complete the operations that they
    /// have started.
    pub(crate) fn end_transactions(&self) {
        self.shared.over.store(true, Ordering::Relaxed);
    }

    /// Whether workers must start no further transactions.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn segment(&self) -> u32 {
        self.shared.segment.load(Ordering::Relaxed)
    }

    /// Starts the transactions with segment 0. `rate` is the offered number of transactions a
    /// second of an open loop; `None` is a closed loop.
    pub(crate) fn begin_transactions(&self, rate: Option<f64>) {
        self.shared
            .rate
            .store(rate.unwrap_or_default().to_bits(), Ordering::Relaxed);
        self.shared.over.store(false, Ordering::Relaxed);
        self.begin_segment(0);
    }

    /// Offered transactions a second; `None` for a closed loop.
    pub(crate) fn rate(&self) -> Option<f64> {
        let rate = f64::from_bits(self.shared.rate.load(Ordering::Relaxed));
        (rate > 0.0).then_some(rate)
    }

    pub(crate) fn begin_segment(&self, number: u32) {
        self.shared.segment.store(number, Ordering::Relaxed);
    }

    /// Counts a failed operation and returns the new number of failed operations.
    pub(crate) fn count_error(&self) -> u64 {
        self.shared.errors.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn errors(&self) -> u64 {
        self.shared.errors.load(Ordering::Relaxed)
    }

    /// Number of operations that all workers together have issued.
    pub(crate) fn operations(&self) -> u64 {
        self.slots().iter().map(|slot| slot.operations()).sum()
    }

    /// Stores the status slots of the run's workers, from which [`Self::operations`] sums their
    /// counts.
    pub(crate) fn engage(&self, slots: &[Arc<Slot>]) {
        *self.slots() = slots.to_vec();
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Slot>>> {
        self.shared
            .slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn progress(&self) -> Progress {
        let slots = self.slots();
        let total: u64 = slots.iter().map(|slot| slot.total()).sum();
        Progress {
            done: slots.iter().map(|slot| slot.done()).sum(),
            completed: slots.iter().map(|slot| slot.completed()).sum(),
            total: (total < Workload::ENDLESS / 2).then_some(total),
        }
    }
}
