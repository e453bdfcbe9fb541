//! The data of a site. One run takes about 2 KiB, whatever its record contains, so a site of
//! thousands of records needs little memory.

use std::collections::BTreeMap;

use document::units::shortened;
use record::{Fact, Record, workload_in_words};
use study::{ResultClass, StrictBreach};
use verdict::{CheckedRecord, Headline, Level, State, Summary};

use super::hardware::facts;
use crate::environment;

/// Maximum number of characters of a string of a record in lists and headings.
const TEXT_MAX: usize = 160;
/// Maximum number of characters of the description of a workload.
const WORDS_MAX: usize = 2_000;
/// Maximum number of lines about the check of a record.
const LINES_MAX: usize = 20;

/// Cuts a string of a record to a length that a page can show.
pub(super) fn short(text: &str) -> String {
    shortened(text, TEXT_MAX)
}

/// Returns the name of a page for an identity from a record. Identities of 32 hexadecimal digits
/// are their own names. Any other text is hashed, because it could contain the path of another
/// file.
pub fn key(text: &str) -> String {
    let digits = text.rsplit(':').next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    match digits.len() == 32 && digits.bytes().all(is_plain) {
        true => digits.to_owned(),
        false => format!("x{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes())),
    }
}

/// The path of a run's page in the site.
pub fn run_path(id: &str) -> String {
    format!("run/{id}.html")
}

/// The path of a run's record in the site.
pub fn record_path(id: &str) -> String {
    format!("record/{id}.json")
}

/// The contents of a site, except the records.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pub title: String,
    /// The address at which the site is published, with a slash at its end; `None` if it is not
    /// known.
    pub url: Option<String>,
    /// All runs, the newest first.
    pub runs: Vec<SiteRun>,
    pub systems: BTreeMap<String, SystemEntry>,
    pub workloads: BTreeMap<String, WorkloadEntry>,
    pub studies: Vec<StudyEntry>,
    pub submissions: Vec<Disclosure>,
    /// Names and titles of the pages of published results.
    pub collections: Vec<(String, String)>,
    pub problems: Vec<SourceProblem>,
}

/// A run, as lists and comparisons need it.
#[derive(Clone, Debug)]
pub struct SiteRun {
    pub id: String,
    pub begun_unix_ns: u64,
    /// The preset, or the kind of the workload.
    pub name: String,
    /// Key of the workload, in [`Site::workloads`].
    pub workload: String,
    /// Key of the system, in [`Site::systems`].
    pub system: String,
    pub host: String,
    pub file_system: String,
    /// The file systems with their devices.
    pub target: String,
    pub engine: String,
    pub workers: u32,
    pub transactions_per_second: Option<f64>,
    pub p99_ns: Option<u64>,
    pub level: Level,
    pub state: State,
    pub durability: String,
    pub cache: String,
    pub study: Option<RunOfStudy>,
    pub class: ResultClass,
    /// Why the run is not of the class `strict`.
    pub breaches: Vec<StrictBreach>,
    pub check: CheckResult,
    /// Index of the submission, in [`Site::submissions`].
    pub submission: Option<usize>,
}

impl SiteRun {
    /// Extracts the data of a run. Class and submission are determined later, because they depend
    /// on other runs and files.
    pub fn of(record: &Record, summary: &Summary, check: CheckResult) -> Self {
        let headline = Headline::of(record);
        let durability = match &summary.durability.tier {
            Fact::Known(tier) => tier.name().to_owned(),
            Fact::NotApplicable | Fact::Unavailable(_) => "not available".to_owned(),
        };
        let cache = match record.spec.direct {
            true => "direct".to_owned(),
            false => record.spec.cache.name().to_owned(),
        };
        Self {
            id: headline.id.to_string(),
            begun_unix_ns: headline.begun_unix_ns,
            name: short(headline.workload().unwrap_or("classic")),
            workload: key(&headline.fingerprint),
            system: system_key(record, &headline),
            file_system: short(&headline.file_system().unwrap_or_else(|| "none".to_owned())),
            host: short(&headline.host),
            target: short(&environment::targets(record)),
            engine: short(&headline.engine),
            workers: headline.workers,
            transactions_per_second: headline.transactions_per_second,
            p99_ns: headline.p99_ns,
            level: headline.verdict,
            state: headline.state,
            durability,
            cache,
            study: record.study.as_ref().map(|part| RunOfStudy {
                key: key(&part.study),
                cell: short(&part.cell),
                cell_key: key(&part.cell),
                block: part.block,
                attempt: part.attempt,
                is_twin: part.is_twin,
            }),
            class: ResultClass::Unclassified,
            breaches: study::publication::breaches(record, summary),
            check,
            submission: None,
        }
    }

    /// Whether comparisons include the run.
    pub fn is_counted(&self) -> bool {
        self.level != Level::Invalid && self.state == State::Complete
    }

    /// The verdict, or how an incomplete run ended.
    pub(super) fn outcome(&self) -> &'static str {
        match self.state {
            State::Complete => self.level.name(),
            state => state.name(),
        }
    }
}

/// Hashes the facts that identify a system: machine, memory, kernel, and kinds of file systems. A
/// kernel reports slightly different sizes of the memory after each boot, so it is rounded.
fn system_key(record: &Record, headline: &Headline) -> String {
    let host = &record.host;
    let memory = host.memory_total_bytes.known();
    let memory = memory.map(|bytes| (*bytes as f64 / f64::from(1 << 30)).round());
    let text = format!(
        "{:?}",
        (
            (&host.hostname, &host.processors.model, memory),
            (&host.processors.online, &host.kernel.sysname),
            (&host.kernel.release, &host.kernel.machine),
            &headline.file_systems,
        )
    );
    key(&text)
}

#[derive(Clone, Debug)]
pub struct RunOfStudy {
    /// Key of the study, in [`StudyEntry::key`].
    pub key: String,
    /// The cell, as lists show it.
    pub cell: String,
    /// A hash of the cell's complete name.
    pub cell_key: String,
    pub block: u32,
    pub attempt: u32,
    pub is_twin: bool,
}

/// What `check` found in a record.
#[derive(Clone, Debug)]
pub struct CheckResult {
    pub is_right: bool,
    /// The result in words, one line for each problem.
    pub lines: Vec<String>,
}

impl CheckResult {
    pub fn of(checked: &CheckedRecord) -> Self {
        let text = crate::check::text("Check", checked);
        let mut lines: Vec<String> = text
            .lines()
            .take(LINES_MAX)
            .map(|line| shortened(line.trim(), 2 * TEXT_MAX))
            .collect();
        let more = text.lines().count().saturating_sub(LINES_MAX);
        if more > 0 {
            lines.push(format!(
                "and {more} more lines ('postmark check' shows them)"
            ));
        }
        Self {
            is_right: checked.differences.is_empty() && checked.broken.is_empty(),
            lines,
        }
    }
}

/// A system: hardware and software, as the first of its records describes them.
#[derive(Clone, Debug)]
pub struct SystemEntry {
    pub name: String,
    /// The facts as HTML.
    pub facts: String,
    /// Identity of the record that contains these facts.
    pub id: String,
}

impl SystemEntry {
    pub fn of(record: &Record) -> Self {
        let headline = Headline::of(record);
        let kernel = &record.host.kernel;
        let name = format!(
            "{}: {}, {} {}",
            shortened(&headline.host, 40),
            shortened(
                &headline
                    .file_system()
                    .unwrap_or_else(|| "no file system".to_owned()),
                40
            ),
            shortened(&kernel.sysname, 20),
            shortened(&kernel.release, 40)
        );
        Self {
            name,
            facts: facts(record),
            id: headline.id.to_string(),
        }
    }
}

/// A workload: all runs with one fingerprint performed the same operations.
#[derive(Clone, Debug)]
pub struct WorkloadEntry {
    pub name: String,
    pub fingerprint: String,
    pub words: String,
    /// Identity of the record that contains this description.
    pub id: String,
}

impl WorkloadEntry {
    pub fn of(record: &Record) -> Self {
        let headline = Headline::of(record);
        Self {
            name: short(headline.workload().unwrap_or("classic")),
            fingerprint: short(&headline.fingerprint),
            words: shortened(&workload_in_words(&record.spec.workload), WORDS_MAX),
            id: headline.id.to_string(),
        }
    }
}

/// A study with runs in the site, or the file of a study without runs.
#[derive(Clone, Debug)]
pub struct StudyEntry {
    pub key: String,
    pub name: String,
    /// Numbers of its runs and of their blocks.
    pub runs: usize,
    pub blocks: usize,
    /// When its last run began; 0 without runs.
    pub begun_unix_ns: u64,
}

/// What a submission discloses: the contents of `submission.toml`.
#[derive(Clone, Debug)]
pub struct Disclosure {
    /// The file, relative to the directory of the site's sources.
    pub file: String,
    pub contributor: String,
    pub system: String,
    pub tuned: String,
    pub licence: String,
    pub class: ResultClass,
}

/// A file that could not be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    /// The file, relative to the directory of the site's sources.
    pub file: String,
    pub why: String,
}

impl SourceProblem {
    pub fn new(file: &str, why: &str) -> Self {
        Self {
            file: short(file),
            why: shortened(why, 2 * TEXT_MAX),
        }
    }
}
