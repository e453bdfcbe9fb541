//! A run as JSON.

use record::Record;
use schemars::JsonSchema;
use serde::Serialize;

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

/// The record and its summary as JSON, in one line.
pub fn to_json(record: &Record) -> String {
    let document = WrittenRun {
        summary: Summary::of(record),
        record,
    };
    document::json_line(&document)
}
