//! Benchmarks of the program itself, with public tools only.
//!
//! `classic` runs ours and Debian's `postmark` in turns on tmpfs and on ext4 and xfs in loop images and prints
//! ratios; `null` gives the loop's own cost; `plan` times plans. Pairs are interleaved (A B A B …), medians are
//! quoted with an interval, because the machine is shared. Needs root for mounts.

mod classic;
mod mounts;
mod own;
mod process;
mod statistics;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Our binary.
    #[arg(long, global = true, default_value = "target/release/postmark")]
    ours: PathBuf,
    /// The original.
    #[arg(long, global = true, default_value = "/usr/bin/postmark")]
    original: PathBuf,
    /// Pairs, interleaved.
    #[arg(long, global = true, default_value_t = 9)]
    pairs: usize,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Ours against the original: wall time, user CPU, system CPU.
    Classic {
        /// File systems: tmpfs, ext4, xfs.
        #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs")]
        on: Vec<String>,
        /// Transactions of the run on 20,000 files; CPU ratios need a million.
        #[arg(long, default_value_t = 1_000_000)]
        transactions: u64,
        /// Leave out the large pool.
        #[arg(long)]
        no_large_pool: bool,
    },
    /// The loop's own cost on the null storage.
    Null {
        /// Transactions of each run.
        #[arg(long, default_value_t = 2_000_000)]
        transactions: u64,
    },
    /// Time and memory of plans.
    Plan,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.what {
        What::Classic {
            on,
            transactions,
            no_large_pool,
        } => classic::compare(&arguments, on, *transactions, !no_large_pool),
        What::Null { transactions } => own::null(&arguments, *transactions),
        What::Plan => own::plan(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
