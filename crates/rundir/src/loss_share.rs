//! Exact confidence limits of the share of crashes that lose an acknowledged operation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

/// Confidence level of all limits.
const CONFIDENCE: f64 = 0.95;

/// Number of halvings of an interval: more than an `f64` has bits.
const HALVINGS: u32 = 64;

/// The two-sided interval of Clopper and Pearson (Biometrika 26, 1934).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LossShare {
    pub min: f64,
    pub max: f64,
}

/// Returns the largest share of crashes with a loss for which `crashes` crashes without a loss have
/// a probability of 5 %: 1 - 0.05^(1/n), which is below 3/n. `None` without a crash.
pub fn loss_share_max(crashes: u32) -> Option<f64> {
    (crashes > 0).then(|| 1.0 - (1.0 - CONFIDENCE).powf(1.0 / f64::from(crashes)))
}

/// Returns the number of crashes without a loss that show a share below `max`.
pub fn crashes_needed(max: f64) -> f64 {
    ((1.0 - CONFIDENCE).ln() / (1.0 - max).ln()).ceil()
}

/// Returns the 95 % interval of the share if `lossy` of `crashes` crashes have a loss. `None`
/// without a loss, for which [`loss_share_max`] is the limit.
pub fn loss_share(lossy: u32, crashes: u32) -> Option<LossShare> {
    if lossy == 0 || lossy > crashes {
        return None;
    }
    let (k, n) = (f64::from(lossy), f64::from(crashes));
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let max = match lossy == crashes {
        true => 1.0,
        false => quantile((k + 1.0, n - k), 1.0 - tail),
    };
    Some(LossShare {
        min: quantile((k, n - k + 1.0), tail),
        max,
    })
}

/// Returns the quantile of a beta distribution.
fn quantile((a, b): (f64, f64), probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match beta_reg(a, b, middle) < probability {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_exact_and_below_three_divided_by_the_number_of_crashes() {
        assert_eq!(loss_share_max(0), None);
        assert!((loss_share_max(1).unwrap() - 0.95).abs() < 1e-12);
        let of_200 = loss_share_max(200).unwrap();
        assert!((of_200 - 0.014_867).abs() < 1e-6, "{of_200}");
        for crashes in 1..2_000 {
            let bound = loss_share_max(crashes).unwrap();
            assert!(bound < 3.0 / f64::from(crashes));
            let needed = crashes_needed(bound + 1e-9);
            assert_eq!(needed, f64::from(crashes));
        }
    }

    #[test]
    fn interval_equals_published_values_and_contains_the_observed_share() {
        assert_eq!(loss_share(0, 10), None);
        // R: binom.test(1, 10) and binom.test(10, 10).
        for (lossy, crashes, min, max) in [(1, 10, 0.002_529, 0.445_016), (10, 10, 0.691_503, 1.0)]
        {
            let found = loss_share(lossy, crashes).unwrap();
            assert!((found.min - min).abs() < 1e-6, "{found:?}");
            assert!((found.max - max).abs() < 1e-6, "{found:?}");
        }
        for crashes in 1..200 {
            for lossy in 1..=crashes {
                let found = loss_share(lossy, crashes).unwrap();
                let share = f64::from(lossy) / f64::from(crashes);
                assert!(found.min < share && share <= found.max, "{found:?}");
            }
        }
    }
}
