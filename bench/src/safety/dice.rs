//! Chance that can be had again: a round's throws follow from the campaign's seed and the round's
//! number alone.

use std::time::Duration;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub struct Dice(u64);

impl Dice {
    pub fn of_round(seed: u64, round: u64) -> Self {
        let mut dice = Self(seed);
        dice.0 = dice.next() ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        dice
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound, or 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Whether something comes about that does so once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn one<A: Copy>(&mut self, of: &[A]) -> A {
        of[self.below(of.len() as u64) as usize]
    }

    pub fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(most.as_micros() as u64 + 1))
    }
}
