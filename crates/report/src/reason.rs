//! Reasons of a verdict in sentences: what was found, with its numbers, and what is to be done
//! about it.

use document::sanitize::sanitize;
use document::units::{bytes, counted, grouped, latency, percent, rate, seconds, signed_percent};
use measure::{Drift, RateChange, steady};
use record::share;
use record::{BusyProgram, End, Outcome, Phase};
use verdict::Reason;
use verdict::rules::Steadiness;
use verdict::rules::limits::{
    ACHIEVED_MIN, ALLOCATED_MAX, CLIENT_MAX, CLOCKS_MAX, FILLED_MAX, HOSTS_APART_MAX,
    INTERFACE_MAX, MEASURED_LEAST_NS, MEASURED_MIN_NS, MORE_CLIENTS_MAX, NOT_DROPPED_MAX,
    OPERATIONS_MIN, OTHERS_MAX, OWN_MAX, POOL_CHANGED_MAX, RETRANSMITTED_MAX, SKIPPED_MAX,
    STEAL_MAX,
};

/// A program with a smaller share is not named.
const SHOWN_MIN: f64 = 0.001;

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
            operations,
            fraction,
        } => {
            let parts: Vec<String> = skipped
                .counts()
                .map(|(reason, count)| format!("{} ({reason})", grouped(count)))
                .collect();
            format!(
                "{} of the operations were skipped (threshold {}): {}; {} completed.",
                percent(*fraction),
                percent(SKIPPED_MAX),
                parts.join(", "),
                grouped(*operations)
            )
        }
        Reason::WrongNames { wrong, names } => format!(
            "{} of {} checked after the transactions {} not as the operations left {}.",
            grouped(*wrong),
            counted(*names, "name"),
            if *wrong == 1 { "is" } else { "are" },
            if *wrong == 1 { "it" } else { "them" }
        ),
        Reason::RanDry { end, transactions } => {
            let why = match end {
                End::OutOfReach => "this edition's generator can reach none of the remaining files",
                End::NothingPossible => "a worker could perform none of its operations any more",
                End::OutOfFiles | End::Complete => "the pool ran dry",
            };
            format!(
                "The transactions ended early, after {}: {why}.",
                grouped(*transactions)
            )
        }
        Reason::TooShort {
            phase,
            measured_ns,
            operations,
        } => too_short(*phase, *measured_ns, *operations),
        Reason::NotSteady { found } => format!("Not steady: {}", in_numbers(found)),
        Reason::SteadyStateNotReached { rule, rounds, last } => format!(
            "Steady state (rule {}) was not reached after {}{}",
            rule.name(),
            counted(*rounds, "round"),
            last.as_ref()
                .map_or_else(|| ".".to_owned(), |last| format!(": {}", in_numbers(last)))
        ),
        Reason::RateNotReached {
            requested,
            achieved,
        } => format!(
            "The achieved rate of {} transactions/s is {} of the requested {} (threshold {}), so \
             response times show a growing queue.",
            rate(Some(*achieved)),
            percent(achieved / requested),
            rate(Some(*requested)),
            percent(ACHIEVED_MIN)
        ),
        Reason::Overhead {
            fraction,
            ns_per_operation,
        } => format!(
            "Overhead: the program itself used {} of the workers' time, {ns_per_operation:.0} ns \
             per operation (threshold {}).",
            percent(*fraction),
            percent(OWN_MAX)
        ),
        Reason::OtherLoad { fraction, busiest } => {
            let told = format!(
                "Other load: other programs used {} of the processor time (threshold {}).",
                percent(*fraction),
                percent(OTHERS_MAX)
            );
            let program = |program: &BusyProgram| {
                let BusyProgram {
                    name,
                    pid,
                    fraction,
                } = program;
                format!("{} (process {pid}, {})", sanitize(name), percent(*fraction))
            };
            let shown = busiest
                .iter()
                .filter(|program| program.fraction >= SHOWN_MIN);
            let busiest: Vec<String> = shown.map(program).collect();
            match busiest.is_empty() {
                true => told,
                false => format!("{told} The largest: {}.", busiest.join(", ")),
            }
        }
        Reason::Steal { fraction } => format!(
            "CPU steal: the hypervisor took {} of the processor time (threshold {}).",
            percent(*fraction),
            percent(STEAL_MAX)
        ),
        Reason::Emulated => "The processors are emulated in software (QEMU without hardware \
                             virtualization): counts are true, but times and rates are those of \
                             the emulator, not of a file system."
            .to_owned(),
        Reason::Paused {
            times,
            longest_ns,
            fraction,
        } => format!(
            "The program did not run for up to {} of a phase ({}, longest {} s).",
            percent(*fraction),
            counted(*times, "pause"),
            seconds(*longest_ns)
        ),
        Reason::Suspended { ns } => format!(
            "The machine was suspended for {} s during the run.",
            seconds(*ns)
        ),
        Reason::WallClockStepped { ns } => format!(
            "The wall clock was set {} by {} s during the run; durations use another clock and \
             are correct.",
            if *ns < 0 { "back" } else { "forwards" },
            seconds(ns.unsigned_abs())
        ),
        Reason::ClockSourceChanged { before, after } => {
            format!(
                "The kernel changed its clock source from {before} to {after} during the run. It \
                 does so when a clock is unreliable."
            )
        }
        Reason::FitsInMemory {
            cache,
            pool_bytes,
            cache_bytes,
        } => format!(
            "The run has --cache {cache}, but its pool of {} fits in the page cache of {}: the \
             cache serves repeated reads.",
            bytes(*pool_bytes as f64),
            bytes(*cache_bytes as f64)
        ),
        Reason::ReadsFromMemory {
            asked,
            device_bytes,
            read_bytes,
        } => format!(
            "The run has {}, but the device served only {} of {} read ({}).",
            option(asked),
            bytes(*device_bytes as f64),
            bytes(*read_bytes as f64),
            percent(share(*device_bytes, *read_bytes))
        ),
        Reason::MemoryBeneath {
            asked,
            path,
            place,
            loop_device,
            device_bytes,
            read_bytes,
        } => {
            let asked = option(asked);
            let Some(name) = loop_device else {
                return format!(
                    "The run has {asked}, but the device of {path} is memory ({place})."
                );
            };
            let beneath = device_bytes.map(|device_bytes| {
                format!(
                    " The devices beneath it read {} of {} ({}).",
                    bytes(device_bytes as f64),
                    bytes(*read_bytes as f64),
                    percent(share(device_bytes, *read_bytes))
                )
            });
            format!(
                "The run has {asked}, but the loop device /dev/{name} of {path} caches ({place}): \
                 memory may have served its reads.{}",
                beneath.unwrap_or_default()
            )
        }
        Reason::PoolChangedSize {
            files_before,
            files_after,
        } => format!(
            "The pool {} from {} to {} while it was measured (threshold {}).",
            if files_after > files_before {
                "grew"
            } else {
                "shrank"
            },
            counted(*files_before, "file"),
            grouped(*files_after),
            percent(POOL_CHANGED_MAX)
        ),
        Reason::ReadsFromDevice {
            device_bytes,
            read_bytes,
        } => format!(
            "The run has --cache warm, but the device served {} of {} read ({}).",
            bytes(*device_bytes as f64),
            bytes(*read_bytes as f64),
            percent(share(*device_bytes, *read_bytes))
        ),
        Reason::CacheNotDropped {
            cache,
            cached,
            pages,
        } => format!(
            "The run has --cache {cache}, but {} of a sample of the pool was in the page cache \
             when the transactions began (threshold {}).",
            percent(share(*cached, *pages)),
            percent(NOT_DROPPED_MAX)
        ),
        Reason::DeviceWroteNothing {
            phase,
            written_bytes,
            is_durable,
        } => format!(
            "The operations of the phase {} wrote {}{}, and the file system was synced, but the \
             device wrote nothing.",
            phase.name(),
            bytes(*written_bytes as f64),
            if *is_durable {
                ", synced one by one"
            } else {
                ""
            }
        ),
        Reason::Retransmissions {
            of,
            retransmissions,
            requests,
        } => format!(
            "{} of the requests to the server of {} were sent again (threshold {}): {} of {}.",
            percent(share(*retransmissions, *requests)),
            sanitize(of),
            percent(RETRANSMITTED_MAX),
            grouped(*retransmissions),
            grouped(*requests)
        ),
        Reason::ConnectionsLost { times } => format!(
            "Connections to the server were lost and opened again: {}. Latencies have the time \
             without a connection.",
            counted(*times, "time")
        ),
        Reason::ServerRestarted {
            times,
            rewritten_bytes,
        } => format!(
            "The server was restarted during the run: its write verifier changed {}, and {} were \
             written again.",
            counted(*times, "time"),
            bytes(*rewritten_bytes as f64)
        ),
        Reason::OutcomesNotKnown { operations } => format!(
            "The server may have performed {} or not: the connection was lost before the reply.",
            counted(*operations, "operation")
        ),
        Reason::ClientSaturated {
            workers,
            interface,
            host,
            others,
        } => {
            let workers = workers.map(|fraction| {
                let limit = percent(CLIENT_MAX);
                format!(
                    "the workers used {} of a processor each (threshold {limit})",
                    percent(fraction)
                )
            });
            let interface = interface.as_ref().map(|(name, fraction)| {
                let (name, limit) = (sanitize(name), percent(INTERFACE_MAX));
                format!(
                    "the interface {name} passed {} of its speed (threshold {limit})",
                    percent(*fraction)
                )
            });
            let found: Vec<String> = workers.into_iter().chain(interface).collect();
            let found = found.join(", and ");
            match (host, others) {
                (None, _) => format!(
                    "The client is saturated: {found}, so the result describes this machine more \
                     than the server."
                ),
                (Some(host), None) => {
                    format!("The client {} is saturated: {found}.", sanitize(host))
                }
                (Some(host), Some(others)) => format!(
                    "The client {} is saturated: {found}. So are {} others.",
                    sanitize(host),
                    grouped(*others)
                ),
            }
        }
        Reason::RanksNotDone {
            failed,
            missing,
            launched,
        } => {
            let told = |what: &str, all: &[u32]| {
                (!all.is_empty()).then(|| format!("{what} {}", numbers(all)))
            };
            let parts = [
                told("failed or stopped:", failed),
                told("missing:", missing),
            ];
            format!(
                "Of {}, {} did not complete the run ({}). The numbers are partial.",
                counted((*launched).into(), "rank"),
                grouped((failed.len() + missing.len()) as u64),
                parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
            )
        }
        Reason::HostsApart {
            slowest,
            fastest,
            fraction,
        } => format!(
            "The hosts are not equally fast: a worker on {} was {} slower than one on {} \
             (threshold {}).",
            sanitize(slowest),
            percent(*fraction),
            sanitize(fastest),
            percent(HOSTS_APART_MAX)
        ),
        Reason::TooFewClients {
            workers,
            fewer,
            gain,
        } => format!(
            "Too few clients to saturate the target: {} achieved {} more than {} (threshold {}), \
             and no client was saturated.",
            counted((*workers).into(), "worker"),
            percent(*gain),
            grouped((*fewer).into()),
            percent(MORE_CLIENTS_MAX)
        ),
        Reason::ClocksNotAligned {
            error_ns,
            measured_ns,
        } => format!(
            "Clocks of ranks may be {} apart, {} of the measured time (threshold {}).",
            latency(*error_ns as f64),
            percent(share(*error_ns, *measured_ns)),
            percent(CLOCKS_MAX)
        ),
        Reason::NearlyFull { path, fraction } => format!(
            "The file system of {path} is nearly full: {} with the pool (threshold {}).",
            percent(*fraction),
            percent(FILLED_MAX)
        ),
        Reason::AllocatedDuringRun {
            allocated_bytes,
            written_bytes,
        } => format!(
            "The sparse file below the target's loop device allocated {} during the transactions, \
             {} of the {} written to the device (threshold {}).",
            bytes(*allocated_bytes as f64),
            percent(share(*allocated_bytes, *written_bytes)),
            bytes(*written_bytes as f64),
            percent(ALLOCATED_MAX)
        ),
        Reason::DurabilityInMemory {
            durability,
            path,
            place,
            is_beneath,
        } => format!(
            "The run has --durability {durability}, but {path} lies in memory ({place}){}.",
            if *is_beneath {
                ": synced data does not survive a power failure"
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
                (0, 1) => "It returned".to_owned(),
                (0, _) => "All returned".to_owned(),
                (1, 1) => "It did not return".to_owned(),
                (lost, times) if lost == times => "None returned".to_owned(),
                (lost, _) => format!("{} of them did not return", grouped(lost)),
            };
            format!(
                "Stalled: {} exceeded --stall-timeout (longest {} s). {back}.",
                counted(*times, "operation"),
                seconds(*longest_ns)
            )
        }
        Reason::LatencyOverflow {
            operations,
            range_ns,
        } => format!(
            "{} exceeded the range of the histograms ({} s). Percentiles beyond it are reported \
             as the maximum.",
            counted(*operations, "operation"),
            seconds(*range_ns)
        ),
        Reason::AckLog { path } => format!(
            "The run waited for its acknowledgement log {path} at every change: its rates include \
             these waits, its latencies do not."
        ),
    }
}

/// What is to be done about it: a sentence or two.
pub fn what_to_do(reason: &Reason) -> &'static str {
    match reason {
        Reason::Partial {
            outcome: Outcome::Interrupted { .. } | Outcome::Unfinished | Outcome::Complete,
        } => "Repeat the run and let it complete.",
        Reason::Partial { .. } => "Remove the cause that the report names, and repeat the run.",
        Reason::Errors { .. } => {
            "Remove the cause that the report names. Rates do not count failed operations, and \
             their files are not used again."
        }
        Reason::Skipped { skipped, .. } if skipped.after_failure == skipped.total() => {
            "Remove the cause of the errors that the report names. Rates do not count skipped \
             operations."
        }
        Reason::Skipped { .. } => {
            "Use more files, a larger --size-max, or a mix that also truncates, replaces or \
             deletes files. Rates do not count skipped operations."
        }
        Reason::WrongNames { .. } => {
            "Check whether another program changes the directory, or whether the file system loses \
             acknowledged operations."
        }
        Reason::RanDry { .. } => {
            "Use more files, fewer transactions (in a sweep, fewer or shorter steps), or a mix \
             that creates as often as it deletes."
        }
        Reason::TooShort { measured_ns: 0, .. } => "Use a shorter --warm-up, or more transactions.",
        Reason::TooShort { operations: 0, .. } => {
            "Measure longer (--for), or use less think time (--think)."
        }
        Reason::TooShort {
            phase: Phase::Transactions,
            ..
        } => "Measure longer: use --for or more --transactions.",
        Reason::TooShort { .. } => "Use more files.",
        Reason::NotSteady { .. } => "Add warm-up (--warm-up) or measure longer (--for).",
        Reason::SteadyStateNotReached { .. } => {
            "Add warm-up (--warm-up), use longer or more rounds, or look for the cause in the time \
             series."
        }
        Reason::RateNotReached { .. } => "Use a lower --rate, or more workers.",
        Reason::Overhead { .. } => {
            "Compare latencies, which do not include the overhead. Larger files or --durability \
             reduce its share."
        }
        Reason::OtherLoad { .. } => "Stop them, and repeat the run.",
        Reason::Emulated => "Use a machine with real or virtualized processors to measure times.",
        Reason::Steal { .. } => {
            "Use a machine that is not shared, or repeat the run at a quieter time."
        }
        Reason::Paused { .. } => {
            "Find what pauses it (SIGSTOP, a debugger, the control group's freezer or cpu.max), \
             and repeat the run."
        }
        Reason::Suspended { .. } => "Keep the machine awake (systemd-inhibit), and repeat the run.",
        Reason::WallClockStepped { .. } => {
            "The date of this record may be wrong. Set the clock before a run (chronyc waitsync)."
        }
        Reason::ClockSourceChanged { .. } => {
            "See the kernel's log for the cause, boot with a stable clock (clocksource=), and \
             repeat the run."
        }
        Reason::FitsInMemory { .. } => {
            "Make the pool larger than the cache (--working-set 4x), or use each file once \
             (--popularity shuffled)."
        }
        Reason::ReadsFromMemory { asked, .. } if asked == "direct" => {
            "Check whether the file system goes around the page cache (btrfs does not where it \
             compresses, ext4 with data=journal)."
        }
        Reason::ReadsFromMemory { .. } => {
            "Make the pool larger than the cache (--working-set 4x), and check that the file \
             system supports what was requested."
        }
        Reason::MemoryBeneath {
            loop_device: None, ..
        } => "Use a --target on a disk.",
        Reason::MemoryBeneath { .. } => {
            "Give the loop device direct I/O (losetup --direct-io=on), on a file system that \
             supports it."
        }
        Reason::PoolChangedSize { .. } => {
            "Use a mix that creates as often as it deletes, more files, or a shorter run."
        }
        Reason::ReadsFromDevice { .. } => {
            "Use a smaller pool or more memory, or remove --cache warm."
        }
        Reason::CacheNotDropped { .. } => {
            "Check that the file system drops its cache (tmpfs and some FUSE servers do not), and \
             that no other program uses the pool."
        }
        Reason::DeviceWroteNothing { .. } => {
            "Check what the target lies on, and whether its device or driver acknowledges writes \
             that it keeps in memory."
        }
        Reason::Retransmissions { .. } => {
            "Look for lost packets or a server that is overloaded, and repeat the run."
        }
        Reason::ConnectionsLost { .. } => {
            "Look at the network and at the server's log, and repeat the run."
        }
        Reason::ServerRestarted { .. } => {
            "See the server's log for why it was restarted, and repeat the run."
        }
        Reason::OutcomesNotKnown { .. } => {
            "Repeat the run. What the operations have left on the server is removed with the run's \
             files."
        }
        Reason::ClientSaturated { .. } => "Use more workers or several client machines.",
        Reason::RanksNotDone { .. } => {
            "Read the messages of each rank and the logs of its host, and repeat the run."
        }
        Reason::HostsApart { .. } => {
            "Look at the slowest host (processor, network, other load), or leave it out of the run."
        }
        Reason::TooFewClients { .. } => {
            "Use more ranks or hosts, until more of them bring no more."
        }
        Reason::ClocksNotAligned { .. } => {
            "Measure longer, or find what delays messages between the hosts. Rates are off by the \
             same share."
        }
        Reason::NearlyFull { .. } => "Use a smaller pool or a larger file system.",
        Reason::AllocatedDuringRun { .. } => {
            "Allocate the file before the run (fallocate), or measure a second run on the same \
             image."
        }
        Reason::DurabilityInMemory { .. } => "Use a --target on a disk, or remove --durability.",
        Reason::Stalled { .. } => {
            "See the kernel's log for what the device or the file system waited for."
        }
        Reason::LatencyOverflow { .. } => "See the slowest operations in the record.",
        Reason::AckLog { .. } => "Remove --ack-log to measure rates.",
    }
}

/// What was asked for, as an option.
fn option(asked: &str) -> String {
    match asked {
        "direct" => "--direct".to_owned(),
        cache => format!("--cache {cache}"),
    }
}

fn partial(outcome: &Outcome) -> String {
    let how = match outcome {
        Outcome::Interrupted { signal } => format!("The run was interrupted by signal {signal}"),
        Outcome::PlaceGone { .. } => "The run directory disappeared".to_owned(),
        Outcome::Unfinished => "The program was killed before the run ended".to_owned(),
        Outcome::Failed { .. } | Outcome::Complete => "The run failed".to_owned(),
    };
    format!("{how}. The numbers cover only the time before that.")
}

fn too_short(phase: Phase, measured_ns: u64, operations: u64) -> String {
    let what = match phase {
        Phase::Transactions => "The transactions were measured",
        Phase::Prepare => "The preparation lasted",
        Phase::Delete => "The deletion lasted",
    };
    if measured_ns == 0 && phase == Phase::Transactions {
        return "The transactions ended during the warm-up, so nothing was measured.".to_owned();
    }
    if operations == 0 {
        return format!(
            "Nothing was measured: no operation completed in {} s.",
            seconds(measured_ns)
        );
    }
    let why = if measured_ns < MEASURED_LEAST_NS {
        format!(
            "a phase of less than {} ms consists mostly of its start and end",
            MEASURED_LEAST_NS / 1_000_000
        )
    } else if operations < OPERATIONS_MIN {
        format!("fewer than {OPERATIONS_MIN} operations are too few for latencies")
    } else {
        format!(
            "a run of less than {} s may miss write-back and journal commits",
            MEASURED_MIN_NS / 1_000_000_000
        )
    };
    let need = match phase {
        Phase::Transactions if measured_ns < MEASURED_MIN_NS => format!(
            " {} s are about {} times as long.",
            MEASURED_MIN_NS / 1_000_000_000,
            roughly(MEASURED_MIN_NS as f64 / measured_ns as f64)
        ),
        _ => String::new(),
    };
    format!(
        "{what} for {} s, {}: {why}.{need}",
        seconds(measured_ns),
        counted(operations, "operation")
    )
}

/// A factor with two digits, rounded up.
fn roughly(factor: f64) -> String {
    let digit = 10_f64.powf(factor.log10().floor() - 1.0);
    let rounded = (factor / digit).ceil() * digit;
    if rounded < 10.0 {
        format!("{rounded:.1}")
    } else {
        grouped(rounded as u64)
    }
}

/// The numbers and what they may be at most, in words that end a sentence.
fn in_numbers(steadiness: &Steadiness) -> String {
    match steadiness {
        Steadiness::Change(change) => changed(change),
        Steadiness::Slope(drift) => format!(
            "the rate changed by {} ({}; threshold {}).",
            signed_percent(drift.drift),
            interval(drift),
            percent(drift.limit)
        ),
        Steadiness::Rounds(steady) => format!(
            "rates of the last {} rounds vary by {} (threshold {}), and their trend line changes \
             by {} (threshold {}).",
            steady.window,
            percent(steady.excursion),
            percent(steady::EXCURSION_MAX),
            percent(steady.slope_excursion),
            percent(steady::SLOPE_EXCURSION_MAX)
        ),
    }
}

fn changed(change: &RateChange) -> String {
    let of_line = |side: f64| rate(Some(change.average * (1.0 + side * change.drift / 2.0)));
    if change.varies() && !change.drifts() {
        return format!(
            "the rates of five equal parts of the time lie between {} and {} operations/s, a \
             difference of {} (threshold {}; noise explains up to {}).",
            rate(Some(change.slowest)),
            rate(Some(change.fastest)),
            percent(change.excursion),
            percent(steady::EXCURSION_MAX),
            percent(change.excursion_by_chance)
        );
    }
    format!(
        "the trend line {} from {} to {} operations/s, by {} (threshold {}; noise explains up to \
         {}).",
        if change.drift < 0.0 { "falls" } else { "rises" },
        of_line(-1.0),
        of_line(1.0),
        percent(change.drift.abs()),
        percent(steady::DRIFT_MAX),
        percent(change.drift_by_chance)
    )
}

/// The same of a steady rate, in a few words.
pub(crate) fn in_short(steadiness: &Steadiness) -> String {
    match steadiness {
        Steadiness::Change(change) => {
            let is_told = change.drift_by_chance <= steady::DRIFT_MAX;
            format!(
                "{} (drift {}, noise ±{})",
                if is_told {
                    "steady"
                } else {
                    "too noisy to show small changes"
                },
                signed_percent(change.drift),
                percent(change.drift_by_chance)
            )
        }
        Steadiness::Slope(drift) => format!("steady (drift {})", signed_percent(drift.drift)),
        Steadiness::Rounds(steady) => {
            format!(
                "steady ({} rounds within {})",
                steady.window,
                percent(steady.excursion)
            )
        }
    }
}

fn interval(drift: &Drift) -> String {
    match drift.interval {
        Some((low, high)) => format!(
            "95 % confidence interval {} to {}",
            signed_percent(low),
            signed_percent(high)
        ),
        None => "95 % confidence interval not available, because the rates of successive seconds \
                 are too strongly correlated"
            .to_owned(),
    }
}

/// The first of these numbers, and how many more there are.
pub(crate) fn numbers(all: &[u32]) -> String {
    /// More are counted.
    const SHOWN_MAX: usize = 8;
    let mut shown: Vec<String> = all.iter().take(SHOWN_MAX).map(u32::to_string).collect();
    let more = all.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}
