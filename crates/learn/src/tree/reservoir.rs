//! A uniform sample of a sequence of unknown length (algorithm L of Li, 1994).

/// The seed of the sample. It is fixed, so that the same sequence has the same sample.
const SEED: u64 = 0x706f_7374_6d61_726b;

/// At most a fixed number of members of a sequence, each with the same probability.
pub(super) struct Reservoir<T> {
    kept: Vec<T>,
    most: usize,
    /// How many further members are not kept before the next one is.
    skip: u64,
    weight: f64,
    state: u64,
}

impl<T> Reservoir<T> {
    pub(super) fn new(most: usize) -> Self {
        let mut reservoir = Self {
            kept: Vec::new(),
            most,
            skip: 0,
            weight: 1.0,
            state: SEED,
        };
        reservoir.draw_skip();
        reservoir
    }

    pub(super) fn kept(&self) -> &[T] {
        &self.kept
    }

    /// Adds `count` members. Calls `make` with the index, from 0, of each one that is kept. The
    /// time does not depend on the number of members that are not kept.
    pub(super) fn add(&mut self, count: u64, mut make: impl FnMut(u64) -> T) {
        let mut index = 0;
        while index < count && self.kept.len() < self.most {
            self.kept.push(make(index));
            index += 1;
        }
        while index < count {
            let left = count - index;
            if self.skip >= left {
                self.skip -= left;
                return;
            }
            index += self.skip;
            let place = (self.unit() * self.most as f64) as usize;
            if let Some(replaced) = self.kept.get_mut(place) {
                *replaced = make(index);
            }
            index += 1;
            self.draw_skip();
        }
    }

    fn draw_skip(&mut self) {
        self.weight *= (self.unit().ln() / self.most as f64).exp();
        let skip = self.unit().ln() / (-self.weight).ln_1p();
        // A conversion of a large or infinite number yields the largest integer.
        self.skip = skip as u64;
    }

    /// A random number above 0 and below 1 (SplitMix64).
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((mixed >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_kept_with_the_same_probability() {
        let mut reservoir = Reservoir::new(2000);
        let mut next = 0_u64;
        for count in (0..100_000).map(|number| number % 7) {
            reservoir.add(count, |index| next + index);
            next += count;
        }
        assert_eq!(reservoir.kept().len(), 2000);
        let mut tenths = [0_u32; 10];
        for member in reservoir.kept() {
            tenths[(member * 10 / next) as usize] += 1;
        }
        // The standard deviation of each tenth is 13.
        assert!(
            tenths.iter().all(|count| (130..270).contains(count)),
            "{tenths:?}"
        );
    }

    #[test]
    fn short_sequence_is_kept_and_a_long_one_takes_no_time() {
        let mut reservoir = Reservoir::new(3);
        reservoir.add(2, |index| index);
        assert_eq!(reservoir.kept(), [0, 1]);
        reservoir.add(u64::MAX, |index| index);
        assert!(
            reservoir.kept().iter().any(|index| *index > 1 << 60),
            "{:?}",
            reservoir.kept()
        );
    }
}
