//! The operations of one worker of a replay. An operation that depends on operations of other
//! workers is drawn only when these are complete. The wait is not part of a latency, unless the
//! operation has a due time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use engine::Policies;
use record::Histogram;
use workload::replay::{Dependency, Step, Steps, removal};
use workload::{Intent, Kept, Phase, PoolState};

use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::listings::Expected;
use crate::source::SharedIntents;

/// Interval at which a waiting worker checks whether the run stops.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Number of checks before a waiting worker sleeps. An operation often waits for one that is
/// almost complete.
const SPINS: u32 = 200;

/// The number of operations that one worker has completed, on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Completed(AtomicU32);

/// The progress of all workers.
#[derive(Debug)]
pub(crate) struct ReplayProgress {
    completed: Box<[Completed]>,
    waiting: AtomicU32,
    lock: Mutex<()>,
    advanced: Condvar,
}

impl ReplayProgress {
    pub(crate) fn new(workers: u32) -> Self {
        Self {
            completed: (0..workers).map(|_| Completed::default()).collect(),
            waiting: AtomicU32::new(0),
            lock: Mutex::default(),
            advanced: Condvar::new(),
        }
    }

    fn is_met(&self, dependency: Dependency) -> bool {
        let completed = self.completed.get(dependency.worker as usize);
        completed.is_none_or(|one| one.0.load(Ordering::SeqCst) >= dependency.completed)
    }

    /// Sets the number of operations that a worker has completed, and wakes waiting workers.
    fn set(&self, worker: u32, completed: u32) {
        let Some(one) = self.completed.get(worker as usize) else {
            return;
        };
        // A waiting worker first counts itself and then reads the number. So either it sees the
        // new number, or it is seen here.
        one.0.store(completed, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.advanced.notify_all();
        }
    }

    /// Waits until a dependency is met. Returns `false` if the run stops.
    fn wait(&self, dependency: Dependency, control: &Control) -> bool {
        for _ in 0..SPINS {
            if self.is_met(dependency) {
                return true;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut is_met = self.is_met(dependency);
        while !is_met && !control.is_stopping() {
            (guard, _) = self
                .advanced
                .wait_timeout(guard, LOOK_EVERY)
                .unwrap_or_else(PoisonError::into_inner);
            is_met = self.is_met(dependency);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        is_met
    }
}

/// The source of a worker's intents in a replay.
#[derive(Debug)]
pub(crate) struct ReplaySource {
    steps: Arc<Steps>,
    progress: Arc<ReplayProgress>,
    control: Control,
    clock: RunClock,
    worker: u32,
    /// Whether each operation makes the syncs of the trace.
    has_own_syncs: bool,
    /// The number of intents that were drawn in each phase.
    drawn: [usize; 3],
    completed: u32,
    is_in_transactions: bool,
    waits: Histogram,
}

impl ReplaySource {
    pub(crate) fn new(
        steps: Arc<Steps>,
        progress: Arc<ReplayProgress>,
        control: Control,
        clock: RunClock,
        worker: u32,
        policies: &Policies,
    ) -> Self {
        Self {
            has_own_syncs: *policies == steps.policies && policies.sync(),
            steps,
            progress,
            control,
            clock,
            worker,
            drawn: [0; 3],
            completed: 0,
            is_in_transactions: false,
            waits: Histogram::default(),
        }
    }

    fn len(&self, phase: Phase) -> usize {
        match phase {
            Phase::Prepare => self.steps.share(self.steps.prepared.len(), self.worker),
            Phase::Transactions => {
                let own = self.steps.of_workers.get(self.worker as usize);
                own.map_or(0, Vec::len)
            }
            Phase::Delete => self.steps.share(self.steps.remaining.len(), self.worker),
        }
    }

    /// Waits until the operations are complete on which a step depends. Returns `false` if the run
    /// stops.
    fn wait_for(&mut self, step: &Step) -> bool {
        let steps = Arc::clone(&self.steps);
        let open = |one: &&Dependency| !self.progress.is_met(**one);
        let mut open = steps.dependencies(step).iter().filter(open).peekable();
        if open.peek().is_none() {
            return true;
        }
        let began_ns = self.clock.now_ns();
        let is_met = open.all(|one| self.progress.wait(*one, &self.control));
        let waited_ns = self.clock.now_ns().saturating_sub(began_ns);
        self.waits.record(waited_ns);
        is_met
    }
}

impl SharedIntents for ReplaySource {
    fn draw(&mut self, phase: Phase, intent: &mut Intent, _: usize, _: bool) -> bool {
        let index = self.drawn[phase as usize];
        if index >= self.len(phase) {
            return false;
        }
        self.is_in_transactions = phase == Phase::Transactions;
        let in_share = self.steps.in_share(index, self.worker);
        *intent = match phase {
            Phase::Prepare => self.steps.prepared[in_share].intent(false),
            Phase::Transactions => {
                let Some(step) = self.steps.of_worker(self.worker, index).copied() else {
                    return false;
                };
                if step.dependencies.1 > 0 && !self.wait_for(&step) {
                    return false;
                }
                Intent {
                    syncs: self.has_own_syncs.then_some(step.syncs),
                    pause: self.steps.pause(self.worker, index),
                    ..step.intent(true)
                }
            }
            Phase::Delete => removal(&self.steps.remaining[in_share]),
        };
        self.drawn[phase as usize] += 1;
        true
    }

    /// Counts an operation, even one that failed: otherwise others would wait for it.
    fn completed(&mut self, _: usize, _: &Intent, _: bool) {
        if self.is_in_transactions {
            self.completed += 1;
            self.progress.set(self.worker, self.completed);
        }
    }

    fn remaining(&self, phase: Phase) -> u64 {
        (self.len(phase) - self.drawn[phase as usize]) as u64
    }

    fn can_perform_any(&self, _: &PoolState) -> bool {
        true
    }

    fn transactions_begun(&self) -> u64 {
        self.drawn[Phase::Transactions as usize] as u64
    }

    fn pool(&self, all: bool, each: &mut dyn FnMut(Kept)) {
        let workers = self.steps.of_workers.len().max(1);
        let removed = self.drawn[Phase::Delete as usize] * workers;
        let remaining = self.steps.remaining.iter().copied().enumerate();
        let own = |index: usize| index % workers == self.worker as usize;
        remaining
            .skip(removed)
            .filter(|(index, _)| all || own(*index))
            .for_each(|(_, kept)| each(kept));
    }

    fn is_drawn_before(&self) -> bool {
        true
    }

    fn lists(&self) -> bool {
        self.worker == 0
    }

    /// The operations of other workers may change a directory while it is listed.
    fn listing(&self, _: usize, _: u32) -> Expected {
        Expected::Unknown
    }

    fn take_waits(&mut self) -> Option<Histogram> {
        Some(std::mem::take(&mut self.waits))
    }
}

impl Drop for ReplaySource {
    /// A worker that ends, for any reason, keeps no other worker waiting.
    fn drop(&mut self) {
        self.progress.set(self.worker, u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn waiting_worker_is_woken_by_progress_by_a_stop_and_by_the_end_of_a_worker() {
        for (dependency, end) in [(3, 0_u8), (3, 1), (3, 2)] {
            let progress = ReplayProgress::new(2);
            let control = Control::default();
            let wanted = Dependency {
                worker: 1,
                completed: dependency,
            };
            thread::scope(|scope| {
                let waiting = scope.spawn(|| progress.wait(wanted, &control));
                while progress.waiting.load(Ordering::SeqCst) == 0 {
                    thread::yield_now();
                }
                progress.set(1, 2);
                match end {
                    0 => progress.set(1, 3),
                    1 => control.stop(),
                    _ => progress.set(1, u32::MAX),
                }
                assert_eq!(waiting.join().unwrap(), end != 1, "{end}");
            });
        }
    }
}
