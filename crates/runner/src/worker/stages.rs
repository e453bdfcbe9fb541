//! The stages of a worker, in order.

use workload::Phase;

use super::config::{Tools, WorkerConfig};
use super::rendezvous::Rendezvous;
use super::report::Report;
use super::state::{Left, Worker};
use crate::events::Stage;

/// Performs all stages of a worker and returns its results.
pub(crate) fn work(tools: Tools, config: WorkerConfig, rendezvous: Box<dyn Rendezvous>) -> Report {
    let mut worker = Worker::new(tools, config, rendezvous);
    match worker.stages() {
        Ok(()) => {}
        Err(Left::Stopped) => worker.report.is_stopped = true,
        Err(Left::Failed(failed)) => worker.report.failed = Some(failed),
    }
    worker.report.position.transactions = worker.tools.source.transactions_begun();
    worker.report.any_spoiled = worker.config.failures.any_spoiled();
    worker.report.partly_written = worker.config.failures.partly_written();
    worker.report.errors = worker.config.failures.records;
    worker.report
}

impl Worker {
    fn stages(&mut self) -> Result<(), Left> {
        self.prepare()?;
        if let Some(neighbour) = self.tools.others.neighbour.take() {
            self.turn_to(neighbour)?;
        }
        self.report.has_pool = true;
        let mut goes_on = self.begins_load(0)?;
        self.note_wall_clock();
        // The loop continues because the run may apply several loads, one after another.
        for number in 1.. {
            if !goes_on {
                break;
            }
            self.phase(Phase::Transactions)?;
            goes_on = self.begins_load(number)?;
        }
        self.report.names = self.tools.source.remaining(Phase::Delete);
        if self.config.check {
            self.check_names()?;
        }
        if let Some(other) = self.tools.others.checked.take() {
            self.check_across(other)?;
        }
        if self.config.keep {
            return Ok(());
        }
        if self.begins_phase(Phase::Delete)? {
            self.phase(Phase::Delete)?;
        }
        if self.config.has_directories {
            self.directories(Stage::RemoveDirectories)?;
        }
        Ok(())
    }

    /// Prepares the cache and the stream for the next load of the run, such as a level of a sweep
    /// or a phase of the workload. Then waits for its start. Returns `false` after the last load.
    fn begins_load(&mut self, number: usize) -> Result<bool, Left> {
        if let Some(cache) = self.config.caches.get(number) {
            self.prepare_cache(*cache)?;
            self.tools.source.next_phase();
        }
        self.begins_phase(Phase::Transactions)
    }

    /// Creates the pool, or takes over the pool of an earlier run.
    fn prepare(&mut self) -> Result<(), Left> {
        if let Some(position) = self.config.reuse {
            return self.take_pool(position);
        }
        if self.config.has_directories {
            self.directories(Stage::MakeDirectories)?;
        }
        let begins = self.begins_phase(Phase::Prepare)?;
        self.note_wall_clock();
        if begins {
            self.phase(Phase::Prepare)?;
        }
        Ok(())
    }

    fn begins_phase(&mut self, phase: Phase) -> Result<bool, Left> {
        self.begins(Stage::Phase(phase), self.tools.source.remaining(phase))
    }
}
