//! Tells a change of the host from a change of the system, by the A/A control of studies.
//!
//! A study whose baseline runs twice in each block has an A/A control. If the series is another
//! cell of these blocks, the mean of both baseline runs shows what the host could do at that time.
//! What changes with the control is the host; what changes relative to it is the system.

use serde::{Deserialize, Serialize};

use crate::history_point::HistoryPoint;
use crate::statistics::{ALPHA, Mean};

/// Minimum number of runs with a control on each side of a change.
pub const CONTROLS_MIN: usize = 5;

/// What changed, as far as the A/A control shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "changed")]
pub enum Cause {
    /// Fewer than `CONTROLS_MIN` runs on a side of the change have an A/A control.
    NotAvailable,
    /// The control changed in the same direction, and the system did not change relative to it.
    Host { control: RatioWithInterval },
    /// The system changed relative to the control, and the control did not change with it.
    System { control: RatioWithInterval },
    /// The control changed in the same direction, and the system changed relative to it as well.
    Both { control: RatioWithInterval },
    /// The system is not shown to change relative to the control, nor the control itself.
    Unclear { control: RatioWithInterval },
}

/// Ratio of the control after the change to that before it, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioWithInterval {
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

/// Compares the runs of the levels before and after a change with their controls.
pub(crate) fn cause(before: &[&HistoryPoint], after: &[&HistoryPoint]) -> Cause {
    let pair = |run: &&HistoryPoint| Some((run.counted()?.ln(), run.control?.ln()));
    let pairs = |runs: &[&HistoryPoint]| runs.iter().filter_map(pair).collect::<Vec<_>>();
    let (before, after) = (pairs(before), pairs(after));
    let difference = |value: fn(&(f64, f64)) -> f64| {
        let side = |pairs: &[(f64, f64)]| pairs.iter().map(value).collect::<Vec<f64>>();
        Mean::of_difference(&side(&after), &side(&before))
    };
    let found = (
        difference(|(run, _)| *run),
        difference(|(_, control)| *control),
        difference(|(run, control)| run - control),
    );
    let (Some(whole), Some(host), Some(system)) = found else {
        return Cause::NotAvailable;
    };
    if before.len().min(after.len()) < CONTROLS_MIN {
        return Cause::NotAvailable;
    }
    let is_shown = |mean: &Mean| {
        let (low, high) = mean.interval(ALPHA);
        low > 0.0 || high < 0.0
    };
    let (low, high) = host.interval(ALPHA);
    let control = RatioWithInterval {
        ratio: host.mean.exp(),
        low: low.exp(),
        high: high.exp(),
    };
    let moved_along = is_shown(&host) && host.mean.signum() == whole.mean.signum();
    match (moved_along, is_shown(&system)) {
        (true, false) => Cause::Host { control },
        (true, true) => Cause::Both { control },
        (false, true) => Cause::System { control },
        (false, false) => Cause::Unclear { control },
    }
}
