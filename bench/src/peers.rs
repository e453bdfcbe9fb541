//! Ours beside fio and fs_mark, phase by phase: files created, read and deleted by equal calls
//! under names of equal length in directories of their own.
//!
//! Rates are of wall time of whole phases as each program takes it, from the first worker's start
//! to the last one's end, and user CPU is of the same span. For fio that is the `runtime` (in
//! milliseconds) and `usr_cpu` of its jobs; for fs_mark the span from a process's first creation to
//! its first deletion, and from there to its end, seen by `borders.c` (the first is what its
//! `Files/sec` is of; both are added up over its processes, as it does).

use crate::result::Result;
use std::process::Command;

use workload::Action;

use self::load::{FILE_BYTES, PeerLoad, PhaseSample, Samples};
use crate::mounts::touch_memory;
use crate::noise::Noise;
use crate::phases::{Costs, numbers_of};
use crate::process::output;
use crate::statistics::{in_turn, median};
use crate::strace::{counts, trace};

mod fio;
mod fs_mark;
mod load;

/// To reach: files a second as a share of the other's.
const RATE_LIMIT: f64 = 0.98;
/// Files of the runs that strace looks at.
const TRACED_FILES: u64 = 500;

/// What is measured.
#[derive(Clone, Debug, clap::Args)]
pub struct PeersOptions {
    /// File systems: tmpfs, ext4, xfs.
    #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs")]
    pub on: Vec<String>,
    /// Workers.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub workers: Vec<u32>,
    /// Files of each worker.
    #[arg(long, default_value_t = 50_000)]
    pub files: u64,
    /// Show the calls of all programs by strace; measure nothing.
    #[arg(long)]
    pub calls: bool,
    /// End with code 1 where a limit is missed.
    #[arg(long)]
    pub check: bool,
}

/// A tool to be beside.
struct Contest {
    tool: &'static str,
    /// What is compared, with what strace does not show of the differences.
    rows: &'static [(Action, &'static str)],
    /// Bytes of our files, and our names.
    ours: (u64, &'static str),
    commands: fn(&PeerLoad) -> Vec<Command>,
    run: fn(&PeerLoad, Vec<Command>) -> Samples,
    /// Whether its workers do not wait for one another between phases, so that rates of workers
    /// are added up, ours too; else a rate is all files over the time until the last worker
    /// was done.
    adds_rates: bool,
}

const FIO_CREATES: &str = "fio gives whole paths; it looks every name up before its clock starts, \
                           which a remount makes forgotten";
const FS_MARK: &str = "fs_mark gives whole paths; its processes do not wait for one another, so \
                       rates of workers are added up, in both";
const CONTESTS: [Contest; 4] = [
    Contest {
        tool: "fio filecreate (0 bytes)",
        rows: &[(Action::Create, FIO_CREATES)],
        ours: (0, "decimal"),
        commands: fio::creation_commands,
        run: fio::run,
        adds_rates: false,
    },
    Contest {
        tool: "fio psync, filedelete",
        rows: &[
            (Action::Create, FIO_CREATES),
            (Action::Delete, "fio gives whole paths"),
        ],
        ours: (FILE_BYTES, "decimal"),
        commands: fio::commands,
        run: fio::run,
        adds_rates: false,
    },
    Contest {
        tool: "fio psync",
        rows: &[(
            Action::Read,
            "both read every file once in an order drawn at random, fio by its names' order of \
             files that we have created in another; fio gives whole paths",
        )],
        ours: (FILE_BYTES, "decimal"),
        commands: fio::reading_commands,
        run: fio::read,
        adds_rates: false,
    },
    Contest {
        tool: "fs_mark",
        rows: &[(Action::Create, FS_MARK), (Action::Delete, FS_MARK)],
        ours: (FILE_BYTES, "hashed:20"),
        commands: fs_mark::commands,
        run: fs_mark::run,
        adds_rates: true,
    },
];

impl Contest {
    /// Our run: without reads where none are compared, since files that were read go otherwise than
    /// those that were not.
    fn our_command(&self, ground: &PeerLoad) -> Result<Command> {
        let reads = self
            .rows
            .iter()
            .any(|(operation, _)| *operation == Action::Read);
        ground.ours(self.ours, if reads { ground.files } else { 1 })
    }

    fn ours(&self, ground: &PeerLoad) -> Samples {
        let text = output(&mut self.our_command(ground)?)?;
        let costs = Costs::parse(&text)?;
        let sample = |(operation, _): &(Action, &str)| {
            let (cost, phase) = match operation {
                Action::Create => (costs.prepare, "prepare"),
                Action::Delete => (costs.delete, "delete"),
                _ => (costs.transactions, "transactions"),
            };
            let mut sample = ground.sample(cost);
            if self.adds_rates {
                sample.files_per_s = numbers_of(&text, &format!("rates of {phase} "))?.parse()?;
            }
            Ok(sample)
        };
        self.rows.iter().map(sample).collect()
    }

    /// One pair: ours and theirs of every row.
    fn pair(&self, ground: &PeerLoad, ours_first: bool) -> Result<Vec<[PhaseSample; 2]>> {
        let ours = || ground.renew().and_then(|()| self.ours(ground));
        let commands = (self.commands)(ground);
        let theirs = || {
            ground.renew()?;
            (self.run)(ground, commands)
        };
        let [ours, theirs] = in_turn(ours_first, ours, theirs)?;
        Ok(std::iter::zip(ours, theirs).map(<[_; 2]>::from).collect())
    }

    /// Says what calls each of the two makes for a file.
    fn show_calls(&self, ground: &PeerLoad) -> Result<()> {
        let log = ground.beside("strace");
        ground.renew()?;
        let ours = trace(&self.our_command(ground)?, &log, is_file)?;
        let mut theirs = Vec::new();
        for command in (self.commands)(ground) {
            theirs.extend(trace(&command, &log, is_file)?);
        }
        for (operation, note) in self.rows {
            println!("  {}, {}: {note}", self.tool, operation.name());
            for (who, threads) in [("ours", &ours), ("theirs", &theirs)] {
                let of_file = counts(threads)
                    .into_iter()
                    .filter(|((of, _), _)| of == operation);
                let each: Vec<String> = of_file
                    .map(|((_, what), count)| (what, count as f64 / ground.files as f64))
                    .filter(|(_, each)| *each >= 0.05)
                    .map(|(what, each)| format!("{each:.1} {what}"))
                    .collect();
                println!("    {who:6} {}", each.join(", "));
            }
        }
        Ok(())
    }
}

/// Whether a path is one of a benchmark's files: relative, its last part letters and digits, not
/// without a digit.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with('/')
        && name.bytes().any(|byte| byte.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'~')
}

/// Shows the calls of all programs for a file.
fn show_calls() -> Result<()> {
    println!(
        "calls for a file, as strace saw them, of {TRACED_FILES} files on tmpfs with one worker; \
         and what else differs:"
    );
    let ground = PeerLoad::new("tmpfs", TRACED_FILES, 1)?;
    CONTESTS
        .iter()
        .try_for_each(|contest| contest.show_calls(&ground))
}

/// Shows calls, and unless they are all that is asked for, compares. Whether all limits hold.
pub fn perform(rounds: usize, choice: &PeersOptions) -> Result<bool> {
    if choice.calls {
        return show_calls().map(|()| true);
    }
    compare(rounds, choice)
}

/// Prints rates and ratios. Whether all limits hold.
fn compare(counted_rounds: usize, choice: &PeersOptions) -> Result<bool> {
    show_calls()?;
    println!(
        "{} files a worker; medians of {} interleaved rounds [interval]; user CPU in microseconds \
         a file, means of all rounds",
        choice.files, counted_rounds
    );
    let mut holds = true;
    for kind in &choice.on {
        for workers in &choice.workers {
            let ground = PeerLoad::new(kind, choice.files, *workers)?;
            touch_memory();
            let noise = Noise::begin();
            let mut rounds = Vec::new();
            // The first round warms up and does not count.
            for number in 0..=counted_rounds {
                let mut round = Vec::new();
                for contest in &CONTESTS {
                    round.extend(contest.pair(&ground, number % 2 == 0)?);
                }
                if number > 0 {
                    rounds.push(round);
                }
            }
            println!(
                "{kind} ({}), {workers} worker(s); {}",
                ground.mounted.how,
                noise.end()
            );
            holds &= print(&rounds);
        }
    }
    Ok(holds)
}

fn print(rounds: &[Vec<[PhaseSample; 2]>]) -> bool {
    println!(
        "  {:26} {:7} {:>10} {:>10}  {:32} {:>6} {:>7}",
        "against", "phase", "ours/s", "theirs/s", "ours / theirs", "user", "theirs"
    );
    let rows = CONTESTS.iter().flat_map(|contest| {
        contest
            .rows
            .iter()
            .map(|(operation, _)| (contest.tool, *operation))
    });
    let mut holds = true;
    for (index, (tool, operation)) in rows.enumerate() {
        let over = |of: &dyn Fn(&[PhaseSample; 2]) -> f64| -> Vec<f64> {
            rounds.iter().map(|round| of(&round[index])).collect()
        };
        let middle = |of: &dyn Fn(&[PhaseSample; 2]) -> f64| median(over(of));
        let ratio = middle(&|[ours, theirs]| ours.files_per_s / theirs.files_per_s);
        // Of few ticks each: their mean says more than their median.
        let user = [0, 1].map(|who| {
            over(&|pair| pair[who].user_us_per_file).iter().sum::<f64>() / rounds.len() as f64
        });
        let (is_fast, is_cheap) = (ratio.value >= RATE_LIMIT, user[0] <= user[1]);
        println!(
            "  {tool:26} {:7} {:>10.0} {:>10.0}  {:32} {:>6.2} {:>7.2} {}",
            operation.name(),
            middle(&|[ours, _]| ours.files_per_s).value,
            middle(&|[_, theirs]| theirs.files_per_s).value,
            format!(
                "{} {}",
                ratio.show(3),
                if is_fast { "holds" } else { "BELOW 0.98" }
            ),
            user[0],
            user[1],
            if is_cheap { "lower" } else { "HIGHER" },
        );
        holds &= is_fast && is_cheap;
    }
    holds
}
