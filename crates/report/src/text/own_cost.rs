//! What the program itself cost, in a line.

use record::{Fact, Record, Summary};

use super::line;
use crate::units::{microseconds, percent};

pub(super) fn render(text: &mut String, record: &Record, summary: &Summary) {
    match (&record.actual.own_cost, summary.own_cost) {
        (Fact::Unavailable(why), _) => line(text, format_args!("Own cost is not known: {why}")),
        (_, Some(own)) => line(
            text,
            format_args!(
                "Own cost: {} µs an operation on the null storage{}",
                microseconds(own.ns_per_operation),
                own.fraction.map_or_else(String::new, |fraction| format!(
                    ", {} of the workers' time in {}",
                    percent(fraction),
                    if summary.ladder.is_some() {
                        "the rung that has most of it"
                    } else {
                        "transactions"
                    }
                ))
            ),
        ),
        (_, None) => {}
    }
}
