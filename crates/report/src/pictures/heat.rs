//! The colours of heat maps: from dark to light, so that they are distinguishable in greyscale and
//! with colour blindness.

use super::png::Indexed;

/// Number of shades between the least and the greatest value.
pub(crate) const SHADES: u8 = 32;
/// Five colours of the palette viridis (<https://bids.github.io/colormap/>). All other colours are
/// interpolated between them.
const VIRIDIS: [[f64; 3]; 5] = [
    [68.0, 1.0, 84.0],
    [59.0, 82.0, 139.0],
    [33.0, 145.0, 140.0],
    [94.0, 201.0, 98.0],
    [253.0, 231.0, 37.0],
];

/// A grid of values. Row 0 is the lowest row.
#[derive(Clone)]
pub(crate) struct Grid {
    columns: usize,
    rows: usize,
    values: Vec<f64>,
}

impl Grid {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let values = vec![0.0; columns * rows];
        Self {
            columns,
            rows,
            values,
        }
    }

    /// Adds `value` to the value at this position. Positions outside of the grid are ignored.
    pub(crate) fn add(&mut self, column: usize, row: usize, value: f64) {
        if column < self.columns && row < self.rows {
            self.values[row * self.columns + column] += value;
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().copied().filter(|value| *value > 0.0)
    }

    /// An image with one pixel for each value, on a logarithmic colour scale from the least to the
    /// greatest. Values of 0 are transparent.
    pub(crate) fn picture(&self, (low, high): (f64, f64)) -> Indexed {
        let span = (high / low).ln();
        let shade = |value: f64| match value > 0.0 {
            false => 0,
            true if span > 0.0 => {
                1 + ((value / low).ln() / span * f64::from(SHADES - 1))
                    .round()
                    .clamp(0.0, 31.0) as u8
            }
            true => SHADES,
        };
        let from_top = self.values.chunks_exact(self.columns.max(1)).rev();
        Indexed {
            width: self.columns as u32,
            pixels: from_top.flatten().map(|value| shade(*value)).collect(),
            palette: std::iter::once([0; 3])
                .chain((0..SHADES).map(colour))
                .collect(),
        }
    }
}

/// The colour of a shade, from 0 (dark) to `SHADES - 1` (bright).
pub(crate) fn colour(shade: u8) -> [u8; 3] {
    let place = f64::from(shade) / f64::from(SHADES - 1) * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|index| {
        let (one, two) = (VIRIDIS[below][index], VIRIDIS[below + 1][index]);
        (one + (two - one) * part).round() as u8
    })
}
