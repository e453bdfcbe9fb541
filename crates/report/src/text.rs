//! The report of a run as text. All numbers come from the record or its summary.

mod contradictions;
pub(crate) mod evidence;
pub(crate) mod findings;
pub(crate) mod first_line;
pub(crate) mod heading;
mod limit;
pub(crate) mod machine;
mod observation;
pub(crate) mod observers;
pub(crate) mod outcome;
pub(crate) mod overhead;
pub(crate) mod phases;
pub(crate) mod quoted;
pub(crate) mod ranks;
pub(crate) mod reasons;
pub(crate) mod replay;
mod short;
pub(crate) mod slo;
mod steady;
pub(crate) mod sweep;
pub(crate) mod times;

use document::units::{grouped, latency, rate, seconds};
use document::{Cell, Document, Number, Table, WIDTH, kept};
use record::{Fact, Phase, Record};
use verdict::Summary;
use verdict::summary::PaperFigures;

pub use self::findings::clean_up;
pub(crate) use self::heading::{kind, work, workload_lines};
pub use self::observation::observation;
pub use self::short::short;
use crate::environment;

pub fn render(record: &Record) -> String {
    document::text(&report(record), WIDTH)
}

pub fn report(record: &Record) -> Document {
    let summary = Summary::of(record);
    let mut report = Document::default();
    let document = &mut report;
    heading::render(document, record, &summary);
    outcome::outcome(document, record);
    if let (Some(asked), Some(phase)) = (
        record.spec.drive.steady(),
        summary.phase(Phase::Transactions),
    ) {
        steady::steady(document, asked, phase);
    }
    document.gap();
    // Sections answer the usual questions in this order: rate, latency, I/O, machine.
    sweep::render(document, &summary, true);
    phases::render(document, &summary);
    ranks::render(document, &summary);
    elapsed(document, &summary);
    whole_run(document, &summary);
    document.gap();
    replay::comparison(document, summary.replay.as_ref());
    if let Some(replay) = record.spec.workload.replay() {
        replay::deviations(document, replay);
        document.gap();
    }
    times::render(document, record, &summary);
    limit::render(document, &summary);
    overhead::render(document, record, &summary);
    if record.actual.overhead != Fact::NotApplicable {
        document.gap();
    }
    evidence::render(document, &summary);
    machine::devices(document, record, &summary);
    machine::processors(document, record, &summary);
    observers::render(document, &summary);
    environment::render(document, record);
    findings::render(document, record, &summary);
    outcome::notes(document, record);
    report
}

/// Adds the figures that the PostMark paper of 1997 lists. For any other workload than that of the
/// paper, adds only the elapsed time.
pub(crate) fn elapsed(document: &mut Document, summary: &Summary) {
    match &summary.paper {
        Some(paper) => self::paper(document, paper),
        None => document.line(format!(
            "Elapsed: {} s in all phases{}",
            seconds(summary.elapsed_ns),
            match summary.sweep {
                Some(_) => ", without the warm-up of levels",
                None => "",
            }
        )),
    }
}

/// Adds the time of the whole run and its parts. Parts of less than a millisecond are left out.
fn whole_run(document: &mut Document, summary: &Summary) {
    const SHOWN_MIN_NS: u64 = 1_000_000;
    let Some(time) = &summary.time else {
        return;
    };
    let space_back = summary.phases.iter().map(|phase| &phase.space_back_ns);
    let waited_in_vain = space_back
        .flatten()
        .any(|space_back| matches!(space_back, Fact::Unavailable(_)));
    let parts = time.parts().into_iter();
    let parts = parts.filter(|(_, ns)| *ns >= SHOWN_MIN_NS);
    let parts: Vec<String> = parts
        .map(|(name, ns)| kept(&format!("{name} {}", latency(ns as f64))))
        .collect();
    document.words(format!(
        "Whole run: {}: {}{}",
        latency(time.whole_ns as f64),
        parts.join(", "),
        match waited_in_vain {
            true => " (with the wait for free space)",
            false => "",
        }
    ));
}

fn paper(document: &mut Document, paper: &PaperFigures) {
    document.head("Figures of the 1997 paper (section III)");
    let mut table = Table::new(1, &["", "total", "per second"]);
    for (name, value) in [
        ("Transactions", paper.transactions),
        ("Created", paper.created),
        ("  creation alone", paper.created_alone),
        ("  mixed with transactions", paper.created_mixed),
        ("Read", paper.read),
        ("Appended", paper.appended),
        ("Deleted", paper.deleted),
        ("  deletion alone", paper.deleted_alone),
        ("  mixed with transactions", paper.deleted_mixed),
    ] {
        let unit = match name {
            "Transactions" => "transactions",
            _ => "files",
        };
        let count = format!("{} {unit}", grouped(value.count));
        let per_second = format!("{} {unit}/s", rate(value.per_second));
        table.row(vec![name.into(), count.into(), per_second.into()]);
    }
    for (name, value) in [
        ("Data read", paper.bytes_read),
        ("Data written", paper.bytes_written),
    ] {
        let count = Cell::Number(Number::Count(value.count), " bytes");
        table.row(vec![name.into(), count, Cell::throughput(value.per_second)]);
    }
    document.below(format!(
        "Elapsed: {} s, of which transactions {} s",
        seconds(paper.elapsed_ns),
        seconds(paper.transactions_ns)
    ));
    document.table(table);
}
