//! The replay of a trace in a run spec, and its options.

use std::path::PathBuf;

use engine::Policies;
use workload::Workload;
use workload::replay::{Replay, Timing};

use crate::config_error::ConfigError;
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::values::Count;

/// The largest number of operations of a replay without `--limit-operations`.
pub const OPERATIONS_DEFAULT: u64 = 5_000_000;
/// The largest value of `--limit-operations`.
pub const OPERATIONS_LIMIT: u64 = 20_000_000;

/// The options whose values follow from a trace.
pub const TRACE_DETERMINES: &[&str] = &[
    "files",
    "scale",
    "working-set",
    "size",
    "dirs",
    "bias-read",
    "bias-create",
    "mix",
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
    "workers",
    "writers",
    "readers",
    "transactions",
    "warm-up",
    "steady",
    "round",
    "rate",
    "arrivals",
    "sweep",
    "slo",
    "fresh",
    "for",
    "compat",
];
/// The other options that a replay cannot have.
pub const NOT_OF_REPLAYS: &[&str] = &[
    "depth",
    "ranks",
    "neighbour",
    "keep",
    "reuse",
    "direct",
    "overhead",
];

/// A trace that was read for the option `--replay`.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub workload: Workload,
    /// The durability policies that most operations of the trace had.
    pub durability: Option<Policies>,
}

/// The options that determine how a trace is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    pub trace: PathBuf,
    pub below: Option<PathBuf>,
    pub timing: Timing,
    /// The processor time of the command without the tracer, in nanoseconds.
    pub cpu_ns: Option<u64>,
    pub operations_max: u64,
}

impl Options {
    /// Returns how a trace is replayed; `None` without `--replay`.
    ///
    /// # Errors
    /// Returns an error if the limit of operations is too large.
    pub fn replay_options(&self) -> Result<Option<ReplayOptions>, ConfigError> {
        let Some(trace) = self.replay.clone() else {
            return Ok(None);
        };
        let Count(most) = self.limit_operations.unwrap_or(Count(OPERATIONS_DEFAULT));
        if !(1..=OPERATIONS_LIMIT).contains(&most) {
            let expected = format_args!("expected 1 to {OPERATIONS_LIMIT} operations");
            return Err(ConfigError::invalid(most, "--limit-operations", expected));
        }
        Ok(Some(ReplayOptions {
            trace,
            below: self.below.clone(),
            timing: self.timing.unwrap_or_default(),
            cpu_ns: self.cpu_time.map(|time| time.0),
            operations_max: most,
        }))
    }

    /// Removes the options whose values follow from the trace, if the options replay one.
    pub(crate) fn without_traced(self) -> Self {
        if self.replay.is_none() {
            return self;
        }
        Self {
            replay: self.replay,
            below: self.below,
            timing: self.timing,
            cpu_time: self.cpu_time,
            limit_operations: self.limit_operations,
            read_block: self.read_block,
            write_block: self.write_block,
            seed: self.seed,
            contents: self.contents,
            dedup: self.dedup,
            pin: self.pin,
            engine: self.engine,
            durability: self.durability,
            ack_log: self.ack_log,
            cache: self.cache,
            check: self.check,
            verify: self.verify,
            on_error: self.on_error,
            calls: self.calls,
            latencies: self.latencies,
            series: self.series,
            stall_timeout: self.stall_timeout,
            sync_phases: self.sync_phases,
            target: self.target,
            ..Self::default()
        }
    }
}

/// The value of an option of a replay; `None` without a replay.
pub(crate) fn replay<T>(spec: &RunSpec, get: impl FnOnce(&Replay) -> T) -> Option<T> {
    spec.workload.replay().map(get)
}

pub(crate) fn limit(spec: &RunSpec) -> Option<Count> {
    let most = replay(spec, |replay| replay.operations_max);
    most.filter(|most| *most != OPERATIONS_DEFAULT).map(Count)
}

/// Returns the workload of a replay.
///
/// # Errors
/// Returns an error if the trace was not read.
pub(crate) fn workload(
    options: &Options,
    replayed: Option<&Replayed>,
) -> Result<Option<Workload>, ConfigError> {
    match (&options.replay, replayed) {
        (None, _) => Ok(None),
        (Some(_), Some(replayed)) => Ok(Some(replayed.workload.clone())),
        (Some(trace), None) => Err(ConfigError::new(format!(
            "the trace {} cannot be replayed here (use 'postmark replay')",
            trace.display()
        ))),
    }
}
