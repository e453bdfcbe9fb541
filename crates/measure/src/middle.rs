#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Middle {
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Middle {
    /// Returns `None` if there are no values.
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
