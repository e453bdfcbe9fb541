/// Returns the probability that a standard normal variable is below `z`.
pub(super) fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}
