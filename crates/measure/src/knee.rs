//! The knee of a curve of latency over rate: the point beyond which latency grows faster than the
//! rate, both relative to their ranges.
//!
//! The rule is Kneedle (Satopää, Albrecht, Irwin and Raghavan: Finding a "Kneedle" in a Haystack:
//! Detecting Knee Points in System Behavior, ICDCS Workshops 2011), for a curve that bends upwards.
//! Rates and latencies are scaled to 0 to 1, so that the chord from the first to the last point of
//! a rising curve becomes the diagonal. The difference curve is the distance of the points below
//! the diagonal:
//!
//! ```text
//! x[i] = (rate[i] - least rate) / (greatest rate - least rate)
//! y[i] = (latency[i] - least latency) / (greatest latency - least latency)
//! d[i] = x[i] - y[i]
//! ```
//!
//! The paper rotates such a curve by 180 degrees and uses y − x. The differences are the same, but
//! in the order of falling rates. In this order, a local maximum `d[i]` is a knee if `d` falls
//! below `d[i] − S / (n − 1)` before the next local maximum. `n` is the number of points. `S` is
//! the sensitivity, as a multiple of the mean distance between neighbouring points.
//!
//! Four things differ from the paper. The points are not smoothed by a spline, because load levels
//! are few, and each is a result of thousands of operations. Of several knees, the one furthest
//! below the chord is returned. A curve whose greatest latency is less than [`RISE_MIN`] times its
//! least latency has no knee, because scaling would turn its noise into a knee. A curve has no knee
//! either if its latency at a lower rate is [`RISE_MIN`] times that at the knee: it does not rise
//! from there.
//!
//! The chord ends at the highest measured rate, so the knee depends on this rate. For example, if
//! an M/M/1 queue is measured up to a utilisation of b, its knee is at 1 − sqrt(1 − b).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::middle::Middle;

/// The sensitivity that the Kneedle paper recommends for a complete curve.
pub const SENSITIVITY: f64 = 1.0;
/// The smallest ratio of the greatest to the least latency with which a curve can have a knee. A
/// single queue with random arrivals (M/M/1) doubles its latency at half of its load, so a smaller
/// ratio means that the system was not loaded.
pub const RISE_MIN: f64 = 2.0;
pub const POINTS_MIN: usize = 4;

/// The load beyond which latency grows faster than the rate, both relative to their ranges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// The rate at the knee, in the unit of the curve's points.
    pub rate: f64,
    /// The latency at the knee, in the unit of the curve's points.
    pub latency: f64,
    /// The distance of the knee below the chord, after rates and latencies are scaled to 0 to 1.
    pub difference: f64,
    /// The sensitivity of the search: lower values find weaker knees.
    pub sensitivity: f64,
    /// The number of different rates among the curve's points.
    pub points: usize,
}

/// Returns the knee of points (rate, latency), which may be in any order and in any units. Rates
/// should be the requested ones, because the achieved rate may decrease under overload. Points that
/// are not finite are ignored; latencies at the same rate are averaged. A lower sensitivity finds
/// weaker knees; it must be at least 0.
///
/// Returns `None` for fewer than [`POINTS_MIN`] rates, a greatest latency below [`RISE_MIN`] times
/// the least, a straight line, or a curve that bends downwards or is higher below the knee.
pub fn knee(points: &[(f64, f64)], sensitivity: f64) -> Option<Knee> {
    let curve = curve(points);
    let differences = differences(&curve)?;
    // The paper's algorithm processes the points from the greatest rate down.
    let falling: Vec<f64> = differences.iter().rev().copied().collect();
    let threshold = sensitivity / (curve.len() - 1) as f64;
    let found = knees(&falling, threshold)
        .into_iter()
        .filter(|index| falling[*index] > 0.0)
        .max_by(|a, b| falling[*a].total_cmp(&falling[*b]))?;
    let (rate, latency) = curve[curve.len() - 1 - found];
    let is_below = |(at, of): &(f64, f64)| *at >= rate || *of < RISE_MIN * latency;
    curve.iter().all(is_below).then_some(Knee {
        rate,
        latency,
        difference: falling[found],
        sensitivity,
        points: curve.len(),
    })
}

/// Sorts the points by rate, and averages latencies at the same rate.
fn curve(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points
        .iter()
        .copied()
        .filter(|(rate, latency)| rate.is_finite() && latency.is_finite())
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let sum: f64 = same.iter().map(|(_, latency)| latency).sum();
            (same[0].0, sum / same.len() as f64)
        })
        .collect()
}

/// Returns the distance of each point below the chord from the first to the last point, or `None`
/// if the curve is too short or too flat.
fn differences(curve: &[(f64, f64)]) -> Option<Vec<f64>> {
    if curve.len() < POINTS_MIN {
        return None;
    }
    let (low_rate, high_rate) = (curve[0].0, curve[curve.len() - 1].0);
    let Middle {
        least, greatest, ..
    } = Middle::of(curve.iter().map(|point| point.1))?;
    if greatest <= least || greatest < RISE_MIN * least {
        return None;
    }
    let difference = |(rate, latency): &(f64, f64)| {
        (rate - low_rate) / (high_rate - low_rate) - (latency - least) / (greatest - least)
    };
    Some(curve.iter().map(difference).collect())
}

/// Returns the indices of the local maxima after which the differences fall by more than the
/// threshold, before the next local maximum.
fn knees(differences: &[f64], threshold: f64) -> Vec<usize> {
    let maxima: Vec<usize> = (1..differences.len() - 1)
        .filter(|index| {
            let here = differences[*index];
            differences[index - 1] < here && here >= differences[index + 1]
        })
        .collect();
    let ends = maxima.iter().skip(1).copied().chain([differences.len()]);
    maxima
        .iter()
        .copied()
        .zip(ends)
        .filter(|(maximum, end)| {
            differences[maximum + 1..*end]
                .iter()
                .any(|later| *later < differences[*maximum] - threshold)
        })
        .map(|(maximum, _)| maximum)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    /// Returns the mean response time of an M/M/1 queue, as a multiple of the service time, at
    /// utilisations from 0 to `end`.
    fn queue(end: f64, points: u32) -> Vec<(f64, f64)> {
        (0..points)
            .map(|point| {
                let load = end * f64::from(point) / f64::from(points - 1);
                (load, 1.0 / (1.0 - load))
            })
            .collect()
    }

    fn rate_of(points: &[(f64, f64)]) -> Option<f64> {
        knee(points, SENSITIVITY).map(|knee| knee.rate)
    }

    #[test]
    fn the_knee_of_a_queue_is_where_the_curve_is_parallel_to_its_chord() {
        for end in [0.8, 0.9, 0.95, 0.99] {
            let found = rate_of(&queue(end, 201)).unwrap();
            let expected = 1.0 - (1.0_f64 - end).sqrt();
            assert!(
                (found - expected).abs() <= end / 200.0,
                "up to {end}: {found} instead of {expected}"
            );
        }
        // A typical sweep: 5 to 95 % in steps of 5. The distance below the chord is 0.6222 at 75 %,
        // 0.6250 at 80 % and 0.5921 at 85 %, so the knee is at 80 %.
        let sweep: Vec<(f64, f64)> = (1..20)
            .map(|sweep_step| f64::from(sweep_step) * 0.05)
            .map(|load| (load, 1.0 / (1.0 - load)))
            .collect();
        let found = knee(&sweep, SENSITIVITY).unwrap();
        assert!((found.rate - 0.80).abs() < 1e-9 && (found.latency - 5.0).abs() < 1e-9);
        assert!((found.difference - 0.625).abs() < 1e-9);
        assert_eq!((found.points, found.sensitivity), (19, SENSITIVITY));
    }

    #[test]
    fn the_knee_of_the_paper_example_is_found() {
        // Figure 2 of the paper shows y = 5 - 1 / (x + 0.1) at ten points from 0 to 1, with the
        // knee at 2 / 9. If the curve is rotated by 180 degrees, the knee is at 7 / 9.
        let points: Vec<(f64, f64)> = (0..10)
            .map(|point| f64::from(point) / 9.0)
            .map(|x| (1.0 - x, 5.0 - (5.0 - 1.0 / (x + 0.1))))
            .collect();
        assert!((rate_of(&points).unwrap() - 7.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn the_knee_of_two_straight_lines_is_where_they_meet() {
        let points: Vec<(f64, f64)> = (0..11)
            .map(f64::from)
            .map(|rate| (rate, 1.0 + 0.01 * rate + 3.0 * (rate - 7.0).max(0.0)))
            .collect();
        assert_eq!(rate_of(&points), Some(7.0));
    }

    #[test]
    fn straight_falling_and_short_curves_have_no_knee() {
        let line = |rise: f64| -> Vec<(f64, f64)> {
            (1..20)
                .map(f64::from)
                .map(|rate| (rate, 1.0 + rise * rate))
                .collect()
        };
        assert_eq!(rate_of(&line(0.0)), None);
        assert_eq!(rate_of(&line(0.3)), None);
        assert_eq!(rate_of(&line(1e-6)), None);
        let downwards: Vec<(f64, f64)> = (0..20)
            .map(f64::from)
            .map(|rate| (rate, 1.0 + rate.sqrt()))
            .collect();
        assert_eq!(rate_of(&downwards), None);
        let falling: Vec<(f64, f64)> = (1..20)
            .map(f64::from)
            .map(|rate| (rate, 20.0 - rate))
            .collect();
        assert_eq!(rate_of(&falling), None);
        assert_eq!(rate_of(&queue(0.9, 3)), None);
        assert_eq!(rate_of(&queue(0.45, 50)), None, "not loaded");
        assert_eq!(rate_of(&[]), None);
        assert_eq!(
            rate_of(&[(1.0, 1.0), (1.0, 2.0), (1.0, 9.0), (1.0, 4.0)]),
            None
        );
        let disturbed = [(1.0, 8.4), (2.0, 1.6), (3.0, 1.7), (4.0, 1.7), (5.0, 12.0)];
        assert_eq!(rate_of(&disturbed), None, "higher at a lower rate");
        assert_eq!(rate_of(&disturbed[1..]), Some(4.0));
        let spoilt = [
            (1.0, 1.0),
            (2.0, f64::NAN),
            (3.0, 1.1),
            (f64::INFINITY, 9.0),
            (4.0, 9.0),
        ];
        assert_eq!(rate_of(&spoilt), None);
    }

    #[test]
    fn noise_moves_a_knee_slightly_and_creates_none() {
        let mut noise = Noise::new(11);
        let mut noisy = |points: &[(f64, f64)], share: f64| -> Vec<(f64, f64)> {
            points
                .iter()
                .map(|(rate, latency)| (*rate, latency * (1.0 + share * noise.normal())))
                .collect()
        };
        let flat: Vec<(f64, f64)> = (1..15).map(f64::from).map(|rate| (rate, 1.0)).collect();
        let mut near = 0;
        for _ in 0..500 {
            assert_eq!(rate_of(&noisy(&flat, 0.05)), None);
            // Without noise the knee is at 0.684. Near this rate the curve is almost parallel to
            // its chord, so noise can move the knee.
            let found = rate_of(&noisy(&queue(0.9, 19), 0.05)).unwrap();
            assert!((0.45..=0.80).contains(&found), "{found}");
            near += u32::from((found - 0.684).abs() <= 0.1);
        }
        println!("{near} of 500 near the knee");
        assert!(near >= 450, "{near} of 500 near the knee");
        // On a straight line, noise of 2 % of the greatest latency is below the threshold at a
        // sensitivity of 1.
        let line: Vec<(f64, f64)> = (0..12)
            .map(f64::from)
            .map(|rate| (rate, 1.0 + rate))
            .collect();
        let mut knees = 0;
        for _ in 0..500 {
            let points: Vec<(f64, f64)> = noisy(&flat, 0.02)
                .iter()
                .zip(&line)
                .map(|(by, (rate, latency))| (*rate, latency + 12.0 * (by.1 - 1.0)))
                .collect();
            knees += u32::from(rate_of(&points).is_some());
        }
        println!("{knees} of 500 lines with a knee");
        assert!(knees < 25, "{knees} of 500 lines with a knee");
    }

    #[test]
    fn a_higher_sensitivity_finds_fewer_knees() {
        let bent = [(0.0, 1.0), (1.0, 1.7), (2.0, 2.4), (3.0, 4.0)];
        // The scaled distance below the chord is 2/3 - 1.4/3 = 0.2 at rate 2, and 0 at both ends.
        // A maximum of the distance is a knee if the distance then falls by more than S / (n − 1),
        // where S is the sensitivity. For these four points, n − 1 is 3. The fall of 0.2 exceeds
        // 0.5 / 3, but not 1 / 3.
        assert_eq!(knee(&bent, 0.5).map(|knee| knee.rate), Some(2.0));
        assert_eq!(knee(&bent, 1.0), None);
    }

    proptest! {
        #[test]
        fn units_and_order_of_points_do_not_change_the_knee(
            latencies in prop::collection::vec(1.0_f64..100.0, 4..20),
            rate_unit in 0.1_f64..1e6,
            latency_unit in 0.1_f64..1e6,
        ) {
            let points: Vec<(f64, f64)> = (1_u32..).map(f64::from).zip(latencies).collect();
            let scaled: Vec<(f64, f64)> = points.iter().rev().map(|(rate, latency)|
                (rate * rate_unit, latency * latency_unit)).collect();
            let (found, other) = (rate_of(&points), rate_of(&scaled));
            prop_assert_eq!(found.is_some(), other.is_some());
            if let (Some(found), Some(other)) = (found, other) {
                prop_assert!((found * rate_unit - other).abs() <= 1e-9 * other);
            }
        }

        #[test]
        fn a_knee_is_one_of_the_points(latencies in prop::collection::vec(-5.0_f64..100.0, 0..20),
            sensitivity in 0.0_f64..5.0) {
            let points: Vec<(f64, f64)> = (0_u32..).map(f64::from).zip(latencies).collect();
            if let Some(knee) = knee(&points, sensitivity) {
                prop_assert!(points.contains(&(knee.rate, knee.latency)));
                prop_assert!(knee.difference > 0.0 && knee.difference <= 1.0);
            }
        }
    }
}
