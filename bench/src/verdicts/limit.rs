//! Limits that are promised of rates.

use crate::statistics::clopper_pearson;

/// What is promised of a rate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Shown only.
    None,
}

/// How often a reason was given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flagged {
    pub(super) count: usize,
    pub(super) all: usize,
}

impl Flagged {
    pub(super) fn share(self) -> f64 {
        self.count as f64 / self.all.max(1) as f64
    }

    /// Whether the count agrees with the limit, by the exact 95 % interval.
    pub(super) fn agrees(self, limit: Limit) -> bool {
        let interval = || clopper_pearson(self.count, self.all);
        match limit {
            Limit::AtMost(most) => self.share() <= most || interval().0 <= most,
            Limit::AtLeast(least) => self.share() >= least || interval().1 >= least,
            Limit::None => true,
        }
    }

    /// The share with a mark: `~` if it is beyond the limit, but by no more than chance explains.
    pub(super) fn show(self, limit: Limit) -> String {
        let share = self.share();
        let is_within = match limit {
            Limit::AtMost(most) => share <= most,
            Limit::AtLeast(least) => share >= least,
            Limit::None => true,
        };
        let mark = match (is_within, self.agrees(limit)) {
            (true, _) => "",
            (false, true) => " ~",
            (false, false) => " MISSED",
        };
        format!("{:.1} %{mark}", 100.0 * share)
    }
}
