//! Compares the engine `uring` with the engine `posix`, and with a bare C program (`floor.c`) that
//! passes the same requests to its own ring.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use workload::sizes::Sizes;
use workload::{Action, Mix, Weights, Workload};

use crate::floor::{FloorOptions, SOURCE, compile};
use crate::mounts::{MountedVolume, touch_memory};
use crate::noise::Noise;
use crate::phases::{Cost, Costs};
use crate::process::output;
use crate::result::Result;
use crate::statistics::{Median, interleaved, median};
use crate::{operations, ours};

const BYTES: u64 = 4096;
/// File systems, each with the minimum rate of reads divided by that of the engine `posix` with one
/// worker. `None` if a ring is not expected to be faster.
const FILE_SYSTEMS: [(&str, Option<f64>); 3] =
    [("ext4", Some(1.2)), ("xfs", Some(1.2)), ("tmpfs", None)];
/// Maximum wall time of reads divided by that of the C program.
const BARE_LIMIT: f64 = 1.05;

/// The engines and the C program, in directories of equal path length on one file system.
struct Rivals {
    mounted: MountedVolume,
    workload: Workload,
    program: PathBuf,
    list: PathBuf,
    depth: u32,
}

impl Rivals {
    fn new(kind: &str, size: FloorOptions, depth: u32) -> Result<Self> {
        let mounted = MountedVolume::in_memory(kind)?;
        let workload = Workload::from(Mix {
            files: size.files,
            transactions: size.transactions,
            weights: Weights::default().with(Action::Read, 1),
            sizes: Sizes::Fixed(BYTES),
            size_max_bytes: BYTES,
            read_block_bytes: BYTES,
            write_block_bytes: BYTES,
            ..Mix::default()
        });
        let list = mounted.path().with_file_name("operations");
        let mut file = BufWriter::new(File::create(&list)?);
        operations::write(&workload, &mut file)?;
        file.flush()?;
        let program = mounted.path().with_file_name("floor");
        let program = compile(SOURCE, &program, &["-pthread"])?;
        for directory in ["ours", "bare"] {
            std::fs::create_dir(mounted.path().join(directory))?;
        }
        Ok(Self {
            mounted,
            workload,
            program,
            list,
            depth,
        })
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.mounted.path().join(name)
    }

    fn engine(&self, engine: &str, depth: u32) -> Result<Costs> {
        let mut command = ours::command(&self.workload, &self.directory("ours"), true)?;
        command.args(["--engine", engine, "--depth", &depth.to_string()]);
        Costs::parse(&output(&mut command)?)
    }

    fn uring(&self) -> Result<Costs> {
        self.engine("uring", self.depth)
    }

    fn bare(&self) -> Result<Costs> {
        let list: &Path = &self.list;
        let mut command = Command::new(&self.program);
        command.arg(list).arg(self.directory("bare"));
        Costs::parse(&output(command.arg(self.depth.to_string()))?)
    }
}

/// Prints the rates of `uring` relative to those of `posix`, and its wall time relative to that of
/// the C program. Returns whether the limits of reads hold.
pub fn compare(pairs: usize, depth: u32, size: FloorOptions) -> Result<bool> {
    println!(
        "the engine uring at depth {depth} with a prepared stream and latencies: {} files of \
         {BYTES} bytes, {} reads from the page cache, one worker",
        size.files, size.transactions
    );
    println!("medians of {pairs} interleaved pairs [interval]");
    let mut holds = true;
    for (kind, least) in FILE_SYSTEMS {
        let rivals = Rivals::new(kind, size, depth)?;
        touch_memory();
        let noise = Noise::begin();
        let posix = interleaved(pairs, || rivals.uring(), || rivals.engine("posix", 1))?;
        let bare = interleaved(pairs, || rivals.uring(), || rivals.bare())?;
        println!("{kind}; {}", noise.end());
        holds &= print(&posix, &bare, least);
    }
    Ok(holds)
}

/// A kind of time: its name, and the function that returns this time from a cost, in seconds.
type Measure = (&'static str, fn(&Cost) -> f64);

const MEASURES: [Measure; 2] = [
    ("wall", |cost| cost.wall_s),
    ("CPU", |cost| cost.user_s + cost.system_s),
];

/// The ratios of one phase: time of `posix` divided by that of `uring`, and time of `uring` divided
/// by that of the bare ring.
fn ratios(
    pairs: [&[[Costs; 2]]; 2],
    of: fn(&Costs) -> Cost,
    measure: fn(&Cost) -> f64,
) -> [Median; 2] {
    let time = |costs: &Costs| measure(&of(costs));
    let [posix, bare] = pairs;
    let faster = |[ours, other]: &[Costs; 2]| time(other) / time(ours);
    let longer = |[ours, other]: &[Costs; 2]| time(ours) / time(other);
    [
        median(posix.iter().map(faster)),
        median(bare.iter().map(longer)),
    ]
}

fn print(posix: &[[Costs; 2]], bare: &[[Costs; 2]], least: Option<f64>) -> bool {
    type Phase = fn(&Costs) -> Cost;
    let phases: [(&str, Phase); 3] = [
        ("creates", |costs| costs.prepare),
        ("reads", |costs| costs.transactions),
        ("deletes", |costs| costs.delete),
    ];
    for (what, of) in phases {
        for (by, measure) in MEASURES {
            let [rate, longer] = ratios([posix, bare], of, measure);
            println!(
                "  {what:8} {by:5} posix / uring {:24} uring / bare ring {}",
                rate.show(3),
                longer.show(3)
            );
        }
    }
    let [rate, longer] = ratios([posix, bare], phases[1].1, MEASURES[0].1);
    let is_near = longer.value <= BARE_LIMIT;
    let is_faster = least.is_none_or(|least| rate.value >= least);
    if let Some(least) = least {
        let word = if is_faster { "holds" } else { "MISSED" };
        println!("  reads at least {least} times posix: {word}");
    }
    let word = if is_near { "holds" } else { "EXCEEDED" };
    println!("  reads at most {BARE_LIMIT} times the bare ring: {word}");
    is_faster && is_near
}
