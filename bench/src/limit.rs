//! How often something was so, and limits that are promised of that.

use crate::statistics::clopper_pearson;

/// What is promised of a rate.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Shown only.
    None,
}

/// How often something was so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub count: usize,
    pub all: usize,
}

impl Share {
    /// Counts one more.
    pub fn add(&mut self, is_so: bool) {
        self.all += 1;
        self.count += usize::from(is_so);
    }

    pub fn share(self) -> f64 {
        self.count as f64 / self.all.max(1) as f64
    }

    /// Whether the count agrees with the limit, by the exact 95 % interval.
    pub fn agrees(self, limit: Limit) -> bool {
        // Such an interval has the share in it.
        let (low, high) = clopper_pearson(self.count, self.all);
        match limit {
            Limit::AtMost(most) => low <= most,
            Limit::AtLeast(least) => high >= least,
            Limit::None => true,
        }
    }

    /// The share with a mark: `~` if it is beyond the limit, but by no more than chance explains.
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
