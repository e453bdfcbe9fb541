//! Runs an engine in a separate process that prints the cost of each phase. The record of a run is
//! not sufficient: it contains only the processor time of the whole run. That time includes the
//! generation of the operations in advance (`--prepared`).

use crate::result::Result;
use record::{Outcome, PhaseRecord};
use std::path::{Path, PathBuf};
use std::process::Command;

use runner::{Control, EngineName, Event, Events, Place, RunSpec, Stage};
use system::{MessageCounter, ProcessTimes, Sources};
use workload::{Phase, Workload};

#[derive(Clone, Debug, clap::Args)]
pub struct OursOptions {
    #[arg(long)]
    pub workload: String,
    #[arg(long)]
    pub target: PathBuf,
    #[arg(long)]
    pub prepared: bool,
    /// The engine. The target of `nfs` and `s3` is a URL, below which they create a directory; the
    /// target of other engines is a directory.
    #[arg(long, default_value = "posix")]
    pub engine: String,
    #[arg(long, default_value_t = 1)]
    pub depth: u32,
}

/// The command that performs a workload in a directory, and prints text for
/// [`crate::phases::Costs::parse`].
pub fn command(workload: &Workload, at: &Path, prepared: bool) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let workload = serde_json::to_string(workload)?;
    command.args(["ours", "--workload", &workload, "--target"]);
    command.arg(at).args(prepared.then_some("--prepared"));
    Ok(command)
}

/// Performs a workload and prints the cost of its phases.
pub fn perform(options: &OursOptions) -> Result<()> {
    let engine = EngineName::from_name(&options.engine).ok_or("there is no such engine")?;
    let place = match engine.uses_urls() {
        true => Place::OwnDirectory,
        false => Place::Location,
    };
    let workload: Workload = serde_json::from_str(&options.workload)?;
    let spec = RunSpec {
        prepared: options.prepared,
        engine,
        depth: options.depth,
        ..RunSpec::classic(workload, vec![options.target.clone()], place)
    };
    let mut times = Times::default();
    let mut run = runner::dispatch::prepare(&spec, &mut Control::default, &mut times)?;
    run.apply_own();
    let record = run.finish();
    if record.actual.outcome != Outcome::Complete {
        return Err(format!("the run did not end well: {:?}", record.actual.outcome).into());
    }
    for phase in Phase::ALL {
        let (Some(before), Some(after)) =
            (&times.before[phase as usize], &times.after[phase as usize])
        else {
            return Err("the run did not tell of all its phases".into());
        };
        let used = after.since(before);
        let mut phases = record.actual.phases.iter();
        let found = phases.find(|found| found.phase == phase);
        let found = found.ok_or("the record lacks a phase")?;
        println!(
            "{} {:.9} {:.6} {:.6}",
            phase.name(),
            wall_ns(found)? as f64 / 1e9,
            used.user_ns as f64 / 1e9,
            used.system_ns as f64 / 1e9
        );
        println!("rates of {} {}", phase.name(), sum_of_rates(found));
    }
    record.actual.transactions().for_each(print_calls);
    Ok(())
}

/// Prints the calls of the transactions by procedure, if the engine counts them.
fn print_calls(phase: &PhaseRecord) {
    let evidence = phase.evidence.as_ref();
    let readings = evidence.and_then(|evidence| evidence.performing.messages.known());
    let mut readings = readings.into_iter().flatten();
    let ours = readings.find(|reading| reading.counter == MessageCounter::Engine);
    let kinds = ours.and_then(|reading| reading.kinds.known());
    for kind in kinds.into_iter().flatten() {
        println!("call {} {}", kind.kind, kind.requests);
    }
}

/// The sum of the workers' rates, in operations per second. The rate of a worker is its number of
/// operations divided by its running time.
fn sum_of_rates(phase: &PhaseRecord) -> f64 {
    let rate = |worker: &record::WorkerPhase| {
        worker.operations as f64 * 1e9
            / worker.ended_ns.saturating_sub(worker.began_ns).max(1) as f64
    };
    phase.workers.iter().map(rate).sum()
}

/// The time from the first worker's start to the last worker's end.
fn wall_ns(phase: &PhaseRecord) -> Result<u64> {
    let began = phase.workers.iter().map(|worker| worker.began_ns).min();
    let ended = phase.workers.iter().map(|worker| worker.ended_ns).max();
    Ok(ended.ok_or("no worker")? - began.ok_or("no worker")?)
}

/// Reads the processor time at the boundaries of phases, where all workers wait.
#[derive(Default)]
struct Times {
    before: [Option<ProcessTimes>; 3],
    after: [Option<ProcessTimes>; 3],
}

impl Events for Times {
    fn event(&mut self, event: Event) {
        let (times, phase) = match event {
            Event::PhaseStarted(Stage::Phase(phase), _) => (&mut self.before, phase),
            // A phase that ends early because of an error or an interruption is reported as
            // aborted.
            Event::PhaseEnded(Stage::Phase(phase), ..)
            | Event::PhaseAborted(Stage::Phase(phase), _) => (&mut self.after, phase),
            _ => return,
        };
        times[phase as usize] = ProcessTimes::read(&Sources::default()).into_known();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_prints_its_phase_costs_and_leaves_no_files() {
        let place = tempfile::tempdir().unwrap();
        let workload =
            serde_json::to_string(&Workload::from(workload::Classic::default())).unwrap();
        let options = OursOptions {
            workload,
            target: place.path().to_owned(),
            prepared: true,
            engine: "posix".to_owned(),
            depth: 1,
        };
        perform(&options).unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
