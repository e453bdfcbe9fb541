//! Mean and standard deviation of samples.

/// The arithmetic mean; 0 without samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}

/// Standard deviation of samples, with n - 1 degrees of freedom; `None` for fewer than two samples.
pub fn standard_deviation(samples: &[f64]) -> Option<f64> {
    if samples.len() < 2 {
        return None;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    Some((squares / (samples.len() - 1) as f64).sqrt())
}

/// Dispersion of rates: their standard deviation, divided by their mean. `None` for fewer than two
/// rates, or if their mean is not positive.
pub fn dispersion(rates: &[f64]) -> Option<f64> {
    let mean = mean(rates);
    let deviation = standard_deviation(rates).filter(|_| mean > 0.0)?;
    Some(deviation / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispersion_is_the_relative_standard_deviation() {
        // The deviations from the mean of 100 are -10, 0 and 10. So the variance is 200 / 2, the
        // standard deviation 10, and the dispersion 10 / 100.
        assert!(dispersion(&[90.0, 100.0, 110.0]).is_some_and(|of| (of - 0.1).abs() < 1e-12));
        assert_eq!(dispersion(&[100.0]), None, "one rate");
        assert_eq!(dispersion(&[0.0, 0.0]), None, "no mean");
    }
}
