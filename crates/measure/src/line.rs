//! The straight line through points that has the least squares of vertical distances.

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    mean_x: f64,
    mean_y: f64,
    /// Rise by one of x.
    pub slope: f64,
    /// The sum of squares of x about its mean.
    pub squares_x: f64,
}

impl Line {
    /// Through at least two points with different x; nothing through fewer.
    pub(crate) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let squares_x: f64 = points
            .iter()
            .map(|(x, _)| (x - mean_x) * (x - mean_x))
            .sum();
        let products: f64 = points
            .iter()
            .map(|(x, y)| (x - mean_x) * (y - mean_y))
            .sum();
        (squares_x > 0.0).then(|| Self {
            mean_x,
            mean_y,
            slope: products / squares_x,
            squares_x,
        })
    }

    /// How far above the line a point is.
    pub(crate) fn residual(&self, (x, y): (f64, f64)) -> f64 {
        y - self.mean_y - self.slope * (x - self.mean_x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_four_points() {
        // Sums of squares and products about the means 2.5 and 5: 5 and 7.
        let points = [(1.0, 3.0), (2.0, 5.0), (3.0, 4.0), (4.0, 8.0)];
        let line = Line::through(&points).unwrap();
        assert_eq!((line.slope, line.squares_x), (1.4, 5.0));
        let residuals = points.map(|point| line.residual(point));
        for (residual, expected) in residuals.iter().zip([0.1, 0.7, -1.7, 0.9]) {
            assert!((residual - expected).abs() < 1e-12, "{residuals:?}");
        }
    }

    #[test]
    fn there_is_no_line_through_one_place() {
        assert!(Line::through(&[]).is_none());
        assert!(Line::through(&[(1.0, 2.0)]).is_none());
        assert!(Line::through(&[(1.0, 2.0), (1.0, 3.0)]).is_none());
    }
}
