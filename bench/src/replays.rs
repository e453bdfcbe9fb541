//! How true are replays and learned models? Runs real commands, replays of their traces and models
//! learned from the traces, in turns on several file systems.
//!
//! Each command is traced once on ext4, and a workload is learned from the trace. Then a round
//! visits the file systems in random order. Each is formatted, and then each command, its replays
//! (with and without the pauses of the trace) and its model run there, in an order that changes
//! with the round. Short ones run several times. Commands are not traced when
//! they are measured. Results are appended to `replays.csv`, and a measurement that is in the file
//! is not repeated. `replays-DATA.md` contains the result.

mod learned;
mod models;
mod options;
mod part;
mod table;
mod truth;

use crate::result::Result;
use std::path::Path;

use self::learned::Learned;
pub use self::options::ReplaysOptions;
use self::part::{Part, measure, measure_often};
use self::truth::Truth;
use crate::noise::Noise;
use crate::realism::application::Application;
use crate::realism::applications::COMMANDS;
use crate::realism::cell::Step;
use crate::realism::rounds::{Place, Rounds};
use crate::realism::setup::{Volumes, shuffled, whole, whole_program};
use crate::realism::visit::{CellRequest, continue_after, remove};
use crate::realism::volume::{BASELINE, Volume};

/// Performs all rounds that are missing, and prints the tables. Returns whether all requirements
/// are met.
pub fn perform(ours: &Path, options: &ReplaysOptions) -> Result<bool> {
    let options = &ReplaysOptions {
        setup: options.setup.with_whole_paths()?,
        results: whole(&options.results)?,
        ..options.clone()
    };
    let ours = &whole_program(ours)?;
    if !options.table {
        measure_rounds(ours, options)?;
    }
    let rounds = Rounds::open(&options.rounds_file())?;
    let data = options.setup.data_name(options.setup.data);
    let known = COMMANDS.iter().filter_map(|command| {
        let learned = Learned::load(&options.trace_file(command.name)).ok()?;
        let left_out = learned.left_out();
        Some(Truth::new(&rounds.lines, &data, command.name, left_out))
    });
    let truths: Vec<Truth> = known.collect();
    let missed: Vec<String> = truths.iter().flat_map(Truth::missed).collect();
    if let Some(directory) = &options.models {
        models::write(directory, options)?;
    }
    let text = table::markdown(&data, &truths, &missed);
    print!("{text}");
    std::fs::write(options.results.join(format!("replays-{data}.md")), text)?;
    Ok(missed.is_empty())
}

fn measure_rounds(ours: &Path, options: &ReplaysOptions) -> Result<()> {
    let setup = &options.setup;
    let commands = setup.available(&COMMANDS, &options.commands, &[setup.data])?;
    let mut volumes = Volumes::new(setup)?;
    for command in &commands {
        let file = options.trace_file(command.name);
        if !file.exists() {
            learned::trace(ours, volumes.empty(BASELINE)?, setup, command, &file)?;
        }
        learned::store_cpu_time(&file, || {
            cpu_seconds(ours, options, volumes.empty(BASELINE)?, command)
        })?;
        learned::learn_trace(ours, &file)?;
    }
    let mut rounds = Rounds::open(&options.rounds_file())?;
    for round in 0..options.rounds {
        for kind in shuffled("replays", &options.on, round) {
            let visit = Visit {
                ours,
                options,
                round,
                file_system: kind,
            };
            let is_done = |command: &&Application| visit.missing(&rounds, command).is_empty();
            if !commands.iter().all(is_done) {
                visit.perform(&mut rounds, volumes.empty(kind)?, &commands)?;
            }
        }
    }
    volumes.remove()
}

/// The processor time of a command without strace, in seconds.
fn cpu_seconds(
    ours: &Path,
    options: &ReplaysOptions,
    volume: &mut Volume,
    command: &'static Application,
) -> Result<f64> {
    let visit = Visit {
        ours,
        options,
        round: 0,
        file_system: BASELINE,
    };
    let steps = measure_often(|| visit.measure(Part::Original, volume, command))?;
    let cpu = steps.iter().find(|step| step.name == part::CPU);
    Ok(cpu.map_or(0.0, |step| step.seconds))
}

/// One file system in one round.
struct Visit<'a> {
    ours: &'a Path,
    options: &'a ReplaysOptions,
    round: u32,
    file_system: &'a str,
}

impl Visit<'_> {
    fn place(&self, command: &Application, part: Part) -> Place {
        let setup = &self.options.setup;
        Place {
            data: setup.data_name(setup.data),
            round: self.round,
            file_system: self.file_system.to_owned(),
            name: part.of(command.name),
        }
    }

    /// The measurements of a command that the data file lacks, in the order of the round.
    fn missing(&self, rounds: &Rounds, command: &Application) -> Vec<Part> {
        let mut parts = vec![Part::Original, Part::Replay, Part::Paused, Part::Model];
        parts.rotate_left(self.round as usize % 4);
        // The replay with the times of the trace shows how well times are kept, not how fast a file
        // system is.
        if self.round == 0 && self.file_system == BASELINE {
            parts.push(Part::Traced);
        }
        parts.retain(|part| !rounds.contains(&self.place(command, *part)));
        parts
    }

    /// Measures a part of a command, and removes its files.
    fn measure(&self, part: Part, volume: &mut Volume, command: &Application) -> Result<Vec<Step>> {
        volume.sync()?;
        let request = CellRequest {
            setup: &self.options.setup,
            round: self.round,
        };
        let trace = self.options.trace_file(command.name);
        let steps = measure(part, self.ours, &request, volume, command, &trace);
        remove(&volume.path().join(command.group))?;
        steps
    }

    fn perform(
        &self,
        rounds: &mut Rounds,
        volume: &mut Volume,
        commands: &[&'static Application],
    ) -> Result<()> {
        let noise = Noise::begin();
        for command in commands {
            for part in self.missing(rounds, command) {
                match measure_often(|| self.measure(part, volume, command)) {
                    Ok(steps) => rounds.append(&self.place(command, part), steps)?,
                    Err(error) => {
                        let what = part.of(command.name);
                        let what = format!("round {}, {}, {what}", self.round, self.file_system);
                        continue_after(&what, error)?;
                    }
                }
            }
        }
        println!(
            "round {}, {}: {}",
            self.round,
            self.file_system,
            noise.end()
        );
        Ok(())
    }
}
