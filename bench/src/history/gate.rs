//! False alarms and detections of `postmark gate RUN --against history`: one new run after a
//! history of [`HISTORY`] runs.

use study::{Levels, Prediction};

use super::page::Tables;
use super::series::{Disturbance, LOSSES, NOISE, Setting};
use crate::limit::{Limit, Share};

/// Number of runs before the new run. The simulated changes are all later.
const HISTORY: usize = 39;
/// Maximum share of new runs without a loss that fail, with independent noise.
const FALSE_FAILURES: Limit = Limit::AtMost(0.01);

/// Adds the share of new runs that fail, by their true loss. Returns whether the false failures
/// are within their limit.
pub(super) fn perform(tables: &mut Tables, series: u32, seed: u64) -> bool {
    tables.line("");
    tables.line(&format!(
        "Failures of `gate --against history` for one run after {HISTORY} runs, by its true loss:"
    ));
    tables.line("");
    tables.line("| disturbance | noise | 0 % | 1 % | 2 % | 5 % | 10 % |");
    tables.line("|---|--:|--:|--:|--:|--:|--:|");
    let mut holds = true;
    for disturbance in Disturbance::ALL {
        for noise in NOISE {
            let mut shares = [Share::default(); LOSSES.len()];
            for number in 0..series {
                let setting = Setting {
                    disturbance,
                    noise,
                    loss: 0.0,
                };
                let values = setting.simulate(seed, number).values;
                let history = &values[..HISTORY];
                let levels = Levels::of(history);
                let last = levels.starts().last().copied().unwrap_or_default();
                let predicted = Prediction::of(&history[last..], levels.correlation, 1);
                for (share, loss) in shares.iter_mut().zip(LOSSES) {
                    let value = values[HISTORY] + (1.0 - loss).ln();
                    share.add(predicted.is_some_and(|predicted| predicted.is_worse(value)));
                }
            }
            let is_independent = disturbance == Disturbance::Nothing;
            holds &= !is_independent || shares[0].agrees(FALSE_FAILURES);
            let shares = shares.map(|share| format!("{:.1} %", 100.0 * share.share()));
            tables.line(&format!(
                "| {} | {:.0} % | {} |",
                disturbance.name(),
                100.0 * noise,
                shares.join(" | ")
            ));
        }
    }
    holds
}
