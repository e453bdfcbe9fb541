//! The report of a run as text. Every number comes from the record or its summary; nothing is
//! computed here.

pub(crate) mod evidence;
pub(crate) mod findings;
pub(crate) mod heading;
pub(crate) mod machine;
mod observation;
pub(crate) mod observers;
pub(crate) mod overhead;
pub(crate) mod phases;
pub(crate) mod ranks;
pub(crate) mod reasons;
mod short;
pub(crate) mod sweep;
pub(crate) mod times;

use document::units::{grouped, rate, seconds};
use document::{Cell, Document, Number, Table, WIDTH};
use record::{Class, End, Outcome, Phase, Record, Role};
use verdict::summary::PaperFigures;
use verdict::{Rate, Summary};

pub use self::findings::clean_up;
pub(crate) use self::heading::{kind, work, workload_lines};
pub use self::observation::observation;
pub use self::short::short;
use crate::environment;

/// The whole report as text.
pub fn render(record: &Record) -> String {
    document::text(&report(record), WIDTH)
}

/// The whole report.
pub fn report(record: &Record) -> Document {
    let summary = Summary::of(record);
    let mut report = Document::default();
    let document = &mut report;
    heading::render(document, record, &summary);
    outcome(document, record);
    if let (Some(asked), Some(phase)) = (
        record.spec.drive.steady(),
        summary.phase(Phase::Transactions),
    ) {
        sweep::steady(document, asked, phase);
    }
    document.gap();
    sweep::render(document, &summary, true);
    phases::render(document, &summary);
    ranks::render(document, &summary);
    observers::render(document, &summary);
    times::render(document, record, &summary);
    evidence::render(document, &summary);
    machine::render(document, record, &summary);
    elapsed(document, &summary);
    document.gap();
    environment::render(document, record);
    overhead::render(document, record, &summary);
    findings::render(document, record, &summary);
    for note in &record.hints {
        document.line(format!("Note: {note}"));
    }
    for advice in advice(record) {
        document.line(format!("Note: {advice}"));
    }
    report
}

/// Advice about where the run was.
pub(crate) fn advice(record: &Record) -> Vec<&'static str> {
    let mut advice = Vec::new();
    for target in record
        .locations
        .iter()
        .filter_map(|location| location.target.known())
    {
        let hint = match target.class.known() {
            Some(Class::Memory) => {
                "the target lies in memory, so the result does not describe a disk (use a --target \
                 on the file system to be measured)"
            }
            Some(Class::Overlay) => {
                "the target is an overlay, so the result describes two file systems at once (use a \
                 --target on a volume)"
            }
            _ => continue,
        };
        if !advice.contains(&hint) {
            advice.push(hint);
        }
    }
    advice
}

/// How a role stands beneath its phase: workers that do everything have no name.
fn role(role: Role) -> String {
    match role {
        Role::Worker => String::new(),
        Role::Writer | Role::Reader => format!("  {}", role.name()),
    }
}

pub(crate) fn outcome(document: &mut Document, record: &Record) {
    match &record.actual.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted { signal } => document.warning(format!(
            "PARTIAL: interrupted by signal {signal}. All numbers below cover only the part \
             before."
        )),
        Outcome::Unfinished => document.warning(
            "UNFINISHED: the program was killed before the run ended, or is still running. All \
             numbers below cover only the completed phases.",
        ),
        Outcome::Failed { why } | Outcome::PlaceGone { why } => {
            document.warning(format!("FAILED: {why}"));
            document.warning("PARTIAL: all numbers below cover only the part before.");
        }
    }
    match record.actual.end.known() {
        None | Some(End::Complete) => {}
        Some(End::OutOfFiles) => document.line(
            "The pool ran dry before the last transaction: use more files or fewer transactions.",
        ),
        Some(End::NothingPossible) => document.line(
            "The transactions ended early: a worker could perform none of its operations any more \
             (see Skipped). Use more files, or a mix that also truncates, replaces or deletes \
             files.",
        ),
        Some(End::OutOfReach) => document.line(
            "The transactions ended early: this edition's generator can reach none of the \
             remaining files (the original would search for ever). Use fewer files, or --edition \
             1.5.",
        ),
    }
}

/// The paper's list, or what other workloads have of it.
pub(crate) fn elapsed(document: &mut Document, summary: &Summary) {
    match &summary.paper {
        Some(paper) => self::paper(document, paper),
        None => document.line(format!(
            "Elapsed: {} s in all phases",
            seconds(summary.elapsed_ns)
        )),
    }
}

fn paper(document: &mut Document, paper: &PaperFigures) {
    document.head("Figures of the 1997 paper (section III)");
    let mut table = Table::new(1, &["", "total", "per second"]);
    let mut files = |name: &str, value: Rate, unit: &str| {
        table.row(vec![
            name.into(),
            format!("{} {unit}", grouped(value.count)).into(),
            format!("{} {unit}/s", rate(value.per_second)).into(),
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
    for (name, value) in [
        ("Data read", paper.bytes_read),
        ("Data written", paper.bytes_written),
    ] {
        let rate = value
            .per_second
            .map(|rate| Cell::Number(Number::Bytes(rate), "/s"));
        let count = Cell::Number(Number::Count(value.count), " bytes");
        table.row(vec![name.into(), count, rate.into()]);
    }
    document.below(format!(
        "Elapsed: {} s, of which transactions {} s",
        seconds(paper.elapsed_ns),
        seconds(paper.transactions_ns)
    ));
    document.table(table);
}
