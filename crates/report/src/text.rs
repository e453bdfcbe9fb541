//! The report of a run as text. Every number comes from the record or its summary; nothing is computed here.

mod findings;
mod heading;
mod ladder;
mod machine;
mod own_cost;
mod phases;
mod times;
mod verdict;

use std::fmt::Write;

use record::harmless::Escaping;
use record::summary::PaperFigures;
use record::{End, Outcome, Phase, Rate, Record, Role, Summary};

pub use self::findings::clean_up;
pub(crate) use self::heading::{how, kind, sentence, workload_lines, wrapped};
use crate::environment;
use crate::table::Table;
use crate::units::{bytes, grouped, rate, seconds};

/// The whole report.
pub fn render(record: &Record) -> String {
    let summary = Summary::of(record);
    let mut text = String::new();
    heading::render(&mut text, record, &summary);
    outcome(&mut text, record);
    if let (Some(asked), Some(phase)) = (record.spec.drive.steady(), summary.phase(Phase::Transactions)) {
        ladder::steady(&mut text, asked, phase);
    }
    text.push('\n');
    ladder::render(&mut text, &summary);
    phases::render(&mut text, &summary);
    times::render(&mut text, record, &summary);
    machine::render(&mut text, record, &summary);
    elapsed(&mut text, &summary);
    text.push('\n');
    environment::render(&mut text, record);
    own_cost::render(&mut text, record, &summary);
    findings::render(&mut text, record, &summary);
    for hint in &record.hints {
        line(&mut text, format_args!("Note: {hint}"));
    }
    text
}

/// Adds a line. What stands in it is made harmless: no name of a record begins a line of its own, or is obeyed by a terminal.
pub(crate) fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = Escaping(&mut *text).write_fmt(arguments);
    text.push('\n');
}

/// How a role stands beneath its phase: workers that do everything have no name.
fn role(role: Role) -> String {
    match role {
        Role::Worker => String::new(),
        Role::Writer | Role::Reader => format!("  {}", role.name()),
    }
}

fn outcome(text: &mut String, record: &Record) {
    match &record.actual.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted { signal } => line(
            text,
            format_args!("PARTIAL: interrupted by signal {signal}; every number below is of the part that was done."),
        ),
        Outcome::Unfinished => line(
            text,
            format_args!(
                "UNFINISHED: the program was killed before the run's end, or goes on still; every number below is of the phases that were completed."
            ),
        ),
        Outcome::Failed { why } | Outcome::PlaceGone { why } => {
            line(text, format_args!("FAILED: {why}"));
            line(
                text,
                format_args!("PARTIAL: every number below is of the part that was done before."),
            );
        }
    }
    match record.actual.end.known() {
        None | Some(End::Complete) => {}
        Some(End::OutOfFiles) => line(
            text,
            format_args!("The pool ran dry before the last transaction: give more files or fewer transactions."),
        ),
        Some(End::OutOfReach) => line(
            text,
            format_args!(
                "The transactions ended early: no file is left that this edition's generator can reach (the original would search for ever). Give fewer files, or edition 1.5."
            ),
        ),
    }
}

/// The paper's list, or what other workloads have of it.
fn elapsed(text: &mut String, summary: &Summary) {
    match &summary.paper {
        Some(paper) => self::paper(text, paper),
        None => line(
            text,
            format_args!("Elapsed {} s, all phases together", seconds(summary.elapsed_ns)),
        ),
    }
}

fn paper(text: &mut String, paper: &PaperFigures) {
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
