//! What passes between a run's workers and everybody else while it goes on: a wish to stop,
//! counters, and what each worker is about to do. Neither side ever waits for the other.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ranks::Ranks;
use record::Outcome;
use rundir::worker_status::Slot;
use workload::Workload;

use crate::events::Progress;
use crate::ranks::Processes;

/// Who may stop a run, and from when on.
pub trait TakeControl {
    /// What was taken before, by a run before this one: it may stop this one already while it looks
    /// at its targets.
    fn taken(&self) -> Option<Control>;

    /// From now on the run ends itself when it is told to.
    fn take(&mut self) -> Control;

    /// The processes that perform the run together, of which this is one; nothing where it is
    /// alone.
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

/// The handle by which a run is stopped and watched. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<ControlState>,
    signal: Arc<AtomicUsize>,
    processes: Processes,
}

#[derive(Debug, Default)]
struct ControlState {
    stop: AtomicBool,
    /// The transactions have lasted for as long as they were to.
    over: AtomicBool,
    /// When all began with the phase, by the run's clock.
    phase_began_ns: AtomicU64,
    /// Which segment of the transactions goes on, from 0.
    segment: AtomicU32,
    /// Transactions a second that arrive, as the bits of an `f64`; 0: none by themselves.
    rate: AtomicU64,
    /// Errors of all workers.
    errors: AtomicU64,
    /// One for every worker; taken once, before the workers begin.
    slots: Mutex<Vec<Arc<Slot>>>,
}

impl Control {
    /// A handle for a run that ends when a signal's number appears in `signal`, where there is 0
    /// before.
    pub fn stopped_by(signal: Arc<AtomicUsize>) -> Self {
        Self {
            signal,
            ..Self::default()
        }
    }

    /// The same handle for a run that these perform together: whichever of them stops, all do.
    pub(crate) fn among(self, processes: Processes) -> Self {
        let (own, others) = (self.clone(), self.clone());
        processes.tie(move || own.stop_reason(), move || others.stop());
        Self { processes, ..self }
    }

    /// The processes that perform the run together.
    pub(crate) fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Whether this process is the first of those that perform the run, or alone.
    pub fn is_first(&self) -> bool {
        self.processes.number() == 0
    }

    /// Where the number of the signal appears that is to end the run.
    pub fn signal(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }

    /// A handle for another run that ends with the same signal.
    pub(crate) fn for_another(&self) -> Self {
        Self::stopped_by(self.signal())
    }

    /// The signal that is to end the run: this process's, or that of the rank that stopped it.
    pub fn signal_caught(&self) -> Option<i32> {
        let own = self.signal.load(Ordering::Relaxed) as i32;
        let of_any = || self.processes.stop_reason();
        let signal = if own == 0 { of_any()? as i32 } else { own };
        (signal != 0).then_some(signal)
    }

    /// What other ranks are told where this one stops the run: its signal, or 0.
    fn stop_reason(&self) -> Option<u32> {
        self.is_stopping()
            .then(|| self.signal.load(Ordering::Relaxed) as u32)
    }

    /// How runs in a row are to end after one of them, where a signal has come: that of any rank,
    /// which all ask together, between two runs. Failed where a rank is lost.
    pub fn ended_between_runs(&self) -> Option<Outcome> {
        match self.processes.signal_of_any(self.signal_caught()) {
            Ok(signal) => signal.map(|signal| Outcome::Interrupted { signal }),
            Err(why) => Some(Outcome::Failed { why }),
        }
    }

    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the workers are to stop before their next operation.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) || self.signal.load(Ordering::Relaxed) != 0
    }

    /// A phase begins now.
    pub(crate) fn begin_phase(&self, now_ns: u64) {
        self.shared.phase_began_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When the phase that goes on began.
    pub(crate) fn phase_began_ns(&self) -> u64 {
        self.shared.phase_began_ns.load(Ordering::Relaxed)
    }

    /// The transactions end well: workers end those that they have begun.
    pub(crate) fn end_transactions(&self) {
        self.shared.over.store(true, Ordering::Relaxed);
    }

    /// Whether no transaction is to be begun any more.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    /// The segment of the transactions that goes on.
    #[inline]
    pub(crate) fn segment(&self) -> u32 {
        self.shared.segment.load(Ordering::Relaxed)
    }

    /// Transactions begin, in their first segment: so many a second, or in a closed loop.
    pub(crate) fn begin_transactions(&self, rate: Option<f64>) {
        self.shared
            .rate
            .store(rate.unwrap_or_default().to_bits(), Ordering::Relaxed);
        self.shared.over.store(false, Ordering::Relaxed);
        self.begin_segment(0);
    }

    /// Transactions a second that arrive; nothing in a closed loop.
    pub(crate) fn rate(&self) -> Option<f64> {
        let rate = f64::from_bits(self.shared.rate.load(Ordering::Relaxed));
        (rate > 0.0).then_some(rate)
    }

    pub(crate) fn begin_segment(&self, number: u32) {
        self.shared.segment.store(number, Ordering::Relaxed);
    }

    /// Counts an error. Gives how many there are with it.
    pub(crate) fn count_error(&self) -> u64 {
        self.shared.errors.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Errors of all workers.
    pub(crate) fn errors(&self) -> u64 {
        self.shared.errors.load(Ordering::Relaxed)
    }

    /// Operations that all workers together have issued.
    pub(crate) fn operations(&self) -> u64 {
        self.slots().iter().map(|slot| slot.operations()).sum()
    }

    /// Takes the slots of the run's workers.
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
