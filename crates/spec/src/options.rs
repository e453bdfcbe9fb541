//! What is to be done and how, in options and in configuration files alike.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Args, Command};
use contract::Durability;
use serde::{Deserialize, Serialize};
use workload::arrivals::ArrivalProcess;
use workload::contents::ContentKind;
use workload::layout::Shape;
use workload::names::Names;
use workload::popularity::Popularity;
use workload::{Edition, Weights};

use crate::how::{Cache, OnError, SteadyRule, StorageName};
use crate::sweep::{SloOption, SweepOption};
use crate::values::{
    Bytes, Count, PerSecond, SizesOption, ThinkOption, Time, WorkerSeedsName, WorkingSet, bias, bias_in_file, real,
    real_in_file, real_to_file,
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
    /// Whose rules hold for the classic work: 1.0 (generator and units of 1997) or 1.5 (those of 2001) [default: 1.5].
    #[arg(long, help_heading = "Work")]
    edition: Edition,
    /// Files in the initial pool, like 20k; of each worker where pools are private [default: 500].
    #[arg(long, value_name = "N", help_heading = "Work")]
    files: Count,
    /// Instead of --files: the bytes that the pool's contents have in all, in times of the page cache, like 4x, or as a size, like
    /// 100GiB. A short run on the target tells how long that will take.
    #[arg(long, value_name = "FACTORx|BYTES", allow_hyphen_values = true, help_heading = "Work")]
    working_set: WorkingSet,
    /// Transactions of each worker, like 100k; a mix has one operation in each.
    #[arg(long, value_name = "N", help_heading = "Work")]
    transactions: Count,
    /// How long the transactions are measured, like 2m; with --transactions too, whichever ends first [default: 10s without --transactions].
    #[arg(long = "for", value_name = "TIME", help_heading = "Driving")]
    #[serde(rename = "for")]
    run_for: Time,
    /// How long transactions are performed before they are measured [default: 0s].
    #[arg(long, value_name = "TIME", help_heading = "Driving")]
    warm_up: Time,
    /// Transactions a second of all workers together, due whether or not those before are done; latencies are then from
    /// the moment at which they were due [default: none, the next one follows the last one].
    #[arg(long, value_name = "PER_SECOND", allow_negative_numbers = true, help_heading = "Driving")]
    rate: PerSecond,
    /// How transactions arrive at a rate: constant or poisson [default: poisson].
    #[arg(long, value_name = "FORM", help_heading = "Driving")]
    arrivals: ArrivalProcess,
    /// End the transactions when they are steady by this rule, judged on the last five rounds, of which the numbers then are;
    /// or after --for [default: 25 rounds].
    #[arg(long, value_enum, help_heading = "Driving")]
    steady: SteadyRule,
    /// How long a round of --steady is [default: 10s].
    #[arg(long, value_name = "TIME", help_heading = "Driving")]
    round: Time,
    /// Climb loads from low to high, each for --for [default: 10s] after a --warm-up [default: 2s], then narrow the limits down:
    /// auto, rates like 1000,2000,4000 or 1000..8000:8, shares of a closed loop's rate like 30%,60%,90%, or workers=1,2,4.
    #[arg(long, value_name = "LOADS", help_heading = "Driving")]
    sweep: SweepOption,
    /// Make a pool for each step of the sweep; with workers=… that is always so.
    #[arg(long, help_heading = "Driving")]
    fresh: bool,
    /// The latency that 99 % of all operations are to stay below, like p99<10ms: the sweep finds the highest rate with it.
    #[arg(long, value_name = "p99<TIME", help_heading = "Driving")]
    slo: SloOption,

    /// Sizes of new files, like 500..10000 or 4KiB; for mixes also a distribution:
    /// lognormal:median=8KiB,sigma=1.2,max=1MiB, exponential:mean=16KiB,max=1MiB,
    /// histogram:0..1KiB=30,1KiB..8KiB=50 or histogram@FILE [default: 500..10000].
    #[arg(long, value_name = "SIZES", help_heading = "Work")]
    size: SizesOption,
    /// Bytes of one read call, like 4KiB [default: 512, mixes 64KiB].
    #[arg(long, value_name = "BYTES", help_heading = "Work")]
    read_block: Bytes,
    /// Bytes of one write call, like 4KiB [default: 512, mixes 64KiB].
    #[arg(long, value_name = "BYTES", help_heading = "Work")]
    write_block: Bytes,
    /// Subdirectories in each location; 1 means none [default: 1].
    #[arg(long, visible_alias = "subdirectories", value_name = "N", help_heading = "Work")]
    #[serde(alias = "subdirectories")]
    subdirs: Count,
    /// The chance of reading over appending in the classic work, 0 to 10; -1 leaves out both [default: 5].
    #[arg(long, value_name = "0..10", allow_negative_numbers = true, help_heading = "Work", value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_read: i64,
    /// The chance of creating over deleting in the classic work, 0 to 10; -1 leaves out both [default: 5].
    #[arg(long, value_name = "0..10", allow_negative_numbers = true, help_heading = "Work", value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_create: i64,
    /// Where the generator's sequence starts [default: 42].
    #[arg(long, help_heading = "Work")]
    seed: Count,
    /// What files hold: text, incompressible or compressible:RATIO [default: text, mixes incompressible].
    #[arg(long, value_name = "KIND", help_heading = "Work")]
    contents: ContentKind,
    /// How far contents can be deduplicated: blocks of 4 KiB over different ones; 1: every block is unique [default: 1].
    #[arg(long, value_name = "RATIO", help_heading = "Work", value_parser = real)]
    #[serde(default, deserialize_with = "real_in_file", serialize_with = "real_to_file")]
    dedup: f64,

    /// Operations with weights instead of the classic pairs.
    #[arg(long, help = mix_help(), value_name = "OPERATION=N,…", help_heading = "Mixes")]
    mix: Weights,
    /// How much an append adds; written as --size is [default: 1 to the largest new file].
    #[arg(long, value_name = "SIZES", help_heading = "Mixes")]
    append_size: SizesOption,
    /// How much is read of a range; written as --size is [default: 4KiB].
    #[arg(long, value_name = "SIZES", help_heading = "Mixes")]
    range_size: SizesOption,
    /// No append makes a file larger [default: the largest new file].
    #[arg(long, value_name = "BYTES", help_heading = "Mixes")]
    size_max: Bytes,
    /// Which files are used how often: uniform, zipf:0.99, hot:10%/90% or shuffled [default: uniform].
    #[arg(long, value_name = "FORM", help_heading = "Mixes")]
    popularity: Popularity,
    /// How directories lie: flat, subdirs:100 or tree:10x3 (10 wide, 3 deep) [default: flat].
    #[arg(long, value_name = "FORM", help_heading = "Mixes")]
    dirs: Shape,
    /// The most entries that a directory for files may have.
    #[arg(long, value_name = "N", help_heading = "Mixes")]
    entries_max: Count,
    /// How files are called: decimal, padded:16, hashed:20 or maildir [default: decimal].
    #[arg(long, value_name = "FORM", help_heading = "Mixes")]
    names: Names,
    /// Time before each operation: none, 1ms or exponential:1ms [default: none].
    #[arg(long, value_name = "TIME", help_heading = "Mixes")]
    think: ThinkOption,
    /// All sizes are multiples of this [default: 1, with --direct 4096].
    #[arg(long, value_name = "BYTES", help_heading = "Mixes")]
    align: Bytes,

    /// Workers, each with a pool of its own [default: 1].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    workers: Count,
    /// Where workers' generators begin: all alike, or each at its own place [default: offset].
    #[arg(long, value_enum, help_heading = "Workers")]
    worker_seeds: WorkerSeedsName,
    /// Workers that change files in one pool for all. A shared pool has a mix: of the classic work its pairs, each an
    /// operation of its own [default with --readers: 0].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    writers: Count,
    /// Workers that only look at files in one pool for all, likewise [default with --writers: 0].
    #[arg(long, value_name = "N", help_heading = "Workers")]
    readers: Count,
    /// Bind each worker to a processor.
    #[arg(long, help_heading = "Workers")]
    pin: bool,

    /// How input and output are done [default: stdio, mixes posix].
    #[arg(long, value_enum, help_heading = "Storage")]
    storage: StorageName,
    /// What is synced, and when: none, fdatasync, fsync, fsync+dir, o-dsync, o-sync or batch:N [default: none].
    #[arg(long, value_name = "POLICY", help_heading = "Storage")]
    durability: Durability,
    /// Let contents go past the page cache.
    #[arg(long, help_heading = "Storage")]
    direct: bool,
    /// What is done to the page cache before the transactions [default: as-is].
    #[arg(long, value_enum, help_heading = "Storage")]
    cache: Cache,

    /// Do not sync the file systems after each phase.
    #[arg(long, help_heading = "Run")]
    no_sync_phases: bool,
    /// Do not check names and sizes after the transactions.
    #[arg(long, help_heading = "Run")]
    no_check: bool,
    /// Verify the contents of every read.
    #[arg(long, help_heading = "Run")]
    verify: bool,
    /// What errors do: stop, or how many a run survives, like 100 or 1% [default: stop].
    #[arg(long, value_name = "stop|N|P%", allow_hyphen_values = true, help_heading = "Run")]
    on_error: OnError,
    /// Name a worker that is in one operation for so long; after five times as long, or 10 s after a signal, the run ends
    /// without it [default: 1m].
    #[arg(long, value_name = "TIME", help_heading = "Run")]
    stall_timeout: Time,
    /// Time the steps of operations, too; a policy of durability does so by itself.
    #[arg(long, help_heading = "Run")]
    steps: bool,
    /// Leave out the two clock readings of every operation: counts and phases only, no steps either.
    #[arg(long, help_heading = "Run")]
    no_latencies: bool,
    /// Leave out what was done in each second.
    #[arg(long, help_heading = "Run")]
    no_series: bool,
    /// Do not measure, for half a second after the run, what the program itself costs (classic and terse reports never have it).
    #[arg(long, help_heading = "Run")]
    no_overhead: bool,
    /// Leave the pool for a later run; one that is shared only with --transactions 0.
    #[arg(long, help_heading = "Run")]
    keep: bool,
    /// Take the pool that an earlier run of the same work has left (where that had no transactions: of the same files).
    #[arg(long, help_heading = "Run")]
    reuse: bool,
    /// Log acknowledged operations in this file, for verify-log. It must lie on another file system. Such a run is a proof
    /// and no measurement: it waits for the acknowledgement log.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    ack_log: PathBuf,
}

/// Lets options that are true or false stand without their value, as in `--verify`.
pub fn with_switches(command: Command) -> Command {
    command.mut_args(|option| {
        if option.get_value_parser().type_id() != TypeId::of::<bool>() || !option.get_action().takes_values() {
            return option;
        }
        let option = option.value_name("BOOL").num_args(0..=1).require_equals(true);
        option.default_missing_value("true")
    })
}

/// The help of `--mix`, with all words that it takes.
fn mix_help() -> String {
    format!(
        "Operations with weights instead of the classic pairs, like read=5,append=2,create=2,delete=2. There are {}",
        Weights::words()
    )
}
