//! Doubts about the measurements of a gate, such as DOUBTFUL runs. Doubts prevent the gate from
//! passing, and from failing by runs that were not interleaved, unless `--allow-doubtful` is given.

use document::Document;
use document::units::{bound, counted, percent};
use study::{Decision, Gate, GateDoubt, Judged};

use super::basis::is_in_blocks;
use crate::comparison::{doubtful_runs, drift_seen, noun, probability, ratio_of};

/// Whether doubts contribute to an undecided gate.
fn do_decide(gate: &Gate) -> bool {
    gate.decision == Decision::Undecided && !gate.doubts.is_empty() && !gate.allows_doubtful
}

/// The requirements that failed, if only doubts keep the gate from failing.
pub(super) fn doubted_failures(gate: &Gate) -> impl Iterator<Item = &Judged> {
    let failed = |judged: &&Judged| judged.decision == Decision::Failed;
    gate.requirements
        .iter()
        .filter(move |judged| failed(judged) && do_decide(gate))
}

/// Words that follow the decision in the title: what keeps the gate from being decided.
pub(super) fn cause(gate: &Gate) -> &'static str {
    let is_undecided = gate.decision == Decision::Undecided;
    let has_failed = doubted_failures(gate).next().is_some();
    let has_few = gate
        .requirements
        .iter()
        .any(|judged| judged.bound.is_none());
    match (is_undecided, do_decide(gate)) {
        (false, _) => "",
        (true, true) if has_failed || gate.is_met() => " by doubts",
        (true, true) if has_few => " by too few runs and by doubts",
        (true, true) => " by the spread of the runs and by doubts",
        (true, false) if has_few => " by too few runs",
        (true, false) => " by the spread of the runs",
    }
}

/// The decision on a requirement. Doubts that decide the gate are named, so that the table does not
/// contradict the title.
pub(super) fn decision(gate: &Gate, judged: &Judged) -> &'static str {
    match judged.decision {
        Decision::Passed if do_decide(gate) => "met, in doubt",
        Decision::Failed if do_decide(gate) => "not met, in doubt",
        decision => decision.name(),
    }
}

/// Adds the doubts, unless the gate failed despite them, because doubts do not change such a
/// failure.
pub(super) fn add(document: &mut Document, gate: &Gate) {
    if gate.doubts.is_empty() || (gate.decision == Decision::Failed && !gate.allows_doubtful) {
        return;
    }
    let has_failed = doubted_failures(gate).next().is_some();
    let head = match (gate.decision, gate.is_met()) {
        (Decision::Passed, _) => "Passed despite these doubts, which --allow-doubtful ignores:",
        (Decision::Failed, _) => "Failed despite these doubts, which --allow-doubtful ignores:",
        _ if has_failed => {
            "The order of the runs was not random, so that what caused these doubts can look like \
             this difference:"
        }
        (_, true) => "Undecided because of these doubts, although each requirement is met:",
        (_, false) if gate.allows_doubtful => "Doubts, which --allow-doubtful ignores:",
        (_, false) => "With these doubts the gate cannot pass, even with less spread:",
    };
    document.words(head);
    document.items(gate.doubts.iter().map(|doubt| bound(&words(doubt))));
    if do_decide(gate) {
        document.words(remedy(gate, has_failed));
    }
    document.gap();
}

/// What to do about doubts, and what `--allow-doubtful` would change.
fn remedy(gate: &Gate, has_failed: bool) -> String {
    let is_wide = |doubt: &GateDoubt| matches!(doubt, GateDoubt::WideControl { .. });
    let remedy = match (gate.doubts.iter().all(is_wide), is_in_blocks(gate)) {
        (true, _) => "Add blocks",
        (false, true) => "Remove the causes and run the study again",
        (false, false) => "Remove the causes and repeat the runs",
    };
    match (has_failed, gate.is_met()) {
        (true, _) => format!("{remedy}, or add --allow-doubtful: the gate then fails."),
        (false, true) => format!("{remedy}, or add --allow-doubtful: the gate then passes."),
        (false, false) => format!(
            "{remedy}. --allow-doubtful ignores the doubts only: the gate would still be undecided."
        ),
    }
}

fn words(doubt: &GateDoubt) -> String {
    match doubt {
        GateDoubt::DoubtfulRuns { side, verdicts } => {
            let runs = doubtful_runs(verdicts).unwrap_or_default();
            format!("{side}: {runs} ('postmark show' has the reasons)")
        }
        GateDoubt::Drift {
            side,
            metric,
            drift,
        } => {
            let mean = format!("the mean {} of {side}", noun(*metric));
            drift_seen(&mean, drift)
        }
        GateDoubt::BaselineDiffers { control, baseline } => format!(
            "{baseline} differs from itself: its runs for the A/A control have {} the {} of its \
             other runs (p {})",
            ratio_of(control.ratio, 3),
            noun(control.metric),
            probability(control.p.unwrap_or_default())
        ),
        GateDoubt::WideControl {
            baseline,
            requirement,
            half_width_90,
            margin,
            blocks_needed_for_control,
        } => {
            let enough = match blocks_needed_for_control {
                Some(blocks) => format!(
                    "; the control alone needs {} at this A/A noise",
                    counted((*blocks).into(), "block")
                ),
                None => {
                    "; at this A/A noise, more than 10,000 blocks are needed for the control alone"
                        .to_owned()
                }
            };
            format!(
                "the A/A control is too wide for {requirement}: its one-sided 95 % bounds, as the \
                 gate's, are {} from the ratio of {baseline} to itself, and the requirement allows \
                 {}{enough}",
                percent(*half_width_90),
                percent(*margin)
            )
        }
    }
}
