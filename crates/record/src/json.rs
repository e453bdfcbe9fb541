//! A run as JSON, and from JSON.

use schemars::JsonSchema;
use serde::Serialize;

use crate::partial_record::Completed;
use crate::read::{self, ReadError};
use crate::run::Record;
use crate::summary::Summary;

/// A run as `postmark run --format json` writes it: its record, and what follows from it.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A run of PostMark")]
pub struct WrittenRun<'a> {
    /// The numbers of reports and the verdict. They follow from the record, and nobody reads them
    /// back.
    summary: Summary,
    /// What was said, meant and done.
    record: &'a Record,
}

impl Record {
    /// The record and its summary as JSON, in one line.
    pub fn to_json(&self) -> String {
        let document = WrittenRun {
            summary: Summary::of(self),
            record: self,
        };
        document::json_line(&document)
    }

    /// A record from its JSON, which is not trusted: [`crate::read`] has the limits. The summary
    /// beside it is not read: it follows from the record.
    ///
    /// # Errors
    /// Where the text is no record, one that no run can have written, or one of a newer schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::from_json(text)
    }
}

impl Completed {
    /// A part from its JSON.
    ///
    /// # Errors
    /// Where the text is no part of a record, or is past the limits of one.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::part_from_json(text)
    }
}
