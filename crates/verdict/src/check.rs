//! Checks a record of unknown origin. The summary and the verdict are derived from the record
//! again, and compared with those in the record's file. The numbers of the record must agree with
//! one another and with its workload.
//!
//! Reading ([`record::read`]) rejects records that no program can process. The checks of this
//! module take longer, or apply to complete records only; [`Rule`] lists them.

mod differences;
mod rules;
mod values;

use schemars::JsonSchema;
use serde::Serialize;
use spec::RunSpec;

pub use self::differences::{DIFFERENCES_MAX, Difference, Differences};
pub use self::rules::{BrokenRule, Rule};
use crate::rules::{Level, Reason};
use crate::summary::Summary;
use record::read::{self, ReadError};
use record::run::{Record, Tool};

/// What `postmark check` found in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedRecord {
    /// The program that wrote the record; null if the record is inconsistent.
    pub tool: Option<Tool>,
    /// Level of the derived verdict; null if the record is inconsistent.
    pub level: Option<Level>,
    /// Lasting names of the derived verdict's reasons, the worst first.
    pub reasons: Vec<String>,
    /// Fields in which the summary in the file differs from the derived summary.
    pub differences: Differences,
    /// The rules of consistency that the record breaks.
    pub broken: Vec<BrokenRule>,
    /// Rules that could not be checked, each with the reason.
    pub unchecked: Vec<BrokenRule>,
}

impl CheckedRecord {
    /// Whether the record breaks a rule of consistency, or its verdict is INVALID.
    pub fn breaks_a_rule(&self) -> bool {
        !self.broken.is_empty() || self.level == Some(Level::Invalid)
    }

    /// Whether the record breaks no rule, and its summary equals the derived one.
    pub fn is_right(&self) -> bool {
        self.differences.is_empty() && !self.breaks_a_rule()
    }

    fn inconsistent(field: String, why: String) -> Self {
        Self {
            tool: None,
            level: None,
            reasons: Vec::new(),
            differences: Differences::default(),
            broken: vec![BrokenRule {
                rule: Rule::Consistency,
                field,
                why,
            }],
            unchecked: Vec::new(),
        }
    }
}

/// Resolves the command line of a record into a run spec. Returns `None` if the run spec also
/// depends on something else, such as a file.
pub type ResolveCommandLine<'a> = dyn Fn(&Record) -> Option<Result<RunSpec, String>> + 'a;

/// Checks a run as JSON. If this version of the program wrote the record, the recorded run spec
/// must follow from the recorded command line.
///
/// # Errors
/// Returns an error if the text is not a record, or is a record of a newer schema.
pub fn check(text: &str, resolve: &ResolveCommandLine<'_>) -> Result<CheckedRecord, ReadError> {
    let record = match Record::from_json(text) {
        Ok(record) => record,
        Err(ReadError::Impossible { field, why }) => {
            return Ok(CheckedRecord::inconsistent(field, why));
        }
        Err(error) => return Err(error),
    };
    check_read(text, (&record, &Summary::of(&record)), resolve)
}

/// Like [`check`], for a text whose record and its summary are known.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub fn check_read(
    text: &str,
    (record, summary): (&Record, &Summary),
    resolve: &ResolveCommandLine<'_>,
) -> Result<CheckedRecord, ReadError> {
    let differences = differences::of(text, summary).map_err(|error| read::no_record(&error))?;
    let is_of_this = record.tool.version == Tool::this().version;
    let resolved = if is_of_this { resolve(record) } else { None };
    let rules::Findings { broken, unchecked } = rules::check(record, resolved);
    Ok(CheckedRecord {
        tool: Some(record.tool.clone()),
        level: Some(summary.verdict.level),
        reasons: summary.verdict.reasons.iter().map(Reason::name).collect(),
        differences,
        broken,
        unchecked,
    })
}
