//! The result of `crash`: what acknowledged operations survived in rounds of crashes.

mod example;
pub mod gate;
mod moments;
mod reproduce;
mod sentence;

use document::units::counted;
use document::{Cell, Column, Document, Number, Table};
use rundir::{CrashReport, CrashRound, RoundEnd};

/// The result, for example as text or as Markdown.
pub fn document(report: &CrashReport) -> Document {
    let mut document = Document::default();
    head(&mut document, report);
    document.gap();
    document.table(operations(report));
    document.gap();
    moments::add(&mut document, report);
    foreign(&mut document, report);
    sentence::add(&mut document, report);
    reproduce::attribute(&mut document, report);
    for loss in &report.examples {
        example::add(&mut document, loss, report);
    }
    reproduce::add(&mut document, report);
    rounds(&mut document, report);
    document
}

/// The result as a page: the answer first, and every round.
pub fn page(report: &CrashReport) -> Document {
    let mut document = Document::default();
    sentence::add(&mut document, report);
    head(&mut document, report);
    document.table(operations(report));
    moments::add(&mut document, report);
    foreign(&mut document, report);
    if !report.examples.is_empty() || report.directories_lost > 0 {
        document.title("Losses");
        reproduce::attribute(&mut document, report);
        for loss in &report.examples {
            example::add(&mut document, loss, report);
        }
        reproduce::add(&mut document, report);
    }
    rounds(&mut document, report);
    document.title("Rounds");
    let mut inside = Document::default();
    let columns: [Column<&CrashRound>; 12] = [
        ("round", |of| Number::Ordinal(of.round.into()).into()),
        ("crash after (s)", |of| {
            Cell::decimal(Some(of.delay_ns as f64 / 1e9), 3)
        }),
        ("moment", |of| {
            Cell::from(of.moment.as_deref().unwrap_or("time"))
        }),
        ("checked", |of| Cell::count(of.checked)),
        ("in flight", |of| Cell::count(of.in_flight)),
        ("lost", |of| sum(of, |one| one.broken().lost)),
        ("torn", |of| sum(of, |one| one.broken().torn)),
        ("resurrected", |of| sum(of, |one| one.broken().resurrected)),
        ("allowed", |of| sum(of, rundir::Outcome::allowed)),
        ("foreign", |of| Cell::count(of.foreign)),
        ("pool of", |of| {
            Number::Ordinal(of.pool.unwrap_or(of.round).into()).into()
        }),
        ("repaired", |of| Cell::count(of.repaired)),
    ];
    inside.table(Table::of(0, &columns, &report.rounds));
    inside.words(format!(
        "A pool that round n makes has the seed {} + n - 1. A run is killed in the crash, so it \
         has no record.",
        report.seed
    ));
    document.folded(counted(report.rounds.len() as u64, "round"), inside);
    document
}

/// A count in a sentence, with its verb.
fn was(count: u64, what: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(count, what))
}

fn sum(round: &CrashRound, of: fn(&rundir::Outcome) -> u64) -> Cell {
    Cell::count(round.operations.iter().map(of).sum::<u64>())
}

fn head(document: &mut Document, report: &CrashReport) {
    document.line(format!(
        "Crashes of {}; durability {}; seed {}; {}",
        report.target, report.durability, report.seed, report.crash
    ));
    document.line(format!(
        "Rounds: {} of {} performed; in {} the crash interrupted the run",
        report.rounds_performed, report.rounds_planned, report.crashes
    ));
    let rounds = || report.rounds.iter();
    let continued = rounds().filter(|round| round.pool.is_some()).count() as u64;
    if continued > 0 {
        document.line(format!(
            "In {} the run continued on the surviving pool; {} repaired for it",
            counted(continued, "round"),
            was(rounds().map(|round| round.repaired).sum(), "path")
        ));
    }
    let has_ended = |round: &&CrashRound| round.end == RoundEnd::EndedBefore;
    let ended = report.rounds.iter().filter(has_ended).count() as u64;
    if ended > 0 {
        document.line(format!(
            "{} ended before the crash and {} not counted (use more --transactions, or a shorter \
             --crash-within)",
            counted(ended, "run"),
            if ended == 1 { "is" } else { "are" }
        ));
    }
}

fn operations(report: &CrashReport) -> Table {
    let header = [
        "operation",
        "policy",
        "promised",
        "acknowledged",
        "verified",
        "lost",
        "torn",
        "resurrected",
    ];
    let mut table = Table::new(3, &header);
    for outcome in &report.operations {
        let policy = outcome.durability.map(|policy| policy.to_string());
        table.row(vec![
            Cell::ours(outcome.what.name()),
            Cell::from(policy),
            Cell::ours(outcome.promise.name()),
            Cell::count(outcome.acknowledged),
            Cell::count(outcome.verified),
            Cell::count(outcome.lost),
            Cell::count(outcome.torn),
            Cell::count(outcome.resurrected),
        ]);
    }
    table
}

fn foreign(document: &mut Document, report: &CrashReport) {
    if report.foreign > 0 {
        document.line(format!(
            "Foreign: {} that the log does not mention, first {}",
            counted(report.foreign, "file"),
            report.foreign_first.as_deref().unwrap_or("-")
        ));
    }
}

/// The rounds with losses, and the files that remain.
fn rounds(document: &mut Document, report: &CrashReport) {
    for round in &report.rounds {
        if let Some(why) = &round.directory_lost {
            document.below(format!("Round {}: {why}", round.round));
        }
        if let Some(log) = &round.ack_log {
            document.below(format!(
                "Round {}: the acknowledgement log {log} is kept",
                round.round
            ));
        }
        if let Some(why) = &round.not_continued {
            document.below(format!(
                "Round {}: the next run makes a new pool: {why}",
                round.round
            ));
        }
        for left in &round.left {
            document.below(format!("Round {}: not removed: {left}", round.round));
        }
    }
}
