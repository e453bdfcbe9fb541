//! From where on something speaks against a run's numbers. Each limit says why it lies there; the same stands in
//! `docs/measurement.md`, "Verdict".

pub use crate::summary::reads::{COLD_MIN as FETCHED_COLD_MIN, WARM_MAX as FETCHED_WARM_MAX};

/// A run that is measured for less is doubtful, in nanoseconds: 10 s, what a rung of a ladder takes at least. Linux's
/// flusher threads wake up every 5 s (`vm.dirty_writeback_centisecs`, Documentation/admin-guide/sysctl/vm.rst), and ext4
/// commits its journal every 5 s (`commit=`, Documentation/admin-guide/ext4.rst): in 10 s both take part in it twice.
/// A hundredth less is no matter, since workers begin to be measured between two transactions.
pub const MEASURED_MIN_NS: u64 = 10_000_000_000;

/// A run that is measured for less is invalid, in nanoseconds: workers are woken some ten microseconds one after the
/// other, so that the borders of a phase of 1 ms are a tenth of it.
pub const MEASURED_LEAST_NS: u64 = 1_000_000;

/// A run of fewer operations is invalid: of fewer than a hundred the nearest rank of the 99th percentile is the
/// greatest.
pub const OPERATIONS_MIN: u64 = 100;

/// So many whole seconds (slices) are judged by SNIA's rule on five rounds: a round has at least one.
pub const SECONDS_FOR_ROUNDS: usize = measure::steady::WINDOW_ROUNDS;

/// From so many whole seconds (slices) on the slope rule judges: one for each of its batches.
pub const SECONDS_FOR_SLOPE: usize = measure::steady::BATCHES;

/// The share of the requested rate that must be achieved. Above what a system can do a queue grows for
/// as long as the run goes on, and latencies say how long that was (Schroeder, Wierman, Harchol-Balter: Open Versus
/// Closed: A Cautionary Tale, NSDI 2006).
pub const ACHIEVED_MIN: f64 = 0.99;

/// Poisson arrivals come as they come: so many standard deviations fewer than expected are no reason. More are met once
/// in 700 runs.
pub const ARRIVALS_DEVIATIONS: f64 = 3.0;

/// The share of the workers' time that the program itself may have: by so much at most would the rates be higher
/// without it, and by so much may a steady run drift.
pub const OWN_MAX: f64 = 0.10;

/// Past this share of the workers' time most of what is measured is the program itself.
pub const OWN_MOST: f64 = 0.50;

/// The share of all processors' time that other programs may have: half of what a steady run may drift, since what is
/// there in one run and not in the next is counted twice when they are compared.
pub const OTHERS_MAX: f64 = 0.05;

/// The share of all processors' time that may be stolen: what an achieved rate may lack. Time counts as stolen only
/// where something here was ready to run, so it is missing in what was measured.
pub const STEAL_MAX: f64 = 0.01;

/// Past this share of stolen time more is missing than a steady run may drift.
pub const STEAL_MOST: f64 = 0.10;

/// Shares of processors' time are judged from so many nanoseconds on: the kernel counts in ticks of 10 ms, which are
/// 1 % of a second.
pub const SHARES_FROM_NS: u64 = 1_000_000_000;

/// Less than this share of what was read is the metadata beside it: the reads never reached the device.
pub const FETCHED_NEVER: f64 = 0.01;

/// Where this share of what was read came from the device, the cache was cold, whatever would have fitted there.
pub const FETCHED_NEARLY_ALL: f64 = 0.9;

/// The thread that looks on reads the kernel's counters every second. Where a reading is late by as much, in nanoseconds,
/// the program did not run: no load of others keeps a thread that sleeps most of the time from a processor for so long.
pub const PAUSE_MIN_NS: u64 = 1_000_000_000;

/// Past this share of a phase's time in pauses the 99th percentile is one of pauses.
pub const PAUSED_MOST: f64 = 0.01;

/// The share of the operations that may be skipped: what an achieved rate may lack.
pub const SKIPPED_MAX: f64 = 0.01;

/// Past this share of skipped operations more is missing than a steady run may drift.
pub const SKIPPED_MOST: f64 = 0.10;
