//! The result of a steady-state rule.

use document::Document;
use document::units::{counted, percent, rate};
use measure::steady;
use record::SteadyAsked;
use verdict::PhaseSummary;

/// A fraction in whole percent.
fn threshold(fraction: f64) -> String {
    format!("{:.0} %", 100.0 * fraction)
}

pub(crate) fn steady(document: &mut Document, asked: &SteadyAsked, phase: &PhaseSummary) {
    let Some(found) = &phase.steady else {
        return;
    };
    let verdict = if found.is_steady {
        "STEADY"
    } else {
        "NOT STEADY"
    };
    let rounds = format!(
        "{verdict} by the rule {} after {} of {} s, at most {}",
        asked.rule.name(),
        counted(found.rounds.len() as u64, "round"),
        asked.round_ns as f64 / 1e9,
        asked.rounds_max
    );
    let mut words = vec![rounds];
    if let Some(snia) = &found.snia {
        words.push(format!(
            "rounds vary by {} of their mean (threshold {})",
            percent(snia.excursion),
            threshold(steady::EXCURSION_MAX)
        ));
        words.push(format!(
            "trend line changes by {} (threshold {})",
            percent(snia.slope_excursion),
            threshold(steady::SLOPE_EXCURSION_MAX)
        ));
    }
    if let Some(slope) = &found.slope {
        let interval = slope.interval.map_or_else(
            || {
                "not available: the rates of successive seconds are too strongly correlated"
                    .to_owned()
            },
            |(low, high)| format!("{} to {}", percent(low), percent(high)),
        );
        words.push(format!(
            "slope, 95 % confidence interval {interval} (threshold ±{})",
            threshold(steady::DRIFT_MAX)
        ));
    }
    document.list("Steady", "", &words);
    let rounds = found.rounds.iter();
    let rates: Vec<String> = rounds.map(|round| rate(Some(*round))).collect();
    document.list("", "rounds, transactions/s: ", &rates);
}
