//! Measures barriers between ranks that a launcher started, the offsets of their clocks, and the
//! processor time of their communication threads:
//!
//!     cargo build --release -p ranks-mpi --features mpi --example mpi
//!     mpirun -n 4 target/release/examples/mpi [--kib KIB] [--rest SECONDS] [--silent RANK
//!         | --stop RANK]
//!
//! With `--kib`, each rank contributes this many KiB to the merge at each barrier. With `--rest`,
//! all ranks sleep for this time, and then wait for rank 0 for the same time. With `--silent`, the
//! given rank stops itself by SIGSTOP; all other ranks report the lost rank and end the job. With
//! `--stop`, the given rank stops the run while the other ranks wait.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ranks::{CommunicationError, Ranks};
use ranks_mpi::OverMpi;
use serde::{Deserialize, Serialize};

/// Number of barriers that are measured.
const BORDERS: u32 = 1_000;
/// A rank without a sign of life for this time is lost.
const LIMIT: Duration = Duration::from_secs(8);
/// The unit of processor time in /proc/self/stat in milliseconds (`getconf CLK_TCK` is 100).
const TICK_MS: u64 = 10;

static STOPS: AtomicBool = AtomicBool::new(false);

#[derive(Serialize, Deserialize)]
struct Found {
    rank: u32,
    host: String,
    offset_ns: i64,
    error_ns: u64,
    border_us: [f64; 3],
    /// Processor use in per cent, while the rank slept and while it waited for rank 0.
    processor_percent: Option<[f64; 2]>,
}

fn main() -> ExitCode {
    let ranks = match Ranks::join(LIMIT, OverMpi::join) {
        Ok(ranks) => ranks,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let began = Instant::now();
    let outcome = perform(&ranks);
    if let Err(error) = &outcome {
        let took = began.elapsed().as_secs_f64();
        eprintln!("error: rank {}, after {took:.3} s: {error}", ranks.rank());
    }
    ranks.leave();
    if outcome.is_ok() && ranks.lost().is_none() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the number after an option.
fn option(name: &str) -> Option<u32> {
    let word = env::args().skip_while(|word| word != name).nth(1)?;
    Some(
        word.parse()
            .unwrap_or_else(|_| panic!("{name} takes a number")),
    )
}

fn perform(ranks: &Ranks) -> Result<(), CommunicationError> {
    let stopping = || STOPS.load(Ordering::Relaxed).then_some(0);
    let rank = ranks.rank();
    ranks.tie(stopping, move || eprintln!("rank {rank} is told to stop"));
    ranks.open();
    let clock = ranks.clock_offset(|| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        since.as_nanos() as i64
    })?;
    let body = "x".repeat(option("--kib").unwrap_or(0) as usize * 1024);
    let mut borders_ns = Vec::with_capacity(BORDERS as usize);
    for _ in 0..BORDERS {
        let own = body.clone();
        let began = Instant::now();
        ranks.meet(own, |a, _| a)?;
        borders_ns.push(began.elapsed().as_nanos() as u64);
    }
    borders_ns.sort_unstable();
    let border_us =
        [50, 99, 100].map(|part| borders_ns[(borders_ns.len() - 1) * part / 100] as f64 / 1e3);
    let found = Found {
        rank: ranks.rank(),
        host: fs::read_to_string("/proc/sys/kernel/hostname")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        offset_ns: clock.offset_ns,
        error_ns: clock.error_ns,
        border_us,
        processor_percent: option("--rest")
            .map(|seconds| rest(ranks, seconds))
            .transpose()?,
    };
    let all = ranks.meet(vec![found], |mut a, b| {
        a.extend(b);
        a
    })?;
    if ranks.rank() == 0 {
        all.iter().for_each(print);
    }
    misbehave(ranks);
    let met = ranks.meet((), |(), ()| ());
    ranks.close();
    ranks.meet((), |(), ()| ())?;
    met
}

/// Returns the processor use of this process in per cent: while its main thread sleeps between
/// barriers, and while it waits for rank 0.
fn rest(ranks: &Ranks, seconds: u32) -> Result<[f64; 2], CommunicationError> {
    let length = Duration::from_secs(seconds.into());
    let percent =
        |before_ms: u64| (processor_ms() - before_ms) as f64 / length.as_millis() as f64 * 100.0;
    let before_ms = processor_ms();
    thread::sleep(length);
    let working = percent(before_ms);
    ranks.meet((), |(), ()| ())?;
    let before_ms = processor_ms();
    if ranks.rank() == 0 {
        thread::sleep(length);
    }
    ranks.meet((), |(), ()| ())?;
    Ok([working, percent(before_ms)])
}

fn processor_ms() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // utime and stime are fields 14 and 15 of proc_pid_stat(5). The text after the process name
    // starts with field 3, so 11 fields are skipped.
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum::<u64>()
        * TICK_MS
}

fn misbehave(ranks: &Ranks) {
    if option("--silent") == Some(ranks.rank()) {
        let own = std::process::id().to_string();
        let _ = Command::new("kill").args(["-STOP", &own]).status();
    }
    if option("--stop") == Some(ranks.rank()) {
        thread::sleep(Duration::from_secs(1));
        STOPS.store(true, Ordering::Relaxed);
        thread::sleep(Duration::from_secs(1));
    }
}

fn print(found: &Found) {
    let [median, p99, worst] = found.border_us;
    print!(
        "rank {} on {}: clock {} ns off within {} ns; a border takes {median} us (99 %: {p99} us, \
         longest: {worst} us)",
        found.rank, found.host, found.offset_ns, found.error_ns
    );
    match found.processor_percent {
        Some([working, waiting]) => {
            println!("; of a processor: {working:.2} % working, {waiting:.2} % waiting")
        }
        None => println!(),
    }
}
