//! Gates over crash rounds as documents.

use document::{Cell, Document, Table};
use rundir::loss_share::crashes_needed;
use rundir::{CrashReport, Outcome};
use study::{CrashFigures, CrashGate, CrashRequirement, Decision, JudgedCrash};

/// The numbers of a result that requirements are about.
pub fn figures(report: &CrashReport) -> CrashFigures {
    let sum = |of: fn(Outcome) -> u64| report.broken().map(of).sum::<u64>();
    let of_losses = report.loss_share.map(|share| (share.min, share.max));
    CrashFigures {
        crashes: match report.crashes_system && report.is_bounded() {
            true => report.crashes,
            false => 0,
        },
        lost: sum(|one| one.lost) + u64::from(report.directories_lost),
        torn: sum(|one| one.torn),
        resurrected: sum(|one| one.resurrected),
        foreign: report.foreign,
        share: of_losses.or(report.loss_share_max.map(|max| (0.0, max))),
    }
}

/// The decision, and the number that each requirement is about.
pub fn document(gate: &CrashGate) -> Document {
    let mut document = Document::default();
    document.title(format!("Gate {}: {}", gate.decision.name(), gate.rounds));
    let mut table = Table::new(1, &["requirement", "found", "decision"]);
    for judged in &gate.requirements {
        table.row(vec![
            Cell::ours(judged.requirement.to_string()),
            Cell::ours(found(judged)),
            Cell::ours(judged.decision.name()),
        ]);
    }
    document.table(table);
    for judged in &gate.requirements {
        if let (CrashRequirement::ShareBelow(percent), Decision::Undecided) =
            (judged.requirement, judged.decision)
        {
            document.words(format!(
                "{} needs {} rounds without a loss.",
                judged.requirement,
                crashes_needed(percent / 100.0)
            ));
        }
    }
    if gate.decision == Decision::Undecided {
        document.words(
            "Undecided: no requirement is violated, and the rounds show too little. Only crashes \
             of a system count, and only losses that the durability policy promises to prevent.",
        );
    }
    document
}

fn found(judged: &JudgedCrash) -> String {
    match (judged.requirement, judged.found) {
        (_, None) => "-".to_owned(),
        (CrashRequirement::None(_), Some(count)) => format!("{count}"),
        (CrashRequirement::ShareBelow(_), Some(max)) => format!("{:.2} %", max * 100.0),
    }
}
