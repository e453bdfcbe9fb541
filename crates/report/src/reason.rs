//! Reasons of a verdict in sentences: what was found, with its numbers, and what is to be done about it.

use document::harmless::harmless;
use document::units::{bytes, counted, grouped, percent, rate, seconds};
use measure::{Drift, steady};
use record::verdict::limits::{
    ACHIEVED_MIN, MEASURED_LEAST_NS, MEASURED_MIN_NS, OPERATIONS_MIN, OTHERS_MAX, OWN_MAX, SKIPPED_MAX, STEAL_MAX,
};
use record::verdict::{Steadiness, share};
use record::{BusyProgram, End, Outcome, Phase, Reason};

/// What was found, with its numbers: one sentence.
pub fn describe(reason: &Reason) -> String {
    match reason {
        Reason::Partial { outcome } => partial(outcome),
        Reason::Errors {
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
        Reason::Skipped {
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
        Reason::WrongNames { wrong, names } => format!(
            "{} of {} that were looked at after the transactions {} not as the operations had left {}.",
            grouped(*wrong),
            counted(*names, "name"),
            if *wrong == 1 { "is" } else { "are" },
            if *wrong == 1 { "it" } else { "them" }
        ),
        Reason::RanDry { end, transactions } => {
            let why = match end {
                End::OutOfReach => "no file was left that this edition's generator can reach",
                End::OutOfFiles | End::Complete => "the pool ran dry",
            };
            format!("The transactions ended early, after {}: {why}.", grouped(*transactions))
        }
        Reason::TooShort {
            phase,
            measured_ns,
            operations,
        } => too_short(*phase, *measured_ns, *operations),
        Reason::NotSteady { found } => unsteady(found),
        Reason::SteadyStateNotReached { rule, rounds, last } => format!(
            "The transactions were to go on until they were steady (rule {}), and were not after {}{}",
            rule.name(),
            counted(*rounds, "round"),
            last.as_ref()
                .map_or_else(|| ".".to_owned(), |last| format!(": {}", in_numbers(last)))
        ),
        Reason::RateNotReached { requested, achieved } => format!(
            "{} transactions a second were due and {} were done ({}, at least {} are needed): latencies say how long the \
             queue has grown.",
            rate(Some(*requested)),
            rate(Some(*achieved)),
            percent(achieved / requested),
            percent(ACHIEVED_MIN)
        ),
        Reason::Overhead {
            fraction,
            ns_per_operation,
        } => format!(
            "{} of the workers' time was the program's own ({ns_per_operation:.0} ns for each operation); up to {} is no matter.",
            percent(*fraction),
            percent(OWN_MAX)
        ),
        Reason::OtherLoad { fraction, busiest } => {
            let told = format!(
                "Other programs used {} of all processors' time; up to {} is no matter.",
                percent(*fraction),
                percent(OTHERS_MAX)
            );
            let program = |program: &BusyProgram| {
                let BusyProgram { name, pid, fraction } = program;
                format!("{} (process {pid}, {})", harmless(name), percent(*fraction))
            };
            let busiest: Vec<String> = busiest.iter().map(program).collect();
            match busiest.is_empty() {
                true => told,
                false => format!("{told} The biggest: {}.", busiest.join(", ")),
            }
        }
        Reason::Steal { fraction } => format!(
            "The hypervisor gave {} of all processors' time to others; up to {} is no matter.",
            percent(*fraction),
            percent(STEAL_MAX)
        ),
        Reason::Paused {
            times,
            longest_ns,
            fraction,
        } => format!(
            "The program did not run while the machine did: {}, the longest of {} s, up to {} of a phase's time.",
            counted(*times, "pause"),
            seconds(*longest_ns),
            percent(*fraction)
        ),
        Reason::Suspended { ns } => format!(
            "The machine was suspended for {} s while the run went on.",
            seconds(*ns)
        ),
        Reason::WallClockStepped { ns } => format!(
            "The wall clock was set {} by {} s while the run went on; durations are by another clock.",
            if *ns < 0 { "back" } else { "forwards" },
            seconds(ns.unsigned_abs())
        ),
        Reason::ClockSourceChanged { before, after } => {
            format!("The kernel changed its clock from {before} to {after}, as it does when it finds one to be wrong.")
        }
        Reason::FitsInMemory {
            cache,
            pool_bytes,
            cache_bytes,
        } => format!(
            "The run says --cache {cache}, and its pool of {} fits in the memory of {}: what is used twice comes from \
             there.",
            bytes(*pool_bytes as f64),
            bytes(*cache_bytes as f64)
        ),
        Reason::ReadsFromMemory {
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
        Reason::ReadsFromDevice {
            device_bytes,
            read_bytes,
        } => format!(
            "The run says --cache warm, and {} came from the device for {} that its reads returned ({}).",
            bytes(*device_bytes as f64),
            bytes(*read_bytes as f64),
            percent(share(*device_bytes, *read_bytes))
        ),
        Reason::DurabilityInMemory {
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
        Reason::Stalled {
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
        Reason::LatencyOverflow { operations, range_ns } => format!(
            "{} took longer than histograms hold ({} s): percentiles that lie among them are given as the greatest.",
            counted(*operations, "operation"),
            seconds(*range_ns)
        ),
        Reason::AckLog { path } => format!(
            "The run waited for its acknowledgement log in {path} at every change: its rates have that in them, its latencies \
             have not."
        ),
    }
}

/// What is to be done about it: a sentence or two.
pub fn what_to_do(reason: &Reason) -> &'static str {
    match reason {
        Reason::Partial {
            outcome: Outcome::Interrupted { .. } | Outcome::Unfinished | Outcome::Complete,
        } => "Run it again, to its end.",
        Reason::Partial { .. } => "Remove the cause that the report names, and run it again.",
        Reason::Errors { .. } => {
            "Remove the cause, which the report names: what failed is in no rate, and what it left is not used again."
        }
        Reason::Skipped { skipped: 0, .. } => {
            "Give a larger --size, more files or fewer transactions, so that files do not reach their greatest size."
        }
        Reason::Skipped { .. } => {
            "Remove the cause of the errors, which the report names: what is not performed is in no rate."
        }
        Reason::WrongNames { .. } => {
            "Find out whether somebody else changes the directory, or the file system loses what it has acknowledged."
        }
        Reason::RanDry { .. } => {
            "Give more files, or fewer transactions (on a sweep: fewer or shorter steps), or a mix that creates as much as it deletes."
        }
        Reason::TooShort { measured_ns: 0, .. } => "Give a shorter --warm-up, or more work.",
        Reason::TooShort { operations: 0, .. } => "Give more time (--for), or less think time (--think).",
        Reason::TooShort {
            phase: Phase::Transactions,
            ..
        } => "Let them go on for longer, with --for or more --transactions.",
        Reason::TooShort { .. } => "Give more files.",
        Reason::NotSteady { .. } => {
            "Warm up (--warm-up) until the rate no longer changes, and measure for longer (--for)."
        }
        Reason::SteadyStateNotReached { .. } => {
            "Warm up (--warm-up), give longer or more rounds, or look in the slices for what goes on."
        }
        Reason::RateNotReached { .. } => "Ask for a lower --rate, or give more workers.",
        Reason::Overhead { .. } => {
            "Go by the latencies, which do not have it in them; larger files or durability make its share smaller."
        }
        Reason::OtherLoad { .. } => "Stop them, and run it again.",
        Reason::Steal { .. } => "Take a machine that nobody shares, or another hour.",
        Reason::Paused { .. } => {
            "See who stops it (SIGSTOP, a debugger, the control group's freezer or cpu.max), and run it again."
        }
        Reason::Suspended { .. } => "Keep the machine awake (systemd-inhibit), and run it again.",
        Reason::WallClockStepped { .. } => {
            "Believe the date of this record only so far; set the clock before a run (chronyc waitsync)."
        }
        Reason::ClockSourceChanged { .. } => {
            "See in the kernel's log why; boot with a clock that stays (clocksource=), and run it again."
        }
        Reason::FitsInMemory { .. } => {
            "Make the pool larger than memory (more files, or a control group with less), or use each file once \
             (--popularity shuffled)."
        }
        Reason::ReadsFromMemory { .. } => {
            "Make the pool larger than memory, and see that the file system does what it was asked."
        }
        Reason::ReadsFromDevice { .. } => "Make the pool smaller, give it more memory, or do not call it warm.",
        Reason::DurabilityInMemory { .. } => "Give --target a directory on a disk, or leave --durability out.",
        Reason::Stalled { .. } => "See in the kernel's log what the device or the file system waited for.",
        Reason::LatencyOverflow { .. } => "Look at the slowest operations in the record.",
        Reason::AckLog { .. } => "Leave --ack-log out where rates are measured.",
    }
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
        format!("fewer than {OPERATIONS_MIN} operations tell little of a latency")
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

fn unsteady(found: &Steadiness) -> String {
    let what = if found.is_told() {
        "The run was not steady"
    } else {
        "It cannot be told whether the run was steady"
    };
    format!("{what}: {}", in_numbers(found))
}

/// The numbers and what they may be at most, in words that end a sentence.
fn in_numbers(steadiness: &Steadiness) -> String {
    match steadiness {
        Steadiness::Slope(drift) => format!(
            "the rate changed by {}{}; up to {} is no matter.",
            signed(drift.drift),
            interval(drift),
            percent(drift.limit)
        ),
        Steadiness::Rounds(steady) => format!(
            "the rates of {} rounds lie {} apart (up to {} is no matter), and the line through them changes by {} (up \
             to {}).",
            steady.window,
            percent(steady.excursion),
            percent(steady::EXCURSION_MAX),
            percent(steady.slope_excursion),
            percent(steady::SLOPE_EXCURSION_MAX)
        ),
    }
}

/// The same in a few words.
pub(crate) fn in_short(steadiness: &Steadiness) -> String {
    match steadiness {
        Steadiness::Slope(drift) => format!("drift {}", signed(drift.drift)),
        Steadiness::Rounds(steady) => format!("{} rounds within {}", steady.window, percent(steady.excursion)),
    }
}

/// With its sign, in percent.
fn signed(fraction: f64) -> String {
    format!("{:+.1} %", fraction * 100.0)
}

fn interval(drift: &Drift) -> String {
    match drift.interval {
        Some((low, high)) => format!(" (with 95 % confidence by {} to {})", signed(low), signed(high)),
        None => " (its seconds hang together too closely to say how sure that is)".to_owned(),
    }
}
