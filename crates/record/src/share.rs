/// Returns the share of a part in a whole, from 0 to 1; 0 if the whole is 0.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
