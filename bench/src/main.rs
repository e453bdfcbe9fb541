//! Benchmarks of the program itself, with public tools only.
//!
//! `classic` runs ours and Debian's `postmark` in turns on tmpfs and on ext4 and xfs in loop images
//! and prints ratios; `floor` holds the posix storage against a bare C program that makes the same
//! calls (`floor.c`); `peers` runs ours beside Debian's `fio` and `fs_mark`; `large` works on ten
//! million files; `presets` runs all presets on all file systems; `null` gives the loop's overhead,
//! `seeing` what watching costs it and how long counters take to read; `nfs` holds the storage
//! `nfs` against the same calls by libnfs (`nfs_calls.c`); `sweeps`, `steady` and `soak` are runs
//! that are driven; `studies` tells whether studies cry wolf, `verdicts` how often rules of
//! verdicts do; `plan` times plans, `archive` lists of very many runs; `safety` measures nothing,
//! and looks whether a user's files stay as they are. Pairs are interleaved
//! (A B B A …), medians are quoted with an interval, because the machine is shared. Needs root for
//! mounts; `floor` and `peers` need `gcc`, and `strace` to show calls; `nfs` needs `gcc`, libnfs,
//! NFS-Ganesha and rpcbind.

mod archive;
mod classic;
mod draws;
mod driving;
mod floor;
mod gates;
mod large;
mod messages;
mod mounts;
mod nfs;
mod noise;
mod operations;
mod ours;
mod own;
mod peers;
mod phases;
mod presets;
mod process;
mod ranks;
mod safety;
mod seeing;
mod statistics;
mod strace;
mod studies;
mod verdicts;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: Benchmark,
    /// Our binary.
    #[arg(long, global = true, default_value = "target/release/postmark")]
    ours: PathBuf,
    /// The original.
    #[arg(long, global = true, default_value = "/usr/bin/postmark")]
    original: PathBuf,
    /// Pairs, interleaved [default: 15 of `floor`, `peers` and `seeing`, 31 of `nfs`, 5 of
    /// `presets` and `sweeps`, else 9].
    #[arg(long, global = true)]
    pairs: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
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
    /// The posix storage with a prepared stream against bare system calls, on tmpfs, with one
    /// worker and two.
    Floor {
        /// Files of each worker's pool.
        #[arg(long, default_value_t = 20_000)]
        files: u64,
        /// Transactions of each worker.
        #[arg(long, default_value_t = 100_000)]
        transactions: u64,
        /// Show by strace that both make equal calls, of a twentieth of the work; measure nothing.
        #[arg(long)]
        calls: bool,
        /// End with code 1 where a limit is exceeded or calls differ.
        #[arg(long)]
        check: bool,
    },
    /// Ours beside fio and fs_mark: files a second and user CPU a file, by phase.
    Peers {
        /// File systems: tmpfs, ext4, xfs.
        #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs")]
        on: Vec<String>,
        /// Workers.
        #[arg(long, value_delimiter = ',', default_value = "1,2")]
        workers: Vec<u32>,
        /// Files of each worker.
        #[arg(long, default_value_t = 50_000)]
        files: u64,
        /// Show the calls of all programs by strace; measure nothing.
        #[arg(long)]
        calls: bool,
        /// End with code 1 where a limit is missed.
        #[arg(long)]
        check: bool,
    },
    /// Ten million small files on ext4: rates, latencies, memory; then with a pool that is kept and
    /// taken.
    Large {
        /// Files of the pool.
        #[arg(long, default_value_t = 10_000_000)]
        files: u64,
        /// Transactions.
        #[arg(long, default_value_t = 1_000_000)]
        transactions: u64,
        /// Which of its runs.
        #[arg(long, value_enum, default_value = "all")]
        part: large::LargePart,
        /// End with code 1 where the memory's limit is exceeded.
        #[arg(long)]
        check: bool,
    },
    /// All presets of today's servers on all file systems.
    Presets {
        /// File systems: tmpfs, ext4, xfs, btrfs.
        #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs,btrfs")]
        on: Vec<String>,
    },
    /// The loop's overhead on the null storage.
    Null {
        /// Transactions of each run.
        #[arg(long, default_value_t = 2_000_000)]
        transactions: u64,
        /// Count instructions with valgrind's cachegrind, which other programs on the machine do
        /// not change; measure no time.
        #[arg(long)]
        instructions: bool,
        /// Count those of this binary, too, and give the ratio.
        #[arg(long, requires = "instructions")]
        beside: Option<PathBuf>,
    },
    /// What a display and the record of each second cost the loop on the null storage.
    Seeing {
        /// Transactions of each run.
        #[arg(long, default_value_t = 15_000_000)]
        transactions: u64,
        /// Measure only how long the counters of messages take to read.
        #[arg(long)]
        counters: bool,
        /// End with code 1 where a limit is exceeded.
        #[arg(long)]
        check: bool,
    },
    /// Ranks of Open MPI beside threads of one process: rates on tmpfs. --ours is a binary with the
    /// feature `mpi`.
    Ranks {
        /// How many ranks.
        #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
        ranks: Vec<u32>,
        /// Transactions of each worker.
        #[arg(long, default_value_t = 200_000)]
        transactions: u64,
        /// End with code 1 where the limit is missed.
        #[arg(long)]
        check: bool,
    },
    /// The storage `nfs` beside the same calls by libnfs, on NFS-Ganesha over loopback: CPU for a
    /// call, and rates.
    Nfs {
        /// Operations in flight.
        #[arg(long, value_delimiter = ',', default_value = "1,8")]
        depths: Vec<u32>,
        /// Files of the pool.
        #[arg(long, default_value_t = 1_000)]
        files: u64,
        /// Operations of each run.
        #[arg(long, default_value_t = 20_000)]
        operations: u64,
        /// End with code 1 where a limit is missed.
        #[arg(long)]
        check: bool,
    },
    /// The same sweep several times on each file system: limits, SLOs, knees, and how far they
    /// differ.
    Sweeps {
        /// File systems: tmpfs, ext4, xfs, btrfs.
        #[arg(long, value_delimiter = ',', default_value = "tmpfs,ext4,xfs,btrfs")]
        on: Vec<String>,
        /// Which preset.
        #[arg(long, default_value = "mail")]
        preset: String,
        /// What is climbed.
        #[arg(long, default_value = "30%,60%,90%,120%,180%,270%,400%")]
        sweep: String,
        /// The latency to stay below.
        #[arg(long, default_value = "p99<10ms")]
        slo: String,
    },
    /// A work that becomes steady on a fresh ext4, and one that does not.
    Steady,
    /// Four workers at a rate for a long time on ext4: memory, losses, the record's size.
    Soak {
        /// How long.
        #[arg(long = "for", default_value = "1h")]
        run_for: String,
        /// Transactions a second.
        #[arg(long, default_value_t = 2_000.0)]
        rate: f64,
        /// End with code 1 where memory grows, something is lost or the record is large.
        #[arg(long)]
        check: bool,
    },
    /// How often studies of identical systems show a difference, and studies of a slowed one find
    /// it.
    Studies {
        /// Studies of two identical file systems.
        #[arg(long, default_value_t = 40)]
        identical: u64,
        /// Studies against a FUSE file system whose server sleeps longer before each creation.
        #[arg(long, default_value_t = 10)]
        delayed: u64,
        /// Studies against a longer think time.
        #[arg(long, default_value_t = 10)]
        thinking: u64,
        /// Blocks of each study.
        #[arg(long, default_value_t = 10)]
        blocks: u32,
        /// Seed of the first study; each further one has the next number.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// End with code 1 where the counts disagree with what intervals and gates promise.
        #[arg(long)]
        check: bool,
    },
    /// How often rules of verdicts give false alarms and find what they should: `not-steady`,
    /// `paused`, gates.
    Verdicts {
        /// Simulated series of each server; 0 leaves them out.
        #[arg(long, default_value_t = 1_000)]
        series: u32,
        /// Runs with each pattern of stops, and beside busy loops; 0 leaves them out.
        #[arg(long, default_value_t = 20)]
        runs: u32,
        /// Studies of each setting of gates; 0 leaves them out.
        #[arg(long, default_value_t = 2_000)]
        studies: u32,
        /// The seed of all that is drawn.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// End with code 1 where the counts disagree with the limits.
        #[arg(long)]
        check: bool,
    },
    /// Time and memory of plans.
    Plan,
    /// An archive with very many runs: how long lists, a report and an export take.
    Archive {
        /// How many.
        #[arg(long, default_value_t = 100_000)]
        runs: u64,
        /// End with code 1 where a list with a filter is too slow.
        #[arg(long)]
        check: bool,
    },
    /// Runs that are killed, ended and moved away at random among a user's files, and cleaned:
    /// whether anything of the user's is touched.
    Safety {
        /// File systems: ext4, xfs, btrfs, tmpfs, overlay, fuse.
        #[arg(long, value_delimiter = ',', default_value = safety::FILE_SYSTEMS)]
        on: Vec<String>,
        /// How many.
        #[arg(long, default_value_t = 100)]
        rounds: u64,
        /// What all that is random follows from, to have it again [default: taken from the clock].
        #[arg(long)]
        seed: Option<u64>,
        /// Only this round.
        #[arg(long)]
        round: Option<u64>,
    },
    /// One of our runs, in a process of its own.
    #[command(hide = true)]
    Ours {
        #[arg(long)]
        workload: String,
        #[arg(long)]
        target: PathBuf,
        #[arg(long)]
        prepared: bool,
        /// With the storage `nfs`.
        #[arg(long)]
        depth: Option<u32>,
    },
}

impl Arguments {
    fn pairs(&self) -> usize {
        self.pairs.unwrap_or(9)
    }
}

/// Does what is asked. Whether the limits that are to be checked hold.
fn perform(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    if let Benchmark::Ours {
        workload,
        target,
        prepared,
        depth,
    } = &arguments.what
    {
        return ours::perform(workload, target, *prepared, *depth).map(|()| true);
    }
    process::watch_signals()?;
    let strict_pairs = arguments.pairs.unwrap_or(15);
    match &arguments.what {
        Benchmark::Classic {
            on,
            transactions,
            no_large_pool,
        } => classic::compare(arguments, on, *transactions, !no_large_pool)?,
        Benchmark::Floor {
            files,
            transactions,
            calls,
            check,
        } => {
            let (files, transactions) = (*files, *transactions);
            let holds = if *calls {
                floor::show_calls(floor::FloorSize {
                    files: (files / 20).max(1),
                    transactions: transactions / 20,
                })
            } else {
                floor::compare(
                    strict_pairs,
                    floor::FloorSize {
                        files,
                        transactions,
                    },
                )
            };
            return Ok(holds? || !check);
        }
        Benchmark::Peers { calls: true, .. } => peers::show_calls()?,
        Benchmark::Peers {
            on,
            workers,
            files,
            check,
            ..
        } => {
            let choice = peers::Choice {
                on: on.clone(),
                workers: workers.clone(),
                files: *files,
                rounds: strict_pairs,
            };
            return Ok(peers::compare(&choice)? || !check);
        }
        Benchmark::Large {
            files,
            transactions,
            part,
            check,
        } => {
            let size = large::LargeSize {
                files: *files,
                transactions: *transactions,
                part: *part,
            };
            return Ok(large::perform(&arguments.ours, size)? || !check);
        }
        Benchmark::Presets { on } => {
            presets::show(&arguments.ours, on, arguments.pairs.unwrap_or(5))?
        }
        Benchmark::Null {
            instructions: true,
            beside,
            ..
        } => own::instructions(arguments, beside.as_deref())?,
        Benchmark::Null { transactions, .. } => own::null(arguments, *transactions)?,
        Benchmark::Seeing {
            transactions,
            counters,
            check,
        } => {
            let is_seen =
                *counters || seeing::compare(&arguments.ours, strict_pairs, *transactions)?;
            return Ok((messages::reading()? && is_seen) || !check);
        }
        Benchmark::Ranks {
            ranks,
            transactions,
            check,
        } => {
            let size = ranks::RanksSize {
                ranks: ranks.clone(),
                transactions: *transactions,
                pairs: arguments.pairs.unwrap_or(15),
            };
            return Ok(ranks::compare(&arguments.ours, &size)? || !check);
        }
        Benchmark::Nfs {
            depths,
            files,
            operations,
            check,
        } => {
            let size = nfs::NfsSize {
                depths: depths.clone(),
                files: *files,
                operations: *operations,
                pairs: arguments.pairs.unwrap_or(31),
            };
            return Ok(nfs::compare(&arguments.ours, &size)? || !check);
        }
        Benchmark::Sweeps {
            on,
            preset,
            sweep,
            slo,
        } => driving::sweeps(
            &arguments.ours,
            &driving::Sweeps {
                on,
                preset,
                sweep,
                slo,
                rounds: arguments.pairs.unwrap_or(5),
            },
        )?,
        Benchmark::Steady => driving::steady(&arguments.ours)?,
        Benchmark::Soak {
            run_for,
            rate,
            check,
        } => {
            return Ok(driving::soak(&arguments.ours, run_for, *rate)? || !check);
        }
        Benchmark::Studies {
            identical,
            delayed,
            thinking,
            blocks,
            seed,
            check,
        } => {
            let size = studies::StudiesSize {
                identical: *identical,
                delayed: *delayed,
                thinking: *thinking,
                blocks: *blocks,
                seed: *seed,
            };
            return Ok(studies::perform(&arguments.ours, &size)? || !check);
        }
        Benchmark::Verdicts {
            series,
            runs,
            studies,
            seed,
            check,
        } => {
            let size = verdicts::VerdictsSize {
                series: *series,
                runs: *runs,
                studies: *studies,
                seed: *seed,
            };
            return Ok(verdicts::perform(&arguments.ours, size)? || !check);
        }
        Benchmark::Plan => own::plan(arguments)?,
        Benchmark::Archive { runs, check } => {
            let size = archive::ArchiveSize {
                runs: *runs,
                rounds: arguments.pairs(),
            };
            return Ok(archive::compare(&arguments.ours, &size)? || !check);
        }
        Benchmark::Safety {
            on,
            rounds,
            seed,
            round,
        } => {
            let campaign = safety::Campaign {
                on,
                rounds: *rounds,
                seed: *seed,
                round: *round,
            };
            return safety::perform(&arguments.ours, &campaign);
        }
        Benchmark::Ours { .. } => {}
    }
    Ok(true)
}

fn main() -> ExitCode {
    let result = perform(&Arguments::parse());
    match (process::caught(), &result) {
        (Some(signal), _) => eprintln!("bench: ended by signal {signal}"),
        (None, Err(error)) => eprintln!("bench: {error}"),
        (None, Ok(_)) => {}
    }
    match (process::caught(), result) {
        (Some(signal), _) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
        (None, Ok(true)) => ExitCode::SUCCESS,
        (None, Ok(false) | Err(_)) => ExitCode::FAILURE,
    }
}
