//! The overhead of the program, in a line.

use document::Document;
use document::units::{latency, percent};
use record::{Fact, Record};
use verdict::Summary;

pub(crate) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    match (&record.actual.overhead, summary.overhead) {
        (Fact::Unavailable(why), _) => document.line(format!("Overhead: not available ({why})")),
        (_, Some(own)) => document.line(format!(
            "Overhead: {} per operation on the null engine{}",
            latency(own.ns_per_operation),
            own.fraction.map_or_else(String::new, |fraction| format!(
                ", {} of the workers' time in {}",
                percent(fraction),
                if summary.sweep.is_some() {
                    "the load level with the largest share"
                } else {
                    "transactions"
                }
            ))
        )),
        (_, None) => {}
    }
}
