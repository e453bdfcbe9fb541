//! Linear regression: the straight line with the least sum of squared vertical distances from the
//! points.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    mean_x: f64,
    mean_y: f64,
    pub slope: f64,
    /// The sum of the squared deviations of x from its mean.
    pub squares_x: f64,
}

impl Line {
    /// Fits a line to points; returns `None` if all points have the same x.
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

    /// Returns the vertical distance of a point above the line; it is negative below the line.
    pub(crate) fn residual(&self, (x, y): (f64, f64)) -> f64 {
        y - self.mean_y - self.slope * (x - self.mean_x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_through_four_points_is_exact() {
        // The means are 2.5 (x) and 5 (y). For the deviations from the means, the sum of the
        // squares of x is 5, and that of the products is 7.
        let points = [(1.0, 3.0), (2.0, 5.0), (3.0, 4.0), (4.0, 8.0)];
        let line = Line::through(&points).unwrap();
        assert_eq!((line.slope, line.squares_x), (1.4, 5.0));
        let residuals = points.map(|point| line.residual(point));
        for (residual, expected) in residuals.iter().zip([0.1, 0.7, -1.7, 0.9]) {
            assert!((residual - expected).abs() < 1e-12, "{residuals:?}");
        }
    }

    #[test]
    fn points_with_equal_x_have_no_line() {
        assert!(Line::through(&[]).is_none());
        assert!(Line::through(&[(1.0, 2.0)]).is_none());
        assert!(Line::through(&[(1.0, 2.0), (1.0, 3.0)]).is_none());
    }
}
