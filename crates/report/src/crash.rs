//! The result of `crash`: what acknowledged operations survived in rounds of crashes.

use document::units::counted;
use document::{Cell, Document, Table};
use rundir::{CrashReport, LossExample};

pub fn document(report: &CrashReport) -> Document {
    let mut document = Document::default();
    document.line(format!(
        "Crashes of {}; durability {}; seed {}; {}",
        report.target, report.durability, report.seed, report.crash
    ));
    document.line(format!(
        "Rounds: {} of {} performed; in {} the crash interrupted the run",
        report.rounds_performed, report.rounds_planned, report.crashes
    ));
    let ended = report.rounds_performed - report.crashes;
    if ended > 0 {
        document.line(format!(
            "{} ended before the crash and {} not counted (use more --transactions, or a shorter \
             --crash-within)",
            counted(ended.into(), "run"),
            if ended == 1 { "is" } else { "are" }
        ));
    }
    document.gap();
    document.table(operations(report));
    document.gap();
    if report.foreign > 0 {
        document.line(format!(
            "Foreign: {} that the log does not mention, first {}",
            counted(report.foreign, "file"),
            report.foreign_first.as_deref().unwrap_or("-")
        ));
    }
    verdict(&mut document, report);
    report
        .examples
        .iter()
        .for_each(|loss| example(&mut document, loss));
    rounds(&mut document, report);
    document
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

fn verdict(document: &mut Document, report: &CrashReport) {
    let crashes = counted(report.crashes.into(), "round");
    if report.crashes_with_loss > 0 {
        document.warning(format!(
            "LOST: {} of {crashes} lost acknowledged operations",
            report.crashes_with_loss
        ));
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

fn example(document: &mut Document, loss: &LossExample) {
    document.below(format!(
        "First {} of {}, in round {}: {}: {}",
        loss.kind.name(),
        loss.what.name(),
        loss.round,
        loss.path,
        loss.why
    ));
    for entry in &loss.history {
        document.below(format!("  log: {entry}"));
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
