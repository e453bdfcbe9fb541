//! Benchmarks of the program itself, with public tools only.
//!
//! `classic` runs our program and Debian's `postmark` in turns on tmpfs, and on ext4 and xfs in
//! loop images, and prints ratios. `floor` compares the engine `posix` with a bare C program that
//! makes the same calls (`floor.c`). `peers` runs our program beside Debian's `fio` and `fs_mark`.
//! `large` uses ten million files. `presets` runs all presets on all file systems. `null` measures
//! the overhead of the loop that performs operations. `seeing` measures the cost of the progress
//! display and the time to read counters. `nfs` compares the engine `nfs` with the same calls
//! through libnfs (`nfs_calls.c`).
//!
//! `sweeps`, `steady` and `soak` are runs with a given load. `studies` measures false alarms of
//! studies, and `verdicts` measures error rates of verdict rules. `plan` times plans, and `archive`
//! times lists of very many runs. `safety` measures nothing, but checks that a user's files stay
//! unchanged.
//!
//! Pairs are interleaved (A B B A …) and medians are printed with an interval, because the machine
//! is shared. Mounts need root. `floor` and `peers` need `gcc`, and `strace` to show calls. `nfs`
//! needs `gcc`, libnfs, NFS-Ganesha and rpcbind.

mod archive;
mod classic;
mod draws;
mod driving;
mod floor;
mod gates;
mod large;
mod limit;
mod messages;
mod mounts;
mod nfs;
mod noise;
mod operations;
mod ours;
mod own;
mod peers;
mod phases;
mod presets;
mod process;
mod ranks;
mod result;
mod safety;
mod seeing;
mod statistics;
mod strace;
mod studies;
mod verdicts;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::result::Result;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: Benchmark,
    /// Our binary.
    #[arg(long, global = true, default_value = "target/release/postmark")]
    ours: PathBuf,
    /// The original.
    #[arg(long, global = true, default_value = "/usr/bin/postmark")]
    original: PathBuf,
    /// Pairs, interleaved [default: 15 of `floor`, `peers` and `seeing`, 31 of `nfs`, 5 of
    /// `presets` and `sweeps`, else 9].
    #[arg(long, global = true)]
    pairs: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// Ours against the original: wall time, user CPU, system CPU.
    Classic(classic::ClassicOptions),
    /// The posix storage with a prepared stream against bare system calls, on tmpfs, with one
    /// worker and two.
    Floor(floor::FloorOptions),
    /// Ours beside fio and fs_mark: files a second and user CPU a file, by phase.
    Peers(peers::PeersOptions),
    /// Ten million small files on ext4: rates, latencies, memory; then with a pool that is kept and
    /// taken.
    Large(large::LargeOptions),
    /// All presets of today's servers on all file systems.
    Presets(presets::PresetsOptions),
    /// The loop's overhead on the null storage.
    Null(own::NullOptions),
    /// What a display and the record of each second cost the loop on the null storage.
    Seeing(seeing::SeeingOptions),
    /// Ranks of Open MPI beside threads of one process: rates on tmpfs. --ours is a binary with the
    /// feature `mpi`.
    Ranks(ranks::RanksOptions),
    /// The storage `nfs` beside the same calls by libnfs, on NFS-Ganesha over loopback: CPU for a
    /// call, and rates.
    Nfs(nfs::NfsOptions),
    /// The same sweep several times on each file system: limits, SLOs, knees, and how far they
    /// differ.
    Sweeps(driving::SweepOptions),
    /// A work that becomes steady on a fresh ext4, and one that does not.
    Steady,
    /// Four workers at a rate for a long time on ext4: memory, losses, the record's size.
    Soak(driving::SoakOptions),
    /// How often studies of identical systems show a difference, and studies of a slowed one find
    /// it.
    Studies(studies::StudiesOptions),
    /// How often rules of verdicts give false alarms and find what they should: `not-steady`,
    /// `paused`, gates.
    Verdicts(verdicts::VerdictsOptions),
    /// Time and memory of plans.
    Plan,
    /// An archive with very many runs: how long lists, a report and an export take.
    Archive(archive::ArchiveOptions),
    /// Runs that are killed, ended and moved away at random among a user's files, and cleaned:
    /// whether anything of the user's is touched.
    Safety(safety::Campaign),
    /// One of our runs, in a process of its own.
    #[command(hide = true)]
    Ours(ours::OursOptions),
}

/// Performs the requested benchmark. Returns whether the limits hold, or true if they are not
/// checked.
fn perform(arguments: &Arguments) -> Result<bool> {
    // The benchmark `ours` is a run, which handles its signals itself.
    if !matches!(arguments.what, Benchmark::Ours(_)) {
        process::watch_signals()?;
    }
    let ours = &arguments.ours;
    let pairs = |default| arguments.pairs.unwrap_or(default);
    // Each entry: whether the limits hold, and whether `--check` was given.
    let no_limits = |()| (true, false);
    let (holds, is_checked) = match &arguments.what {
        Benchmark::Classic(options) => {
            let original = &arguments.original;
            let programs = classic::Programs { ours, original };
            classic::compare(programs, pairs(9), options).map(no_limits)?
        }
        Benchmark::Presets(options) => presets::show(ours, &options.on, pairs(5)).map(no_limits)?,
        Benchmark::Null(options) => own::null(ours, pairs(9), options).map(no_limits)?,
        Benchmark::Sweeps(options) => driving::sweeps(ours, pairs(5), options).map(no_limits)?,
        Benchmark::Steady => driving::steady(ours).map(no_limits)?,
        Benchmark::Plan => own::plan(ours, pairs(9)).map(no_limits)?,
        Benchmark::Ours(options) => ours::perform(options).map(no_limits)?,
        Benchmark::Floor(options) => (floor::perform(pairs(15), *options)?, options.check),
        Benchmark::Peers(options) => (peers::perform(pairs(15), options)?, options.check),
        Benchmark::Large(options) => (large::perform(ours, *options)?, options.check),
        Benchmark::Seeing(options) => (seeing::perform(ours, pairs(15), *options)?, options.check),
        Benchmark::Ranks(options) => (ranks::compare(ours, pairs(15), options)?, options.check),
        Benchmark::Nfs(options) => (nfs::compare(ours, pairs(31), options)?, options.check),
        Benchmark::Soak(options) => (driving::soak(ours, options)?, options.check),
        Benchmark::Studies(options) => (studies::perform(ours, options)?, options.check),
        Benchmark::Verdicts(options) => (verdicts::perform(ours, *options)?, options.check),
        Benchmark::Archive(options) => (archive::compare(ours, pairs(9), *options)?, options.check),
        Benchmark::Safety(campaign) => (safety::perform(ours, campaign)?, true),
    };
    Ok(holds || !is_checked)
}

fn main() -> ExitCode {
    let result = perform(&Arguments::parse());
    match (process::caught(), &result) {
        (Some(signal), _) => eprintln!("bench: ended by signal {signal}"),
        (None, Err(error)) => eprintln!("bench: {error}"),
        (None, Ok(_)) => {}
    }
    match (process::caught(), result) {
        (Some(signal), _) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
        (None, Ok(true)) => ExitCode::SUCCESS,
        (None, Ok(false) | Err(_)) => ExitCode::FAILURE,
    }
}
