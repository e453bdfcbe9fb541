//! Submissions: results of single runs in a few lines of JSON, which users exchange to compare many
//! systems.
//!
//! A submission contains what a table of many systems needs: the complete workload, rates as in the
//! classic report, verdict, fingerprint, contributor and system. [`Submission::from_json`] does not
//! trust its input: it limits sizes, accepts only finite numbers, and refuses strings that contain
//! invisible characters or characters that control a terminal.

use std::collections::BTreeMap;
use std::fmt::Display;

use document::sanitize::{is_harmful, sanitize};
use record::{Record, Tool, workload_in_words};
use serde::{Deserialize, Serialize};
use verdict::{Level, Summary};
use workload::presets;
use workload::{Fingerprint, Workload};

use crate::number::KILOBYTE_BYTES;
use crate::plain::why_not_plain;
use crate::source::Figure;

/// The version of the schema that this program writes.
pub const SCHEMA_VERSION: u32 = 1;
/// The largest size of a submission in bytes. Longer texts are rejected before they are parsed.
pub const BYTES_MAX: usize = 64 << 10;
/// The largest length of a contributor's name in characters.
pub const CONTRIBUTOR_MAX: usize = 80;
/// The largest length of a system's description in characters.
pub const SYSTEM_MAX: usize = 500;
/// The largest length of a configuration's name in characters.
const CONFIGURATION_MAX: usize = 2_000;
/// The largest length of the names of engine, durability policy and tool, in characters.
const NAME_MAX: usize = 80;
/// The largest plausible rate, in any unit per second.
const RATE_MAX: f64 = 1e15;

/// The figures that tables compare. Kilobytes have 1,024 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Transactions of all workers, per second of the phase `transactions`.
    pub transactions_per_second: f64,
    /// Kilobytes read in all phases, per second of the duration of all phases.
    pub kilobytes_read_per_second: f64,
    /// Kilobytes written in all phases, per second of the duration of all phases.
    pub kilobytes_written_per_second: f64,
    /// The duration of all phases together, in seconds.
    pub elapsed_s: f64,
}

impl Rates {
    /// Returns the rates of a summary. Returns `None` if a rate is missing, as for sweeps and for
    /// mixes with other operations than the paper's.
    pub fn of(summary: &Summary) -> Option<Self> {
        let paper = summary.paper.as_ref()?;
        Some(Self {
            transactions_per_second: paper.transactions.per_second?,
            kilobytes_read_per_second: paper.bytes_read.per_second? / KILOBYTE_BYTES,
            kilobytes_written_per_second: paper.bytes_written.per_second? / KILOBYTE_BYTES,
            elapsed_s: paper.elapsed_ns as f64 / 1e9,
        })
    }

    /// Divides rates by the number of processes, as in published tables. The duration is unchanged.
    #[must_use]
    pub fn of_each(self, processes: u32) -> Self {
        let processes = f64::from(processes.max(1));
        Self {
            transactions_per_second: self.transactions_per_second / processes,
            kilobytes_read_per_second: self.kilobytes_read_per_second / processes,
            kilobytes_written_per_second: self.kilobytes_written_per_second / processes,
            elapsed_s: self.elapsed_s,
        }
    }

    /// Returns all figures in the order of published tables.
    pub fn all(&self) -> [(Figure, f64); 4] {
        [
            (Figure::TransactionsRate, self.transactions_per_second),
            (Figure::DataReadRate, self.kilobytes_read_per_second),
            (Figure::DataWrittenRate, self.kilobytes_written_per_second),
            (Figure::Elapsed, self.elapsed_s),
        ]
    }
}

/// The result of a run in a form that users can exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// [`SCHEMA_VERSION`] of the program that wrote the submission.
    pub schema: u32,
    /// The person or organisation that performed the run.
    pub contributor: String,
    /// The contributor's description of the machine, devices and file system.
    pub system: String,
    /// The name of the preset, or the options that create the workload.
    pub configuration: String,
    pub workload: Workload,
    /// For example `posix` or `nfs`.
    #[serde(rename = "storage")]
    pub engine: String,
    pub durability: String,
    pub rates: Rates,
    pub verdict: Level,
    pub fingerprint: Fingerprint,
    /// The program that performed the run, with its version.
    pub tool: Tool,
    /// The start of the run in nanoseconds since the Unix epoch.
    pub when_unix_ns: u64,
}

/// The error if a submission cannot be created or read. The message contains the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SubmissionError(String);

fn no_submission(why: impl Display) -> SubmissionError {
    SubmissionError(format!(
        "this is not a submission of a PostMark result: {why}"
    ))
}

fn wrong<T>(field: &str, problem: impl Display) -> Result<T, SubmissionError> {
    Err(SubmissionError(format!("{field}: {problem}")))
}

impl Submission {
    /// Creates a submission from the record of a run. `contributor` performed the run, and `system`
    /// describes the machine.
    ///
    /// # Errors
    /// Returns an error if a name or description is empty or too long, or if the run contains no
    /// comparable rates.
    pub fn of(record: &Record, contributor: &str, system: &str) -> Result<Self, SubmissionError> {
        if let Some(why) = why_not_plain(record) {
            return Err(SubmissionError(format!(
                "{why} (submit a run without these options)"
            )));
        }
        let summary = Summary::of(record);
        let no_rates = || {
            SubmissionError(
                "the run has no rates for a table of published results: it has other operations \
                 than the paper, or phases without time (submit a run with the operations of the \
                 paper)"
                    .to_owned(),
            )
        };
        let submission = Self {
            schema: SCHEMA_VERSION,
            contributor: contributor.trim().to_owned(),
            system: system.trim().to_owned(),
            configuration: configuration(&record.spec.workload),
            workload: record.spec.workload.clone(),
            engine: record.spec.engine.to_string(),
            durability: record.spec.durability.to_string(),
            rates: Rates::of(&summary).ok_or_else(no_rates)?,
            verdict: summary.verdict.level,
            fingerprint: record.fingerprint.clone(),
            tool: record.tool.clone(),
            when_unix_ns: record.origin.begun_unix_ns(),
        };
        submission.check()?;
        Ok(submission)
    }

    /// Returns whether both submissions are of the same run by the same contributor. If so, the
    /// later submission corrects the earlier one.
    pub fn is_of_same_run(&self, other: &Self) -> bool {
        self.contributor == other.contributor
            && self.fingerprint == other.fingerprint
            && self.when_unix_ns == other.when_unix_ns
    }

    pub fn to_json(&self) -> String {
        let document = BTreeMap::from([("submission", self)]);
        // All numbers are finite, so writing to memory cannot fail.
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a submission from JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not a submission, has a newer schema, or contains an invalid
    /// value.
    pub fn from_json(text: &str) -> Result<Self, SubmissionError> {
        if text.len() > BYTES_MAX {
            let bytes = text.len();
            let why = format_args!("it has {bytes} bytes (at most {BYTES_MAX})");
            return Err(no_submission(why));
        }
        // Messages may quote parts of the input, so they are sanitized.
        let no_json = |error: serde_json::Error| no_submission(sanitize(&error.to_string()));
        let mut value: serde_json::Value = serde_json::from_str(text).map_err(no_json)?;
        let submission = value.get_mut("submission").map(serde_json::Value::take);
        let submission = submission.ok_or_else(|| {
            no_submission("it has no key 'submission' (the record of a run is not a submission)")
        })?;
        let schema = submission.get("schema").and_then(serde_json::Value::as_u64);
        if let Some(found) = schema.filter(|schema| *schema > u64::from(SCHEMA_VERSION)) {
            return Err(SubmissionError(format!(
                "the submission has schema version {found}, and this program reads versions up to \
                 {SCHEMA_VERSION} (use a newer postmark)"
            )));
        }
        let submission: Self = serde_json::from_value(submission).map_err(no_json)?;
        submission.check()?;
        Ok(submission)
    }

    /// Checks what the JSON types cannot ensure: lengths, characters, ranges and the workload.
    fn check(&self) -> Result<(), SubmissionError> {
        for (field, text, max) in [
            ("contributor (--by)", &self.contributor, CONTRIBUTOR_MAX),
            ("system (--system)", &self.system, SYSTEM_MAX),
            ("configuration", &self.configuration, CONFIGURATION_MAX),
            ("storage", &self.engine, NAME_MAX),
            ("durability", &self.durability, NAME_MAX),
            ("tool.name", &self.tool.name, NAME_MAX),
            ("tool.version", &self.tool.version, NAME_MAX),
        ] {
            check_text(field, text, max)?;
        }
        if !is_fingerprint(self.fingerprint.as_str()) {
            return wrong(
                "fingerprint",
                "expected 'xxh3-128:' and 32 hexadecimal digits",
            );
        }
        if !self
            .rates
            .all()
            .iter()
            .all(|(_, rate)| rate.is_finite() && (0.0..=RATE_MAX).contains(rate))
        {
            return wrong("rates", "expected numbers from 0 that a storage can reach");
        }
        match self.workload.validate() {
            Ok(()) => Ok(()),
            Err(problem) => wrong("workload", sanitize(&problem.to_string())),
        }
    }
}

fn check_text(field: &str, text: &str, max: usize) -> Result<(), SubmissionError> {
    if text.trim().is_empty() {
        return wrong(field, "it is empty (write a few words)");
    }
    let length = text.chars().count();
    if length > max {
        return wrong(field, format!("it has {length} characters (at most {max})"));
    }
    match text.chars().find(|letter| is_harmful(*letter)) {
        Some(letter) => wrong(
            field,
            format!(
                "it contains the invisible or control character U+{:04X} (remove it)",
                u32::from(letter)
            ),
        ),
        None => Ok(()),
    }
}

fn is_fingerprint(text: &str) -> bool {
    text.strip_prefix("xxh3-128:").is_some_and(|digits| {
        digits.len() == 32
            && digits
                .chars()
                .all(|digit| matches!(digit, '0'..='9' | 'a'..='f'))
    })
}

/// Returns the name of the classic preset with this workload, or the options that create it.
fn configuration(workload: &Workload) -> String {
    let mut presets = presets::all().into_iter();
    let preset =
        presets.find(|preset| preset.workload.classic().is_some() && preset.workload == *workload);
    preset.map_or_else(
        || workload_in_words(workload),
        |preset| preset.name.to_owned(),
    )
}
