//! The measurements on one file system in one round.

use crate::result::Result;
use std::path::Path;

use record::Phase;
use tempfile::TempDir;
use verdict::summary::Summary;
use workload::presets;

use super::application::Application;
use super::applications::presets_beside;
use super::cell::{Cell, Step, file_sizes};
use super::data::Data;
use super::mix::without;
use super::options::RealismOptions;
use super::preset_names::{PresetNames, end_of};
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
    pub names: &'a PresetNames,
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

    /// The key of an application or a preset in the data file, in this round.
    fn place(&self, file_system: &str, name: &str) -> Place {
        let Bench { options, names, .. } = self.bench;
        Place {
            data: options.setup.data_name(options.setup.data),
            round: self.round,
            file_system: file_system.to_owned(),
            name: names.get(name).map_or(name, String::as_str).to_owned(),
        }
    }

    /// Whether the data file contains an application and the presets that claim to predict it.
    pub fn is_done(&self, rounds: &Rounds, file_system: &str, application: &Application) -> bool {
        let mut names = presets_beside(application.name);
        names.push(application.name);
        names
            .iter()
            .all(|name| rounds.contains(&self.place(file_system, name)))
    }

    /// Runs the applications, and the presets that claim to predict them, except those that are in
    /// the data file.
    pub fn perform(
        &mut self,
        rounds: &mut Rounds,
        file_system: &str,
        volume: &mut Volume,
        applications: &[&Application],
    ) -> Result<()> {
        let noise = Noise::begin();
        for (index, application) in applications.iter().enumerate() {
            let mut names = presets_beside(application.name);
            // Every second round begins with the presets.
            let position = if self.round.is_multiple_of(2) {
                0
            } else {
                names.len()
            };
            names.insert(position, application.name);
            for name in names {
                let place = self.place(file_system, name);
                if rounds.contains(&place) {
                    continue;
                }
                volume.sync()?;
                let steps = if name == application.name {
                    self.application(volume, application)
                } else {
                    self.preset(volume, name).map(|step| vec![step])
                };
                match steps {
                    Ok(steps) => rounds.append(&place, steps)?,
                    Err(error) => {
                        let what = format!("round {}, {file_system}, {name}", self.round);
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

    fn preset(&self, volume: &Volume, preset: &str) -> Result<Step> {
        let RealismOptions { run_for, .. } = self.bench.options;
        let seed = 100 + self.round;
        let end = end_of(preset, run_for);
        let words = format!("--preset {preset} --seed {seed} --no-overhead --no-series{end}");
        let directory = volume.path().join("preset");
        std::fs::create_dir_all(&directory)?;
        let (record, _) = record_of(self.bench.ours, &words, &directory)?;
        let summary = Summary::of(&record);
        let name = "transactions".to_owned();
        if let Some(sweep) = &summary.sweep {
            // The phases of a preset take as long together as the application takes.
            let phases = sweep.sweep_steps.iter();
            let seconds = phases
                .clone()
                .filter_map(|phase| Some(phase.transactions as f64 / phase.achieved_per_second?));
            return Ok(Step {
                name,
                operations: phases.clone().map(|phase| phase.transactions).sum(),
                seconds: seconds.sum(),
            });
        }
        let phase = summary.phase(Phase::Transactions);
        let done = &phase.ok_or("the record lacks the transactions")?.last_done;
        Ok(Step {
            name,
            operations: done.done.count,
            seconds: done.ns as f64 / 1e9,
        })
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
        (application.run)(&mut cell)?;
        let after = file_sizes(&files);
        // After `rm`, no files exist, so the sizes before the run are used.
        let sizes = if after.is_empty() { before } else { after };
        let logs = cell.traces.take().unwrap_or_default();
        let trace = Trace::new(&logs, &cell.directory, sizes);
        remove(&cell.directory)?;
        trace
    }

    /// Traces the transactions of a preset. The mix contains the calls of a run, minus the calls of
    /// a second run that only prepares and deletes the pool. The sizes are those of the pool's
    /// files.
    pub fn trace_preset(&self, volume: &Volume, preset: &str) -> Result<Trace> {
        let directory = volume.path().join("preset");
        let ours = self.bench.ours;
        let words = format!("run --quiet --preset {preset} --no-overhead --no-series --target");
        let run_for = end_of(preset, &self.bench.options.run_for);
        // A preset with phases has no number of transactions, so a mix without any replaces them.
        let only_pool = match has_phases(preset) {
            true => "--mix read=1 --transactions 0",
            false => "--transactions 0",
        };
        let mut traces = Vec::new();
        for (name, how) in [("all", run_for.as_str()), ("pool", only_pool)] {
            std::fs::create_dir_all(&directory)?;
            let log = self.outside.path().join(format!("trace-{name}"));
            let mut strace = command("strace", &format!("{STRACE_OPTIONS} -o"));
            strace
                .arg(&log)
                .arg(ours)
                .args(words.split(' '))
                .arg(&directory);
            output(strace.args(how.split_whitespace()))?;
            traces.push(Trace::new(&[log], &directory, Vec::new())?);
        }
        let mut run = command(ours, &words);
        output(run.arg(&directory).args(only_pool.split(' ')).arg("--keep"))?;
        let sizes = file_sizes(&directory);
        Ok(Trace {
            mix: without(&traces[0].mix, &traces[1].mix),
            ..Trace::new::<&Path>(&[], &directory, sizes)?
        })
    }
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

fn has_phases(preset: &str) -> bool {
    presets::find(preset).is_some_and(|preset| !preset.how.phases.is_empty())
}
