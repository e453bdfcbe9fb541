//! The tree of ranks: a binomial tree with rank 0 as its root.
//!
//! The number of a rank's parent is the rank's number without its lowest set bit. The numbers of a
//! rank's descendants therefore follow the rank's number without a gap. A merge from the first
//! child to the last one keeps the order of ranks. The depth and the number of children are at most
//! the binary logarithm of the number of ranks, rounded up.

/// Returns the parent of a rank; `None` for rank 0.
pub(crate) fn parent(rank: u32) -> Option<u32> {
    (rank != 0).then(|| rank & (rank - 1))
}

/// Returns the children of a rank in ascending order, in a tree of `ranks` ranks.
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
    fn tree_contains_all_ranks_in_order() {
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

    /// Returns a rank and its descendants in the order of the merge.
    fn below(rank: u32, ranks: u32) -> Vec<u32> {
        let mut all = vec![rank];
        for child in children(rank, ranks) {
            all.extend(below(child, ranks));
        }
        all
    }
}
