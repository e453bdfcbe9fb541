//! Benchmark of an archive with very many runs: duration of lists, reports and exports, and the
//! size of the file.

use crate::process::{caught, output_and_memory, record_of};
use crate::result::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ::archive::{Archive, JournalMode, Opening, Remarks};
use record::{Fact, Record, RunId};
use system::{ProcessTimes, Sources};

use crate::statistics::median;

/// Maximum duration of a list with a filter, in milliseconds.
const LIST_MAX_MS: f64 = 100.0;

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ArchiveOptions {
    /// Number of runs with which the archive is filled.
    #[arg(long, default_value_t = 100_000)]
    pub runs: u64,
    /// End with code 1 if a list with a filter is too slow.
    #[arg(long)]
    pub check: bool,
}

/// The archived run. Lists do not depend on the size of a record, and the archive of 100,000
/// records of a long run would be 7 GB.
const RUN: &str = "--files 500 --transactions 20000 --no-series --no-overhead";

/// The queries: name, arguments, and whether [`LIST_MAX_MS`] applies.
const QUESTIONS: [(&str, &str, bool); 13] = [
    ("list --host", "list --host host-17", true),
    (
        "list --file-system (a third)",
        "list --file-system xfs",
        true,
    ),
    (
        "list --file-system --limit",
        "list --file-system xfs --limit 100",
        true,
    ),
    ("list --preset (a seventh)", "list --preset preset-3", true),
    (
        "list --preset --verdict --limit",
        "list --preset preset-3 --verdict doubtful --limit 100",
        true,
    ),
    ("list --tag", "list --tag tagged", true),
    (
        "list --since --until",
        "list --since 2001-09-12 --until 2001-09-13",
        true,
    ),
    ("list --limit", "list --limit 20", true),
    // The duration of a complete list grows with the number of runs, so it has no limit.
    ("list --since (all)", "list --since 2001-01-01", false),
    ("list --format csv (all)", "list --format csv", false),
    ("show", "show RUN", false),
    ("export --format json", "export RUN", false),
    (
        "export --format csv --host",
        "export --format csv --host host-17",
        false,
    ),
];

/// Fills an archive with runs, and times queries. Returns whether all lists with a filter are fast
/// enough.
pub fn compare(ours: &Path, rounds: usize, size: ArchiveOptions) -> Result<bool> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("archive.db");
    let (record, _) = record_of(ours, RUN, directory.path())?;
    let began = Instant::now();
    fill(&path, &record, size.runs)?;
    println!(
        "an archive of {} runs, each of {} bytes of JSON: {:.1} MB; filled in {:.0} s",
        size.runs,
        verdict::to_json(&record).len(),
        std::fs::metadata(&path)?.len() as f64 / 1e6,
        began.elapsed().as_secs_f64()
    );
    println!(
        "memory: the most that each had, and no less than the {:.0} MB of this program, which the \
         system counts as theirs",
        own_memory_bytes()? as f64 / 1e6
    );
    let middle = size.runs / 2;
    let number = middle.to_string();
    let mut holds = true;
    for (what, words, is_limited) in QUESTIONS {
        let words = words.replace("RUN", &number);
        let command = || {
            let mut command = Command::new(ours);
            command.args(words.split(' ')).arg("--archive").arg(&path);
            command
        };
        let (text, memory_bytes) = output_and_memory(&mut command())?;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let began = Instant::now();
            // The output is discarded, so that the measurement does not include the time of a
            // program that reads it.
            let status = command().stdout(Stdio::null()).status()?;
            if !status.success() {
                return Err(format!("{what}: {status}").into());
            }
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let time = median(times);
        let is_fast = !is_limited || time.value < LIST_MAX_MS;
        holds &= is_fast;
        println!(
            "  {what:<31} {} ms, {} lines, {:.0} MB{}",
            time.show(1),
            text.lines().count(),
            memory_bytes as f64 / 1e6,
            if is_fast { "" } else { "  MISSED" }
        );
    }
    Ok(holds)
}

/// Peak memory of this program. According to getrusage(2) (`ru_maxrss`), the peak memory of a child
/// is at least this value, because the child begins as a copy of this process.
fn own_memory_bytes() -> Result<u64> {
    let process = ProcessTimes::read(&Sources::default()).into_known();
    let peak = process.and_then(|process| process.max_resident_bytes.into_known());
    Ok(peak.ok_or("/proc/self/status has no VmHWM")?)
}

pub fn open(path: &Path, make: bool) -> Result<Archive> {
    Ok(Archive::open(&Opening {
        path,
        journal: JournalMode::WriteAhead,
        owner: None,
        make,
        patience: Duration::from_secs(20),
    })?)
}

/// Fills the archive with runs that differ in the fields by which lists filter.
fn fill(path: &Path, record: &Record, runs: u64) -> Result<()> {
    /// The first run begins on 1 January 2001, and a further run every ten minutes.
    const FIRST_UNIX_NS: u64 = 978_307_200_000_000_000;
    const EVERY_NS: u64 = 600_000_000_000;
    let mut archive = open(path, true)?;
    let varied = |number: u64| {
        let mut record = record.clone();
        record.id =
            RunId::new(u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        record.origin.unix_ns = (FIRST_UNIX_NS + number * EVERY_NS) as i64;
        record.host.hostname = format!("host-{}", number % 500);
        record.spec.preset = Some(format!("preset-{}", number % 7));
        if let Fact::Known(target) = &mut record.locations[0].target
            && let Fact::Known(mount) = &mut target.mount
        {
            mount.file_system_type = ["ext4", "xfs", "btrfs"][number as usize % 3].to_owned();
        }
        record
    };
    // The peak memory of a child is at least that of this program. For this reason, this program
    // keeps only a few records in memory at a time.
    const AT_ONCE: u64 = 8;
    for first in (0..runs).step_by(AT_ONCE as usize) {
        if let Some(signal) = caught() {
            return Err(format!("ended by signal {signal}").into());
        }
        let records: Vec<Record> = (first..runs.min(first + AT_ONCE)).map(varied).collect();
        let none = Remarks::default();
        let runs: Vec<(&Record, &Remarks)> = records.iter().map(|record| (record, &none)).collect();
        archive.import_all(&runs)?;
    }
    for number in (1..=runs).step_by(997) {
        archive.add_tags(number, &["tagged".parse()?])?;
    }
    Ok(())
}
