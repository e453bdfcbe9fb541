//! Why numbers may be worth less than they seem: a closed list, each reason with its numbers. `docs/measurement.md`,
//! "Verdict", has every threshold with its reason or source; a test compares the two lists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::SteadyRule;
use workload::{End, Phase};

use super::limits::{
    ACHIEVED_MIN, FETCHED_NEVER, MEASURED_LEAST_NS, MEASURED_MIN_NS, OPERATIONS_MIN, OTHERS_MAX, OWN_MAX, OWN_MOST,
    PAUSED_MOST, SKIPPED_MAX, SKIPPED_MOST, STEAL_MAX, STEAL_MOST,
};
use super::{Level, Steadiness};
use crate::run::Outcome;
use crate::units::{bytes, counted, grouped, percent, rate, seconds};

/// Why numbers may be worth less than they seem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// The run did not come to its end.
    Partial {
        /// How it ended.
        outcome: Outcome,
    },
    /// Something failed.
    Errors {
        /// How often.
        errors: u64,
        /// Operations that were tried, in all phases.
        operations: u64,
        /// What was to be survived, as options take it.
        allowed: String,
        /// Whether that was exceeded.
        is_exceeded: bool,
    },
    /// Operations of the workload were not performed.
    Skipped {
        /// So many in what was measured, since earlier errors had spoiled what they were to use.
        skipped: u64,
        /// So many by the workload's own rules: the file has its greatest size already, or there is no room for another file.
        nothing: u64,
        /// Operations that were completed there.
        operations: u64,
    },
    /// Names were not as the operations had left them.
    WrongNames {
        /// So many.
        wrong: u64,
        /// Of so many.
        names: u64,
    },
    /// The transactions ended because no file was left that they could use.
    RanDry {
        /// In which way.
        end: End,
        /// Transactions that were performed and measured until then.
        transactions: u64,
    },
    /// It was measured for too short a time, or too few operations.
    TooShort {
        /// Which phase.
        phase: Phase,
        /// How long it was measured, in nanoseconds.
        measured_ns: u64,
        /// Operations that were completed in that time.
        operations: u64,
    },
    /// The rate changed while it was measured, or it cannot be told that it did not.
    NotSteady {
        /// How much.
        found: Steadiness,
    },
    /// The transactions were to go on until they were steady, and were not when they ended.
    SteadyStateNotReached {
        /// By which rule.
        rule: SteadyRule,
        /// How many rounds there were.
        rounds: u64,
        /// The last window; nothing where there was none that could be judged.
        last: Option<Steadiness>,
    },
    /// Transactions were due more often than they were done.
    RateNotReached {
        /// Transactions a second that were requested.
        requested: f64,
        /// Transactions a second that were done.
        achieved: f64,
    },
    /// Much of the workers' time was the program's own.
    OwnTime {
        /// Its share of the time of all workers, from 0 to 1.
        fraction: f64,
        /// Its own time for each operation, in nanoseconds.
        ns_per_operation: f64,
    },
    /// Other programs used the processors.
    OtherLoad {
        /// Their share of all processors' time, from 0 to 1.
        fraction: f64,
    },
    /// The hypervisor gave processors to others.
    Steal {
        /// The share of all processors' time, from 0 to 1.
        fraction: f64,
    },
    /// The program did not run for a while, although the machine did.
    Paused {
        /// How often.
        times: u64,
        /// The longest pause, in nanoseconds.
        longest_ns: u64,
        /// The greatest share that pauses have of a phase's time, from 0 to 1.
        fraction: f64,
    },
    /// The machine was suspended.
    Suspended {
        /// For so long, in nanoseconds.
        ns: u64,
    },
    /// The wall clock was set.
    WallClockStepped {
        /// So far forwards (or back, if negative), in nanoseconds.
        ns: i64,
    },
    /// The kernel changed to another source of time.
    ClockSourceChanged {
        /// From this one.
        before: String,
        /// To this one.
        after: String,
    },
    /// The run says that its cache is cold, and what it works on fits there.
    FitsInMemory {
        /// What was asked of the cache.
        cache: String,
        /// Bytes of the pool's contents when the transactions began.
        pool_bytes: u64,
        /// Bytes that the cache can hold.
        cache_bytes: u64,
    },
    /// The run says that its reads come from the device, and they did not.
    ReadsFromMemory {
        /// What was asked for: of the cache, or `direct`.
        asked: String,
        /// Bytes that the reads fetched from the device.
        device_bytes: u64,
        /// Bytes that they returned.
        read_bytes: u64,
    },
    /// The run says that its cache is warm, and reads came from the device.
    ReadsFromDevice {
        /// Bytes that the reads fetched from the device.
        device_bytes: u64,
        /// Bytes that they returned.
        read_bytes: u64,
    },
    /// Durability was asked for where nothing outlasts a loss of power.
    DurabilityInMemory {
        /// What was asked for.
        durability: String,
        /// The location.
        path: String,
        /// What it lies on.
        place: String,
        /// Whether the file system is one for devices, and its device is memory.
        is_beneath: bool,
    },
    /// Somebody was in one operation for very long.
    Stuck {
        /// How often that was.
        times: u64,
        /// The longest, in nanoseconds.
        longest_ns: u64,
        /// How many of them had not come back when the run ended.
        lost: u64,
    },
    /// Latencies were past what histograms hold.
    LatencyOverflow {
        /// So many.
        operations: u64,
        /// Histograms reach so far, in nanoseconds.
        range_ns: u64,
    },
    /// The run waited for its journal.
    Journal {
        /// Where that was.
        path: String,
    },
}

impl Reason {
    /// How bad it is.
    pub fn level(&self) -> Level {
        let invalid_where = |is_so: bool| if is_so { Level::Invalid } else { Level::Doubtful };
        match self {
            Self::Partial { .. }
            | Self::WrongNames { .. }
            | Self::RanDry { .. }
            | Self::SteadyStateNotReached { .. }
            | Self::RateNotReached { .. }
            | Self::Suspended { .. }
            | Self::ClockSourceChanged { .. } => Level::Invalid,
            Self::NotSteady { .. }
            | Self::OtherLoad { .. }
            | Self::WallClockStepped { .. }
            | Self::FitsInMemory { .. }
            | Self::ReadsFromDevice { .. }
            | Self::LatencyOverflow { .. }
            | Self::Journal { .. } => Level::Doubtful,
            Self::Errors { is_exceeded, .. } => invalid_where(*is_exceeded),
            Self::TooShort {
                measured_ns,
                operations,
                ..
            } => invalid_where(*measured_ns < MEASURED_LEAST_NS || *operations < OPERATIONS_MIN),
            Self::OwnTime { fraction, .. } => invalid_where(*fraction > OWN_MOST),
            Self::Steal { fraction } => invalid_where(*fraction > STEAL_MOST),
            Self::Paused { fraction, .. } => invalid_where(*fraction > PAUSED_MOST),
            Self::Skipped {
                skipped, operations, ..
            } => invalid_where(share(*skipped, skipped.saturating_add(*operations)) > SKIPPED_MOST),
            Self::ReadsFromMemory {
                device_bytes,
                read_bytes,
                ..
            } => invalid_where(share(*device_bytes, *read_bytes) < FETCHED_NEVER),
            Self::DurabilityInMemory { is_beneath, .. } => invalid_where(!is_beneath),
            Self::Stuck { lost, .. } => invalid_where(*lost > 0),
        }
    }

    /// What was found, with its numbers: one sentence.
    pub fn describe(&self) -> String {
        match self {
            Self::Partial { outcome } => partial(outcome),
            Self::Errors {
                errors,
                operations,
                allowed,
                is_exceeded,
            } => {
                let (count, all) = (counted(*errors, "error"), counted(*operations, "operation"));
                if *is_exceeded {
                    format!("{count} in {all}, more than --on-error {allowed} allows.")
                } else {
                    format!("{count} in {all} (allowed: {allowed}).")
                }
            }
            Self::Skipped {
                skipped,
                nothing,
                operations,
            } => format!(
                "{} not performed beside {} that were completed ({}, threshold {}): {} since errors had spoiled their files, {} by the workload's \
                 own rules (the file has its greatest size, or the pool is full).",
                was(skipped.saturating_add(*nothing)),
                counted(*operations, "operation"),
                percent(share(
                    skipped.saturating_add(*nothing),
                    skipped.saturating_add(*nothing).saturating_add(*operations)
                )),
                percent(SKIPPED_MAX),
                skipped,
                nothing
            ),
            Self::WrongNames { wrong, names } => format!(
                "{} of {} that were looked at after the transactions {} not as the operations had left {}.",
                grouped(*wrong),
                counted(*names, "name"),
                if *wrong == 1 { "is" } else { "are" },
                if *wrong == 1 { "it" } else { "them" }
            ),
            Self::RanDry { end, transactions } => {
                let why = match end {
                    End::OutOfReach => "no file was left that this edition's generator can reach",
                    End::OutOfFiles | End::Complete => "the pool ran dry",
                };
                format!("The transactions ended early, after {}: {why}.", grouped(*transactions))
            }
            Self::TooShort {
                phase,
                measured_ns,
                operations,
            } => too_short(*phase, *measured_ns, *operations),
            Self::NotSteady { found } => found.describe(),
            Self::SteadyStateNotReached { rule, rounds, last } => format!(
                "The transactions were to go on until they were steady (rule {}), and were not after {}{}",
                rule.name(),
                counted(*rounds, "round"),
                last.as_ref()
                    .map_or_else(|| ".".to_owned(), |last| format!(": {}", last.in_numbers()))
            ),
            Self::RateNotReached { requested, achieved } => format!(
                "{} transactions a second were due and {} were done ({}, at least {} are needed): latencies say how long the \
                 queue has grown.",
                rate(Some(*requested)),
                rate(Some(*achieved)),
                percent(achieved / requested),
                percent(ACHIEVED_MIN)
            ),
            Self::OwnTime {
                fraction,
                ns_per_operation,
            } => format!(
                "{} of the workers' time was the program's own ({ns_per_operation:.0} ns for each operation); up to {} is no matter.",
                percent(*fraction),
                percent(OWN_MAX)
            ),
            Self::OtherLoad { fraction } => format!(
                "Other programs used {} of all processors' time; up to {} is no matter.",
                percent(*fraction),
                percent(OTHERS_MAX)
            ),
            Self::Steal { fraction } => format!(
                "The hypervisor gave {} of all processors' time to others; up to {} is no matter.",
                percent(*fraction),
                percent(STEAL_MAX)
            ),
            Self::Paused {
                times,
                longest_ns,
                fraction,
            } => format!(
                "The program did not run while the machine did: {}, the longest of {} s, up to {} of a phase's time.",
                counted(*times, "pause"),
                seconds(*longest_ns),
                percent(*fraction)
            ),
            Self::Suspended { ns } => format!(
                "The machine was suspended for {} s while the run went on.",
                seconds(*ns)
            ),
            Self::WallClockStepped { ns } => format!(
                "The wall clock was set {} by {} s while the run went on; durations are by another clock.",
                if *ns < 0 { "back" } else { "forwards" },
                seconds(ns.unsigned_abs())
            ),
            Self::ClockSourceChanged { before, after } => {
                format!(
                    "The kernel changed its clock from {before} to {after}, as it does when it finds one to be wrong."
                )
            }
            Self::FitsInMemory {
                cache,
                pool_bytes,
                cache_bytes,
            } => format!(
                "The run says --cache {cache}, and its pool of {} fits in the memory of {}: what is used twice comes from \
                 there.",
                bytes(*pool_bytes as f64),
                bytes(*cache_bytes as f64)
            ),
            Self::ReadsFromMemory {
                asked,
                device_bytes,
                read_bytes,
            } => format!(
                "The run says --{}, and of {} that its reads returned {} came from the device ({}).",
                if asked == "direct" {
                    "direct".to_owned()
                } else {
                    format!("cache {asked}")
                },
                bytes(*read_bytes as f64),
                bytes(*device_bytes as f64),
                percent(share(*device_bytes, *read_bytes))
            ),
            Self::ReadsFromDevice {
                device_bytes,
                read_bytes,
            } => format!(
                "The run says --cache warm, and {} came from the device for {} that its reads returned ({}).",
                bytes(*device_bytes as f64),
                bytes(*read_bytes as f64),
                percent(share(*device_bytes, *read_bytes))
            ),
            Self::DurabilityInMemory {
                durability,
                path,
                place,
                is_beneath,
            } => format!(
                "The run says --durability {durability}, and {path} lies in memory ({place}){}.",
                if *is_beneath {
                    ": what its file system syncs is lost with the power"
                } else {
                    ", where syncing does nothing"
                }
            ),
            Self::Stuck {
                times,
                longest_ns,
                lost,
            } => {
                let back = match (*lost, *times) {
                    (0, _) => "came back".to_owned(),
                    (lost, times) if lost == times => "did not come back".to_owned(),
                    (lost, _) => format!("{} of them did not come back", grouped(lost)),
                };
                format!(
                    "{} took very long, the longest {} s, and {back}.",
                    counted(*times, "operation"),
                    seconds(*longest_ns)
                )
            }
            Self::LatencyOverflow { operations, range_ns } => format!(
                "{} took longer than histograms hold ({} s): percentiles that lie among them are given as the greatest.",
                counted(*operations, "operation"),
                seconds(*range_ns)
            ),
            Self::Journal { path } => format!(
                "The run waited for its journal in {path} at every change: its rates have that in them, its latencies \
                 have not."
            ),
        }
    }

    /// What is to be done about it: a sentence or two.
    pub fn what_to_do(&self) -> &'static str {
        match self {
            Self::Partial {
                outcome: Outcome::Interrupted { .. } | Outcome::Unfinished | Outcome::Complete,
            } => "Run it again, to its end.",
            Self::Partial { .. } => "Remove the cause that the report names, and run it again.",
            Self::Errors { .. } => {
                "Remove the cause, which the report names: what failed is in no rate, and what it left is not used again."
            }
            Self::Skipped { skipped: 0, .. } => {
                "Give a larger --size, more files or fewer transactions, so that files do not reach their greatest size."
            }
            Self::Skipped { .. } => {
                "Remove the cause of the errors, which the report names: what is not performed is in no rate."
            }
            Self::WrongNames { .. } => {
                "Find out whether somebody else changes the directory, or the file system loses what it has acknowledged."
            }
            Self::RanDry { .. } => {
                "Give more files, or fewer transactions (on a ladder: fewer or shorter rungs), or a mix that creates as much as it deletes."
            }
            Self::TooShort { measured_ns: 0, .. } => "Give a shorter --warm-up, or more work.",
            Self::TooShort { operations: 0, .. } => "Give more time (--for), or less think time (--think).",
            Self::TooShort {
                phase: Phase::Transactions,
                ..
            } => "Let them go on for longer, with --for or more --transactions.",
            Self::TooShort { .. } => "Give more files.",
            Self::NotSteady { .. } => {
                "Warm up (--warm-up) until the rate no longer changes, and measure for longer (--for)."
            }
            Self::SteadyStateNotReached { .. } => {
                "Warm up (--warm-up), give longer or more rounds, or look in the slices for what goes on."
            }
            Self::RateNotReached { .. } => "Ask for a lower --rate, or give more workers.",
            Self::OwnTime { .. } => {
                "Go by the latencies, which do not have it in them; larger files or durability make its share smaller."
            }
            Self::OtherLoad { .. } => "Stop them, and run it again.",
            Self::Steal { .. } => "Take a machine that nobody shares, or another hour.",
            Self::Paused { .. } => {
                "See who stops it (SIGSTOP, a debugger, the control group's freezer or cpu.max), and run it again."
            }
            Self::Suspended { .. } => "Keep the machine awake (systemd-inhibit), and run it again.",
            Self::WallClockStepped { .. } => {
                "Believe the date of this record only so far; set the clock before a run (chronyc waitsync)."
            }
            Self::ClockSourceChanged { .. } => {
                "See in the kernel's log why; boot with a clock that stays (clocksource=), and run it again."
            }
            Self::FitsInMemory { .. } => {
                "Make the pool larger than memory (more files, or a control group with less), or use each file once \
                 (--popularity shuffled)."
            }
            Self::ReadsFromMemory { .. } => {
                "Make the pool larger than memory, and see that the file system does what it was asked."
            }
            Self::ReadsFromDevice { .. } => "Make the pool smaller, give it more memory, or do not call it warm.",
            Self::DurabilityInMemory { .. } => "Give --at a directory on a disk, or leave --durability out.",
            Self::Stuck { .. } => "See in the kernel's log what the device or the file system waited for.",
            Self::LatencyOverflow { .. } => "Look at the slowest operations in the record.",
            Self::Journal { .. } => "Leave --journal out where rates are measured.",
        }
    }
}

/// Of nothing, nothing.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn was(operations: u64) -> String {
    let verb = if operations == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(operations, "operation"))
}

fn partial(outcome: &Outcome) -> String {
    let how = match outcome {
        Outcome::Interrupted { signal } => format!("The run was interrupted by signal {signal}"),
        Outcome::PlaceGone { .. } => "The run's place went away".to_owned(),
        Outcome::Unfinished => "The program ended before the run did".to_owned(),
        Outcome::Failed { .. } | Outcome::Complete => "The run failed".to_owned(),
    };
    format!("{how}: every number is of the part that was done before.")
}

fn too_short(phase: Phase, measured_ns: u64, operations: u64) -> String {
    let what = match phase {
        Phase::Transactions => "The transactions were measured",
        Phase::Prepare => "The preparation lasted",
        Phase::Delete => "The deletion lasted",
    };
    if measured_ns == 0 && phase == Phase::Transactions {
        return "The transactions ended within the warm-up, so nothing was measured.".to_owned();
    }
    if operations == 0 {
        return format!(
            "Nothing was measured: no operation was completed in {} s.",
            seconds(measured_ns)
        );
    }
    let why = if measured_ns < MEASURED_LEAST_NS {
        format!(
            "below {} ms it matters how exactly a phase begins and ends",
            MEASURED_LEAST_NS / 1_000_000
        )
    } else if operations < OPERATIONS_MIN {
        format!("fewer than {OPERATIONS_MIN} operations have no 99th percentile")
    } else {
        format!(
            "less than {} s tells little of how it goes on (write-back, journals)",
            MEASURED_MIN_NS / 1_000_000_000
        )
    };
    format!(
        "{what} for {} s, {}: {why}.",
        seconds(measured_ns),
        counted(operations, "operation")
    )
}
