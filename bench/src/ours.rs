//! The engine of `postmark run --storage posix`, or `nfs`, in a process of its own, which tells
//! what each phase took: a record has the processor time of the whole run only, in which a stream
//! that is drawn before the run would count.

use crate::result::Result;
use record::{Outcome, PhaseRecord};
use std::path::{Path, PathBuf};
use std::process::Command;

use engines::nfs::Nfs;
use engines::posix::Posix;
use runner::{Control, EngineName, Event, Events, Place, RunSpec, Stage, SystemClock};
use system::{Fact, MessageCounter, ProcessTimes, Sources};
use workload::{Phase, Workload};

/// One run.
#[derive(Clone, Debug, clap::Args)]
pub struct OursOptions {
    #[arg(long)]
    pub workload: String,
    #[arg(long)]
    pub target: PathBuf,
    #[arg(long)]
    pub prepared: bool,
    /// With the storage `nfs`.
    #[arg(long)]
    pub depth: Option<u32>,
}

/// The command that performs a workload in a directory, and prints what
/// [`crate::phases::Costs::parse`] reads.
pub fn command(workload: &Workload, at: &Path, prepared: bool) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([
        "ours",
        "--workload",
        &serde_json::to_string(workload)?,
        "--target",
    ]);
    command.arg(at);
    if prepared {
        command.arg("--prepared");
    }
    Ok(command)
}

/// Performs a workload and prints what its phases took: in a directory with the posix storage, or,
/// with a depth, in a directory of its own below the URL of an NFS server.
pub fn perform(options: &OursOptions) -> Result<()> {
    let (at, prepared, depth) = (&options.target, options.prepared, options.depth);
    let locations = vec![at.to_owned()];
    let workload: Workload = serde_json::from_str(&options.workload)?;
    let classic = |place| RunSpec {
        prepared,
        ..RunSpec::classic(workload.clone(), locations.clone(), place)
    };
    let mut times = Times::default();
    let control = &mut Control::default;
    let record = match depth {
        None => runner::run(
            &classic(Place::Location),
            &Posix,
            &SystemClock,
            control,
            &mut times,
        ),
        Some(depth) => {
            let request = RunSpec {
                engine: EngineName::from_name("nfs").expect("the registry has it"),
                depth,
                ..classic(Place::OwnDirectory)
            };
            let engine = Nfs::new(depth as usize, &locations);
            runner::run(&request, &engine, &SystemClock, control, &mut times)
        }
    }?;
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
    let transactions = record.actual.transactions().next();
    for (procedure, count) in transactions.map(calls).unwrap_or_default() {
        println!("call {procedure} {count}");
    }
    Ok(())
}

/// The calls of the transactions, where a storage counts them, by procedure.
fn calls(phase: &PhaseRecord) -> Vec<(String, u64)> {
    let evidence = phase.evidence.as_ref();
    let readings = evidence.and_then(|evidence| evidence.performing.messages.known());
    let kinds = readings
        .into_iter()
        .flatten()
        .filter(|reading| reading.counter == MessageCounter::NfsEngine)
        .filter_map(|reading| reading.kinds.known())
        .flatten();
    kinds
        .map(|kind| (kind.kind.clone(), kind.requests))
        .collect()
}

/// Of each worker its operations over its own time, added up.
fn sum_of_rates(phase: &PhaseRecord) -> f64 {
    let rate = |worker: &record::WorkerPhase| {
        worker.operations as f64 * 1e9
            / worker.ended_ns.saturating_sub(worker.began_ns).max(1) as f64
    };
    phase.workers.iter().map(rate).sum()
}

/// From the first worker's start to the last one's end.
fn wall_ns(phase: &PhaseRecord) -> Result<u64> {
    let began = phase.workers.iter().map(|worker| worker.began_ns).min();
    let ended = phase.workers.iter().map(|worker| worker.ended_ns).max();
    Ok(ended.ok_or("no worker")? - began.ok_or("no worker")?)
}

/// Looks at the processor time at the borders of phases, where all workers wait.
#[derive(Default)]
struct Times {
    before: [Option<ProcessTimes>; 3],
    after: [Option<ProcessTimes>; 3],
}

impl Events for Times {
    fn event(&mut self, event: Event) {
        let (times, phase) = match event {
            Event::PhaseStarted(Stage::Phase(phase), _) => (&mut self.before, phase),
            // A stage that the last worker ends after another was done with everything is told as
            // broken.
            Event::PhaseEnded(Stage::Phase(phase), ..)
            | Event::PhaseAborted(Stage::Phase(phase), _) => (&mut self.after, phase),
            _ => return,
        };
        times[phase as usize] = match ProcessTimes::read(&Sources::default()) {
            Fact::Known(times) => Some(times),
            Fact::NotApplicable | Fact::Unavailable(_) => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_tells_what_its_phases_took_and_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let workload =
            serde_json::to_string(&Workload::from(workload::Classic::default())).unwrap();
        let options = OursOptions {
            workload,
            target: place.path().to_owned(),
            prepared: true,
            depth: None,
        };
        perform(&options).unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
