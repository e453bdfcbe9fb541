//! What survives of written data that was not synced.

/// Size of a page in bytes, the unit in which a file system writes data.
const PAGE: usize = 4096;

/// Size of a sector in bytes, the unit in which a device writes data.
const SECTOR: usize = 512;

/// Returns the data of a file after a crash: `synced` with a part of the changes that lead to
/// `written`. `draw` returns the next random number.
///
/// The changes are lost, or torn (the first of them survive, up to a sector), or reordered (each
/// page survives or not, so that a later page may exist without an earlier one).
pub(super) fn survivors(synced: &[u8], written: &[u8], draw: &mut impl FnMut() -> u64) -> Vec<u8> {
    match draw() % 3 {
        0 => synced.to_vec(),
        1 => torn(synced, written, draw()),
        _ => reordered(synced, written, draw),
    }
}

fn torn(synced: &[u8], written: &[u8], chance: u64) -> Vec<u8> {
    let sectors = written.len().div_ceil(SECTOR) as u64;
    let cut = (chance % (sectors + 1)) as usize * SECTOR;
    let cut = cut.min(written.len());
    let mut kept = written[..cut].to_vec();
    kept.extend_from_slice(synced.get(cut..).unwrap_or_default());
    kept
}

fn reordered(synced: &[u8], written: &[u8], draw: &mut impl FnMut() -> u64) -> Vec<u8> {
    let mut kept = synced.to_vec();
    for (number, page) in written.chunks(PAGE).enumerate() {
        if draw().is_multiple_of(2) {
            continue;
        }
        let at = number * PAGE;
        let length = kept.len().max(at + page.len());
        // A page that was not written before a later one reads as zeros.
        kept.resize(length, 0);
        kept[at..at + page.len()].copy_from_slice(page);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[u64]) -> impl FnMut() -> u64 + '_ {
        let mut values = values.iter().copied();
        move || values.next().unwrap()
    }

    #[test]
    fn writes_are_lost_torn_or_reordered() {
        let synced = vec![1; 1000];
        let written = vec![2; 3 * PAGE];
        assert_eq!(survivors(&synced, &written, &mut numbers(&[0])), synced);
        let torn = survivors(&synced, &written, &mut numbers(&[1, 1]));
        assert_eq!(torn, [vec![2; SECTOR], vec![1; 1000 - SECTOR]].concat());
        let later = survivors(&synced, &written, &mut numbers(&[2, 0, 1, 0]));
        let expected = [vec![1; 1000], vec![0; PAGE - 1000], vec![2; PAGE]];
        assert_eq!(later, expected.concat());
    }

    #[test]
    fn bytes_before_an_append_never_change() {
        let synced: Vec<u8> = (0..9_000u32).map(|byte| byte as u8).collect();
        let written = [&synced[..], &[7; 5_000]].concat();
        let mut state = 1u64;
        let mut draw = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        for _ in 0..1_000 {
            let kept = survivors(&synced, &written, &mut draw);
            assert!(kept.starts_with(&synced));
            assert!(kept.len() <= written.len());
        }
    }
}
