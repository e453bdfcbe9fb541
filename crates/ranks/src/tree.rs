//! The tree that ranks form: binomial, with rank 0 at its root.
//!
//! The parent of a rank is its number without the lowest bit that is set, so that the ranks below
//! any rank are those that follow it, without a gap: what is merged from the first child to the
//! last is merged in the order of ranks. No rank is further from the root than the logarithm of
//! their number, and none has more children than that.

/// The rank above; nothing above rank 0.
pub(crate) fn parent(rank: u32) -> Option<u32> {
    (rank != 0).then(|| rank & (rank - 1))
}

/// The ranks right below, in their order, of so many ranks.
pub(crate) fn children(rank: u32, ranks: u32) -> impl DoubleEndedIterator<Item = u32> {
    let bits = if rank == 0 {
        u32::BITS
    } else {
        rank.trailing_zeros()
    };
    (0..bits)
        .map(move |bit| u64::from(rank) + (1 << bit))
        .filter(move |child| *child < u64::from(ranks))
        .map(|child| child as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_its_parent_and_follows_it_without_a_gap() {
        for ranks in [1, 2, 3, 7, 8, 9, 64, 1000, 10_000] {
            for rank in 0..ranks {
                for child in children(rank, ranks) {
                    assert_eq!(parent(child), Some(rank));
                    assert_eq!(child.count_ones(), rank.count_ones() + 1);
                }
            }
            let below_someone: u32 = (0..ranks)
                .map(|rank| children(rank, ranks).count() as u32)
                .sum();
            assert_eq!(below_someone, ranks - 1);
            assert_eq!(below(0, ranks), (0..ranks).collect::<Vec<_>>());
            assert!(children(0, ranks).count() as u32 <= ranks.ilog2() + 1);
        }
        assert_eq!(children(u32::MAX, u32::MAX).count(), 0);
    }

    /// A rank and all below it, as they are merged.
    fn below(rank: u32, ranks: u32) -> Vec<u32> {
        let mut all = vec![rank];
        for child in children(rank, ranks) {
            all.extend(below(child, ranks));
        }
        all
    }
}
