//! The measurements on one file system in one round.

use crate::result::Result;
use std::path::Path;
use std::process::Command;

use record::Phase;
use tempfile::TempDir;
use verdict::summary::Summary;
use verdict::sweep::SweepStepSummary;

use super::application::Application;
use super::applications::{Pairing, presets_beside};
use super::cell::{Cell, Step, file_sizes};
use super::data::Data;
use super::mix::without;
use super::options::RealismOptions;
use super::preset_run::PresetRun;
use super::rounds::{Place, Rounds};
use super::setup::SetupOptions;
use super::traces::Trace;
use super::volume::{Volume, open_to_all};
use crate::noise::Noise;
use crate::process::{caught, command, output, record_of};

/// Options of strace(1) with which calls are counted.
const STRACE_OPTIONS: &str = "-f -qq -y -s 0 -e trace=%file,%desc";

/// The settings that all measurements use.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The PostMark binary.
    pub ours: &'a Path,
    pub options: &'a RealismOptions,
}

/// What a cell needs besides its file system and its application.
pub struct CellRequest<'a> {
    pub setup: &'a SetupOptions,
    pub round: u32,
}

impl<'a> CellRequest<'a> {
    /// Makes the directory for configuration, logs and sockets of applications.
    pub fn outside() -> Result<TempDir> {
        let outside = tempfile::Builder::new()
            .prefix("postmark-bench-")
            .tempdir()?;
        open_to_all(outside.path())?;
        Ok(outside)
    }

    /// Makes the directory of an application's group.
    pub fn cell<'b>(
        &self,
        volume: &'b mut Volume,
        outside: &'b Path,
        application: &Application,
        data: Data,
    ) -> Result<Cell<'b>>
    where
        'a: 'b,
    {
        let directory = volume.path().join(application.group);
        std::fs::create_dir_all(&directory)?;
        open_to_all(&directory)?;
        Ok(Cell {
            volume,
            directory,
            outside,
            packages: &self.setup.packages,
            data,
            is_small: self.setup.small,
            round: self.round,
            strace_options: STRACE_OPTIONS,
            traces: None,
        })
    }
}

/// What is measured at a time.
#[derive(Clone, Copy)]
enum Part {
    Application(&'static Application),
    Preset(PresetRun),
}

pub struct Visit<'a> {
    bench: Bench<'a>,
    round: u32,
    /// The directory for configuration, logs and sockets of applications. It is not on the
    /// measured file system.
    outside: TempDir,
}

impl<'a> Visit<'a> {
    pub fn new(bench: Bench<'a>, round: u32) -> Result<Self> {
        Ok(Self {
            bench,
            round,
            outside: CellRequest::outside()?,
        })
    }

    /// The key of a measurement in the data file, in this round.
    fn place(&self, file_system: &str, part: Part) -> Place {
        let Bench { options, .. } = self.bench;
        let name = match part {
            Part::Application(application) => application.name.to_owned(),
            Part::Preset(run) => run.name(),
        };
        Place {
            data: options.setup.data_name(options.setup.data),
            round: self.round,
            file_system: file_system.to_owned(),
            name,
        }
    }

    /// Whether the data file contains an application and the presets that claim to predict it.
    pub fn is_done(
        &self,
        rounds: &Rounds,
        file_system: &str,
        application: &'static Application,
    ) -> bool {
        let mut parts = self.parts_of(application).into_iter();
        parts.all(|part| rounds.contains(&self.place(file_system, part)))
    }

    /// An application and the presets that claim to predict it, in the order of this round: every
    /// second round begins with the presets.
    fn parts_of(&self, application: &'static Application) -> Vec<Part> {
        let presets = presets_beside(application.name).into_iter();
        let mut parts: Vec<Part> = presets.map(Part::Preset).collect();
        let position = if self.round.is_multiple_of(2) {
            0
        } else {
            parts.len()
        };
        parts.insert(position, Part::Application(application));
        parts
    }

    /// Runs the applications, and the presets that claim to predict them, except those that are in
    /// the data file.
    pub fn perform(
        &mut self,
        rounds: &mut Rounds,
        file_system: &str,
        volume: &mut Volume,
        applications: &[&'static Application],
    ) -> Result<()> {
        let noise = Noise::begin();
        for (index, application) in applications.iter().enumerate() {
            for part in self.parts_of(application) {
                let place = self.place(file_system, part);
                if rounds.contains(&place) {
                    continue;
                }
                volume.sync()?;
                let steps = match part {
                    Part::Application(application) => self.application(volume, application),
                    Part::Preset(run) => self.preset(volume, run),
                };
                match steps {
                    Ok(steps) => rounds.append(&place, steps)?,
                    Err(error) => {
                        let what = format!("round {}, {file_system}, {}", self.round, place.name);
                        continue_after(&what, error)?;
                        // Without these files, the next application of the group makes its own.
                        remove(&volume.path().join(application.group))?;
                    }
                }
            }
            let next = applications.get(index + 1);
            if next.is_none_or(|next| next.group != application.group) {
                remove(&volume.path().join(application.group))?;
            }
        }
        println!("round {}, {file_system}: {}", self.round, noise.end());
        Ok(())
    }

    fn cell<'b>(
        &'b self,
        volume: &'b mut Volume,
        application: &Application,
        data: Data,
    ) -> Result<Cell<'b>> {
        let request = CellRequest {
            setup: &self.bench.options.setup,
            round: self.round,
        };
        request.cell(volume, self.outside.path(), application, data)
    }

    fn application(&self, volume: &mut Volume, application: &Application) -> Result<Vec<Step>> {
        let mut cell = self.cell(volume, application, self.bench.options.setup.data)?;
        (application.prepare)(&mut cell)?;
        cell.volume.sync()?;
        (application.run)(&mut cell)
    }

    fn preset(&self, volume: &Volume, run: PresetRun) -> Result<Vec<Step>> {
        let RealismOptions { run_for, .. } = self.bench.options;
        let seed = 100 + self.round;
        let run = run.options(run_for);
        let words = format!("{run} --seed {seed} --no-overhead --no-series");
        let directory = volume.path().join("preset");
        std::fs::create_dir_all(&directory)?;
        let (record, _) = record_of(self.bench.ours, &words, &directory)?;
        let summary = Summary::of(&record);
        if let Some(sweep) = &summary.sweep {
            let phases = sweep.sweep_steps.iter();
            return Ok(phases.filter_map(of_phase).collect());
        }
        let phase = summary.phase(Phase::Transactions);
        let done = &phase.ok_or("the record lacks the transactions")?.last_done;
        Ok(vec![Step {
            name: "transactions".to_owned(),
            operations: done.done.count,
            seconds: done.ns as f64 / 1e9,
        }])
    }

    /// Traces an application once on an empty file system.
    pub fn trace(
        &mut self,
        volume: &mut Volume,
        application: &Application,
        data: Data,
    ) -> Result<Trace> {
        let mut cell = self.cell(volume, application, data)?;
        (application.prepare)(&mut cell)?;
        let files = cell.path(application.files);
        let before = file_sizes(&files);
        cell.traces = Some(Vec::new());
        let steps = (application.run)(&mut cell)?;
        let after = file_sizes(&files);
        // After `rm`, no files exist, so the sizes before the run are used.
        let sizes = if after.is_empty() { before } else { after };
        let logs = cell.traces.take().unwrap_or_default();
        let trace = Trace::new(&logs, &steps, &cell.directory, sizes);
        remove(&cell.directory)?;
        trace
    }

    /// Traces the phases of a preset that predict an application, or its transactions. The mix
    /// contains the calls of a run, minus the calls of a second run that ends before these phases.
    /// The sizes are those of the pool's files.
    pub fn trace_preset(&self, volume: &Volume, pairing: &Pairing) -> Result<Trace> {
        let directory = volume.path().join("preset");
        let (run, before) = self.runs_of(pairing)?;
        let mut traces = Vec::new();
        for (name, how) in [("run", run), ("before", before)] {
            let log = self.outside.path().join(format!("trace-{name}"));
            let mut strace = command("strace", &format!("{STRACE_OPTIONS} -o"));
            strace.arg(&log).arg(self.bench.ours);
            traced_run(&mut strace, &how, &directory)?;
            cut_clean_up(&log)?;
            traces.push(Trace::new(&[log], &[], &directory, Vec::new())?);
        }
        let how = format!("{} --keep", pairing.run.options_of_pool());
        traced_run(&mut Command::new(self.bench.ours), &how, &directory)?;
        let sizes = file_sizes(&directory);
        Ok(Trace {
            mix: without(&traces[0].mix, &traces[1].mix),
            ..Trace::new(&[], &[], &directory, sizes)?
        })
    }

    /// The options of a run that ends with the phases of a pairing, and of one that ends before
    /// them.
    fn runs_of(&self, pairing: &Pairing) -> Result<(String, String)> {
        let run = pairing.run.without_compute();
        let before = run.options_of_pool();
        let (Some(first), Some(last)) = (pairing.phases.first(), pairing.phases.last()) else {
            return Ok((run.options(&self.bench.options.run_for), before));
        };
        let preset = run.preset;
        let words = format!("plan --preset {preset} --format toml");
        let file = output(&mut command(self.bench.ours, &words))?;
        let begin = |phase: &str| {
            let begin = file.find(&format!("[[phase]]\nname = \"{phase}\"\n"));
            begin.ok_or_else(|| format!("{preset} has no phase {phase}"))
        };
        let (first, last) = (begin(first)?, begin(last)?);
        let rest = &file[last + 1..];
        let end = rest
            .find("[[phase]]")
            .map_or(file.len(), |end| last + 1 + end);
        let up_to = |end: usize, name: &str| -> Result<String> {
            let path = self.outside.path().join(name);
            std::fs::write(&path, &file[..end])?;
            Ok(format!("--config {}", path.display()))
        };
        let before = match file[..first].contains("[[phase]]") {
            true => up_to(first, "before.toml")?,
            false => before,
        };
        Ok((up_to(end, "run.toml")?, before))
    }
}

/// Removes the end of a run's trace: the deletion of the pool and of the run's directory. Each of
/// them ends with a sync of the file system, as the phase before them does.
fn cut_clean_up(log: &Path) -> Result<()> {
    let text = String::from_utf8_lossy(&std::fs::read(log)?).into_owned();
    let end = text.rmatch_indices("syncfs(").nth(2);
    let (end, _) = end.ok_or("a traced run did not sync its file system three times")?;
    Ok(std::fs::write(log, &text[..end])?)
}

fn traced_run(command: &mut Command, how: &str, directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory)?;
    command.args(["run", "--quiet", "--no-overhead", "--no-series"]);
    command.args(how.split(' ')).arg("--target").arg(directory);
    output(command).map(drop)
}

/// Prints why a measurement failed. The benchmark continues, and its next run repeats the
/// measurement. After a signal, returns the error instead, which ends the benchmark.
pub fn continue_after(what: &str, error: Box<dyn std::error::Error>) -> Result<()> {
    if caught().is_some() {
        return Err(error);
    }
    println!("{what} failed: {error}");
    Ok(())
}

/// Removes a directory that may be missing.
pub fn remove(directory: &Path) -> Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", directory.display()).into())
        }
        _ => Ok(()),
    }
}

/// A phase of a preset as a step; `None` if nothing was measured.
fn of_phase(phase: &SweepStepSummary) -> Option<Step> {
    Some(Step {
        name: phase.name.clone()?,
        operations: phase.transactions,
        seconds: phase.transactions as f64 / phase.achieved_per_second?,
    })
}
