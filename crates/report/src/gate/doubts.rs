//! Doubts about the measurements of a gate, such as DOUBTFUL runs. Doubts prevent the gate from
//! passing, unless `--allow-doubtful` is given.

use document::Document;
use document::units::{bound, counted, percent};
use study::{Decision, Gate, GateDoubt};

use crate::comparison::{doubtful_runs, drift_seen, noun, probability, ratio_of};

/// Adds the doubts, unless the gate failed, because doubts do not change such a failure.
pub(super) fn add(document: &mut Document, gate: &Gate) {
    if gate.doubts.is_empty() || gate.decision == Decision::Failed {
        return;
    }
    let mut requirements = gate.requirements.iter();
    let has_failed = requirements.any(|judged| judged.decision == Decision::Failed);
    let head = match (gate.decision, gate.is_met()) {
        _ if has_failed => {
            "Undecided because of these doubts, although a requirement is not met: the order of \
             the runs was not random, so that what caused the doubts can look like this difference."
        }
        (Decision::Passed, _) => "Passed despite these doubts, which --allow-doubtful allows:",
        (_, true) => "Undecided because of these doubts, although each requirement is met:",
        (_, false) if gate.allows_doubtful => "Doubts, which --allow-doubtful allows:",
        (_, false) => "With these doubts the gate cannot pass:",
    };
    document.words(head);
    document.items(gate.doubts.iter().map(|doubt| bound(&words(doubt))));
    let is_wide = |doubt: &GateDoubt| matches!(doubt, GateDoubt::WideControl { .. });
    let remedy = match gate.doubts.iter().all(is_wide) {
        true => "Add blocks",
        false => "Remove the causes and run the study again",
    };
    if !gate.allows_doubtful {
        document.words(format!("{remedy}, or add --allow-doubtful to ignore them."));
    }
    document.gap();
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
