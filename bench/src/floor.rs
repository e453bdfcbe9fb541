//! Compares the engine `posix`, whose operations are generated in advance, with a bare C program
//! (`floor.c`) that makes the same system calls.

use crate::result::Result;
use crate::statistics::{Median, interleaved, median};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use workload::{Classic, Workers, Workload};

use crate::mounts::{MountedVolume, touch_memory};
use crate::noise::Noise;
use crate::phases::{Cost, Costs};
use crate::process::output;
use crate::strace::{FileCall, counts, trace};
use crate::{operations, ours};

pub const SOURCE: &str = include_str!("../floor.c");
/// Maximum wall time relative to the C program's, for each number of workers.
const WALL_LIMITS: [(u32, f64); 2] = [(1, 1.03), (2, 1.05)];
/// The upper end of the ratio's interval may exceed the limit in [`WALL_LIMITS`] by this much.
const SLACK: f64 = 0.02;
/// Maximum of our user CPU minus the C program's, in microseconds per operation.
const USER_LIMIT_US: f64 = 0.3;

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct FloorOptions {
    /// Files of each worker's pool.
    #[arg(long, default_value_t = 20_000)]
    pub files: u64,
    /// Transactions of each worker.
    #[arg(long, default_value_t = 100_000)]
    pub transactions: u64,
    /// Instead compare the engine `uring` at this queue depth with the engine `posix` and with the
    /// C program's own ring: creates, reads and deletes of files of 4 KiB on ext4, xfs and tmpfs.
    #[arg(long, value_name = "DEPTH", conflicts_with = "calls")]
    pub ring: Option<u32>,
    /// Compare the calls of both programs under strace for a twentieth of the work, instead of
    /// measuring.
    #[arg(long)]
    pub calls: bool,
    /// End with code 1 if a limit is exceeded or calls differ.
    #[arg(long)]
    pub check: bool,
}

/// The engine `posix` and the C program, in directories of equal path length on one file system.
struct Rivals {
    mounted: MountedVolume,
    workload: Workload,
    program: PathBuf,
    list: PathBuf,
    operations: u64,
}

impl Rivals {
    fn new(size: FloorOptions, workers: u32) -> Result<Self> {
        let mounted = MountedVolume::new("tmpfs")?;
        let workload = Workload {
            workers: Workers::Private { workers },
            ..Classic {
                files: size.files,
                transactions: size.transactions,
                read_block_bytes: 4096,
                write_block_bytes: 4096,
                ..Classic::default()
            }
            .into()
        };
        let list = mounted.path().with_file_name("operations");
        let mut file = BufWriter::new(File::create(&list)?);
        let operations = operations::write(&workload, &mut file)?;
        file.flush()?;
        let program = compile(
            SOURCE,
            &mounted.path().with_file_name("floor"),
            &["-pthread"],
        )?;
        for directory in ["ours", "bare"] {
            std::fs::create_dir(mounted.path().join(directory))?;
        }
        if workers > 1 {
            for worker in 0..workers {
                std::fs::create_dir(mounted.path().join(format!("bare/w{worker}")))?;
            }
        }
        Ok(Self {
            mounted,
            workload,
            program,
            list,
            operations,
        })
    }

    fn ours(&self) -> Result<Command> {
        ours::command(&self.workload, &self.mounted.path().join("ours"), true)
    }

    fn bare(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(&self.list)
            .arg(self.mounted.path().join("bare"));
        command
    }
}

pub fn compile(source: &str, to: &Path, options: &[&str]) -> Result<PathBuf> {
    let file = to.with_extension("c");
    std::fs::write(&file, source)?;
    output(
        Command::new("gcc")
            .args(["-O2", "-std=c11", "-o"])
            .arg(to)
            .arg(&file)
            // The linker requires that libraries follow the files that need them.
            .args(options),
    )?;
    Ok(to.to_owned())
}

/// Compares the costs of the engine `posix` and of the C program, and returns whether all limits
/// hold. With `--calls`, compares the calls of both programs for a twentieth of the work, and
/// returns whether they are equal.
pub fn perform(pairs: usize, options: FloorOptions) -> Result<bool> {
    if !options.calls {
        return compare(pairs, options);
    }
    show_calls(FloorOptions {
        files: (options.files / 20).max(1),
        transactions: options.transactions / 20,
        ..options
    })
}

/// Prints the costs of the engine `posix` relative to the C program, for one worker and for two.
/// Returns whether all limits hold.
fn compare(pairs: usize, size: FloorOptions) -> Result<bool> {
    println!(
        "the posix engine with a prepared stream and latencies against the bare calls, on tmpfs: \
         {} files, {} transactions a worker",
        size.files, size.transactions
    );
    println!(
        "medians of {pairs} interleaved pairs [interval]; CPU in microseconds an operation, of \
         the whole process"
    );
    let mut holds = true;
    for (workers, wall_limit) in WALL_LIMITS {
        let rivals = Rivals::new(size, workers)?;
        touch_memory();
        let noise = Noise::begin();
        let run = |mut command: Command| Costs::parse(&output(&mut command)?);
        let costs = interleaved(pairs, || run(rivals.ours()?), || run(rivals.bare()))?;
        println!(
            "{workers} worker(s), {} operations; {}",
            rivals.operations,
            noise.end()
        );
        holds &= print(&costs, rivals.operations as f64, wall_limit);
    }
    Ok(holds)
}

fn print(pairs: &[[Costs; 2]], operations: f64, wall_limit: f64) -> bool {
    let over = |of: &dyn Fn(&[Costs; 2]) -> f64| median(pairs.iter().map(of));
    let ratio = |of: fn(&Costs) -> Cost| over(&|[ours, bare]| of(ours).wall_s / of(bare).wall_s);
    let wall = ratio(Costs::sum);
    let is_fast = wall.value <= wall_limit && wall.high <= wall_limit + SLACK;
    println!(
        "  wall, ours / floor     {:24} {}",
        wall.show(3),
        verdict(is_fast, wall_limit)
    );
    println!(
        "    prepare {}, transactions {}, delete {}",
        ratio(|costs| costs.prepare).show(3),
        ratio(|costs| costs.transactions).show(3),
        ratio(|costs| costs.delete).show(3)
    );
    let each_us = |seconds: f64| seconds / operations * 1e6;
    let own = over(&|[ours, bare]| each_us(ours.sum().user_s - bare.sum().user_s));
    let is_cheap = own.value <= USER_LIMIT_US;
    println!(
        "  user CPU, ours - floor {:24} {}",
        own.show(3),
        verdict(is_cheap, USER_LIMIT_US)
    );
    let both = |of: fn(&Cost) -> f64| -> [Median; 2] {
        [0, 1].map(|which| over(&|pair| each_us(of(&pair[which].sum()))))
    };
    for (what, [ours, bare]) in [
        ("wall      ", both(|cost| cost.wall_s)),
        ("user CPU  ", both(|cost| cost.user_s)),
        ("system CPU", both(|cost| cost.system_s)),
    ] {
        println!("    {what} ours {}, floor {}", ours.show(3), bare.show(3));
    }
    is_fast && is_cheap
}

pub fn verdict(holds: bool, limit: f64) -> String {
    let word = if holds { "holds: <=" } else { "EXCEEDS" };
    format!("{word} {limit}")
}

/// Compares with strace the calls of the engine `posix` and of the C program, in order. Returns
/// whether the calls are equal.
fn show_calls(size: FloorOptions) -> Result<bool> {
    println!(
        "calls on files as strace saw them: {} files, {} transactions a worker",
        size.files, size.transactions
    );
    let mut equal = true;
    for (workers, _) in WALL_LIMITS {
        let rivals = Rivals::new(size, workers)?;
        let log = rivals.mounted.path().with_file_name("strace");
        let is_file = |path: &str| path.bytes().all(|byte| byte.is_ascii_digit());
        let ours = trace(&rivals.ours()?, &log, is_file)?;
        let bare = trace(&rivals.bare(), &log, is_file)?;
        println!("{workers} worker(s)");
        equal &= print_calls(&ours, &bare);
    }
    Ok(equal)
}

fn print_calls(ours: &[Vec<FileCall>], bare: &[Vec<FileCall>]) -> bool {
    println!(
        "  {:8} {:56} {:>9} {:>9} {:>10}",
        "in", "call", "ours", "floor", "difference"
    );
    let (our_counts, bare_counts) = (counts(ours), counts(bare));
    let mut keys: Vec<_> = our_counts.keys().chain(bare_counts.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let [ours, bare] =
            [&our_counts, &bare_counts].map(|counts| counts.get(key).copied().unwrap_or(0));
        let difference = ours as i64 - bare as i64;
        println!(
            "  {:8} {:56} {ours:>9} {bare:>9} {difference:>10}",
            key.0.name(),
            key.1
        );
    }
    let equal = on_files(ours) == on_files(bare);
    let verdict = if equal { "the same" } else { "NOT the same" };
    println!("  names, bytes and order of all calls on files: {verdict}");
    equal
}

/// Returns each thread's calls on files. Threads are sorted by these calls, so that the threads of
/// two programs can be compared. Thread IDs differ between programs.
fn on_files(threads: &[Vec<FileCall>]) -> Vec<Vec<(&str, &str)>> {
    let mut threads: Vec<Vec<(&str, &str)>> = threads
        .iter()
        .map(|calls| {
            let on_files = calls.iter().filter(|call| !call.what.ends_with("(other)"));
            on_files
                .map(|call| (call.what.as_str(), call.detail.as_str()))
                .collect()
        })
        .collect();
    threads.sort_unstable();
    threads
}
