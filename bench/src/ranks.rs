//! Compares a run with several ranks of Open MPI to the same run in one process with the same total
//! number of workers. The runs alternate on tmpfs. Prints the ratio of the rates, and checks that
//! both runs performed the same operations.

use crate::process::{command, output};
use crate::result::Result;
use crate::statistics::{interleaved, median};
use std::path::{Path, PathBuf};
use std::process::Command;

use record::Record;

use crate::mounts::touch_memory;
use crate::noise::Noise;

/// Minimum of the rate of the ranks divided by the rate of one process. It applies to the lower end
/// of the ratio's interval.
const RATE_LIMIT: f64 = 0.97;
/// Number of workers in both variants.
const WORKERS: u32 = 4;

#[derive(Clone, Debug, clap::Args)]
pub struct RanksOptions {
    /// Numbers of ranks to compare.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    pub ranks: Vec<u32>,
    /// Transactions of each worker.
    #[arg(long, default_value_t = 200_000)]
    pub transactions: u64,
    /// End with code 1 if the limit is missed.
    #[arg(long)]
    pub check: bool,
}

/// The rate of the transactions, and hashes that identify the performed operations.
struct RankedRun {
    per_second: f64,
    what: String,
}

fn performed(command: &mut Command, record: &Path) -> Result<RankedRun> {
    output(command)?;
    let record = Record::from_json(&std::fs::read_to_string(record)?)?;
    let transactions = record
        .actual
        .transactions()
        .next()
        .ok_or("the run has no transactions")?;
    Ok(RankedRun {
        per_second: transactions.transactions() as f64 * 1e9
            / transactions.measured_ns().max(1) as f64,
        what: format!("{:?} {:?}", record.fingerprint, record.actual.stream_hash),
    })
}

/// The two variants of a run: ranks, and one process. Both use our binary with the feature `mpi`.
struct Ways<'a> {
    ours: &'a Path,
    directory: tempfile::TempDir,
    transactions: u64,
}

impl Ways<'_> {
    fn perform(&self, ranks: Option<u32>) -> Result<RankedRun> {
        let record: PathBuf = self.directory.path().join("record.json");
        let target = self.directory.path().join("target");
        let mut command = match ranks {
            None => Command::new(self.ours),
            Some(ranks) => {
                let words =
                    format!("--allow-run-as-root --oversubscribe --bind-to none -n {ranks}");
                let mut command = command("mpirun", &words);
                command.arg(self.ours);
                command
            }
        };
        let words = format!(
            "run --mix read=5,append=2,create=2,delete=2 --files 5000 --transactions {} --workers \
             {} --quiet --no-overhead --archive none --format json --force --output",
            self.transactions,
            WORKERS / ranks.unwrap_or(1)
        );
        command.args(words.split_whitespace()).arg(&record);
        command.arg("--target").arg(&target);
        performed(&mut command, &record)
    }
}

/// Prints the ratio of rates for each number of ranks. Returns whether the limit holds.
pub fn compare(ours: &Path, pairs: usize, size: &RanksOptions) -> Result<bool> {
    let directory = tempfile::Builder::new()
        .prefix("postmark-bench-")
        .tempdir_in("/dev/shm")?;
    std::fs::create_dir(directory.path().join("target"))?;
    let ways = Ways {
        ours: &std::fs::canonicalize(ours)?,
        directory,
        transactions: size.transactions,
    };
    println!(
        "{WORKERS} workers as ranks of Open MPI against {WORKERS} workers of one process, on \
         tmpfs: {} transactions of each worker",
        size.transactions
    );
    println!(
        "medians of {} interleaved pairs' ratios of rates [95 % interval]",
        pairs
    );
    touch_memory();
    let mut holds = true;
    for ranks in &size.ranks {
        let noise = Noise::begin();
        let found = interleaved(pairs, || ways.perform(Some(*ranks)), || ways.perform(None))?;
        if let Some([many, one]) = found.iter().find(|[many, one]| many.what != one.what) {
            let (many, one) = (&many.what, &one.what);
            return Err(format!("{ranks} ranks did {many}, and one process {one}").into());
        }
        let over = |of: fn(&[RankedRun; 2]) -> f64| median(found.iter().map(of));
        let ratio = over(|[many, one]| many.per_second / one.per_second);
        let many = over(|[many, _]| many.per_second).value;
        let one = over(|[_, one]| one.per_second).value;
        let holds_here = ratio.low >= RATE_LIMIT;
        holds &= holds_here;
        println!(
            "{ranks} ranks: {many:.0}/s, one process {one:.0}/s, ratio {}{}; {}",
            ratio.show(3),
            if holds_here { "" } else { "  MISSED" },
            noise.end()
        );
    }
    Ok(holds)
}
