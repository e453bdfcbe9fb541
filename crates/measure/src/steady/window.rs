//! The steady-state rule of SNIA's Performance Test Specification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line::Line;
use crate::middle::Middle;

/// SNIA's rule examines a window of five rounds.
pub const WINDOW_ROUNDS: usize = 5;
/// The largest excursion of a steady state, as a fraction of the average.
pub const EXCURSION_MAX: f64 = 0.20;
/// The largest slope excursion of a steady state, as a fraction of the average.
pub const SLOPE_EXCURSION_MAX: f64 = 0.10;

/// The excursions of a window of rounds, and whether the window is steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// Whether the excursion and the slope excursion are within their limits.
    pub is_steady: bool,
    /// The window's first round, from 0.
    pub begins: usize,
    /// The number of rounds in the window.
    pub window: usize,
    /// The mean of the window's rounds, in the unit of the rounds.
    pub average: f64,
    /// The maximum minus the minimum of the rounds, as a fraction of the average.
    pub excursion: f64,
    /// The maximum minus the minimum of the least-squares line, as a fraction of the average.
    pub slope_excursion: f64,
}

/// Judges all rounds as one window. Returns `None` for fewer than two rounds, or if their average
/// is not above 0.
pub fn window(rounds: &[f64]) -> Option<Steady> {
    let average = average(rounds)?;
    let extent = Middle::of(rounds.iter().copied())?;
    let numbers = (0_u32..).map(f64::from);
    let points: Vec<(f64, f64)> = numbers.zip(rounds.iter().copied()).collect();
    let slope = Line::through(&points)?.slope;
    let excursion = (extent.greatest - extent.least) / average;
    let slope_excursion = slope.abs() * (rounds.len() - 1) as f64 / average;
    Some(Steady {
        is_steady: excursion <= EXCURSION_MAX && slope_excursion <= SLOPE_EXCURSION_MAX,
        begins: 0,
        window: rounds.len(),
        average,
        excursion,
        slope_excursion,
    })
}

/// Returns the result for the first steady window of `window_rounds` rounds, or for the last window
/// if none is steady. Returns `None` if no window can be judged.
pub fn rounds(rounds: &[f64], window_rounds: usize) -> Option<Steady> {
    let verdicts = windows(rounds, window_rounds).filter_map(|(begins, values)| {
        Some(Steady {
            begins,
            ..window(values)?
        })
    });
    first_or_last(verdicts, |verdict| verdict.is_steady)
}

/// Returns all windows of a length, with the index of their first value.
pub(super) fn windows(values: &[f64], length: usize) -> impl Iterator<Item = (usize, &[f64])> {
    values.windows(length.max(1)).enumerate()
}

pub(super) fn first_or_last<T>(
    verdicts: impl Iterator<Item = T>,
    is_steady: fn(&T) -> bool,
) -> Option<T> {
    let mut last = None;
    for verdict in verdicts {
        if is_steady(&verdict) {
            return Some(verdict);
        }
        last = Some(verdict);
    }
    last
}

/// Returns the mean; `None` if the mean is 0, negative or not finite.
pub(super) fn average(values: &[f64]) -> Option<f64> {
    let average = values.iter().sum::<f64>() / values.len() as f64;
    (average > 0.0 && average.is_finite()).then_some(average)
}
