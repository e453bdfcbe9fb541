//! The random number generators of the classic editions.
//!
//! The generators are part of the definition of the classic workload, because published results
//! depend on their sequences. Only the classic stream may draw from them. Both generators are
//! implemented from their published definitions. One is the example `rand` of the ISO C standard
//! (C89, 4.10.2.2). The other is MT19937 (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998) with the
//! seeding of its 1998/1999 reference.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorKind {
    /// The ISO C example `rand`, for edition 1.0: 15-bit outputs.
    IsoC,
    /// MT19937 with the seeding of 1998/1999, for edition 1.5: 32-bit outputs.
    Mt19937,
}

/// A random number generator and its state. Equal seeds produce equal sequences on every machine
/// and in every version.
#[derive(Clone, Debug)]
pub enum Generator {
    IsoC(IsoC),
    Mt19937(Box<Mt19937>),
}

impl Generator {
    pub fn new(kind: GeneratorKind, seed: u32) -> Self {
        match kind {
            GeneratorKind::IsoC => Self::IsoC(IsoC::new(seed)),
            GeneratorKind::Mt19937 => Self::Mt19937(Box::new(Mt19937::new(seed))),
        }
    }

    /// Returns the next output, which is not reduced to a bound.
    #[inline]
    pub fn next_output(&mut self) -> u32 {
        match self {
            Self::IsoC(generator) => generator.next_output(),
            Self::Mt19937(generator) => generator.next_output(),
        }
    }

    /// Draws a number as the original PostMark does: returns the next output modulo `bound`. If
    /// `bound` is 0, returns 0 and consumes no output.
    #[inline]
    pub fn draw(&mut self, bound: u64) -> u64 {
        match u32::try_from(bound) {
            Ok(0) => 0,
            Ok(bound) => u64::from(self.next_output() % bound),
            Err(_) => u64::from(self.next_output()),
        }
    }

    /// Skips a number of draws whose bounds are above 0. Skipping takes much less time than
    /// drawing.
    pub fn skip(&mut self, draws: u64) {
        match self {
            Self::IsoC(generator) => generator.skip(draws),
            Self::Mt19937(generator) => generator.skip(draws),
        }
    }

    /// Returns the number of different outputs. Every drawn number is below this number.
    pub fn outputs(&self) -> u64 {
        match self {
            Self::IsoC(_) => 1 << 15,
            Self::Mt19937(_) => 1 << 32,
        }
    }
}

/// The ISO C example `rand`: `state = state * 1103515245 + 12345` modulo 2^32; the output consists
/// of bits 16 to 30.
#[derive(Clone, Debug)]
pub struct IsoC {
    state: u32,
}

impl IsoC {
    pub fn new(seed: u32) -> Self {
        Self { state: seed }
    }

    #[inline]
    pub fn next_output(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (self.state >> 16) & 0x7fff
    }

    /// Skips draws in logarithmic time. One draw maps the state `s` to `s * a + c`, and two draws
    /// map it to `s * a^2 + c * (a + 1)`. Repeated doubling yields the mappings for 4, 8, 16 draws
    /// and so on. The mappings whose numbers of draws add up to `draws` are applied.
    fn skip(&mut self, draws: u64) {
        let (mut factor, mut sum) = (1_103_515_245_u32, 12_345_u32);
        let mut left = draws;
        while left > 0 {
            if left & 1 == 1 {
                self.state = self.state.wrapping_mul(factor).wrapping_add(sum);
            }
            sum = sum.wrapping_mul(factor.wrapping_add(1));
            factor = factor.wrapping_mul(factor);
            left >>= 1;
        }
    }
}

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// MT19937 with the seeding of 1998/1999.
#[derive(Clone, Debug)]
pub struct Mt19937 {
    state: [u32; WORDS],
    /// The tempered outputs of the current state. Tempering all outputs of a state together is
    /// faster than tempering each output when it is requested.
    outputs: [u32; WORDS],
    next: usize,
}

impl Mt19937 {
    pub fn new(seed: u32) -> Self {
        let mut s = seed;
        let mut advance = || {
            let before = s;
            s = s.wrapping_mul(69_069).wrapping_add(1);
            before & 0xffff_0000
        };
        let mut state = [0; WORDS];
        for word in &mut state {
            let upper = advance();
            let lower = advance() >> 16;
            *word = upper | lower;
        }
        Self {
            state,
            outputs: [0; WORDS],
            next: WORDS,
        }
    }

    #[inline]
    pub fn next_output(&mut self) -> u32 {
        if self.next == WORDS {
            self.refill();
        }
        let output = self.outputs[self.next];
        self.next += 1;
        output
    }

    fn skip(&mut self, draws: u64) {
        let mut left = draws;
        while left > (WORDS - self.next) as u64 {
            left -= (WORDS - self.next) as u64;
            self.advance();
            self.next = 0;
            if left <= WORDS as u64 {
                self.temper();
            }
        }
        self.next += left as usize;
    }

    #[cold]
    fn refill(&mut self) {
        self.advance();
        self.temper();
        self.next = 0;
    }

    fn advance(&mut self) {
        let state = &mut self.state;
        // Three loops are used instead of one loop with a modulo, so that the compiler can
        // vectorise them.
        for i in 0..WORDS - MIDDLE {
            state[i] = state[i + MIDDLE] ^ twist(state[i], state[i + 1]);
        }
        for i in WORDS - MIDDLE..WORDS - 1 {
            state[i] = state[i + MIDDLE - WORDS] ^ twist(state[i], state[i + 1]);
        }
        state[WORDS - 1] = state[MIDDLE - 1] ^ twist(state[WORDS - 1], state[0]);
    }

    fn temper(&mut self) {
        for (output, word) in self.outputs.iter_mut().zip(self.state.iter()) {
            *output = temper(*word);
        }
    }
}

#[inline]
fn twist(upper: u32, lower: u32) -> u32 {
    let joined = (upper & 0x8000_0000) | (lower & 0x7fff_ffff);
    (joined >> 1) ^ ((joined & 1).wrapping_neg() & 0x9908_b0df)
}

#[inline]
fn temper(word: u32) -> u32 {
    let mut y = word;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_draws_change_the_generator_like_performed_draws() {
        for kind in [GeneratorKind::IsoC, GeneratorKind::Mt19937] {
            for before in [0, 1, 300] {
                for draws in [0, 1, 323, 324, 623, 624, 625, 1_248, 5_000, 100_003] {
                    let mut drawn = Generator::new(kind, 42);
                    for _ in 0..before {
                        drawn.draw(95);
                    }
                    let mut skipped = drawn.clone();
                    for _ in 0..draws {
                        drawn.draw(95);
                    }
                    skipped.skip(draws);
                    let next = |generator: &mut Generator| {
                        (0..700)
                            .map(|_| generator.next_output())
                            .collect::<Vec<_>>()
                    };
                    assert_eq!(
                        next(&mut skipped),
                        next(&mut drawn),
                        "{kind:?} {before} {draws}"
                    );
                }
            }
        }
    }

    #[test]
    fn iso_c_generator_returns_the_outputs_of_the_example_in_the_standard() {
        // These are the first outputs for the default seed 1, as published in texts about C89.
        let mut generator = IsoC::new(1);
        let first: Vec<u32> = (0..5).map(|_| generator.next_output()).collect();
        assert_eq!(first, [16838, 5758, 10113, 17515, 31051]);
    }

    #[test]
    fn mt19937_generator_matches_1998_reference() {
        // This test checks the seeding of 1998. The newer seeding of mt19937ar (2002) has other
        // outputs for every seed: for example, the first output for seed 5489 is 3499211612.
        let mut generator = Mt19937::new(4357);
        let first: Vec<u32> = (0..3).map(|_| generator.next_output()).collect();
        assert_eq!(first, [2_867_219_139, 1_585_203_162, 3_113_124_129]);
    }

    #[test]
    fn draw_with_bound_0_consumes_no_output() {
        for kind in [GeneratorKind::IsoC, GeneratorKind::Mt19937] {
            let mut drawn = Generator::new(kind, 42);
            let mut plain = drawn.clone();
            assert_eq!(drawn.draw(0), 0);
            assert_eq!(drawn.next_output(), plain.next_output());
        }
    }

    #[test]
    fn draws_stay_below_their_bound() {
        for kind in [GeneratorKind::IsoC, GeneratorKind::Mt19937] {
            let mut generator = Generator::new(kind, 7);
            for bound in [1, 2, 95, 9_500, 1 << 20, (1 << 32) + 5] {
                for _ in 0..1_000 {
                    assert!(generator.draw(bound) < bound.min(generator.outputs()));
                }
            }
        }
    }
}
