//! Random numbers of simulations and of the campaign of safety: the same seed gives the same ones.

use std::f64::consts::TAU;
use std::time::Duration;

use workload::random::Key;

/// Random numbers, one after another.
pub struct Draws {
    key: Key,
    next: u64,
}

impl Draws {
    /// The sequence with this number of a simulation.
    pub fn new(seed: u64, simulation: &str, number: u32) -> Self {
        Self {
            key: Key::new(seed, simulation, number),
            next: 0,
        }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.next += 1;
        self.key.at(self.next)
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of the normal distribution with mean 0 and variance 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (TAU * self.unit()).cos()
    }

    /// Of the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A number below a bound, or 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound.max(1)
    }

    /// Both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Draws an event that has one chance in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn one<A: Clone>(&mut self, of: &[A]) -> A {
        of[self.below(of.len() as u64) as usize].clone()
    }

    pub fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(most.as_micros() as u64 + 1))
    }
}
