//! Conflicts between options. The table has one row for each conflict, with its message.
//!
//! In a message, `{}` is the given option, `{*}` is that option with its value, and `{name}` is the
//! option `name` with its value.

use workload::mix::Think;
use workload::{Action, Workload};

use crate::config_error::ConfigError;
use crate::dirs::DirsOption;
use crate::engine_name::EngineName;
use crate::options::Options;
use crate::replay::{NOT_OF_REPLAYS, TRACE_DETERMINES};
use crate::run_spec::RunSpec;
use crate::settings::{Cache, Place};
use crate::sizes::SizesOption;
use crate::sweep::Climb;

/// One conflict: its options, a further condition, and the message. The conflict applies if the
/// condition is true and one of the options is given. A conflict without options needs only the
/// condition.
pub(crate) struct Conflict(
    &'static [&'static str],
    fn(&Options, &RunSpec) -> bool,
    &'static str,
);

/// Returns the first conflict that applies to the given options as an error.
pub(crate) fn find(
    conflicts: &[Conflict],
    options: &Options,
    spec: &RunSpec,
) -> Result<(), ConfigError> {
    let given = options.given();
    for Conflict(any, holds, sentence) in conflicts {
        let first = any.iter().find(|name| given.contains_key(**name));
        if (first.is_none() && !any.is_empty()) || !holds(options, spec) {
            continue;
        }
        let first = first.map_or("", |name| name);
        let mut text = sentence.replace("{}", &format!("--{first}"));
        for (name, value) in &given {
            let both = format!("--{name} {value}");
            let both = both.trim_end();
            text = text.replace(&format!("{{{name}}}"), both);
            if name == first {
                text = text.replace("{*}", both);
            }
        }
        return Err(ConfigError::new(text));
    }
    Ok(())
}

macro_rules! as_a_mix {
    ($before:literal) => {
        concat!(
            $before,
            "add --mix (the classic pairs are --mix read=5,append=5,create=5,delete=5)"
        )
    };
}

fn is(switch: Option<bool>) -> bool {
    switch == Some(true)
}

fn is_mix(_: &Options, spec: &RunSpec) -> bool {
    spec.workload.mix().is_some()
}

fn is_classic(_: &Options, spec: &RunSpec) -> bool {
    spec.workload.classic().is_some()
}

fn is_nowhere(options: &Options, _: &RunSpec) -> bool {
    options.engine.is_some_and(|engine| !engine.makes_files())
}

fn thinks(options: &Options) -> bool {
    options.think.is_some_and(|think| think.0 != Think::None)
}

fn replays(options: &Options, _: &RunSpec) -> bool {
    options.replay.is_some()
}

fn has_phases(options: &Options, _: &RunSpec) -> bool {
    options.has_phases()
}

/// Whether the number of transactions is unlimited, because something else ends them.
fn is_endless(options: &Options) -> bool {
    let count = options.transactions.as_ref();
    count.is_some_and(|count| count.0 == Workload::ENDLESS)
}

fn has_rate(options: &Options) -> bool {
    options.rate.is_some() || options.phase.iter().any(|phase| phase.rate.is_some())
}

fn climbs(options: &Options, is_one: fn(&Climb) -> bool) -> bool {
    options.sweep.as_ref().is_some_and(|sweep| is_one(&sweep.0))
}

/// Conflicts between options of one source, such as the command line. Options from two sources do
/// not conflict, because one source overrides the other.
pub(crate) const SOURCE: &[Conflict] = &[
    Conflict(
        &["working-set"],
        |options, _| options.files.is_some(),
        "{working-set} and {files} cannot be combined: both set the number of files",
    ),
    Conflict(
        &["scale"],
        |options, _| options.files.is_some() || options.working_set.is_some(),
        "{scale} multiplies the files of a preset, and cannot be combined with --files or \
         --working-set: they set the number of files",
    ),
    Conflict(
        &["writers", "readers"],
        |options, _| options.workers.is_some(),
        "{workers} and {*} cannot be combined: --workers have private pools, --writers and \
         --readers share one pool",
    ),
];

const REQUIRES_FILE_SYSTEM: &str =
    "{} requires a file system, and {engine} uses none (use --engine posix)";

/// Conflicts between the given options of all sources, and conflicts with the workload to which
/// these options are applied.
pub(crate) const GIVEN: &[Conflict] = &[
    Conflict(
        TRACE_DETERMINES,
        replays,
        "{*} cannot be used with a replay: the trace determines files, operations, workers and \
         their times (remove it, or use 'postmark learn' for a workload with such options)",
    ),
    Conflict(
        NOT_OF_REPLAYS,
        replays,
        "{*} cannot be used with a replay (remove it)",
    ),
    Conflict(
        &["below", "timing", "cpu-time", "limit-operations"],
        |options, _| options.replay.is_none(),
        "{*} requires --replay (add --replay with the trace)",
    ),
    Conflict(
        &["working-set"],
        |options, _| is(options.reuse),
        "{working-set} and --reuse cannot be combined: the earlier run has set the size of the \
         pool",
    ),
    Conflict(&["verify"], is_nowhere, REQUIRES_FILE_SYSTEM),
    Conflict(
        &["cache"],
        |options, spec| is_nowhere(options, spec) && options.cache != Some(Cache::AsIs),
        REQUIRES_FILE_SYSTEM,
    ),
    Conflict(
        &["direct", "keep", "reuse", "ack-log", "working-set"],
        is_nowhere,
        REQUIRES_FILE_SYSTEM,
    ),
    Conflict(
        &["compat"],
        is_mix,
        "{compat} cannot be used with a mix: only the classic workload is that of the original",
    ),
    Conflict(
        &["bias-read", "bias-create"],
        is_mix,
        "{*} cannot be used with a mix: set the weights in --mix, like \
         read=7,append=3,create=5,delete=5",
    ),
    Conflict(
        &[
            "append-size",
            "range-size",
            "size-max",
            "popularity",
            "entries-max",
            "tree-levels",
            "names",
            "think",
            "compute",
            "align",
        ],
        is_classic,
        as_a_mix!("{} requires a mix: "),
    ),
    Conflict(
        &["dirs"],
        |options, spec| is_classic(options, spec) && options.dirs.is_some_and(DirsOption::is_tree),
        as_a_mix!("{dirs} requires a mix: use --dirs N for the classic workload, or "),
    ),
    Conflict(
        &["size"],
        |options, spec| {
            is_classic(options, spec) && !matches!(options.size, Some(SizesOption::Range { .. }))
        },
        as_a_mix!(
            "--size with a distribution requires a mix: write LOW..HIGH for the classic workload, \
             or "
        ),
    ),
    Conflict(
        &["direct"],
        is_classic,
        as_a_mix!(
            "--direct requires a mix, because the sizes of the classic workload are not multiples \
             of 4096 bytes: "
        ),
    ),
    Conflict(
        &["mix"],
        has_phases,
        "--mix and [[phase]] cannot be combined: each phase has its own operations",
    ),
    Conflict(
        &["sweep", "steady", "round", "rate", "warm-up"],
        has_phases,
        "{} cannot be combined with phases: each phase has its own load (set for, transactions, \
         rate and cache in [[phase]], or use --mix to measure a single mix)",
    ),
    Conflict(
        &["transactions"],
        |options, spec| has_phases(options, spec) && !is_endless(options),
        "{transactions} cannot be combined with phases: each phase has its own number (set \
         transactions in [[phase]])",
    ),
    Conflict(
        &["writers", "readers", "keep", "reuse", "working-set"],
        has_phases,
        "{} cannot be combined with phases: their pool is private and new (remove it, or use \
         --mix to measure a single mix)",
    ),
    Conflict(
        &["fresh", "slo"],
        |options, _| options.sweep.is_none(),
        "{} requires --sweep (add --sweep auto)",
    ),
    Conflict(
        &["round"],
        |options, _| options.sweep.is_none() && options.steady.is_none(),
        "--round requires --steady (add --steady snia)",
    ),
    Conflict(
        &["arrivals"],
        |options, _| options.sweep.is_none() && !has_rate(options),
        "{arrivals} requires --rate (add --rate with the number of transactions/s)",
    ),
    Conflict(
        &["rate"],
        |options, _| options.sweep.is_some(),
        "{rate} and {sweep} cannot be combined: the sweep sets the rates",
    ),
    Conflict(
        &["steady", "round"],
        |options, _| options.sweep.is_some(),
        "--steady and --round cannot be combined with --sweep: every level has the same length \
         (use a longer --warm-up)",
    ),
    Conflict(
        &["transactions"],
        |options, _| options.sweep.is_some() && !is_endless(options),
        "{transactions} and --sweep cannot be combined: levels end by time (set their length \
         with --for)",
    ),
    Conflict(
        &["arrivals"],
        |options, _| climbs(options, Climb::is_of_counts),
        "{} cannot be combined with --sweep workers=... or ranks=...: its levels are closed loops",
    ),
    Conflict(
        &["working-set"],
        |options, _| climbs(options, Climb::is_of_counts),
        "{} cannot be combined with --sweep workers=... or ranks=...: each level has a new pool \
         of its own size (use --files)",
    ),
    Conflict(
        &["workers"],
        |options, _| climbs(options, |climb| matches!(climb, Climb::Workers(_))),
        "{} cannot be combined with --sweep workers=...: the sweep sets the workers",
    ),
    Conflict(
        &["writers", "readers"],
        |options, _| climbs(options, |climb| matches!(climb, Climb::Workers(_))),
        "{} cannot be combined with --sweep workers=...: its levels have private pools",
    ),
    Conflict(
        &["rate"],
        |options, _| thinks(options),
        "--rate and --think cannot be combined: both set when the next operation starts",
    ),
    Conflict(
        &["sweep"],
        |options, _| thinks(options) && !climbs(options, Climb::is_of_counts),
        "--sweep and --think cannot be combined: both set when the next operation starts",
    ),
];

/// Conflicts in a complete spec. These conflicts are checked with the options that
/// `RunSpec::to_options` returns.
pub(crate) const COMPLETE: &[Conflict] = &[
    Conflict(
        &["compute"],
        |options, spec| options.compute.is_some() && spec.depth > 1,
        "{compute} and {depth} cannot be combined: operations in flight would wait for the worker \
         while it computes (remove --depth, or use more workers)",
    ),
    Conflict(
        &["cache"],
        |_, spec| (spec.cache, spec.engine) == (Cache::ColdData, EngineName::STDIO),
        "--cache cold-data cannot be used with --engine stdio, the default of the classic \
         workload (use --engine posix or raw)",
    ),
    Conflict(
        &[],
        |_, spec| spec.stall_timeout.is_zero(),
        "invalid value '0s' for --stall-timeout: expected a time above 0, like 60s",
    ),
    Conflict(
        &["keep", "reuse", "ack-log"],
        |_, spec| spec.place == Place::Nowhere,
        REQUIRES_FILE_SYSTEM,
    ),
    Conflict(
        &["keep", "reuse"],
        |_, spec| spec.neighbour > 0,
        "{} and --neighbour cannot be combined: the pool has moved on to other ranks",
    ),
    Conflict(
        &["ack-log"],
        |_, spec| spec.ranks > 1,
        "{} cannot be used with several ranks (use one rank, or remove it)",
    ),
    Conflict(
        &["keep", "reuse"],
        |_, spec| spec.drive.sweep.as_ref().is_some_and(|sweep| sweep.fresh),
        "--keep and --reuse cannot be combined with a new pool for each level (remove --fresh)",
    ),
    Conflict(
        &["ack-log"],
        |options, _| options.sweep.is_some(),
        "--ack-log and --sweep cannot be combined: workers wait for the log, which changes the \
         rates",
    ),
    Conflict(
        &["verify"],
        |_, spec| spec.checks_across() && !spec.phases().is_empty(),
        "--verify with several ranks cannot be combined with phases: a rank cannot follow the \
         phases of another one (use one rank, or --no-check)",
    ),
    Conflict(
        &["slo"],
        |_, spec| !spec.latencies,
        "--slo and --no-latencies cannot be combined: the SLO is a latency",
    ),
    Conflict(
        &["keep"],
        |_, spec| spec.workload.workers.is_shared() && spec.workload.transactions() > 0,
        "--keep with a shared pool requires --transactions 0: after transactions, a later run \
         cannot know the pool's files (use --transactions 0, or --workers instead of --writers \
         and --readers)",
    ),
    Conflict(
        &["tree-levels"],
        |_, spec| {
            let mix = spec.workload.mix();
            mix.is_some_and(|mix| !mix.weights.actions().any(Action::is_on_tree))
        },
        "--tree-levels requires an operation on trees (add one to --mix, like copy-tree=1)",
    ),
    Conflict(
        &["keep", "reuse"],
        |options, spec| spec.workload.workers.is_shared() && options.entries_max.is_some(),
        "--keep and --reuse with a shared pool cannot be combined with --entries-max: a later run \
         cannot know where the files lie",
    ),
    Conflict(
        &["verify"],
        |_, spec| {
            let contents = spec.workload.contents.as_ref();
            !contents.is_some_and(workload::contents::tells_versions_apart)
        },
        "--verify cannot be used with --contents text: all files have the same text, so wrong \
         contents would not be seen (use --contents incompressible or compressible:RATIO)",
    ),
    Conflict(
        &["calls"],
        |_, spec| !spec.latencies,
        "--calls and --no-latencies cannot be combined: calls are parts of latencies",
    ),
];
