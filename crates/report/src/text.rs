//! The report of a run as text. Every number comes from the record or its summary; nothing is computed here.

use std::fmt::Write;

use record::{Action, CleanUp, End, Fact, Histogram, OperationSummary, Outcome, Rate, Record, Summary};

use crate::environment::{self, fact};
use crate::table::Table;
use crate::units::{bytes, grouped, microseconds, percent, rate, seconds};

/// The whole report.
pub fn render(record: &Record) -> String {
    let summary = Summary::of(record);
    let mut text = String::new();
    heading(&mut text, record);
    outcome(&mut text, record);
    text.push('\n');
    phases(&mut text, &summary);
    text.push('\n');
    latencies(&mut text, record, &summary);
    paper(&mut text, &summary);
    text.push('\n');
    environment::render(&mut text, record);
    errors(&mut text, record);
    if let Some(clean_up) = &record.actual.clean_up {
        self::clean_up(&mut text, clean_up);
    }
    for hint in &record.hints {
        line(&mut text, format_args!("Note: {hint}"));
    }
    text
}

/// Writing to a string cannot fail.
pub(crate) fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
    text.push('\n');
}

fn heading(text: &mut String, record: &Record) {
    let workload = &record.workload;
    line(
        text,
        format_args!(
            "PostMark {}: edition {}, storage {}, on {}",
            record.tool.version,
            workload.edition,
            record.storage,
            environment::places(record)
        ),
    );
    text.push_str(&workload_lines(workload));
    line(text, format_args!("Fingerprint {}", record.fingerprint));
    match &record.actual.stream_hash {
        Fact::Known(hash) => line(text, format_args!("Stream      {hash}")),
        Fact::Unavailable(why) => line(text, format_args!("Stream      unknown: {why}")),
        Fact::NotApplicable => {}
    }
}

/// The workload as meant, in words.
pub(crate) fn workload_lines(workload: &record::Classic) -> String {
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "Workload    {} files of {} to {} bytes, {} transactions, {} {}, seed {}",
            grouped(workload.files),
            grouped(workload.size_low_bytes),
            grouped(workload.size_high_bytes),
            grouped(workload.transactions),
            grouped(workload.subdirectories.into()),
            if workload.subdirectories == 1 {
                "directory"
            } else {
                "subdirectories"
            },
            workload.seed
        ),
    );
    line(
        &mut text,
        format_args!(
            "            blocks: read {} bytes, write {} bytes; biases: read/append={}, create/delete={}",
            grouped(workload.read_block_bytes),
            grouped(workload.write_block_bytes),
            i64::from(workload.bias_read),
            i64::from(workload.bias_create)
        ),
    );
    text
}

fn outcome(text: &mut String, record: &Record) {
    match &record.actual.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted { signal } => line(
            text,
            format_args!("PARTIAL: interrupted by signal {signal}; every number below is of the part that was done."),
        ),
        Outcome::Failed { why } | Outcome::PlaceGone { why } => {
            line(text, format_args!("FAILED: {why}"));
            line(
                text,
                format_args!("PARTIAL: every number below is of the part that was done before."),
            );
        }
    }
    match record.actual.end {
        End::Complete => {}
        End::OutOfFiles => line(
            text,
            format_args!("The pool ran dry before the last transaction: give more files or fewer transactions."),
        ),
        End::OutOfReach => line(
            text,
            format_args!(
                "The transactions ended early: no file is left that this edition's generator can reach (the original would search for ever). Give fewer files, or edition 1.5."
            ),
        ),
    }
}

fn phases(text: &mut String, summary: &Summary) {
    let mut table = Table::new(
        2,
        &[
            "Phase",
            "",
            "seconds",
            "operations",
            "per second",
            "bytes",
            "per second",
        ],
    );
    for phase in &summary.phases {
        let name = if phase.complete {
            phase.phase.name().to_owned()
        } else {
            format!("{} (partial)", phase.phase.name())
        };
        let transactions = phase.transactions.unwrap_or(Rate {
            count: 0,
            per_second: None,
        });
        let of_phase = if phase.transactions.is_some() {
            "transactions"
        } else {
            ""
        };
        table.row(vec![
            name,
            of_phase.to_owned(),
            seconds(phase.duration_ns),
            if phase.transactions.is_some() {
                grouped(transactions.count)
            } else {
                String::new()
            },
            if phase.transactions.is_some() {
                rate(transactions.per_second)
            } else {
                String::new()
            },
        ]);
        for operation in &phase.operations {
            table.row(vec![
                String::new(),
                operation.action.name().to_owned(),
                String::new(),
                grouped(operation.operations.count),
                rate(operation.operations.per_second),
                data(operation, |rate| Some(rate.count as f64), ""),
                data(operation, |rate| rate.per_second, "/s"),
            ]);
        }
    }
    text.push_str(&table.render());
}

/// Bytes of operations that move any.
fn data(operation: &OperationSummary, value: impl Fn(&Rate) -> Option<f64>, per: &str) -> String {
    if operation.action == Action::Delete {
        return String::new();
    }
    value(&operation.bytes).map_or_else(|| "-".to_owned(), |value| format!("{}{per}", bytes(value)))
}

fn latencies(text: &mut String, record: &Record, summary: &Summary) {
    if !record.latencies {
        line(text, format_args!("Latencies were not recorded (--no-latencies).\n"));
        return;
    }
    let mut table = Table::new(
        2,
        &[
            "Latency, µs",
            "",
            "mean",
            "p50",
            "p90",
            "p95",
            "p99",
            "p99.9",
            "p99.99",
            "max",
        ],
    );
    for phase in &summary.phases {
        for operation in &phase.operations {
            let mut cells = vec![phase.phase.name().to_owned(), operation.action.name().to_owned()];
            cells.push(operation.mean_ns.map_or_else(|| "-".to_owned(), microseconds));
            cells.extend(
                operation
                    .percentiles
                    .iter()
                    .map(|percentile| microseconds(percentile.ns as f64)),
            );
            // An operation that only failed has no latencies.
            cells.resize(cells.len().max(3 + Histogram::PERCENTS.len()), "-".to_owned());
            cells.push(
                operation
                    .max_ns
                    .map_or_else(|| "-".to_owned(), |ns| microseconds(ns as f64)),
            );
            table.row(cells);
        }
    }
    text.push_str(&table.render());
    line(
        text,
        format_args!(
            "  (from issued to completed; percentiles are off by at most {} of themselves, mean and max are exact)\n",
            percent(summary.latency_error_bound)
        ),
    );
}

fn paper(text: &mut String, summary: &Summary) {
    let paper = &summary.paper;
    line(text, format_args!("The list of the 1997 paper (section III)"));
    let mut table = Table::new(1, &["", "total", "per second"]);
    let mut files = |name: &str, value: Rate, unit: &str| {
        table.row(vec![
            name.to_owned(),
            format!("{} {unit}", grouped(value.count)),
            format!("{} {unit}/s", rate(value.per_second)),
        ]);
    };
    files("Transactions", paper.transactions, "transactions");
    files("Created", paper.created, "files");
    files("  creation alone", paper.created_alone, "files");
    files("  mixed with transactions", paper.created_mixed, "files");
    files("Read", paper.read, "files");
    files("Appended", paper.appended, "files");
    files("Deleted", paper.deleted, "files");
    files("  deletion alone", paper.deleted_alone, "files");
    files("  mixed with transactions", paper.deleted_mixed, "files");
    for (name, value) in [("Data read", paper.bytes_read), ("Data written", paper.bytes_written)] {
        let rate = value
            .per_second
            .map_or_else(|| "-".to_owned(), |rate| format!("{}/s", bytes(rate)));
        table.row(vec![name.to_owned(), format!("{} bytes", grouped(value.count)), rate]);
    }
    line(
        text,
        format_args!(
            "  Elapsed {} s, of which transactions {} s",
            seconds(paper.elapsed_ns),
            seconds(paper.transactions_ns)
        ),
    );
    text.push_str(&table.render());
}

fn errors(text: &mut String, record: &Record) {
    for error in &record.actual.errors {
        line(
            text,
            format_args!(
                "Error: {} of {}, step {}: {}; {} time(s), {} moved before it",
                error.operation,
                error.first_path,
                error.step,
                error.message,
                error.count,
                fact(&error.moved_bytes, |bytes| format!("{} bytes", grouped(*bytes)))
            ),
        );
    }
}

/// What was removed and what was not.
pub fn clean_up(text: &mut String, clean_up: &CleanUp) {
    line(
        text,
        format_args!(
            "Removed what the run had made: {} files, {} directories.",
            grouped(clean_up.files),
            grouped(clean_up.directories)
        ),
    );
    if clean_up.beneath > 0 {
        line(
            text,
            format_args!(
                "  Of these, {} files had been made beneath the mount point after its file system had gone.",
                grouped(clean_up.beneath)
            ),
        );
    }
    for left in &clean_up.left {
        line(text, format_args!("  Left: {}: {}", left.path, left.why));
    }
}
