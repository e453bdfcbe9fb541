//! The results of all presets for current servers on all file systems.

use crate::process::record_of;
use crate::result::Result;
use std::path::Path;

use record::Phase;
use verdict::summary::Summary;
use workload::Action;
use workload::presets::{self, Preset};

use crate::mounts::{MountedVolume, sync, touch_memory};
use crate::noise::Noise;
use crate::statistics::median;

#[derive(Clone, Copy, Debug)]
struct RunSample {
    /// Transactions/s until the last worker ended.
    per_s: f64,
    /// Transactions/s until all data was on the device.
    until_durable_per_s: f64,
    /// The 99th percentile of latency of the slowest kind of operation, in microseconds.
    p99_us: f64,
}

#[derive(Clone, Debug, clap::Args)]
pub struct PresetsOptions {
    /// File systems: tmpfs, ext4, xfs, btrfs.
    #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs,btrfs")]
    pub on: Vec<String>,
}

/// Runs every preset `rounds` times on each file system, in turns, and prints the medians.
pub fn show(ours: &Path, on: &[String], rounds: usize) -> Result<()> {
    touch_memory();
    println!(
        "transactions a second [interval]; until durable; the greatest p99 of its operations in \
         microseconds"
    );
    println!("medians of {rounds} rounds, a file system after the other");
    for kind in on {
        let mounted = MountedVolume::new(kind)?;
        let names = performed_on(kind);
        let noise = Noise::begin();
        let mut samples = vec![Vec::new(); names.len()];
        for _ in 0..rounds {
            for (name, samples) in names.iter().zip(&mut samples) {
                sync(&mounted.path())?;
                samples.push(once(ours, name, &mounted.path())?);
            }
        }
        println!("{kind} ({}); {}", mounted.how, noise.end());
        for (name, samples) in names.iter().zip(&samples) {
            let show = |part: fn(&RunSample) -> f64| median(samples.iter().map(part));
            println!(
                "  {name:21} {:>30} {:>10.0} {:>10.0}",
                show(|sample| sample.per_s).show(0),
                show(|sample| sample.until_durable_per_s).value,
                show(|sample| sample.p99_us).value
            );
        }
    }
    Ok(())
}

/// The presets with a mix that a file system can perform: only btrfs and xfs can clone files.
fn performed_on(kind: &str) -> Vec<&'static str> {
    let clones = matches!(kind, "btrfs" | "xfs");
    let is_performed = |preset: &Preset| {
        let mix = preset.workload.mix();
        mix.is_some_and(|mix| clones || !mix.weights.actions().any(Action::clones))
    };
    let presets = presets::all().into_iter().filter(is_performed);
    presets.map(|preset| preset.name).collect()
}

fn once(ours: &Path, preset: &str, at: &Path) -> Result<RunSample> {
    let (record, _) = record_of(ours, &format!("--preset {preset}"), at)?;
    let summary = Summary::of(&record);
    let phase = summary.phase(Phase::Transactions);
    let phase = phase.ok_or("the record lacks the transactions")?;
    let rate = |until: Option<f64>| until.ok_or("no time has passed");
    let durable = phase.until_durable.as_ref().unwrap_or(&phase.last_done);
    let p99s = phase
        .operations
        .iter()
        .filter_map(|operation| operation.latency_ns.p99);
    Ok(RunSample {
        per_s: rate(phase.last_done.done.per_second)?,
        until_durable_per_s: rate(durable.done.per_second)?,
        p99_us: p99s.map(|ns| ns as f64 / 1e3).fold(0.0, f64::max),
    })
}
