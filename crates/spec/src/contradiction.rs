//! What contradicts itself: all of it in one list, with the words in which it is told.

use std::path::PathBuf;

use contract::DurabilityError;
use workload::arrivals::{ArrivalProcess, InvalidArrivals};
use workload::layout::Shape;
use workload::sizes::{InvalidSizes, SIZE_MAX_BYTES, Sizes};
use workload::{Edition, InvalidWhole, Workload};

use crate::how::StorageName;
use crate::limits::{DIRECT_BYTES, LOCATIONS_MAX, SWEEP_SLICES_MAX, SWEEP_STEP_MIN};
use crate::sweep::{InvalidSweep, SweepOption};
use crate::values::{Time, WorkingSet};

/// What to say instead of an option that only mixes have.
const AS_A_MIX: &str = "give --mix, too (the classic pairs are --mix read=5,append=5,create=5,delete=5)";

/// Why a run cannot be what was asked for. Nothing was touched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each one's text says what it is")]
pub enum Contradiction {
    // The work.
    #[error(transparent)]
    Workload(#[from] InvalidWhole),
    #[error("--target: {0} locations are more than {LOCATIONS_MAX}: give fewer")]
    Locations(usize),
    #[error("[[target]]: a path is empty: give a directory, or . for the working directory")]
    LocationWithoutPath,
    #[error("--working-set {working_set} and --files {files}: one chooses what the other says: leave one out")]
    WorkingSetAndFiles { working_set: WorkingSet, files: u64 },
    #[error("--working-set {0} and --reuse: the pool of an earlier run is as large as it is: leave one out")]
    WorkingSetAndReuse(WorkingSet),
    #[error("{0}: the classic work has no such thing, only mixes have: {AS_A_MIX}")]
    OfMixes(&'static str),
    #[error("--dirs {0}: the classic work has plain subdirectories only: say --subdirs N, or {AS_A_MIX}")]
    ClassicDirs(Shape),
    #[error("--size: the classic work draws sizes evenly between two bounds: give LOW..HIGH, or {AS_A_MIX}")]
    ClassicSizes,
    #[error("--direct: the sizes of the classic work are no multiples of 4096 bytes: {AS_A_MIX}")]
    ClassicDirect,
    #[error("--seed {0}: the classic work takes 0 to 4294967295; a mix takes more")]
    ClassicSeed(u64),
    #[error("{0} subdirectories are too many: give at most 4294967295")]
    Subdirectories(u64),
    #[error("--edition {0}: editions are rules of the classic work, and this is a mix: leave it out")]
    MixEdition(Edition),
    #[error("{0} {1}: a mix has weights instead: say them in --mix, like read=7,append=3,create=5,delete=5")]
    MixBias(&'static str, i64),
    #[error("{option} {sizes}: {problem}")]
    Sizes {
        option: &'static str,
        sizes: Sizes,
        problem: InvalidSizes,
    },
    #[error("{option} histogram@{}: {problem}", .path.display())]
    Histogram {
        option: &'static str,
        path: PathBuf,
        problem: String,
    },
    #[error("--size-max {0}: give at most {SIZE_MAX_BYTES} bytes (1GiB)")]
    SizeMax(u64),
    #[error(
        "--size-max {size_max}: new files have at least {smallest} bytes and an append adds at least {least}, so that nothing could ever \
         be appended: give a larger --size-max, or leave append out of --mix"
    )]
    VainAppends { size_max: u64, smallest: u64, least: u64 },
    #[error(
        "--dirs {0} and --subdirs {1}: both say how directories lie: leave one out (--subdirs N is --dirs subdirs:N)"
    )]
    DirsAndSubdirs(Shape, u64),
    #[error("--align {0}: give 1 (no alignment) to {SIZE_MAX_BYTES} bytes")]
    Align(u64),
    #[error(
        "{0} {1} with --direct: past the page cache all goes in multiples of {DIRECT_BYTES} bytes: give one, or leave {0} out"
    )]
    DirectMultiples(&'static str, u64),

    // The workers.
    #[error("{0} {1}: give 1 to {most} workers altogether", most = Workload::WORKERS_MAX)]
    Workers(&'static str, u64),
    #[error(
        "--workers {workers} and {option} {count}: workers have pools of their own, writers and readers share one: say --workers, or \
         --writers and --readers"
    )]
    WorkersAndShared {
        workers: u64,
        option: &'static str,
        count: u64,
    },

    // How the transactions are driven.
    #[error("--for 0s: nothing would be done: give a time like 2m, or --transactions 0 to do nothing")]
    NoTime,
    #[error("{0} without --sweep: it says how loads are climbed: add --sweep auto, or leave {0} out")]
    WithoutSweep(&'static str),
    #[error("--round without --steady: only its rules know rounds: add --steady snia, or leave --round out")]
    RoundWithoutSteady,
    #[error("--arrivals {0} without --rate: nothing arrives: say how many a second with --rate")]
    ArrivalsWithoutRate(ArrivalProcess),
    #[error("{0}: {1}")]
    Rate(&'static str, InvalidArrivals),
    #[error("--sweep: {0}")]
    Sweep(InvalidSweep),
    #[error(
        "{0} and --think: one says when operations are due, the other how long to wait after the last one: leave one out"
    )]
    Think(&'static str),
    #[error("--round {0}: a round is at least a second: the rates of shorter ones are mostly chance")]
    ShortRound(Time),
    #[error(
        "--steady slope --round {round}: its {window} rounds may have fewer than the {needed} whole seconds that the rule needs, so it could \
         never come true: give --round {least} or longer"
    )]
    SlopeRound {
        round: Time,
        window: u32,
        needed: usize,
        least: Time,
    },
    #[error(
        "--steady {rule} with --for {time}: there is room for {rounds} rounds of {round}, and at most {most} rounds are judged: give a longer \
         --round"
    )]
    ManyRounds {
        rule: &'static str,
        time: Time,
        rounds: u32,
        round: Time,
        most: u32,
    },
    #[error(
        "--steady {rule} with --for {time}: there is room for {rounds} rounds of {round}, and the rule judges {window}, so it could never come \
         true: give --for {least} or longer, or a shorter --round"
    )]
    FewRounds {
        rule: &'static str,
        time: Time,
        rounds: u32,
        round: Time,
        window: u32,
        least: Time,
    },
    #[error("--round {0}: {1} of them are longer than can be told: give a shorter one")]
    LongRounds(Time, u32),
    #[error("--rate {0} with --sweep {1}: the sweep says the rates itself: leave one out")]
    RateAndSweep(f64, SweepOption),
    #[error(
        "--steady or --round with --sweep: a step ends by its time, all of them alike: leave one out, and give a --warm-up that is long enough"
    )]
    SteadyAndSweep,
    #[error("--transactions {0} with --sweep: steps end by time: say with --for how long each is to be")]
    TransactionsAndSweep(u64),
    #[error(
        "{0} with --sweep workers=…: its steps are closed loops of so many workers with a pool each: leave {0} out"
    )]
    SweepOfWorkers(&'static str),
    #[error("--for {0} with --sweep: a step is measured for at least {least}: shorter ones tell little of a queue", least = Time::of(SWEEP_STEP_MIN))]
    ShortSweepStep(Time),
    #[error("--keep or --reuse with a pool for each step: none of them is the one to be kept: leave --fresh out")]
    FreshAndKept,
    #[error(
        "--sweep workers=…: this work has one pool for writers and readers: its steps would differ in more than their number: climb rates, \
         or take a work whose workers have a pool each"
    )]
    SweepOfShared,
    #[error("--sweep: {0} workers: give 1 to {most}", most = Workload::WORKERS_MAX)]
    SweepWorkers(u32),
    #[error(
        "--ack-log with --sweep: an acknowledgement log proves what one run was told, and makes it wait: leave one out"
    )]
    AckLogAndSweep,

    // How all else is done.
    #[error(transparent)]
    Durability(#[from] DurabilityError),
    #[error("{0}: the storage {1} touches no file system: take --storage posix, or leave {0} out")]
    Null(&'static str, StorageName),
    #[error("--stall-timeout 0: every operation would be named: give a time like 60s")]
    StallTimeout,
    #[error(
        "--cache cold-data: the storage stdio, which the classic work has unless another is said, cannot advise the kernel file by file: \
         add --storage posix or raw"
    )]
    ColdDataOfStdio,
    #[error(
        "--verify: the contents are text, the same in every file, so that old or foreign contents would not be seen: give --contents \
         incompressible or compressible:RATIO"
    )]
    VerifyText,
    #[error(
        "--keep with a shared pool and transactions: where its files then are depends on who was faster, and a later run could not take \
         it: prepare it with --transactions 0 --keep, or give --workers instead of writers and readers"
    )]
    KeepShared,
    #[error("--keep, --reuse: where a shared pool's files lie is not known with --entries-max: leave it out")]
    KeepBounded,

    // What is recorded, and shown.
    #[error("--steps with --no-latencies: steps are a part of latencies: leave one out")]
    StepsWithoutLatencies,
    #[error("--slo with --no-latencies: it is one of latencies: leave one out")]
    SloWithoutLatencies,
    #[error(
        "--sweep: what is done in each second of so many steps, of so many kinds of operations, would make a record that is too long to be \
         read again (more than {SWEEP_SLICES_MAX} slices): give fewer or shorter steps, or --no-series"
    )]
    SweepSlices,
    #[error("--live with --no-latencies: without clock readings nobody knows which second it is: leave one out")]
    LiveWithoutLatencies,
    #[error("--live with --no-series: its lines are what was done in each second: leave one out")]
    LiveWithoutSeries,
    #[error(
        "--format {0}: the original's reports know the classic work only, and this is a mix: give --format text or json"
    )]
    FormatOfMix(&'static str),
    #[error(
        "--format {0}: the original's reports know neither warm-ups nor rates nor an end by time: give --format text or json"
    )]
    FormatOfDriven(&'static str),
}

impl Contradiction {
    /// Whether it is of numbers that may come from everywhere.
    pub fn is_of_numbers(&self) -> bool {
        matches!(self, Self::Workload(_) | Self::Workers(..))
    }
}

/// The contradiction of the first option that was said.
pub(crate) fn refuse_any(
    options: &[(&'static str, bool)],
    contradiction: impl Fn(&'static str) -> Contradiction,
) -> Result<(), Contradiction> {
    let said = options.iter().find(|(_, is_given)| *is_given);
    said.map_or(Ok(()), |(option, _)| Err(contradiction(option)))
}
