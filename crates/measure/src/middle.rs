//! The middle of a few values.

/// The middle of values, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Middle {
    /// The median.
    pub median: f64,
    /// The least of them.
    pub least: f64,
    /// The greatest of them.
    pub greatest: f64,
}

impl Middle {
    /// Nothing where there are no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (least, greatest) = (*values.first()?, *values.last()?);
        let half = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[half],
            _ => f64::midpoint(values[half - 1], values[half]),
        };
        Some(Self {
            median,
            least,
            greatest,
        })
    }
}
