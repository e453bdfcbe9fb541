//! The cost of observing the loop that performs operations. Compares two kinds of runs: one shows
//! progress on a terminal and counts the operations of each second, the other does neither.

use crate::process::{command, output_and_memory};
use crate::result::Result;
use crate::statistics::{interleaved, median};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use crate::messages;
use crate::noise::Noise;

/// Allowed relative difference between the rates with and without observation.
const LIMIT: f64 = 0.02;

/// A pseudo-terminal whose output is read and discarded.
struct Terminal {
    other_end: File,
}

impl Terminal {
    fn open() -> Result<Self> {
        let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&ours, size)?;
        let path = ptsname(&ours, Vec::new())?;
        let other_end = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path.to_str()?)?;
        let mut shown = File::from(ours);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // When the other end is closed, reading fails and the thread ends.
            while shown.read(&mut buffer).is_ok_and(|length| length > 0) {}
        });
        Ok(Self { other_end })
    }
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct SeeingOptions {
    /// Transactions of each run.
    #[arg(long, default_value_t = 15_000_000)]
    pub transactions: u64,
    /// Measure only the time to read message counters.
    #[arg(long)]
    pub counters: bool,
    /// End with code 1 if a limit is exceeded.
    #[arg(long)]
    pub check: bool,
}

/// Measures the cost of observing, and the time to read counters. Returns whether both are within
/// their limits.
pub fn perform(ours: &Path, pairs: usize, options: SeeingOptions) -> Result<bool> {
    let is_seen = options.counters || compare(ours, pairs, options.transactions)?;
    Ok(messages::reading()? && is_seen)
}

/// Prints two rates of the null engine and their ratio: with a progress display and counts for each
/// second, and without both. Returns whether the whole interval of the ratio is within the limit.
fn compare(ours: &Path, pairs: usize, transactions: u64) -> Result<bool> {
    let terminal = Terminal::open()?;
    let noise = Noise::begin();
    let rates = interleaved(
        pairs,
        || rate(ours, transactions, Some(&terminal)),
        || rate(ours, transactions, None),
    )?;
    let over = |of: fn(&[f64; 2]) -> f64| median(rates.iter().map(of));
    println!(
        "null engine, 20000 files, {transactions} transactions, {pairs} interleaved pairs; {}",
        noise.end()
    );
    println!(
        "  display and slices     {} transactions/s",
        over(|[watched, _]| *watched).show(0)
    );
    println!(
        "  neither                {} transactions/s",
        over(|[_, alone]| *alone).show(0)
    );
    let ratio = over(|[watched, alone]| watched / alone);
    let holds = ratio.low >= 1.0 - LIMIT && ratio.high <= 1.0 + LIMIT;
    println!(
        "  ratio                  {} {}",
        ratio.show(4),
        if holds { "holds" } else { "MISSED" }
    );
    Ok(holds)
}

fn rate(ours: &Path, transactions: u64, terminal: Option<&Terminal>) -> Result<f64> {
    let words =
        format!("run --engine null --format json --files 20000 --transactions {transactions}");
    let mut command = command(ours, &words);
    match terminal {
        Some(terminal) => command.stderr(Stdio::from(terminal.other_end.try_clone()?)),
        None => command
            .args(["--quiet", "--no-series"])
            .stderr(Stdio::null()),
    };
    let (text, _) = output_and_memory(&mut command)?;
    let report: Value = serde_json::from_str(&text)?;
    let rate = report["summary"]["phases"][1]["transactions"]["per_second"].as_f64();
    Ok(rate.ok_or("the report has no rate of transactions")?)
}
