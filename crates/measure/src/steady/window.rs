//! The rule of the Performance Test Specification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line::Line;
use crate::middle::Middle;

/// Rounds of the window.
pub const WINDOW_ROUNDS: usize = 5;
/// The greatest excursion of a steady state, as a share of the average.
pub const EXCURSION_MAX: f64 = 0.20;
/// The greatest excursion of the line, as a share of the average.
pub const SLOPE_EXCURSION_MAX: f64 = 0.10;

/// A verdict on a window of rounds, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// Whether both excursions are small enough.
    pub is_steady: bool,
    /// The window's first round, from 0.
    pub begins: usize,
    /// How many rounds it has.
    pub window: usize,
    /// The mean of its rounds, in their unit.
    pub average: f64,
    /// Greatest minus least, as a share of the average.
    pub excursion: f64,
    /// Greatest minus least of the line of least squares, as a share of the average.
    pub slope_excursion: f64,
}

/// The verdict on all of these rounds as one window. Nothing for fewer than two, and where their
/// average is not above 0: there is no share of it.
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

/// The verdict on the first window of so many rounds that is steady; where none is, on the last
/// that there is a verdict on; nothing where there is none.
pub fn rounds(rounds: &[f64], window_rounds: usize) -> Option<Steady> {
    let verdicts = windows(rounds, window_rounds).filter_map(|(begins, values)| {
        Some(Steady {
            begins,
            ..window(values)?
        })
    });
    first_or_last(verdicts, |verdict| verdict.is_steady)
}

/// All windows of a length, with where they begin.
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

/// The mean, where it is one that there are shares of.
pub(super) fn average(values: &[f64]) -> Option<f64> {
    let average = values.iter().sum::<f64>() / values.len() as f64;
    (average > 0.0 && average.is_finite()).then_some(average)
}
