//! Benchmarks of the program itself, with public tools only.
//!
//! `classic` runs our program and Debian's `postmark` in turns on tmpfs, and on ext4 and xfs in
//! loop images, and prints ratios. `floor` compares the engines `posix` and `uring` with a bare C
//! program that makes the same calls and requests (`floor.c`). `peers` runs our program beside
//! Debian's `fio` and `fs_mark`. `large` uses ten million files. `presets` runs all presets on all
//! file systems. `null` measures the overhead of the loop that performs operations. `seeing`
//! measures the cost of the progress display and the time to read counters. `nfs` compares the
//! engine `nfs` with the same calls through libnfs (`nfs_calls.c`), and `s3` the engine `s3` with
//! the same requests through libcurl (`s3_calls.c`). `ranks` compares ranks of Open MPI with
//! threads of one process.
//!
//! `sweeps`, `steady` and `soak` are runs with a given load. `studies` measures false alarms of
//! studies, and `verdicts` measures error rates of verdict rules. `plan` times plans, and `archive`
//! times lists of very many runs. `safety` measures nothing, but checks that a user's files stay
//! unchanged. `realism` runs applications and presets in turns on several file systems, and
//! measures how well the presets predict the applications. `replays` does the same with replays of
//! traces and with learned workloads.
//!
//! Pairs are interleaved (A B B A …) and medians are printed with an interval, because the machine
//! is shared. Mounts need root. `floor` and `peers` need `gcc`, and `strace` to show calls. `nfs`
//! needs `gcc`, libnfs, NFS-Ganesha and rpcbind. `s3` needs `gcc`, libcurl and versitygw.

mod archive;
mod classic;
mod draws;
mod driving;
mod floor;
mod gates;
mod history;
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
mod realism;
mod replays;
mod result;
mod ring;
mod s3;
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
    /// Path of the PostMark binary to measure.
    #[arg(long, global = true, default_value = "target/release/postmark")]
    ours: PathBuf,
    /// Path of the original PostMark binary.
    #[arg(long, global = true, default_value = "/usr/bin/postmark")]
    original: PathBuf,
    /// Number of interleaved pairs [default: 15 for `floor`, `peers`, `seeing` and `ranks`, 31 for
    /// `nfs` and `s3`, 5 for `presets` and `sweeps`, otherwise 9].
    #[arg(long, global = true)]
    pairs: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// This program against Debian's `postmark`: wall time, user CPU and system CPU.
    Classic(classic::ClassicOptions),
    /// The engine `posix` with a prepared stream against bare system calls, on tmpfs, with one
    /// worker and two. With --ring, the engine `uring` against `posix` and a bare ring.
    Floor(floor::FloorOptions),
    /// Our program against fio and fs_mark: files per second and user CPU per file, by phase.
    Peers(peers::PeersOptions),
    /// Ten million small files on ext4: rates, latencies, memory; then the same with a pool that is
    /// kept and reused.
    Large(large::LargeOptions),
    /// Rates of all presets for current servers on all file systems.
    Presets(presets::PresetsOptions),
    /// Overhead of the loop that performs operations, on the engine `null`.
    Null(own::NullOptions),
    /// Cost of the progress display and of the counts for each second, on the engine `null`; time
    /// to read message counters.
    Seeing(seeing::SeeingOptions),
    /// Ranks of Open MPI against threads of one process: rates on tmpfs. --ours must be a binary
    /// with the feature `mpi`.
    Ranks(ranks::RanksOptions),
    /// The engine `nfs` against the same calls through libnfs, on NFS-Ganesha over loopback: CPU
    /// per call, and rates.
    Nfs(nfs::NfsOptions),
    /// The engine `s3` against the same requests through libcurl, on versitygw over loopback: CPU
    /// per request, and rates.
    S3(s3::S3Options),
    /// The same sweep several times on each file system: the sustained load, the load within the
    /// SLO, the knee, and the spread of each.
    Sweeps(driving::SweepOptions),
    /// A workload that becomes steady on a fresh ext4, and one that does not.
    Steady,
    /// Four workers at a fixed rate for a long time on ext4: memory growth, lost operations, size
    /// of the record.
    Soak(driving::SoakOptions),
    /// How often studies of identical systems show a difference, and how often studies with a
    /// slowed system detect the slowdown.
    Studies(studies::StudiesOptions),
    /// How often the verdict rules `not-steady` and `paused`, and the gates of studies, raise false
    /// alarms, and how often they find real problems.
    Verdicts(verdicts::VerdictsOptions),
    /// How many changes `postmark history` finds in simulated histories, after how many runs, and
    /// how many false alarms it raises, beside Apache Otava.
    History(history::HistoryOptions),
    /// Time and memory of `postmark plan`.
    Plan,
    /// Duration of lists, a report and an export for an archive with very many runs.
    Archive(archive::ArchiveOptions),
    /// Kills, ends or moves runs at random among a user's files, calls `clean`, and checks that no
    /// file of the user is touched.
    Safety(safety::Campaign),
    /// Applications and presets, in turns on several file systems: how well the presets predict
    /// the applications.
    Realism(realism::RealismOptions),
    /// Real commands, replays of their traces and learned models, in turns on ext4 and xfs: how
    /// well replays and models match the commands.
    Replays(replays::ReplaysOptions),
    /// One run of an engine, in a separate process.
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
    // Each arm of the `match` returns whether the limits hold, and whether `--check` was given.
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
        Benchmark::Floor(options) => {
            let holds = match options.ring {
                None => floor::perform(pairs(15), *options)?,
                Some(depth) => ring::compare(pairs(15), depth, *options)?,
            };
            (holds, options.check)
        }
        Benchmark::Peers(options) => (peers::perform(pairs(15), options)?, options.check),
        Benchmark::Large(options) => (large::perform(ours, *options)?, options.check),
        Benchmark::Seeing(options) => (seeing::perform(ours, pairs(15), *options)?, options.check),
        Benchmark::Ranks(options) => (ranks::compare(ours, pairs(15), options)?, options.check),
        Benchmark::Nfs(options) => (nfs::compare(ours, pairs(31), options)?, options.check),
        Benchmark::S3(options) => (s3::compare(ours, pairs(31), options)?, options.check),
        Benchmark::Soak(options) => (driving::soak(ours, options)?, options.check),
        Benchmark::Studies(options) => (studies::perform(ours, options)?, options.check),
        Benchmark::Verdicts(options) => (verdicts::perform(ours, *options)?, options.check),
        Benchmark::History(options) => (history::perform(options)?, options.check),
        Benchmark::Archive(options) => (archive::compare(ours, pairs(9), *options)?, options.check),
        Benchmark::Realism(options) => (realism::perform(ours, options)?, options.check),
        Benchmark::Replays(options) => (replays::perform(ours, options)?, options.check),
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
