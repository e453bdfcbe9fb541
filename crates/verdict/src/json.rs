use record::Record;
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::Summary;

/// The JSON document that `postmark run --format json` writes: a record and its summary.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A run of PostMark")]
pub struct WrittenRun<'a> {
    /// The numbers of reports and the verdict, derived from the record. PostMark ignores this part
    /// when it reads the document, and derives it again.
    summary: Summary,
    /// The options, the run spec and the measurements of the run.
    record: &'a Record,
}

/// Returns the record and its summary as one line of JSON.
pub fn to_json(record: &Record) -> String {
    let document = WrittenRun {
        summary: Summary::of(record),
        record,
    };
    document::json_line(&document)
}
