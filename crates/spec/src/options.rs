//! The options of a run, on the command line and in configuration files.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Args, Command};
use engine::Durability;
use serde::{Deserialize, Serialize};
use workload::arrivals::ArrivalProcess;
use workload::contents::ContentKind;
use workload::layout::Shape;
use workload::names::Names;
use workload::popularity::Popularity;
use workload::{Edition, Weights};

use crate::settings::{Cache, EngineName, OnError, SteadyRule};
use crate::sweep::{SloOption, SweepOption};
use crate::values::{
    Bytes, Count, PerSecond, SizesOption, ThinkOption, Time, WorkerSeedsName, WorkingSet, bias,
    bias_in_file, real, real_in_file, real_to_file,
};

/// A location with its weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetOption {
    /// The directory.
    pub path: PathBuf,
    /// Its share of the files.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// Declares [`Options`] with what options over a file's come to.
macro_rules! options {
    ($($(#[$meta:meta])* $name:ident: $of:ty,)*) => {
        /// The options. Everything may be left out.
        #[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct Options {
            $(
                $(#[$meta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$of>,
            )*
            /// In files: `[[target]]` tables with `path` and `weight`.
            #[arg(skip)]
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub target: Vec<TargetOption>,
        }

        impl Options {
            /// These, and where they say nothing, those.
            #[must_use]
            pub fn over(self, under: Self) -> Self {
                Self {
                    $($name: self.$name.or(under.$name),)*
                    target: if self.target.is_empty() { under.target } else { self.target },
                }
            }
        }
    };
}

options! {
    /// Edition of the classic workload: 1.0 (generator and units of 1997) or 1.5 (of 2001)
    /// [default: 1.5].
    #[arg(long, help_heading = "Workload")]
    edition: Edition,
    /// Files in the initial pool, like 20k [default: 500].
    ///
    /// With private pools, each worker has this number.
    #[arg(long, value_name = "N", help_heading = "Workload")]
    files: Count,
    /// Choose --files so that the pool has this total size: a multiple of the page cache, like 4x,
    /// or bytes, like 100GiB. A short calibration on the target estimates how long the run takes.
    #[arg(long, value_name = "FACTORx|BYTES", allow_hyphen_values = true,
        help_heading = "Workload")]
    working_set: WorkingSet,
    /// Transactions of each worker, like 100k.
    ///
    /// A transaction of a mix is one operation; a classic transaction is a pair.
    #[arg(long, value_name = "N", help_heading = "Workload")]
    transactions: Count,
    /// Measure the transactions for this time, like 2m [default: 10s, if nothing else ends them].
    ///
    /// With --transactions, the run ends at whichever limit comes first. --transactions, --steady,
    /// the presets of papers and the original's formats end a run, too.
    #[arg(long = "for", value_name = "TIME", help_heading = "Duration and load")]
    #[serde(rename = "for")]
    run_for: Time,
    /// Run transactions for this time before the measurement starts [default: 0s].
    #[arg(long, value_name = "TIME", help_heading = "Duration and load")]
    warm_up: Time,
    /// Issue transactions at this rate (open loop): transactions/s of all workers together.
    /// Latencies are then response times, from the due time to completion [default: closed loop,
    /// each transaction starts when the previous one ends].
    #[arg(long, value_name = "PER_SECOND", allow_negative_numbers = true,
        help_heading = "Duration and load")]
    rate: PerSecond,
    /// Arrival process for --rate and --sweep: constant or poisson [default: poisson].
    #[arg(long, value_name = "FORM", help_heading = "Duration and load")]
    arrivals: ArrivalProcess,
    /// Run until the rate is steady by this rule over the last five rounds, and report these
    /// rounds. The run ends after --for at the latest [default: 25 rounds].
    #[arg(long, value_enum, help_heading = "Duration and load")]
    steady: SteadyRule,
    /// Length of a round for --steady [default: 10s].
    #[arg(long, value_name = "TIME", help_heading = "Duration and load")]
    round: Time,
    /// Measure a load sweep: one step for each load, from low to high, to find the saturation rate.
    /// LOADS is auto, rates like 1000,2000,4000 or 1000..8000:8 (8 rates), percentages of the
    /// closed loop's rate like 30%,60%,90%, worker counts (of each rank) like workers=1,2,4, or
    /// rank counts like ranks=1,2,4. Each step measures for --for [default: 10s] after --warm-up
    /// [default: 2s].
    ///
    /// With ranks=..., the first ranks that mpirun or srun has started perform a step, each with
    /// its workers; the others wait.
    ///
    /// A sweep of rates adds up to six steps near the saturation rate, and up to six near the SLO.
    #[arg(long, value_name = "LOADS", help_heading = "Duration and load")]
    sweep: SweepOption,
    /// Create a new pool for each step of the sweep. --sweep workers=... and ranks=... always do.
    #[arg(long, help_heading = "Duration and load")]
    fresh: bool,
    /// SLO of the sweep: find the highest rate at which 99 % of all operations are faster than this
    /// time, like p99<10ms.
    #[arg(long, value_name = "p99<TIME", help_heading = "Duration and load")]
    slo: SloOption,

    /// Sizes of new files in bytes, like 500..10000 or 4KiB [default: 500..10000].
    ///
    /// Mixes also take a distribution:
    /// lognormal:median=8KiB,sigma=1.2,max=1MiB, exponential:mean=16KiB,max=1MiB,
    /// histogram:0..1KiB=30,1KiB..8KiB=50 or histogram@FILE.
    #[arg(long, value_name = "SIZES", help_heading = "Workload")]
    size: SizesOption,
    /// Bytes for each read call, like 4KiB [default: 512; for mixes 64KiB].
    #[arg(long, value_name = "BYTES", help_heading = "Workload")]
    read_block: Bytes,
    /// Bytes for each write call, like 4KiB [default: 512; for mixes 64KiB].
    #[arg(long, value_name = "BYTES", help_heading = "Workload")]
    write_block: Bytes,
    /// Subdirectories in each target; with 1, files lie in the target itself [default: 1].
    #[arg(long, visible_alias = "subdirectories", value_name = "N", help_heading = "Workload")]
    #[serde(alias = "subdirectories")]
    subdirs: Count,
    /// Chance of a read instead of an append in a classic transaction, in tenths; -1 disables both
    /// [default: 5].
    #[arg(long, value_name = "0..10", allow_negative_numbers = true, help_heading = "Workload",
        value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_read: i64,
    /// Chance of a create instead of a delete in a classic transaction, in tenths; -1 disables both
    /// [default: 5].
    #[arg(long, value_name = "0..10", allow_negative_numbers = true, help_heading = "Workload",
        value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_create: i64,
    /// Seed of the random generator [default: 42].
    #[arg(long, help_heading = "Workload")]
    seed: Count,
    /// Contents of files: text, incompressible or compressible:RATIO [default: text; for mixes
    /// incompressible].
    #[arg(long, value_name = "KIND", help_heading = "Workload")]
    contents: ContentKind,
    /// Deduplication ratio of the contents: number of 4 KiB blocks divided by the number of
    /// different ones [default: 1, every block is unique].
    #[arg(long, value_name = "RATIO", help_heading = "Workload", value_parser = real)]
    #[serde(default, deserialize_with = "real_in_file", serialize_with = "real_to_file")]
    dedup: f64,

    /// Operations with weights instead of the classic pairs.
    #[arg(long, help = mix_help(), value_name = "OPERATION=N,…", help_heading = "Mixes")]
    mix: Weights,
    /// Sizes of appends, in the form of --size [default: from 1 byte to the largest new file].
    #[arg(long, value_name = "SIZES", help_heading = "Mixes")]
    append_size: SizesOption,
    /// Sizes of range reads, in the form of --size [default: 4KiB].
    #[arg(long, value_name = "SIZES", help_heading = "Mixes")]
    range_size: SizesOption,
    /// Largest size to which appends grow a file [default: the largest new file].
    #[arg(long, value_name = "BYTES", help_heading = "Mixes")]
    size_max: Bytes,
    /// How operations choose files: uniform, zipf:0.99, hot:10%/90% (10 % of the files get 90 % of
    /// the operations) or shuffled (every file once, then again) [default: uniform].
    #[arg(long, value_name = "FORM", help_heading = "Mixes")]
    popularity: Popularity,
    /// Layout of directories: flat, subdirs:100 or tree:10x3 (10 subdirectories each, 3 levels)
    /// [default: flat].
    #[arg(long, value_name = "FORM", help_heading = "Mixes")]
    dirs: Shape,
    /// Maximum number of entries in each directory [default: no maximum].
    #[arg(long, value_name = "N", help_heading = "Mixes")]
    entries_max: Count,
    /// Form of file names: decimal, padded:16, hashed:20 or maildir [default: decimal].
    #[arg(long, value_name = "FORM", help_heading = "Mixes")]
    names: Names,
    /// Think time before each operation: none, 1ms or exponential:1ms [default: none].
    #[arg(long, value_name = "TIME", help_heading = "Mixes")]
    think: ThinkOption,
    /// All sizes are multiples of this [default: 1; with --direct 4096].
    #[arg(long, value_name = "BYTES", help_heading = "Mixes")]
    align: Bytes,

    /// Number of workers with private pools [default: 1].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    workers: Count,
    /// Number of ranks, each with --workers workers [default: as many as mpirun or srun has
    /// started].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    ranks: Count,
    /// After preparation, each rank works on the files that the rank N further has created, so that
    /// the cache of its own host cannot serve them [default: each on its own].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    neighbour: Count,
    /// Seeds of the workers [default: offset].
    #[arg(long, value_enum, help_heading = "Workers")]
    worker_seeds: WorkerSeedsName,
    /// Number of workers that change files in a shared pool. The workload of a shared pool is a
    /// mix; classic pairs become single operations [default with --readers: 0].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    writers: Count,
    /// Number of workers that only read in a shared pool [default with --writers: 0].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    readers: Count,
    /// Pin each worker to a processor.
    #[arg(long, help_heading = "Workers")]
    pin: bool,

    /// Interface for file operations [default: stdio; for mixes posix; for targets like
    /// nfs://server/export nfs].
    #[arg(long, value_enum, help_heading = "Storage")]
    storage: EngineName,
    /// Operations that each worker keeps in flight at once, with --storage nfs [default: 1].
    #[arg(long, value_name = "N", help_heading = "Storage")]
    depth: Count,
    /// What each operation syncs: none, fdatasync, fsync, fsync+dir, o-dsync, o-sync or batch:N
    /// [default: none].
    ///
    /// This is the durability policy. batch:N syncs every N operations.
    #[arg(long, value_name = "POLICY", help_heading = "Storage")]
    durability: Durability,
    /// Use direct I/O (O_DIRECT), which bypasses the page cache.
    #[arg(long, help_heading = "Storage")]
    direct: bool,
    /// State of the page cache before the transactions [default: as-is].
    #[arg(long, value_enum, help_heading = "Storage")]
    cache: Cache,

    /// Do not sync the file systems between phases.
    #[arg(long, help_heading = "Run")]
    no_sync_phases: bool,
    /// Do not check file names and sizes after the transactions.
    #[arg(long, help_heading = "Run")]
    no_check: bool,
    /// Verify the contents of every read.
    #[arg(long, help_heading = "Run")]
    verify: bool,
    /// End the run at the first error (stop), or allow this number or percentage of failed
    /// operations, like 100 or 1% [default: stop].
    #[arg(long, value_name = "stop|N|P%", allow_hyphen_values = true, help_heading = "Run")]
    on_error: OnError,
    /// Report a worker as stalled if one operation takes longer than this time [default: 1m].
    ///
    /// The run ends without the worker after five times this time, or 5 s after a signal.
    #[arg(long, value_name = "TIME", help_heading = "Run")]
    stall_timeout: Time,
    /// Also measure the steps of operations, like open and write. Any --durability but none implies
    /// this.
    #[arg(long, help_heading = "Run")]
    steps: bool,
    /// Do not measure latencies: the report has counts and rates only.
    #[arg(long, help_heading = "Run")]
    no_latencies: bool,
    /// Do not record the time series: counts and latencies of each second.
    #[arg(long, help_heading = "Run")]
    no_series: bool,
    /// Do not measure the overhead of the program (half a second after the run).
    #[arg(long, help_heading = "Run")]
    no_overhead: bool,
    /// Keep the pool for a later run. A shared pool requires --transactions 0.
    #[arg(long, help_heading = "Run")]
    keep: bool,
    /// Use the pool that an earlier run kept. That run must have had the same workload, or no
    /// transactions and the same files.
    #[arg(long, help_heading = "Run")]
    reuse: bool,
    /// Write acknowledged operations to this file, for 'verify-log'. The file must lie on another
    /// file system than the target. The run waits for this log, so its rates are not a measurement.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    ack_log: PathBuf,
}

/// Lets options that are true or false stand without their value, as in `--verify`.
pub fn with_switches(command: Command) -> Command {
    command.mut_args(|option| {
        if option.get_value_parser().type_id() != TypeId::of::<bool>()
            || !option.get_action().takes_values()
        {
            return option;
        }
        let option = option
            .value_name("BOOL")
            .num_args(0..=1)
            .require_equals(true);
        option.default_missing_value("true")
    })
}

/// The help of `--mix`, with all words that it takes.
fn mix_help() -> String {
    format!(
        "Weights of operations, instead of the classic pairs, like \
         read=5,append=2,create=2,delete=2. Operations: {}",
        Weights::words()
    )
}
