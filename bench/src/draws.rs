//! Random numbers for simulations and for the safety campaign. The same seed gives the same
//! numbers.

use std::f64::consts::TAU;
use std::time::Duration;

use workload::random::Key;

/// A sequence of random numbers that is determined by a seed, so that a benchmark can be repeated.
pub struct Draws {
    key: Key,
    next: u64,
}

impl Draws {
    /// Returns sequence `number` of the simulation. Equal arguments always result in the same
    /// sequence.
    pub fn new(seed: u64, simulation: &str, number: u32) -> Self {
        Self {
            key: Key::new(seed, simulation, number),
            next: 0,
        }
    }

    pub fn bits(&mut self) -> u64 {
        self.next += 1;
        self.key.at(self.next)
    }

    /// A uniform number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from the normal distribution with mean 0 and variance 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (TAU * self.unit()).cos()
    }

    /// A number from the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A number below a bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound.max(1)
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A random element of the slice `of`, which must not be empty.
    pub fn one<A: Clone>(&mut self, of: &[A]) -> A {
        of[self.below(of.len() as u64) as usize].clone()
    }

    pub fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(most.as_micros() as u64 + 1))
    }
}
