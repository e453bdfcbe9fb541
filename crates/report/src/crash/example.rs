//! The first loss of an operation, with the operations on its path and the calls of the operation.

use document::Document;
use engine::When;
use rundir::LossExample;

/// The durability policies that never sync.
const NO_SYNC: &str = "none";

pub(super) fn add(document: &mut Document, loss: &LossExample, durability: &str) {
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
    if let Some(operation) = loss.what.performs() {
        let is_made = |when: When| match when {
            When::Always => true,
            When::Synced => durability != NO_SYNC,
            When::Kept => false,
        };
        let parts = operation.steps().iter();
        let names = parts.filter(|part| is_made(part.when));
        let names: Vec<&str> = names.map(|part| part.step.name()).collect();
        document.below(format!(
            "  calls of {}: {} (durability {durability})",
            loss.what.name(),
            names.join(", ")
        ));
    }
}
