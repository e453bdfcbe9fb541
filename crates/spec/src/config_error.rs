//! Options that contradict one another, in one list, with their messages.

use std::path::PathBuf;

use engine::{DurabilityError, ServerUrlError};
use workload::arrivals::{ArrivalProcess, InvalidArrivals};
use workload::layout::Shape;
use workload::sizes::{InvalidSizes, Sizes};
use workload::{Edition, InvalidWhole, Workload};

use crate::limits::{
    DEPTH_MAX, DIRECT_BYTES, LOCATIONS_MAX, RANKS_MAX, SWEEP_SLICES_MAX, SWEEP_STEP_MIN,
};
use crate::settings::EngineName;
use crate::sweep::{InvalidSweep, SweepOption};
use crate::values::{Time, WorkingSet};

/// The advice for an option that only mixes have.
const AS_A_MIX: &str = "add --mix (the classic pairs are --mix read=5,append=5,create=5,delete=5)";

/// Why a run cannot be what was asked for. Nothing was touched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each one's text says what it is")]
pub enum ConfigError {
    // The work.
    #[error(transparent)]
    Workload(#[from] InvalidWhole),
    #[error("too many --target options: {0} (at most {LOCATIONS_MAX})")]
    Locations(usize),
    #[error(
        "invalid [[target]]: the path is empty (write a directory, or . for the working directory)"
    )]
    LocationWithoutPath,
    #[error(
        "--working-set {working_set} and --files {files} cannot be combined: both set the number \
         of files"
    )]
    WorkingSetAndFiles { working_set: WorkingSet, files: u64 },
    #[error(
        "--working-set {0} and --reuse cannot be combined: the earlier run has set the size of \
         the pool"
    )]
    WorkingSetAndReuse(WorkingSet),
    #[error("{0} requires a mix: {AS_A_MIX}")]
    OfMixes(&'static str),
    #[error("--dirs {0} requires a mix: use --subdirs N for the classic workload, or {AS_A_MIX}")]
    ClassicDirs(Shape),
    #[error(
        "--size with a distribution requires a mix: write LOW..HIGH for the classic workload, or \
         {AS_A_MIX}"
    )]
    ClassicSizes,
    #[error(
        "--direct requires a mix, because the sizes of the classic workload are not multiples of \
         4096 bytes: {AS_A_MIX}"
    )]
    ClassicDirect,
    #[error(
        "invalid value '{0}' for --seed: expected 0 to 4294967295 for the classic workload (mixes \
         take larger seeds)"
    )]
    ClassicSeed(u64),
    #[error("invalid value '{0}' for --subdirs: expected at most 4294967295")]
    Subdirectories(u64),
    #[error("--edition {0} cannot be used with a mix: only the classic workload has editions")]
    MixEdition(Edition),
    #[error(
        "{0} {1} cannot be used with a mix: set the weights in --mix, like \
         read=7,append=3,create=5,delete=5"
    )]
    MixBias(&'static str, i64),
    #[error("invalid value '{sizes}' for {option}: {problem}")]
    Sizes {
        option: &'static str,
        sizes: Sizes,
        problem: InvalidSizes,
    },
    #[error("invalid value 'histogram@{}' for {option}: {problem}", .path.display())]
    Histogram {
        option: &'static str,
        path: PathBuf,
        problem: String,
    },
    #[error("invalid value '{0}' for --size-max: expected at most 1GiB")]
    SizeMax(u64),
    #[error(
        "--size-max {size_max} leaves no room for appends: new files have at least {smallest} \
         bytes, and an append adds at least {least} (use a larger --size-max, or remove append \
         from --mix)"
    )]
    VainAppends {
        size_max: u64,
        smallest: u64,
        least: u64,
    },
    #[error(
        "--dirs {0} and --subdirs {1} cannot be combined: both set the layout of directories \
         (--subdirs N is --dirs subdirs:N)"
    )]
    DirsAndSubdirs(Shape, u64),
    #[error("invalid value '{0}' for --align: expected 1 (no alignment) to 1GiB")]
    Align(u64),
    #[error(
        "invalid value '{1}' for {0}: expected a multiple of {DIRECT_BYTES} bytes, because of \
         --direct"
    )]
    DirectMultiples(&'static str, u64),

    // The workers.
    #[error("invalid value '{1}' for {0}: expected 1 to {most} workers in all",
        most = Workload::WORKERS_MAX)]
    Workers(&'static str, u64),
    #[error(
        "--workers {workers} and {option} {count} cannot be combined: --workers have private \
         pools, --writers and --readers share one pool"
    )]
    WorkersAndShared {
        workers: u64,
        option: &'static str,
        count: u64,
    },

    #[error("invalid value '{0}' for --ranks: expected 1 to {RANKS_MAX}")]
    Ranks(u64),
    #[error("--workers {workers} of each of {ranks} ranks are too many: expected at most {most} \
        workers in all", most = Workload::WORKERS_MAX)]
    WorkersOfRanks { workers: u32, ranks: u32 },
    #[error(
        "invalid value '{further}' for --neighbour: expected 1 to one less than the number of \
         ranks, which is {ranks}"
    )]
    Neighbour { further: u64, ranks: u32 },
    #[error("{0} and --neighbour cannot be combined: the pool has moved on to other ranks")]
    NeighbourKept(&'static str),
    #[error("{0} cannot be used with several ranks (use one rank, or remove it)")]
    OfOneRank(&'static str),

    // How the transactions are driven.
    #[error(
        "invalid value '0s' for --for: expected a time above 0, like 2m (for no transactions, use \
         --transactions 0)"
    )]
    NoTime,
    #[error("{0} requires --sweep (add --sweep auto)")]
    WithoutSweep(&'static str),
    #[error("--round requires --steady (add --steady snia)")]
    RoundWithoutSteady,
    #[error("--arrivals {0} requires --rate (add --rate with the number of transactions/s)")]
    ArrivalsWithoutRate(ArrivalProcess),
    #[error("invalid value for {0}: {1}")]
    Rate(&'static str, InvalidArrivals),
    #[error("invalid value for --sweep: {0}")]
    Sweep(InvalidSweep),
    #[error("{0} and --think cannot be combined: both set when the next operation starts")]
    Think(&'static str),
    #[error(
        "invalid value '{0}' for --round: expected at least 1s (the rates of shorter rounds are \
         mostly chance)"
    )]
    ShortRound(Time),
    #[error(
        "--round {round} is too short for --steady slope: {window} rounds must have at least \
         {needed} whole seconds (use --round {least} or longer)"
    )]
    SlopeRound {
        round: Time,
        window: u32,
        needed: usize,
        least: Time,
    },
    #[error(
        "--for {time} is too long for --steady {rule}: it has {rounds} rounds of {round}, and at \
         most {most} are allowed (use a longer --round)"
    )]
    ManyRounds {
        rule: &'static str,
        time: Time,
        rounds: u32,
        round: Time,
        most: u32,
    },
    #[error(
        "--for {time} is too short for --steady {rule}: it has {rounds} rounds of {round}, and \
         the rule needs {window} (use --for {least} or longer, or a shorter --round)"
    )]
    FewRounds {
        rule: &'static str,
        time: Time,
        rounds: u32,
        round: Time,
        window: u32,
        least: Time,
    },
    #[error(
        "invalid value '{0}' for --round: {1} rounds of this length overflow the clock (use a \
         shorter one)"
    )]
    LongRounds(Time, u32),
    #[error("--rate {0} and --sweep {1} cannot be combined: the sweep sets the rates")]
    RateAndSweep(f64, SweepOption),
    #[error(
        "--steady and --round cannot be combined with --sweep: every step has the same length \
         (use a longer --warm-up)"
    )]
    SteadyAndSweep,
    #[error(
        "--transactions {0} and --sweep cannot be combined: steps end by time (set their length \
         with --for)"
    )]
    TransactionsAndSweep(u64),
    #[error(
        "{0} cannot be combined with --sweep workers=...: its steps are closed loops with private \
         pools"
    )]
    SweepOfWorkers(&'static str),
    #[error(
        "{0} cannot be combined with --sweep ranks=...: its steps are closed loops with a new \
         pool for each"
    )]
    SweepOfRanks(&'static str),
    #[error(
        "--sweep ranks=... has a step of {asked} ranks, and there {are} {ranks} (use mpirun -n \
            {asked} postmark run ..., or fewer ranks in \
         the sweep)",
        are = if *ranks == 1 { "is" } else { "are" }
    )]
    SweepRanks { asked: u32, ranks: u32 },
    #[error(
        "--neighbour {neighbour} needs at least {least} ranks, and --sweep ranks=... has a step \
            of {first} (begin with ranks={least}, or \
         remove --neighbour)",
        least = neighbour + 1
    )]
    SweepNeighbour { neighbour: u32, first: u32 },
    #[error("invalid value '{0}' for --for: a step of --sweep needs at least {least} to show \
        write-back and a growing queue", least = Time::of(SWEEP_STEP_MIN))]
    ShortSweepStep(Time),
    #[error("--keep and --reuse cannot be combined with a new pool for each step (remove --fresh)")]
    FreshAndKept,
    #[error(
        "--sweep workers=... requires private pools, and this workload has a shared pool (sweep \
         rates, or use --workers instead of --writers and --readers)"
    )]
    SweepOfShared,
    #[error(
        "invalid value 'workers={count}' for --sweep: expected 1 to {most} workers for each rank"
    )]
    SweepWorkers { count: u32, most: u32 },
    #[error(
        "--ack-log and --sweep cannot be combined: workers wait for the log, which changes the \
         rates"
    )]
    AckLogAndSweep,

    // How all else is done.
    #[error(transparent)]
    Durability(#[from] DurabilityError),
    #[error("{0} requires a file system, and --storage {1} uses none (use --storage posix)")]
    Null(&'static str, EngineName),
    #[error("invalid value '{0}' for --depth: expected 1 to {DEPTH_MAX} operations in flight")]
    Depth(u64),
    #[error(
        "--depth {0} requires --storage nfs: with --storage {1} a worker performs one operation \
         at a time (use --workers {0} for as many at once)"
    )]
    DepthOfOne(u32, EngineName),
    #[error("invalid value '{}' for --target: {problem}", .url.display())]
    Url {
        url: PathBuf,
        problem: ServerUrlError,
    },
    #[error("--storage {storage} cannot use the directory {}: all of its targets are URLs like \
        nfs://server/export/path", .path.display())]
    DirectoryOfServer { path: PathBuf, storage: EngineName },
    #[error(
        "--storage {0} cannot use a target like nfs://server/export/path (remove --storage, or \
         use --storage nfs)"
    )]
    UrlOfDirectory(EngineName),
    #[error(
        "{0} cannot be used with --storage {1}: no cache of this machine lies between the program \
         and the server (remove it)"
    )]
    NoCacheHere(&'static str, EngineName),
    #[error("invalid value '0s' for --stall-timeout: expected a time above 0, like 60s")]
    StallTimeout,
    #[error(
        "--cache cold-data cannot be used with --storage stdio, the default of the classic \
         workload (use --storage posix or raw)"
    )]
    ColdDataOfStdio,
    #[error(
        "--verify cannot be used with --contents text: all files have the same text, so wrong \
         contents would not be seen (use --contents incompressible or compressible:RATIO)"
    )]
    VerifyText,
    #[error(
        "--keep with a shared pool requires --transactions 0: after transactions, a later run \
         cannot know the pool's files (use --transactions 0, or --workers instead of --writers \
         and --readers)"
    )]
    KeepShared,
    #[error(
        "--keep and --reuse with a shared pool cannot be combined with --entries-max: a later run \
         cannot know where the files lie"
    )]
    KeepBounded,

    // What is recorded, and shown.
    #[error("--steps and --no-latencies cannot be combined: steps are parts of latencies")]
    StepsWithoutLatencies,
    #[error("--slo and --no-latencies cannot be combined: the SLO is a latency")]
    SloWithoutLatencies,
    #[error(
        "the time series of this --sweep is too long for a record: more than {SWEEP_SLICES_MAX} \
         entries (use fewer or shorter steps, or --no-series)"
    )]
    SweepSlices,
    #[error(
        "--live and --no-latencies cannot be combined: lines for each second need the clock \
         readings of operations"
    )]
    LiveWithoutLatencies,
    #[error("--live and --no-series cannot be combined: the lines of --live are the time series")]
    LiveWithoutSeries,
    #[error(
        "--format {0} cannot show a mix, only the classic workload (use --format text or json)"
    )]
    FormatOfMix(&'static str),
    #[error("--format {0} cannot show {1} (use --format text or json)")]
    FormatOfDriven(&'static str, String),
}

impl ConfigError {
    /// Whether it is of numbers that may come from everywhere.
    pub fn is_of_numbers(&self) -> bool {
        matches!(self, Self::Workload(_) | Self::Workers(..))
    }
}

/// The contradiction of the first option that was said.
pub(crate) fn refuse_any(
    options: &[(&'static str, bool)],
    contradiction: impl Fn(&'static str) -> ConfigError,
) -> Result<(), ConfigError> {
    let said = options.iter().find(|(_, is_given)| *is_given);
    said.map_or(Ok(()), |(option, _)| Err(contradiction(option)))
}
