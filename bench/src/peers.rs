//! Compares our program with fio and fs_mark, phase by phase. All programs create, read and delete
//! files with equal calls, under names of equal length, in separate directories.
//!
//! Rates are based on the wall time of whole phases as each program defines it, from the first
//! worker's start to the last worker's end. User CPU covers the same time. For a job of fio, wall
//! time is `runtime` (in milliseconds), and user CPU is `usr_cpu` (in percent) of `job_runtime`.
//! For fs_mark, `borders.c` measures two times of each process: from its first creation to its
//! first deletion, and from its first deletion until the process ends. The first time is the basis
//! of fs_mark's `Files/sec`. As in fs_mark itself, rates are added up over the processes.

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

/// Minimum of our files/s relative to the other program's.
const RATE_LIMIT: f64 = 0.98;
const TRACED_FILES: u64 = 500;

#[derive(Clone, Debug, clap::Args)]
pub struct PeersOptions {
    /// File systems: tmpfs, ext4, xfs.
    #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs")]
    pub on: Vec<String>,
    /// Numbers of workers to compare.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub workers: Vec<u32>,
    /// Files of each worker.
    #[arg(long, default_value_t = 50_000)]
    pub files: u64,
    /// Show the calls of all programs by strace; measure nothing.
    #[arg(long)]
    pub calls: bool,
    /// End with code 1 if a limit is missed.
    #[arg(long)]
    pub check: bool,
}

/// A comparison of our program with another tool, in one or several operations.
struct Contest {
    tool: &'static str,
    /// The compared operations, with notes on differences that strace does not show.
    rows: &'static [(Action, &'static str)],
    /// Size of our files, and form of our names.
    ours: (u64, &'static str),
    commands: fn(&PeerLoad) -> Vec<Command>,
    run: fn(&PeerLoad, Vec<Command>) -> Samples,
    /// Whether rates of workers are added up for both programs. This is necessary if the tool's
    /// workers do not wait for one another between phases. Otherwise a rate is the number of all
    /// files divided by the time until the last worker ends.
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
    /// The command of our run. If reads are not compared, each worker reads only one file, because
    /// reading affects later deletion.
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

    /// Takes one pair of samples for every row: our sample and the other tool's.
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

    /// Prints the calls that each program makes for a file.
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

/// Whether a path belongs to a benchmark's files: it is relative, and its last part contains only
/// letters, digits and `~`, with at least one digit.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with('/')
        && name.bytes().any(|byte| byte.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'~')
}

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

/// Shows the calls, and compares the programs unless only the calls are requested. Returns whether
/// all limits hold.
pub fn perform(rounds: usize, choice: &PeersOptions) -> Result<bool> {
    if choice.calls {
        return show_calls().map(|()| true);
    }
    compare(rounds, choice)
}

/// Prints rates and ratios. Returns whether all limits hold.
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
            // The first round is a warm-up and is not counted.
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
        // CPU time is only a few ticks per run, so the mean is more precise than the median.
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
