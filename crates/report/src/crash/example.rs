//! The first loss of an operation, with the operations on its path and the calls of the operation.

use document::Document;
use engine::{Durability, When};
use rundir::{CrashReport, LossExample};

use super::moments;

pub(super) fn add(document: &mut Document, loss: &LossExample, report: &CrashReport) {
    let mut rounds = report.rounds.iter();
    let round = rounds.find(|round| round.round == loss.round);
    let moment = round.and_then(|round| round.moment.as_deref());
    document.below(format!(
        "First {} of {}, in round {}, {}: {}: {}",
        loss.kind.name(),
        loss.what.name(),
        loss.round,
        moments::name(moment),
        loss.path,
        loss.why
    ));
    for entry in &loss.history {
        document.below(format!("  log: {entry}"));
    }
    let mut operations = report.operations.iter();
    let outcome = operations.find(|outcome| outcome.what == loss.what);
    let policy = outcome.and_then(|outcome| outcome.durability);
    // Results of earlier versions name only the policies of all operations.
    let syncs = policy.map_or(report.durability != Durability::None.policy(), |policy| {
        policy != Durability::None
    });
    let policy = policy.map_or_else(|| report.durability.clone(), |policy| policy.to_string());
    if let Some(operation) = loss.what.performs() {
        let is_made = |when: When| match when {
            When::Always => true,
            When::Synced => syncs,
            When::Kept => false,
        };
        let parts = operation.steps().iter();
        let names = parts.filter(|part| is_made(part.when));
        let names: Vec<&str> = names.map(|part| part.step.name()).collect();
        document.below(format!(
            "  calls of {}: {} (durability {policy})",
            loss.what.name(),
            names.join(", ")
        ));
    }
}
