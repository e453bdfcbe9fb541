//! Measures the overhead of the program: the cost of the loop that performs operations, on the null
//! engine, and the duration and memory of plans.

use crate::process::{command, output};
use crate::result::Result;
use crate::statistics::median;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

const POOLS: [u64; 3] = [20_000, 1_000_000, 10_000_000];

#[derive(Clone, Debug, clap::Args)]
pub struct NullOptions {
    /// Transactions of each run.
    #[arg(long, default_value_t = 2_000_000)]
    pub transactions: u64,
    /// Count instructions with valgrind's cachegrind instead of measuring time. Other programs on
    /// the machine do not affect the count.
    #[arg(long)]
    pub instructions: bool,
    /// Path of another binary. Its instructions are also counted, and the ratio is printed.
    #[arg(long, requires = "instructions")]
    pub beside: Option<PathBuf>,
}

/// Prints nanoseconds per transaction on the null engine.
pub fn null(ours: &Path, pairs: usize, options: &NullOptions) -> Result<()> {
    if options.instructions {
        return instructions(ours, options.beside.as_deref());
    }
    let transactions = options.transactions;
    println!(
        "the loop's overhead on the null engine, ns a transaction: medians of {} rounds \
         [interval]",
        pairs
    );
    let mut costs = vec![[Vec::new(), Vec::new()]; POOLS.len()];
    // The first round is a warm-up and is not counted.
    for round in 0..=pairs {
        for (pool, costs) in POOLS.iter().zip(&mut costs) {
            for (latencies, costs) in [true, false].into_iter().zip(costs) {
                let cost = null_once(ours, *pool, transactions, latencies)?;
                if round > 0 {
                    costs.push(cost);
                }
            }
        }
    }
    println!(
        "{:>12}  {:28} {:28}",
        "files", "with clock and recording", "without"
    );
    for (pool, [with, without]) in POOLS.iter().zip(&costs) {
        println!(
            "{pool:>12}  {:28} {:28}",
            median(with.iter().copied()).show(1),
            median(without.iter().copied()).show(1)
        );
    }
    Ok(())
}

fn null_once(ours: &Path, files: u64, transactions: u64, latencies: bool) -> Result<f64> {
    let words = format!(
        "run --quiet --engine null --format json --files {files} --transactions {transactions}"
    );
    let mut command = command(ours, &words);
    if !latencies {
        command.arg("--no-latencies");
    }
    let report: Value = serde_json::from_str(&output(&mut command)?)?;
    let took = report["summary"]["paper"]["transactions_ns"].as_f64();
    Ok(took.ok_or("the report has no transactions_ns")? / transactions as f64)
}

/// Name and options of each workload whose instructions are counted.
const COUNTED: [(&str, &str); 4] = [
    ("classic", ""),
    ("without latencies", "--no-latencies"),
    ("a mix", "--mix read=4,append=2,create=1,delete=1,list=1"),
    (
        "a mix on a shared pool",
        "--mix read=4,append=2,create=1,delete=1 --writers 1",
    ),
];

/// Prints instructions per transaction on the null engine, and the ratio to the instructions of
/// another binary.
fn instructions(ours: &Path, beside: Option<&Path>) -> Result<()> {
    println!(
        "the loop's overhead on the null engine, instructions a transaction by valgrind's \
         cachegrind"
    );
    let [own, other] = ["ours", "beside"];
    println!("{:24} {own:>10} {other:>10} {:>8}", "", "ratio");
    for (name, words) in COUNTED {
        let own = instructions_of(ours, words)?;
        match beside
            .map(|beside| instructions_of(beside, words))
            .transpose()?
        {
            Some(other) => println!("{name:24} {own:10.1} {other:10.1} {:8.4}", own / other),
            None => println!("{name:24} {own:10.1}"),
        }
    }
    Ok(())
}

/// Instructions per transaction: the difference between a long run and a short one, which excludes
/// startup and other fixed work.
fn instructions_of(binary: &Path, words: &str) -> Result<f64> {
    const SHORT: u64 = 100_000;
    const LONG: u64 = 400_000;
    let count = |transactions: u64| -> Result<f64> {
        let mut command = command(
            "valgrind",
            "--tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-fd=1",
        );
        command.arg(binary).args(
            format!(
                "run --quiet --engine null --archive none --no-overhead --files 20000 \
                 --transactions {transactions} {words}"
            )
            .split_whitespace(),
        );
        let told = output(&mut command)?;
        let counted = told.lines().find_map(|line| line.split_once("refs:"));
        let (_, digits) = counted.ok_or(
            "valgrind told of no instructions: is it there, and could it start the program?",
        )?;
        Ok(digits.trim().replace(',', "").parse()?)
    };
    Ok((count(LONG)? - count(SHORT)?) / (LONG - SHORT) as f64)
}

/// Prints the duration and peak memory of plans.
pub fn plan(ours: &Path, pairs: usize) -> Result<()> {
    println!("plans: median seconds of {} rounds [interval]", pairs);
    for (files, transactions) in [("9999", "5M"), ("10M", "10M")] {
        let mut seconds = Vec::new();
        let mut memory_bytes = 0;
        for _ in 0..pairs {
            let began = Instant::now();
            let words = format!(
                "plan --engine null --format json --files {files} --transactions {transactions}"
            );
            let text = output(&mut command(ours, &words))?;
            seconds.push(began.elapsed().as_secs_f64());
            let plan: Value = serde_json::from_str(&text)?;
            let peak = plan["process"]["known"]["max_resident_bytes"]["known"].as_u64();
            memory_bytes = memory_bytes.max(peak.ok_or("the plan does not say its memory")?);
        }
        println!(
            "{files:>8} files {transactions:>5} transactions  {} s, {:.0} MB",
            median(seconds).show(3),
            memory_bytes as f64 / 1e6
        );
    }
    Ok(())
}
