//! Random numbers of simulations: the same seed gives the same ones for ever.

use std::f64::consts::TAU;

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

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.next += 1;
        (self.key.at(self.next) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of the normal distribution with mean 0 and variance 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (TAU * self.unit()).cos()
    }

    /// Of the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}
