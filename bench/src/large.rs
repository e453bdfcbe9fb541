//! Benchmark with ten million small files on ext4: preparation, transactions and deletion, then the
//! same with a pool that is kept and reused.
//!
//! The file system has blocks of 1 KiB and an inode for every file, all initialized in advance. The
//! program's memory must stay below a limit, and nothing may fail.

use crate::process::record_of;
use crate::result::Result;
use std::path::Path;

use record::Record;
use verdict::summary::{OperationSummary, PhaseSummary, Summary};

use crate::mounts::{MountedVolume, sync};
use crate::noise::Noise;
use crate::statistics::or_dash;

/// Size of the sparse image of the ext4, in bytes: enough for ten million files and their inodes.
const IMAGE_BYTES: u64 = 30 << 30;
/// Limit on the memory of PostMark during a run, in bytes.
const MEMORY_MAX: u64 = 400_000_000;
/// The pool gets one directory for this number of files, and at least two directories.
const FILES_OF_A_DIRECTORY: u64 = 10_000;

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LargeOptions {
    /// Files of the pool.
    #[arg(long, default_value_t = 10_000_000)]
    pub files: u64,
    /// Transactions of the run with one worker. The run that reuses the pool performs a tenth of
    /// them, and the run that keeps its pool performs none.
    #[arg(long, default_value_t = 1_000_000)]
    pub transactions: u64,
    /// Runs to perform.
    #[arg(long, value_enum, default_value = "all")]
    pub part: LargePart,
    /// End with code 1 if the memory limit is exceeded.
    #[arg(long)]
    pub check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LargePart {
    /// All three runs.
    All,
    /// One worker from the preparation to the deletion.
    Whole,
    /// Two workers: one run that keeps its pool, and one run that reuses it for a tenth of the
    /// transactions.
    Kept,
}

/// Performs the runs and prints the results. Returns whether the memory stayed below its limit.
pub fn perform(ours: &Path, size: LargeOptions) -> Result<bool> {
    let LargeOptions {
        files,
        transactions,
        part,
        ..
    } = size;
    // Inodes are also needed for files that transactions create, and for directories.
    let mounted = MountedVolume::for_many_files(IMAGE_BYTES, files + files / 10 + transactions)?;
    println!(
        "{files} files of 1 to 1,024 bytes, {transactions} transactions, ext4 ({}), blocks of 1 \
         KiB",
        mounted.how
    );
    let runs = runs(files, transactions);
    let mut holds = true;
    let runs = match part {
        LargePart::All => &runs[..],
        LargePart::Whole => &runs[..1],
        LargePart::Kept => &runs[1..],
    };
    for (name, words) in runs {
        sync(&mounted.path())?;
        let noise = Noise::begin();
        let (record, memory_bytes) = record_of(ours, words, &mounted.path())?;
        let is_small = memory_bytes <= MEMORY_MAX;
        holds &= is_small;
        println!(
            "{name}: at most {} MB of memory{}; {}",
            memory_bytes / 1_000_000,
            if is_small { "" } else { ": TOO MUCH" },
            noise.end()
        );
        show_taken(&record);
        Summary::of(&record).phases.iter().for_each(show);
    }
    Ok(holds)
}

fn show_taken(record: &Record) {
    if let Some(taken) = &record.actual.taken {
        println!(
            "  taken: {} names and {} directories looked at in {:.1} s",
            taken.names,
            taken.directories,
            taken.duration_ns as f64 / 1e9
        );
    }
}

/// The runs with their names: one from preparation to deletion, one that keeps its pool, and one
/// that reuses the kept pool.
fn runs(files: u64, transactions: u64) -> [(&'static str, String); 3] {
    let directories = (files / FILES_OF_A_DIRECTORY).max(2);
    let run = |workers: u64, transactions: u64, more: &str| {
        format!(
            "--engine posix --size 1..1024 --workers {workers} --files {} --dirs {} \
             --transactions {transactions} {more}",
            files / workers,
            directories / workers
        )
    };
    [
        ("one worker", run(1, transactions, "")),
        ("two workers, --keep", run(2, 0, "--keep")),
        ("two workers, --reuse", run(2, transactions / 20, "--reuse")),
    ]
}

fn show(phase: &PhaseSummary) {
    let rate = |per_second| or_dash(per_second, 0);
    let durable = phase
        .until_durable
        .as_ref()
        .map_or_else(String::new, |until| {
            format!("; until durable {}/s", rate(until.done.per_second))
        });
    println!(
        "  {:12} {:8.1} s, {:>8}/s{durable}",
        phase.phase.name(),
        phase.duration_ns as f64 / 1e9,
        rate(phase.last_done.done.per_second)
    );
    phase.operations.iter().for_each(show_operation);
}

fn show_operation(operation: &OperationSummary) {
    let micros = |ns: Option<u64>| or_dash(ns.map(|ns| ns as f64 / 1e3), 1);
    let times = &operation.latency_ns;
    println!(
        "    {:8} {:>9}  latency in microseconds: p50 {}, p99 {}, p99.9 {}, greatest {}",
        operation.action.name(),
        operation.operations.count,
        micros(times.p50),
        micros(times.p99),
        micros(times.p99_9),
        micros(times.max)
    );
}
