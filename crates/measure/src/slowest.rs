//! The slowest operations: the greatest durations, each with what belongs to it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many are kept.
pub const SLOWEST_KEPT: usize = 20;

/// One of the slowest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slow<T> {
    /// How long, in nanoseconds.
    pub ns: u64,
    /// What it was.
    pub what: T,
}

/// Keeps the [`SLOWEST_KEPT`] greatest durations. One that is as long as the least of a full one is
/// not taken, so of equal ones those that came first stay: after merging in another order the
/// durations are the same, which of the equal ones are named may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slowest<T> {
    kept: Vec<Slow<T>>,
    /// What is shorter is not taken.
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
    /// Takes a duration if it is among the greatest so far; only then is `what` asked for.
    /// Otherwise it costs a comparison.
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

    /// Takes all of another one in.
    pub fn merge(&mut self, other: Self) {
        for slow in other.into_sorted() {
            if slow.ns < self.from_ns {
                break;
            }
            self.take(slow);
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The slowest first.
    pub fn into_sorted(mut self) -> Vec<Slow<T>> {
        self.kept.sort_by_key(|slow| std::cmp::Reverse(slow.ns));
        self.kept
    }

    /// The slowest first, lent.
    pub fn sorted(&self) -> Vec<&Slow<T>> {
        let mut sorted: Vec<_> = self.kept.iter().collect();
        sorted.sort_by_key(|slow| std::cmp::Reverse(slow.ns));
        sorted
    }
}

/// Written as a list, the slowest first.
impl<T: Serialize> Serialize for Slowest<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sorted().serialize(serializer)
    }
}

/// What is read past [`SLOWEST_KEPT`] is offered as well, so that the greatest stay.
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

    /// With the duration for what it was.
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

    /// By sorting all.
    fn expected(mut durations: Vec<u64>) -> Vec<u64> {
        durations.sort_unstable_by(|a, b| b.cmp(a));
        durations.truncate(SLOWEST_KEPT);
        durations
    }

    /// Few different ones, so that many are equal; or any.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![0_u64..40, any::<u64>(), Just(u64::MAX)], 0..70)
    }

    proptest! {
        #[test]
        fn the_greatest_are_kept(durations in durations()) {
            prop_assert_eq!(durations_of(of(&durations)), expected(durations));
        }

        #[test]
        fn merging_is_the_same_as_offering_all(a in durations(), b in durations(),
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
        fn what_is_written_is_read_again(durations in durations()) {
            let json = serde_json::to_string(&of(&durations)).unwrap();
            let read: Slowest<u64> = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(durations_of(read), expected(durations));
        }
    }

    #[test]
    fn nothing_is_asked_of_what_is_not_taken() {
        let mut slowest = of(&[10; SLOWEST_KEPT]);
        slowest.offer(10, || unreachable!("as long as the least is not longer"));
        slowest.offer(11, || 11);
        assert_eq!(slowest.sorted()[0].what, 11);
        assert!(!slowest.is_empty() && Slowest::<()>::default().is_empty());
    }
}
