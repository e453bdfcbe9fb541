//! Runs our program and the original in turns, and compares wall time and processor time.

use crate::process::{command, cost};
use crate::result::Result;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use system::child::ChildCost;

use crate::mounts::{MountedVolume, sync, touch_memory};
use crate::statistics::{interleaved, median};

#[derive(Clone, Copy)]
struct Work {
    files: u64,
    transactions: u64,
}

/// A comparison of one mode of our program with one mode of the original.
struct Pairing {
    what: &'static str,
    /// Whether the original uses its buffered mode; otherwise, it uses its raw mode.
    buffered: bool,
    /// The I/O engine of our run; `None` for interactive mode, with the buffering that `buffered`
    /// selects.
    engine: Option<&'static str>,
    /// Maximum wall time (`wall_limit`) and user CPU (`user_limit`) of our run on tmpfs, relative
    /// to the original's.
    wall_limit: f64,
    user_limit: Option<f64>,
}

const SAME_POOL: [Pairing; 4] = [
    pairing("buffered", true, None, 0.97, Some(0.7)),
    pairing("raw", false, None, 0.97, Some(0.4)),
    pairing("posix : raw", false, Some("posix"), 0.88, None),
    pairing("posix : buffered", true, Some("posix"), 0.80, None),
];

const fn pairing(
    what: &'static str,
    buffered: bool,
    engine: Option<&'static str>,
    wall_limit: f64,
    user_limit: Option<f64>,
) -> Pairing {
    Pairing {
        what,
        buffered,
        engine,
        wall_limit,
        user_limit,
    }
}

const LARGE_POOL: Pairing = pairing("raw, large pool", false, None, 0.6, Some(0.15));

#[derive(Clone, Debug, clap::Args)]
pub struct ClassicOptions {
    /// File systems: tmpfs, ext4, xfs.
    #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs")]
    pub on: Vec<String>,
    /// Transactions of the run on 20,000 files. CPU ratios need a million to be precise.
    #[arg(long, default_value_t = 1_000_000)]
    pub transactions: u64,
    /// Leave out the large pool.
    #[arg(long)]
    pub no_large_pool: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Programs<'p> {
    pub ours: &'p Path,
    pub original: &'p Path,
}

/// Measures all pairings on each chosen file system, and prints the ratios.
pub fn compare(programs: Programs<'_>, pairs: usize, options: &ClassicOptions) -> Result<()> {
    println!(
        "ours / original, medians of {pairs} interleaved pairs [interval]; limits hold on \
         tmpfs"
    );
    println!(
        "{:6} {:18} {:>8} {:>12}  {:24} {:24} {:24}",
        "on", "mode", "files", "transactions", "wall", "user CPU", "system CPU"
    );
    for kind in &options.on {
        let mounted = MountedVolume::new(kind)?;
        touch_memory();
        for pairing in &SAME_POOL {
            let work = Work {
                files: 20_000,
                transactions: options.transactions,
            };
            pairing.print(programs, pairs, kind, &mounted.path(), work)?;
        }
        if !options.no_large_pool {
            let work = Work {
                files: 100_000,
                transactions: 1_000_000,
            };
            LARGE_POOL.print(programs, pairs, kind, &mounted.path(), work)?;
        }
    }
    Ok(())
}

impl Pairing {
    fn print(
        &self,
        programs: Programs<'_>,
        pairs: usize,
        kind: &str,
        at: &Path,
        work: Work,
    ) -> Result<()> {
        let commands = at.with_file_name("commands");
        std::fs::write(&commands, self.commands(at, work))?;
        let synced = |cost: ChildCost| sync(at).map(|()| cost);
        let costs = interleaved(
            pairs,
            || {
                self.ours(programs.ours, at, work, &commands)
                    .and_then(synced)
            },
            || prompted(programs.original, &commands).and_then(synced),
        )?;
        let limited = |_: &f64| kind == "tmpfs";
        println!(
            "{kind:6} {:18} {:>8} {:>12}  {:24} {:24} {:24}",
            self.what,
            work.files,
            work.transactions,
            ratio(
                &costs,
                |cost| cost.wall,
                Some(self.wall_limit).filter(limited)
            ),
            ratio(&costs, |cost| cost.user, self.user_limit.filter(limited)),
            ratio(&costs, |cost| cost.system, None),
        );
        Ok(())
    }

    fn commands(&self, at: &Path, work: Work) -> String {
        format!(
            "set location {}\nset number {}\nset transactions {}\nset read 4096\nset write \
             4096\nset buffering {}\nrun\nquit\n",
            at.display(),
            work.files,
            work.transactions,
            self.buffered
        )
    }

    fn ours(&self, program: &Path, at: &Path, work: Work, commands: &Path) -> Result<ChildCost> {
        let Some(engine) = self.engine else {
            return prompted(program, commands);
        };
        let words = format!(
            "run --quiet --no-sync-phases --no-check --read-block 4KiB --write-block 4KiB \
             --engine {engine} --files {} --transactions {} --target",
            work.files, work.transactions
        );
        cost(command(program, &words).arg(at), Stdio::null())
    }
}

/// The cost of a program in interactive mode that reads commands from a file.
fn prompted(program: &Path, commands: &Path) -> Result<ChildCost> {
    cost(&mut Command::new(program), File::open(commands)?)
}

fn ratio(pairs: &[[ChildCost; 2]], of: fn(&ChildCost) -> Duration, limit: Option<f64>) -> String {
    let ratio = |[ours, original]: &[ChildCost; 2]| of(ours).div_duration_f64(of(original));
    let median = median(pairs.iter().map(ratio));
    let verdict = match limit {
        Some(limit) if median.value <= limit => format!(" <= {limit:.2}"),
        Some(limit) => format!(" > {limit:.2}!"),
        None => String::new(),
    };
    format!("{}{verdict}", median.show(3))
}
