//! Medians with their intervals.

/// The median of some values and the order statistics that enclose the true one with about 95 % probability
/// (by the sign test; with 9 values the 2nd and the 8th, 96.1 %).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Median {
    /// The value with its interval.
    pub fn show(&self, decimals: usize) -> String {
        let Self { value, low, high } = self;
        format!("{value:.decimals$} [{low:.decimals$}, {high:.decimals$}]")
    }
}

/// The median of values; none of none.
pub fn median(values: &[f64]) -> Option<Median> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let (lower, upper) = (sorted.get(count.checked_sub(1)? / 2)?, sorted.get(count / 2)?);
    let rank = enclosing_rank(count);
    Some(Median {
        value: (lower + upper) / 2.0,
        low: sorted[rank],
        high: sorted[count - 1 - rank],
    })
}

/// The greatest rank, from 0, whose order statistic and its mirror enclose the median with at least 95 %: so
/// long as at most 2.5 % of all cases have no more than so many values below the median.
fn enclosing_rank(count: usize) -> usize {
    let mut exactly = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut at_most = exactly;
    let mut rank = 0;
    loop {
        exactly *= (count - rank) as f64 / (rank + 1) as f64;
        at_most += exactly;
        if at_most > 0.025 {
            return rank;
        }
        rank += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_nine_is_the_second_and_the_eighth() {
        let values: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(
            median(&values),
            Some(Median {
                value: 5.0,
                low: 2.0,
                high: 8.0
            })
        );
    }

    #[test]
    fn few_values_enclose_with_their_extremes() {
        assert_eq!(
            median(&[3.0, 1.0, 2.0]),
            Some(Median {
                value: 2.0,
                low: 1.0,
                high: 3.0
            })
        );
        assert_eq!(median(&[]), None);
    }
}
