//! Do presets predict applications? Runs each application, and the presets that claim to predict
//! it, in turns on several file systems. Compares their speeds relative to ext4. A preset that
//! claims to predict an application is called a preset "beside" it.
//!
//! A round visits all file systems in random order. Each file system is formatted, and then each
//! application and the presets beside it run there. In every second round the presets run first.
//! Results are appended to `rounds.csv` when a measurement ends, and a measurement that is in the
//! file is not repeated. Then each application and each preset is traced once on ext4, for the mix
//! of calls and the sizes of files (`traces.json`). `table-DATA.md` contains the result.

pub mod application;
pub mod applications;
pub mod cell;
pub mod data;
mod mix;
pub mod needs;
mod options;
pub mod preset_run;
pub mod rounds;
pub mod score;
pub mod setup;
mod table;
mod traces;
pub mod visit;
pub mod volume;

use crate::result::Result;
use std::path::Path;

use self::application::Application;
use self::applications::{APPLICATIONS, PAIRINGS, Pairing};
use self::data::Data;
use self::needs::Need;
pub use self::options::RealismOptions;
use self::rounds::Rounds;
use self::score::{Found, kolmogorov_smirnov, missed, ratios, score};
use self::setup::{Volumes, shuffled, whole, whole_program};
use self::traces::{Traces, key};
use self::visit::{Bench, Visit, continue_after};
use self::volume::{BASELINE, BINDFS};

/// Performs all rounds that are missing, and prints the table. Returns whether all requirements are
/// met.
pub fn perform(ours: &Path, options: &RealismOptions) -> Result<bool> {
    let options = &RealismOptions {
        setup: options.setup.with_whole_paths()?,
        results: whole(&options.results)?,
        ..options.clone()
    };
    if !options.table {
        let ours = &whole_program(ours)?;
        let options = &with_available_file_systems(options)?;
        // Both data sets are installed, because traces compare their file sizes.
        let applications = options
            .setup
            .available(&APPLICATIONS, &options.apps, &Data::ALL)?;
        let bench = Bench { ours, options };
        measure_rounds(bench, &applications)?;
        if !options.no_trace {
            trace_all(bench, &applications)?;
        }
    }
    let found = found(options)?;
    let missed = missed(&found);
    let data = options.setup.data_name(options.setup.data);
    let text = table::markdown(&data, &found, &missed);
    print!("{text}");
    std::fs::write(options.results.join(format!("table-{data}.md")), text)?;
    Ok(missed.is_empty())
}

/// If the program `bindfs` is missing, removes bindfs from the selected file systems, or installs
/// the program (`--install`). For the other file systems, crate `scratch` names missing programs.
fn with_available_file_systems(options: &RealismOptions) -> Result<RealismOptions> {
    let need = Need::Program {
        name: BINDFS,
        install: "apt-get install -y --no-install-recommends bindfs",
    };
    let mut options = options.clone();
    let is_selected = options.on.iter().any(|kind| kind == BINDFS);
    if is_selected && !need.is_met(&options.setup.packages) {
        if options.setup.install {
            need.install(&options.setup.packages)?;
        } else {
            let advice = need.advice(&options.setup.packages);
            println!("{BINDFS} is skipped; it needs: {advice}");
            options.on.retain(|kind| kind != BINDFS);
        }
    }
    Ok(options)
}

fn measure_rounds(bench: Bench<'_>, applications: &[&'static Application]) -> Result<()> {
    let options = bench.options;
    let mut rounds = Rounds::open(&options.rounds_file())?;
    let mut volumes = Volumes::new(&options.setup)?;
    for round in 0..options.rounds {
        for kind in shuffled("realism", &options.on, round) {
            let mut visit = Visit::new(bench, round)?;
            if applications
                .iter()
                .all(|one| visit.is_done(&rounds, kind, one))
            {
                continue;
            }
            let volume = volumes.empty(kind)?;
            visit.perform(&mut rounds, kind, volume, applications)?;
        }
    }
    volumes.remove()
}

/// The key of a trace of the phases that predict an application.
fn key_of_preset(pairing: &Pairing) -> String {
    let run = pairing.run.without_compute();
    key(&run.name(), &pairing.phases.join(" "))
}

/// Traces each application with each data set that is on this machine, and each preset. Skips the
/// traces that the data file already contains.
fn trace_all(bench: Bench<'_>, applications: &[&Application]) -> Result<()> {
    let options = bench.options;
    let strace = Need::Program {
        name: "strace",
        install: "apt-get install -y --no-install-recommends strace",
    };
    if !strace.is_met(&options.setup.packages) {
        println!(
            "traces are skipped; they need: {}",
            strace.advice(&options.setup.packages)
        );
        return Ok(());
    }
    let file = options.traces_file();
    let mut traces = traces::load(&file)?;
    let mut volumes = Volumes::new(&options.setup)?;
    let is_on = |kind: &&String| *kind == BASELINE;
    let kind = options.on.iter().find(is_on).or(options.on.first());
    let kind = kind.ok_or("no file system was selected (use --on)")?;
    for application in applications {
        for data in Data::ALL {
            let needs = (application.needs)(data);
            let name = key(application.name, &options.setup.data_name(data));
            if traces.contains_key(&name)
                || !needs.iter().all(|of| of.is_met(&options.setup.packages))
            {
                continue;
            }
            let mut visit = Visit::new(bench, 0)?;
            let volume = volumes.empty(kind)?;
            match visit.trace(volume, application, data) {
                Ok(trace) => drop(traces.insert(name, trace)),
                Err(error) => continue_after(&format!("trace of {name}"), error)?,
            }
        }
        let is_of = |pairing: &&Pairing| pairing.application == application.name;
        for pairing in PAIRINGS.iter().filter(is_of) {
            let name = key_of_preset(pairing);
            if traces.contains_key(&name) {
                continue;
            }
            let visit = Visit::new(bench, 0)?;
            match visit.trace_preset(volumes.empty(kind)?, pairing) {
                Ok(trace) => drop(traces.insert(name, trace)),
                Err(error) => continue_after(&format!("trace of {name}"), error)?,
            }
        }
        traces::save(&traces, &file)?;
    }
    volumes.remove()
}

/// The rows of the table: one for each pairing of a selected application with a preset.
fn found(options: &RealismOptions) -> Result<Vec<Found>> {
    let rounds = Rounds::open(&options.rounds_file())?;
    let traces = traces::load(&options.traces_file())?;
    let data = options.setup.data_name(options.setup.data);
    let rows = PAIRINGS.iter().map(|pairing| {
        let real = ratios(&rounds.lines, &data, pairing.application, pairing.steps);
        let predicted = ratios(&rounds.lines, &data, &pairing.run.name(), pairing.phases);
        let mut found = Found {
            pairing,
            score: score(&real, &predicted),
            real,
            predicted,
            mixes: None,
            sizes: None,
            has_real_sizes: false,
            own_sizes: None,
        };
        add_traces(&mut found, options, &traces, &key_of_preset(pairing));
        found
    });
    let selected = |found: &Found| {
        let name = found.pairing.application;
        options.apps.is_empty() || options.apps.iter().any(|of| of == name)
    };
    Ok(rows.filter(selected).collect())
}

fn add_traces(found: &mut Found, options: &RealismOptions, traces: &Traces, preset: &str) {
    let name = found.pairing.application;
    let of_data = |data| traces.get(&key(name, &options.setup.data_name(data)));
    let real = of_data(options.setup.data);
    if let (Some(real), Some(preset)) = (real, traces.get(preset)) {
        let real_mix = real.mix_of(found.pairing.steps);
        found.mixes = real_mix.and_then(|real| mix::total_variation(&real, &preset.mix));
        found.sizes = kolmogorov_smirnov(&real.sizes, &preset.sizes);
    }
    let mut applications = APPLICATIONS.iter();
    found.has_real_sizes = applications.any(|one| one.name == name && one.has_real_sizes);
    if let (true, [Some(tuned), Some(other)]) = (found.has_real_sizes, Data::ALL.map(of_data)) {
        found.own_sizes = kolmogorov_smirnov(&tuned.sizes, &other.sizes);
    }
}
