//! The slowest operations, with their descriptions.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub const SLOWEST_KEPT: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow<T> {
    pub ns: u64,
    pub what: T,
}

/// A list of the [`SLOWEST_KEPT`] operations with the longest durations. If the list is full, a
/// duration equal to the shortest one is rejected, so that earlier operations remain. Lists that
/// are merged in another order contain the same durations, but may contain other operations of
/// equal duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slowest<T> {
    kept: Vec<Slow<T>>,
    /// Durations below this number of nanoseconds are rejected.
    from_ns: u64,
}

impl<T> Default for Slowest<T> {
    fn default() -> Self {
        Self {
            kept: Vec::with_capacity(SLOWEST_KEPT),
            from_ns: 0,
        }
    }
}

impl<T> Slowest<T> {
    /// Adds an operation if its duration is among the longest. Otherwise this costs one comparison,
    /// and `what` is not called.
    #[inline]
    pub fn offer(&mut self, ns: u64, what: impl FnOnce() -> T) {
        if ns >= self.from_ns {
            self.take(Slow { ns, what: what() });
        }
    }

    #[cold]
    fn take(&mut self, slow: Slow<T>) {
        if self.kept.len() < SLOWEST_KEPT {
            self.kept.push(slow);
        } else if let Some(least) = self.kept.iter_mut().min_by_key(|kept| kept.ns) {
            *least = slow;
        }
        if self.kept.len() == SLOWEST_KEPT {
            let least_ns = self.kept.iter().map(|kept| kept.ns).min().unwrap_or(0);
            self.from_ns = least_ns.saturating_add(1);
        }
    }

    pub fn merge(&mut self, other: Self) {
        for slow in other.into_sorted() {
            if slow.ns < self.from_ns {
                break;
            }
            self.take(slow);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the operations, the slowest first.
    pub fn into_sorted(mut self) -> Vec<Slow<T>> {
        self.kept.sort_by_key(|slow| std::cmp::Reverse(slow.ns));
        self.kept
    }

    /// Returns references to the operations, the slowest first.
    pub fn sorted(&self) -> Vec<&Slow<T>> {
        let mut sorted: Vec<_> = self.kept.iter().collect();
        sorted.sort_by_key(|slow| std::cmp::Reverse(slow.ns));
        sorted
    }
}

impl<T: Serialize> Serialize for Slowest<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sorted().serialize(serializer)
    }
}

/// Reads a list of any length and keeps its [`SLOWEST_KEPT`] longest durations.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Slowest<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut slowest = Self::default();
        for Slow { ns, what } in Vec::<Slow<T>>::deserialize(deserializer)? {
            slowest.offer(ns, || what);
        }
        Ok(slowest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Offers operations with these durations to a list. Each duration is also the description of
    /// its operation.
    fn of(durations: &[u64]) -> Slowest<u64> {
        let mut slowest = Slowest::default();
        durations.iter().for_each(|ns| slowest.offer(*ns, || *ns));
        slowest
    }

    fn durations_of(slowest: Slowest<u64>) -> Vec<u64> {
        slowest
            .into_sorted()
            .into_iter()
            .map(|slow| {
                assert_eq!(slow.ns, slow.what);
                slow.ns
            })
            .collect()
    }

    /// Returns the longest durations by sorting all of them.
    fn expected(mut durations: Vec<u64>) -> Vec<u64> {
        durations.sort_unstable_by(|a, b| b.cmp(a));
        durations.truncate(SLOWEST_KEPT);
        durations
    }

    /// Returns lists of durations: small values, many of which are equal, and arbitrary values.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![0_u64..40, any::<u64>(), Just(u64::MAX)], 0..70)
    }

    proptest! {
        #[test]
        fn the_longest_durations_are_kept(durations in durations()) {
            prop_assert_eq!(durations_of(of(&durations)), expected(durations));
        }

        #[test]
        fn merged_lists_keep_the_longest_durations(a in durations(), b in durations(),
            c in durations()) {
            let (mut left, mut right) = (of(&a), of(&c));
            left.merge(of(&b));
            left.merge(of(&c));
            right.merge(of(&b));
            right.merge(of(&a));
            let all = expected([a, b, c].concat());
            prop_assert_eq!(durations_of(left), all.clone());
            prop_assert_eq!(durations_of(right), all);
        }

        #[test]
        fn list_is_unchanged_by_serialisation(durations in durations()) {
            let json = serde_json::to_string(&of(&durations)).unwrap();
            let read: Slowest<u64> = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(durations_of(read), expected(durations));
        }
    }

    #[test]
    fn description_is_computed_only_for_kept_durations() {
        let mut slowest = of(&[10; SLOWEST_KEPT]);
        slowest.offer(10, || unreachable!("as long as the least is not longer"));
        slowest.offer(11, || 11);
        assert_eq!(slowest.sorted()[0].what, 11);
        assert!(!slowest.is_empty() && Slowest::<()>::default().is_empty());
    }
}
