//! Shares of events, and limits that are promised for the shares.

use crate::statistics::clopper_pearson;

#[derive(Clone, Copy, Debug)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Without a limit; the share is only shown.
    None,
}

/// Number of cases in which an event occurred, and number of all cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub count: usize,
    pub all: usize,
}

impl Share {
    /// Adds a case. The event has occurred in the case if `is_so` is true.
    pub fn add(&mut self, is_so: bool) {
        self.all += 1;
        self.count += usize::from(is_so);
    }

    pub fn share(self) -> f64 {
        self.count as f64 / self.all.max(1) as f64
    }

    /// Whether the exact 95 % confidence interval of the share contains a value within the limit.
    pub fn agrees(self, limit: Limit) -> bool {
        // The interval contains the observed share, so a share within the limit always agrees.
        let (low, high) = clopper_pearson(self.count, self.all);
        match limit {
            Limit::AtMost(most) => low <= most,
            Limit::AtLeast(least) => high >= least,
            Limit::None => true,
        }
    }

    /// The share with a mark: `~` if the share misses the limit by no more than chance explains,
    /// `MISSED` if it misses the limit by more.
    pub fn show(self, limit: Limit) -> String {
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
