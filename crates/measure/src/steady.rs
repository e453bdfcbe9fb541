//! Tests whether a run is in its steady state.
//!
//! [`rounds`] is the rule of SNIA's Solid State Storage Performance Test Specification (PTS 2.0.1,
//! definition of *Steady State*). Over a window of five rounds, with `y` as the tracked quantity,
//!
//! - excursion = (max(y) − min(y)) / mean(y) is at most 20 %, and
//! - slope excursion = (max − min of the least-squares line within the window) / mean(y) is at most
//!   10 %. Rounds have equal distances, so this is |slope per round| × (rounds − 1) / mean(y).
//!
//! SNIA's rule uses five numbers and ignores their uncertainty. [`drifts`] is our own rule over
//! many time slices. This rule computes the largest slope that the run can plausibly have; see
//! [`drift`]. Both rules search for a steady state in which to measure.
//!
//! [`change`] answers the opposite question after a measurement: whether the rate certainly
//! changed, by more than its noise.

mod change;
mod drift;
mod window;

pub use self::change::{NotJudged, RateChange, SLICES_MIN, change};
pub use self::drift::{BATCHES, DRIFT_MAX, Drift, drift, drifts};
pub use self::window::{EXCURSION_MAX, SLOPE_EXCURSION_MAX, Steady, WINDOW_ROUNDS, rounds, window};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn close(read: f64, expected: f64) {
        assert!(
            (read - expected).abs() < 1e-12,
            "{read} instead of {expected}"
        );
    }

    #[test]
    fn window_of_five_rounds_has_the_computed_excursions() {
        let steady = window(&[100.0, 103.0, 104.0, 103.0, 110.0]).unwrap();
        // The means are 2 (number of the round) and 104 (value). The deviations from the means have
        // the products 8, 1, 0, -1 and 12, and the squares 4, 1, 0, 1 and 4. So the slope is 20 /
        // 10 = 2 per round, or 8 from the first round to the fifth.
        close(steady.average, 104.0);
        close(steady.excursion, 10.0 / 104.0);
        close(steady.slope_excursion, 8.0 / 104.0);
        assert!(steady.is_steady);
        assert_eq!((steady.begins, steady.window), (0, 5));
    }

    #[test]
    fn windows_at_the_limits_are_steady_and_above_them_not() {
        // Without a slope, an excursion of 20 % is steady, and a slightly greater one is not.
        assert!(window(&[100.0, 90.0, 100.0, 110.0, 100.0]).is_some_and(|steady| steady.is_steady));
        let above = window(&[110.0, 90.0, 90.0 - 1e-9, 90.0, 110.0]).unwrap();
        assert!(
            !above.is_steady && above.slope_excursion < 1e-9,
            "{above:?}"
        );
        // A line that rises by 10 % over the window is steady. A line that rises by 12 % is not
        // steady, although its excursion is below 20 %.
        assert!(window(&[95.0, 97.5, 100.0, 102.5, 105.0]).is_some_and(|steady| steady.is_steady));
        let steeper = window(&[94.0, 97.0, 100.0, 103.0, 106.0]).unwrap();
        assert!(
            !steeper.is_steady && steeper.excursion < EXCURSION_MAX,
            "{steeper:?}"
        );
        // The limit is the same for a falling line.
        assert!(window(&[106.0, 103.0, 100.0, 97.0, 94.0]).is_some_and(|steady| !steady.is_steady));
    }

    #[test]
    fn first_steady_window_is_returned() {
        // The rates of a fresh device are high at first, then fall, and then stay constant.
        let settling = [
            300.0, 290.0, 220.0, 150.0, 118.0, 104.0, 101.0, 100.0, 99.0, 101.0, 100.0,
        ];
        let steady = rounds(&settling, WINDOW_ROUNDS).unwrap();
        assert!(steady.is_steady);
        // The window from 118 on is not steady. Its excursion of 19 / 104.4 = 18 % is within the
        // limit of 20 %. But its line falls by 15 %, which exceeds the limit of 10 %.
        assert_eq!(steady.begins, 5);
        close(steady.average, 101.0);
    }

    #[test]
    fn growth_and_steps_are_not_steady() {
        let ramp: Vec<f64> = (0..30)
            .map(|round| 100.0 + 5.0 * f64::from(round))
            .collect();
        let last = rounds(&ramp, WINDOW_ROUNDS).unwrap();
        // The ramp from 100 to 245 is steady at its end: in the last five rounds, 225 to 245, the
        // slope excursion 20 / 235 is less than 10 %.
        assert!(last.is_steady && last.begins > 0, "{last:?}");
        close(last.slope_excursion, 20.0 / last.average);
        assert!(last.average >= 200.0);
        let growing: Vec<f64> = (0..30).map(|round| 1.05_f64.powi(round)).collect();
        let last = rounds(&growing, WINDOW_ROUNDS).unwrap();
        assert!(!last.is_steady && last.begins == 25, "{last:?}");
        let step = [100.0, 100.0, 100.0, 100.0, 130.0, 130.0, 130.0];
        assert!(
            rounds(&step, WINDOW_ROUNDS).is_some_and(|last| !last.is_steady && last.begins == 2)
        );
        let after_step = [100.0, 100.0, 130.0, 130.0, 130.0, 130.0, 130.0];
        assert!(
            rounds(&after_step, WINDOW_ROUNDS)
                .is_some_and(|first| first.is_steady && first.begins == 2)
        );
    }

    #[test]
    fn noise_is_steady_at_two_percent_but_not_at_twenty() {
        let mut noise = Noise::new(3);
        let mut series = |share: f64| -> Vec<f64> {
            (0..5)
                .map(|_| 100.0 * (1.0 + share * noise.normal()))
                .collect()
        };
        for _ in 0..100 {
            assert!(window(&series(0.02)).is_some_and(|steady| steady.is_steady));
        }
        let steady =
            (0..100).filter(|_| window(&series(0.20)).is_some_and(|steady| steady.is_steady));
        assert!(steady.count() < 10);
    }

    #[test]
    fn windows_without_a_positive_mean_have_no_result() {
        assert_eq!(rounds(&[1.0; 4], WINDOW_ROUNDS), None);
        assert_eq!(window(&[]), None);
        assert_eq!(window(&[1.0]), None);
        assert_eq!(rounds(&[1.0; 4], 0), None);
        assert_eq!(window(&[0.0; 5]), None);
        assert_eq!(window(&[1.0, f64::NAN, 1.0, 1.0, 1.0]), None);
    }
}
