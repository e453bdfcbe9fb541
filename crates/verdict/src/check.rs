//! Checking a record that somebody sends: its summary and verdict are derived again and compared
//! with those in its file, and its numbers are held against one another and against its workload.
//!
//! Reading ([`record::read`]) refuses what no program can work with. What is here costs more, or
//! holds for complete records alone: [`Rule`] has it all.

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

/// What came of checking a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedRecord {
    /// The program that wrote it; nothing where the record is inconsistent, as in the next two.
    pub tool: Option<Tool>,
    /// The level of the derived verdict.
    pub level: Option<Level>,
    /// The lasting names of the reasons of the derived verdict, the worst first.
    pub reasons: Vec<String>,
    /// Where the summary in the file differs from the derived one.
    pub differences: Differences,
    /// The rules that the record breaks, but for those of the verdict.
    pub broken: Vec<BrokenRule>,
    /// Rules that could not be checked.
    pub unchecked: Vec<BrokenRule>,
}

impl CheckedRecord {
    /// Whether the record breaks a rule: one of consistency, or one of the verdict that makes it
    /// INVALID.
    pub fn breaks_a_rule(&self) -> bool {
        !self.broken.is_empty() || self.level == Some(Level::Invalid)
    }

    /// Whether nothing is wrong with it.
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

/// What the command line of a record comes to; nothing where that depends on something else, such
/// as a file.
pub type ResolveCommandLine<'a> = dyn Fn(&Record) -> Option<Result<RunSpec, String>> + 'a;

/// Checks a run as JSON; the spec of a record of this version is held against its command line.
///
/// # Errors
/// Where the text is no record, or one of a newer schema.
pub fn check(text: &str, resolve: &ResolveCommandLine<'_>) -> Result<CheckedRecord, ReadError> {
    let record = match Record::from_json(text) {
        Ok(record) => record,
        Err(ReadError::Impossible { field, why }) => {
            return Ok(CheckedRecord::inconsistent(field, why));
        }
        Err(error) => return Err(error),
    };
    let summary = Summary::of(&record);
    let differences = differences::of(text, &summary).map_err(|error| read::no_record(&error))?;
    let is_of_this = record.tool.version == Tool::this().version;
    let resolved = if is_of_this { resolve(&record) } else { None };
    let rules::Findings { broken, unchecked } = rules::check(&record, resolved);
    Ok(CheckedRecord {
        tool: Some(record.tool),
        level: Some(summary.verdict.level),
        reasons: summary.verdict.reasons.iter().map(Reason::name).collect(),
        differences,
        broken,
        unchecked,
    })
}
