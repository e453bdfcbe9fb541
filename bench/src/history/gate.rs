//! placeholder
pub(super) fn perform(_series: u32, _seed: u64) -> bool {
    true
}
