//! Benchmarks of runs with a given load: the repeatability of sweep limits, steady-state rules with
//! a steady and an unsteady workload, and a soak test.

use crate::process::{command, output, output_and_memory_over_time, record_of};
use crate::result::Result;
use std::path::Path;
use std::time::{Duration, Instant};

use record::{Load, Outcome, Record};
use verdict::{Limit, Summary};

use crate::mounts::{MountedVolume, sync, touch_memory};
use crate::noise::Noise;
use crate::statistics::{median, or_dash};

#[derive(Clone, Debug, clap::Args)]
pub struct SweepOptions {
    /// File systems: tmpfs, ext4, xfs, btrfs.
    #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs,btrfs")]
    pub on: Vec<String>,
    /// Preset of the workload (`postmark presets` lists all).
    #[arg(long, default_value = "mail")]
    pub preset: String,
    /// Load levels, as for the option `--sweep` of `postmark run`.
    #[arg(long, default_value = "30%,60%,90%,120%,180%,270%,400%")]
    pub sweep: String,
    /// SLO: the latency limit that a load level must keep.
    #[arg(long, default_value = "p99<10ms")]
    pub slo: String,
}

#[derive(Clone, Debug, clap::Args)]
pub struct SoakOptions {
    /// Duration of the run, for example `10m`.
    #[arg(long = "for", default_value = "1h")]
    pub run_for: String,
    /// Transactions a second.
    #[arg(long, default_value_t = 2_000.0)]
    pub rate: f64,
    /// End with code 1 if the memory grows, the run fails or loses operations, or the record is too
    /// large.
    #[arg(long)]
    pub check: bool,
}

/// Performs the same sweep several times on each file system. Prints the limits of each sweep and
/// the spread of each limit.
pub fn sweeps(ours: &Path, rounds: usize, asked: &SweepOptions) -> Result<()> {
    touch_memory();
    println!(
        "{} up the sweep {}, SLO {}, {} times on each file system; transactions a second",
        asked.preset, asked.sweep, asked.slo, rounds
    );
    for kind in &asked.on {
        let noise = Noise::begin();
        let (mut limits, mut slos, mut knees) = (Vec::new(), Vec::new(), Vec::new());
        let mut how = "";
        for round in 0..rounds {
            // Each sweep gets a new file system, so that the previous sweep does not affect it.
            let mounted = MountedVolume::new(kind)?;
            how = mounted.how;
            let (preset, sweep, slo) = (&asked.preset, &asked.sweep, &asked.slo);
            let words = format!("--preset {preset} --sweep {sweep} --slo {slo}");
            let (record, _) = record_of(ours, &words, &mounted.path())?;
            let sweep = Summary::of(&record)
                .sweep
                .ok_or("the record has no sweep")?;
            if round == 0 {
                println!("{kind} ({how}), the load levels of the first round");
                for sweep_step in &sweep.sweep_steps {
                    show_sweep_step(sweep_step);
                }
            }
            let slo = sweep.slo.map(|slo| slo.limit);
            println!(
                "  round {}: limit {}, SLO {}, knee {}",
                round + 1,
                sweep.limit.map_or_else(|| "-".to_owned(), show_limit),
                slo.map_or_else(|| "-".to_owned(), show_limit),
                sweep
                    .knee
                    .map_or_else(|| "none".to_owned(), |knee| format!("{:.0}", knee.rate))
            );
            limits.extend(sweep.limit.and_then(|limit| limit.highest));
            slos.extend(slo.and_then(|limit| limit.highest));
            knees.extend(sweep.knee.map(|knee| knee.rate));
        }
        println!("{kind} ({how}); {}", noise.end());
        for (name, values) in [("limit", &limits), ("slo", &slos), ("knee", &knees)] {
            show_spread(name, values);
        }
    }
    Ok(())
}

fn show_sweep_step(sweep_step: &verdict::SweepStepSummary) {
    let load = match sweep_step.load {
        Load::Closed => "closed loop".to_owned(),
        Load::Rate(rate) => format!("{rate:.0}/s"),
        Load::Workers(workers) => format!("{workers} workers"),
        Load::Ranks(ranks) => format!("{ranks} ranks"),
        Load::Phase(number) => format!("phase {}", number + 1),
    };
    let micros = |ns: Option<u64>| or_dash(ns.map(|ns| ns as f64 / 1e3), 0);
    println!(
        "    {load:>12}{:>11.0} achieved ({}){:>9} waiting; latency µs: p50 {}, p99 {}, greatest \
         {}; service p99 {}{}",
        sweep_step.achieved_per_second.unwrap_or_default(),
        sweep_step
            .achieved_fraction
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0)),
        sweep_step.waiting.unwrap_or_default(),
        micros(sweep_step.p50_ns),
        micros(sweep_step.p99_ns),
        micros(sweep_step.max_ns),
        micros(sweep_step.service_p99_ns),
        if sweep_step.holds {
            ""
        } else {
            "; not sustained"
        }
    );
}

fn show_limit(limit: Limit) -> String {
    match (limit.highest, limit.lowest_beyond) {
        (Some(highest), Some(beyond)) => format!("{highest:.0} ({beyond:.0} is not sustained)"),
        (Some(highest), None) => format!("{highest:.0} and more"),
        (None, Some(beyond)) => format!("below {beyond:.0}"),
        (None, None) => "none".to_owned(),
    }
}

fn show_spread(name: &str, values: &[f64]) {
    if values.is_empty() {
        println!("  {name:6} never found");
        return;
    }
    let values_of = || values.iter().copied();
    let middle = median(values_of());
    let least = values_of().fold(f64::INFINITY, f64::min);
    let greatest = values_of().fold(f64::NEG_INFINITY, f64::max);
    println!(
        "  {name:6} median {:.0}, from {least:.0} to {greatest:.0}: a spread of {:.1} % ({} found)",
        middle.value,
        (greatest - least) / middle.value * 100.0,
        values.len()
    );
}

/// Runs two workloads on a fresh ext4 with each steady-state rule: one that becomes steady, and one
/// whose files grow all the time.
pub fn steady(ours: &Path) -> Result<()> {
    // Reads take longer as the files grow. Within the time of the run, no file reaches its maximum
    // size, and all files fit on the file system.
    let growing = "--mix read=1,append=1 --files 500 --size 4KiB --append-size 64KiB --size-max \
                   14MiB --cache as-is";
    for (what, words) in [
        (
            "varmail, which keeps its pool as it is",
            "--preset varmail --warm-up 5s",
        ),
        ("files that are read as a whole and grow", growing),
    ] {
        for rule in ["snia", "slope"] {
            let mounted = MountedVolume::new("ext4")?;
            let noise = Noise::begin();
            let words = format!(
                "run --quiet --full {words} --steady {rule} --round 10s --for 150s --target"
            );
            let text = output(command(ours, &words).arg(mounted.path()))?;
            println!(
                "{what}, rule {rule}, fresh ext4 ({}); {}",
                mounted.how,
                noise.end()
            );
            let is_of_it = |line: &&str| {
                let begins = ["Verdict", "Steady", "            rounds", "  -"];
                begins.iter().any(|begin| line.starts_with(begin))
            };
            text.lines()
                .take(40)
                .filter(is_of_it)
                .for_each(|line| println!("  {line}"));
        }
    }
    Ok(())
}

/// Runs four workers for a long time at a fixed rate. Checks whether the memory of the program
/// grows, whether the time series lacks operations, and how large the record is.
pub fn soak(ours: &Path, options: &SoakOptions) -> Result<bool> {
    /// Limit on the memory growth in the second half of the run, in bytes. In a run of an hour, the
    /// time series reaches its maximum length in the first half and then grows no further.
    const GROWTH_MAX: i64 = 4_000_000;
    /// Limit on the size of a record in bytes. It also suffices for a run of a day, because a time
    /// series has at most 1,800 intervals (`SLICES_MAX`).
    const RECORD_MAX: usize = 50_000_000;
    let (run_for, rate) = (&options.run_for, options.rate);
    let mounted = MountedVolume::new("ext4")?;
    sync(&mounted.path())?;
    let noise = Noise::begin();
    let began = Instant::now();
    let words = format!(
        "run --quiet --format json --preset varmail --workers 4 --warm-up 10s --for {run_for} \
         --rate {rate} --target"
    );
    let mut command = command(ours, &words);
    command.arg(mounted.path());
    let (text, memory) = output_and_memory_over_time(&mut command, Duration::from_secs(10))?;
    let record = Record::from_json(&text)?;
    println!(
        "varmail, four workers, {rate} a second for {run_for} on ext4 ({}), {:.0} s in all; {}",
        mounted.how,
        began.elapsed().as_secs_f64(),
        noise.end()
    );
    println!(
        "  outcome {:?}, {} kinds of errors",
        record.actual.outcome,
        record.actual.errors.len()
    );
    let mut phases = record.actual.transactions();
    let phase = phases.next().ok_or("the record lacks the transactions")?;
    let segments = phase.segments.iter();
    let in_segments: u64 = segments.map(|segment| segment.transactions).sum();
    let totals = phase.slices.totals();
    let in_slices: u64 = totals.values().map(|meter| meter.operations).sum();
    let achieved = phase.transactions() as f64 * 1e9 / phase.measured_ns() as f64;
    println!(
        "  {in_segments} transactions in the segments, {in_slices} operations in the slices, {} \
         waiting; {achieved:.1}/s achieved",
        phase.waiting.unwrap_or_default()
    );
    let growth = show_memory(&memory, text.len());
    Ok(record.actual.outcome == Outcome::Complete
        && in_segments == in_slices
        && record.actual.errors.is_empty()
        && growth <= GROWTH_MAX
        && text.len() <= RECORD_MAX)
}

/// Prints how the memory grew; returns the growth from the middle to the end, in bytes.
fn show_memory(memory: &[u64], record_bytes: usize) -> i64 {
    let tenth = memory.len() / 10;
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len().max(1) as f64;
    let middle = memory.len() / 2;
    let early = mean(&memory[middle..(middle + tenth).max(middle + 1).min(memory.len())]);
    // The last two samples are excluded, because the program is already assembling the record at
    // that time.
    let late =
        mean(&memory[memory.len().saturating_sub(tenth + 2)..memory.len().saturating_sub(2)]);
    println!(
        "  memory in the middle {:.1} MB, at the end {:.1} MB; record {:.1} MB",
        early / 1e6,
        late / 1e6,
        record_bytes as f64 / 1e6
    );
    let steps: Vec<String> = (0..10)
        .filter_map(|step| memory.get(step * memory.len() / 10))
        .map(|bytes| format!("{:.1}", *bytes as f64 / 1e6))
        .collect();
    println!("  memory in tenths of the time, MB: {}", steps.join(" "));
    (late - early) as i64
}
