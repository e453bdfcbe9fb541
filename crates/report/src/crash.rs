//! The result of `crash`: what acknowledged operations survived in rounds of crashes.

mod example;
pub mod gate;
mod reproduce;

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
    foreign(&mut document, report);
    verdict(&mut document, report);
    reproduce::attribute(&mut document, report);
    for loss in &report.examples {
        example::add(&mut document, loss, &report.durability);
    }
    reproduce::add(&mut document, report);
    rounds(&mut document, report);
    document
}

/// The result as a page: the answer first, and every round.
pub fn page(report: &CrashReport) -> Document {
    let mut document = Document::default();
    verdict(&mut document, report);
    head(&mut document, report);
    document.table(operations(report));
    foreign(&mut document, report);
    if !report.examples.is_empty() || report.directories_lost > 0 {
        document.title("Losses");
        reproduce::attribute(&mut document, report);
        for loss in &report.examples {
            example::add(&mut document, loss, &report.durability);
        }
        reproduce::add(&mut document, report);
    }
    rounds(&mut document, report);
    document.title("Rounds");
    let mut inside = Document::default();
    let columns: [Column<&CrashRound>; 8] = [
        ("round", |of| Number::Ordinal(of.round.into()).into()),
        ("crash after (s)", |of| {
            Cell::decimal(Some(of.delay_ns as f64 / 1e9), 3)
        }),
        ("checked", |of| Cell::count(of.checked)),
        ("in flight", |of| Cell::count(of.in_flight)),
        ("lost", |of| sum(of, |one| one.lost)),
        ("torn", |of| sum(of, |one| one.torn)),
        ("resurrected", |of| sum(of, |one| one.resurrected)),
        ("foreign", |of| Cell::count(of.foreign)),
    ];
    inside.table(Table::of(0, &columns, &report.rounds));
    inside.words(format!(
        "Round n has the seed {} + n - 1. Its run is killed in the crash, so it has no record.",
        report.seed
    ));
    document.folded(counted(report.rounds.len() as u64, "round"), inside);
    document
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
        "acknowledged",
        "verified",
        "lost",
        "torn",
        "resurrected",
    ];
    let mut table = Table::new(1, &header);
    for outcome in &report.operations {
        table.row(vec![
            Cell::ours(outcome.what.name()),
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

fn verdict(document: &mut Document, report: &CrashReport) {
    let crashes = counted(report.crashes.into(), "round");
    if report.crashes_with_loss > 0 {
        document.warning(format!(
            "LOST: {} of {crashes} lost acknowledged operations",
            report.crashes_with_loss
        ));
        if let Some(share) = &report.loss_share {
            document.line(format!(
                "Between {:.1} and {:.1} % of crashes lose an acknowledged operation (95 %)",
                share.min * 100.0,
                share.max * 100.0
            ));
        }
    } else if let Some(share) = report.loss_share_max {
        document.line(format!(
            "No loss in {crashes}: fewer than {:.1} % of crashes lose an acknowledged operation \
             (95 %)",
            share * 100.0
        ));
    } else if report.crashes == 0 {
        document.line("No crash interrupted a run, so the rounds show nothing");
    } else {
        document.line(format!("No loss in {crashes}"));
    }
    if !report.crashes_system {
        document.line(
            "Only the run was killed, not the system: the rounds show nothing about durability \
             (use --crash COMMAND or --kill-server FILE)",
        );
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
        for left in &round.left {
            document.below(format!("Round {}: not removed: {left}", round.round));
        }
    }
}
