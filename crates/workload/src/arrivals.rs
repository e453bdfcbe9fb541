//! Due times of operations in an open loop, which depend only on the run spec and not on the
//! duration of operations.
//!
//! All due times are in nanoseconds from the start, rounded down. For a rate of `R` operations a
//! second over all `W` workers:
//!
//! - **constant**: operation `k` (from 0) of worker `w` (from 0) is due at `(k × W + w) / R`. The
//!   workers take turns, so that the operations of all workers are evenly spaced. `R` is used as
//!   the exact fraction that the floating-point number represents. Each due time is computed as a
//!   whole number and a remainder, so that only the returned value is rounded.
//! - **Poisson**: the gaps of each worker are exponentially distributed with the mean `W / R`. Gap
//!   `k`, which precedes operation `k`, is `−ln(1 − u) × W / R`, where `u` is number `k` of the
//!   worker's random stream `arrivals` (see [`crate::random`]). The operations of all workers then
//!   form a Poisson process of rate `R` (superposition). Gaps are summed in units of 2^-32 ns, so
//!   that rounding errors do not accumulate.
//!
//! A due time above 2^64 − 1 ns (584 years) is reported as 2^64 − 1 ns.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::random::{Key, unit};

/// The highest rate in operations a second: one operation per nanosecond.
pub const RATE_MAX: f64 = 1e9;

const SECOND_NS: u64 = 1_000_000_000;
/// Number of fractional bits in the sum of random gaps, which is in nanoseconds.
const FRACTION_BITS: u32 = 32;

/// The arrival process of an open loop. Serialised as `constant` or `poisson`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalProcess {
    /// Evenly spaced operations.
    Constant,
    /// Exponentially distributed gaps between operations.
    Poisson,
}

impl FromStr for ArrivalProcess {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        match text.trim() {
            "constant" => Ok(Self::Constant),
            "poisson" => Ok(Self::Poisson),
            _ => Err(invalid!("expected constant or poisson")),
        }
    }
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        })
    }
}

/// Checks that a rate, in operations per second, is above 0 and at most [`RATE_MAX`].
pub fn check_rate(rate: f64) -> Result<(), WorkloadError> {
    // This comparison also refuses NaN.
    ensure!(
        rate > 0.0 && rate <= RATE_MAX,
        "'{rate}' transactions/s is out of range (expected above 0 and at most {RATE_MAX})"
    );
    Ok(())
}

/// The endless sequence of one worker's due times, in ascending order.
#[derive(Clone, Debug)]
pub struct Arrivals(ArrivalKind);

#[derive(Clone, Debug)]
enum ArrivalKind {
    Constant(Even),
    Poisson(Random),
}

impl Arrivals {
    /// Returns the due times of worker number `worker`. `rate` is the rate of all `workers`
    /// together, in operations per second.
    ///
    /// # Errors
    /// Returns an error if `rate` is not above 0 and at most [`RATE_MAX`], or if `worker` is not
    /// below `workers`.
    pub fn new(
        process: ArrivalProcess,
        rate: f64,
        seed: u64,
        (worker, workers): (u32, u32),
    ) -> Result<Self, WorkloadError> {
        check_rate(rate)?;
        ensure!(
            worker < workers,
            "worker {worker} of {workers} does not exist (workers have numbers from 0)"
        );
        Ok(Self(match process {
            ArrivalProcess::Constant => ArrivalKind::Constant(Even::new(rate, worker, workers)),
            ArrivalProcess::Poisson => {
                ArrivalKind::Poisson(Random::new(rate, seed, worker, workers))
            }
        }))
    }

    /// Returns the due time of the next operation, in nanoseconds from the start. Due times never
    /// decrease.
    #[inline]
    pub fn next_due_ns(&mut self) -> u64 {
        match &mut self.0 {
            ArrivalKind::Constant(even) => even.next_due_ns(),
            ArrivalKind::Poisson(random) => random.next_due_ns(),
        }
    }
}

/// Evenly spaced due times. Each due time is computed as whole nanoseconds and a remainder.
#[derive(Clone, Debug)]
struct Even {
    next_ns: u64,
    rest: u64,
    step_ns: u64,
    step_rest: u64,
    /// The denominator of the remainders `rest` and `step_rest`, at most 2^53.
    of: u64,
}

impl Even {
    fn new(rate: f64, worker: u32, workers: u32) -> Self {
        let rate = Fraction::of(rate);
        let (next_ns, rest) = rate.divide(u64::from(worker) * SECOND_NS);
        let (step_ns, step_rest) = rate.divide(u64::from(workers) * SECOND_NS);
        Self {
            next_ns,
            rest,
            step_ns,
            step_rest,
            of: rate.numerator,
        }
    }

    #[inline]
    fn next_due_ns(&mut self) -> u64 {
        let due_ns = self.next_ns;
        self.rest += self.step_rest;
        let carry = u64::from(self.rest >= self.of);
        self.rest -= carry * self.of;
        self.next_ns = due_ns.saturating_add(self.step_ns).saturating_add(carry);
        due_ns
    }
}

/// The exact value of a positive floating-point number up to [`RATE_MAX`]: `numerator` /
/// 2^`halvings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    /// The numerator is at most 2^53.
    numerator: u64,
    halvings: u32,
}

impl Fraction {
    fn of(number: f64) -> Self {
        let bits = number.to_bits();
        let exponent = (bits >> 52) as i32 & 0x7FF;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers have no implicit leading one.
        let significand = if exponent == 0 {
            fraction
        } else {
            fraction | 1 << 52
        };
        let zeros = significand.trailing_zeros();
        let power = exponent.max(1) - 1_075 + zeros as i32;
        let odd = significand >> zeros;
        Self {
            numerator: odd << power.max(0),
            halvings: power.min(0).unsigned_abs(),
        }
    }

    /// Divides `number` by this fraction. Returns the whole part of the result, at most 2^64 − 1,
    /// and a remainder. The exact result is the whole part plus remainder / `numerator`.
    fn divide(self, number: u64) -> (u64, u64) {
        let mut quotient = number / self.numerator;
        let mut rest = number % self.numerator;
        for _ in 0..self.halvings {
            rest *= 2;
            let carry = u64::from(rest >= self.numerator);
            rest -= carry * self.numerator;
            quotient = quotient.saturating_mul(2).saturating_add(carry);
        }
        (quotient, rest)
    }
}

/// Due times with exponentially distributed gaps.
#[derive(Clone, Debug)]
struct Random {
    key: Key,
    index: u64,
    mean_gap_ns: f64,
    /// The sum of all gaps drawn so far, in nanoseconds with [`FRACTION_BITS`] fractional bits.
    sum: u128,
}

impl Random {
    fn new(rate: f64, seed: u64, worker: u32, workers: u32) -> Self {
        let mean_gap_ns = f64::from(workers) * SECOND_NS as f64 / rate;
        Self {
            key: Key::new(seed, "arrivals", worker),
            index: 0,
            // For the smallest rates the mean gap would be infinite. A random factor of 0 times
            // infinity is NaN, so the mean is limited.
            mean_gap_ns: mean_gap_ns.min(f64::MAX),
            sum: 0,
        }
    }

    #[inline]
    fn next_due_ns(&mut self) -> u64 {
        let gap_ns = -libm::log(1.0 - unit(self.key.at(self.index))) * self.mean_gap_ns;
        self.index += 1;
        // If the gap is too large for the integer, the conversion returns the largest integer.
        let gap = (gap_ns * (1_u64 << FRACTION_BITS) as f64) as u128;
        self.sum = self.sum.saturating_add(gap);
        u64::try_from(self.sum >> FRACTION_BITS).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(
        process: ArrivalProcess,
        rate: f64,
        seed: u64,
        worker: u32,
        workers: u32,
    ) -> impl Iterator<Item = u64> {
        let mut arrivals = Arrivals::new(process, rate, seed, (worker, workers)).unwrap();
        std::iter::from_fn(move || Some(arrivals.next_due_ns()))
    }

    fn constant(rate: f64, worker: u32, workers: u32) -> impl Iterator<Item = u64> {
        of(ArrivalProcess::Constant, rate, 0, worker, workers)
    }

    /// Returns the due times of all workers before `end_ns` in one list, in ascending order.
    fn together(
        process: ArrivalProcess,
        rate: f64,
        seed: u64,
        workers: u32,
        end_ns: u64,
    ) -> Vec<u64> {
        let mut all: Vec<u64> = (0..workers)
            .flat_map(|worker| {
                of(process, rate, seed, worker, workers).take_while(|due| *due < end_ns)
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn arrival_processes_parse_and_print() {
        for (text, process) in [
            ("constant", ArrivalProcess::Constant),
            ("poisson", ArrivalProcess::Poisson),
        ] {
            assert_eq!(text.parse(), Ok(process));
            assert_eq!(process.to_string(), text);
        }
        let wrong = "uniform".parse::<ArrivalProcess>().unwrap_err();
        assert_eq!(wrong.to_string(), "expected constant or poisson");
    }

    #[test]
    fn invalid_rates_are_refused() {
        for rate in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e9 + 1.0] {
            assert!(check_rate(rate).is_err(), "{rate}");
        }
        for rate in [f64::MIN_POSITIVE, f64::from_bits(1), 0.1, 1e9] {
            assert_eq!(check_rate(rate), Ok(()));
        }
        let worker = Arrivals::new(ArrivalProcess::Poisson, 1.0, 0, (3, 3)).unwrap_err();
        assert!(worker.to_string().contains("worker 3 of 3"));
        let said = check_rate(2e9).unwrap_err().to_string();
        assert!(
            said.contains("2000000000") && said.contains("at most 1000000000"),
            "{said}"
        );
    }

    #[test]
    fn constant_due_times_never_change() {
        let first =
            |rate, worker, workers| constant(rate, worker, workers).take(4).collect::<Vec<_>>();
        assert_eq!(
            first(3.0, 0, 1),
            [0, 333_333_333, 666_666_666, 1_000_000_000]
        );
        assert_eq!(
            first(1_000.0, 1, 4),
            [1_000_000, 5_000_000, 9_000_000, 13_000_000]
        );
        assert_eq!(
            first(0.75, 1, 2),
            [1_333_333_333, 4_000_000_000, 6_666_666_666, 9_333_333_333]
        );
        assert_eq!(first(1e9, 0, 1), [0, 1, 2, 3]);
        // The floating-point number 0.1 is slightly larger than a tenth, so the due times are
        // slightly earlier.
        assert_eq!(
            first(0.1, 0, 1),
            [0, 9_999_999_999, 19_999_999_999, 29_999_999_999]
        );
    }

    #[test]
    fn random_due_times_never_change() {
        // Returns the first five due times and the 100,000th. A separate calculation with 60
        // decimal places has the same results.
        let some = |worker| -> Vec<u64> {
            let moments: Vec<u64> = of(ArrivalProcess::Poisson, 10_000.0, 42, worker, 4)
                .take(100_000)
                .collect();
            [&moments[..5], &moments[99_999..]].concat()
        };
        assert_eq!(
            some(0),
            [
                173_886,
                209_781,
                526_273,
                1_381_814,
                1_615_983,
                40_131_388_311
            ]
        );
        assert_eq!(
            some(3),
            [
                76_198,
                3_292_987,
                3_448_376,
                3_838_122,
                4_269_991,
                40_017_926_549
            ]
        );
    }

    #[test]
    fn fraction_equals_the_floating_point_number_it_is_made_from() {
        let of = |number| {
            let Fraction {
                numerator,
                halvings,
            } = Fraction::of(number);
            (numerator, halvings)
        };
        assert_eq!(of(1e9), (1_000_000_000, 0));
        assert_eq!(of(0.75), (3, 2));
        assert_eq!(of(f64::from_bits(1)), (1, 1_074));
        assert_eq!(of(f64::MIN_POSITIVE), (1, 1_022));
        assert_eq!(of(0.1), (0x0019_9999_9999_999A / 2, 55));
    }

    proptest! {
        #[test]
        fn constant_due_times_are_exact(
            eighths in 1_u64..8_000_000_000,
            workers in 1_u32..200,
            worker in 0_u32..200,
        ) {
            let worker = worker % workers;
            for (k, due) in (0_u128..500).zip(constant(eighths as f64 / 8.0, worker, workers)) {
                let number = k * u128::from(workers) + u128::from(worker);
                prop_assert_eq!(u128::from(due), number * 8_000_000_000 / u128::from(eighths));
            }
        }

        #[test]
        fn arrivals_are_the_same_for_any_worker_count(rate in 1.0_f64..1e6, workers in 1_u32..20) {
            let end_ns = (200.0 / rate * 1e9) as u64;
            let one = together(ArrivalProcess::Constant, rate, 0, 1, end_ns);
            prop_assert_eq!(together(ArrivalProcess::Constant, rate, 0, workers, end_ns), one);
        }

        #[test]
        fn due_times_never_decrease(rate in prop_oneof![1e-3_f64..1e9,
            (0_u32..1_100).prop_map(|halvings|
                0.5_f64.powi(halvings as i32).max(f64::from_bits(1)))], seed: u64) {
            for process in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
                let moments: Vec<u64> = of(process, rate, seed, 2, 5).take(50).collect();
                prop_assert!(moments.is_sorted(), "{:?}", moments);
            }
        }
    }

    #[test]
    fn constant_due_times_do_not_drift() {
        for rate in [333_333.333, 1_000_000.0 / 7.0, 99_999.1] {
            let count = 3_000_000_u32;
            let due_ns = constant(rate, 0, 1).nth(count as usize).unwrap();
            let achieved = f64::from(count) / (due_ns as f64 / 1e9);
            // Over 3 million operations, the achieved rate differs from the requested rate by less
            // than a billionth.
            assert!((achieved / rate - 1.0).abs() < 1e-9, "{rate}: {achieved}");
        }
        // The due times are 800,000,000 / 7 ns apart. `Even` stores this step as a whole number and
        // a remainder, so rounding errors do not add up.
        let mut even = Even::new(7.0, 0, 1);
        even.next_ns = 0;
        let steps = 100_000_000_u64;
        (even.step_ns, even.step_rest) = Fraction::of(7.0).divide(steps * 8);
        assert_eq!((even.next_due_ns(), even.next_due_ns()), (0, steps * 8 / 7));
    }

    #[test]
    fn due_times_beyond_the_largest_u64_saturate() {
        let moments: Vec<u64> = constant(1e-12, 1, 2).take(3).collect();
        assert_eq!(moments, [u64::MAX; 3]);
        let moments: Vec<u64> = constant(1e-10, 1, 2).take(3).collect();
        assert_eq!(moments[1..], [u64::MAX; 2]);
        assert!(moments[0] < u64::MAX);
        let first = of(ArrivalProcess::Poisson, f64::from_bits(1), 42, 0, 9).next();
        assert_eq!(first, Some(u64::MAX));
    }

    /// Returns the probabilities of 0 to 10 arrivals, and of more than 10 arrivals, in a Poisson
    /// distribution with mean `mean`.
    fn poisson(mean: f64) -> [f64; 12] {
        let mut probabilities = [0.0; 12];
        let mut probability = libm::exp(-mean);
        for (count, share) in probabilities.iter_mut().take(11).enumerate() {
            *share = probability;
            probability *= mean / (count + 1) as f64;
        }
        probabilities[11] = 1.0 - probabilities.iter().sum::<f64>();
        probabilities
    }

    /// Returns the chi-squared statistic that compares the number of arrivals per interval with a
    /// Poisson distribution of mean 4.
    fn chi_squared(moments: &[u64], interval_ns: u64, intervals: usize) -> f64 {
        let mut arrivals = vec![0_usize; intervals];
        moments
            .iter()
            .map(|due| (due / interval_ns) as usize)
            .take_while(|interval| *interval < intervals)
            .for_each(|interval| arrivals[interval] += 1);
        let mut seen = [0.0; 12];
        arrivals
            .iter()
            .for_each(|count| seen[(*count).min(11)] += 1.0);
        let expected = poisson(4.0).map(|share| share * intervals as f64);
        seen.iter()
            .zip(expected)
            .map(|(seen, expected)| (seen - expected) * (seen - expected) / expected)
            .sum()
    }

    /// Returns the Kolmogorov-Smirnov distance between the distribution of gaps and an exponential
    /// distribution, times the square root of the number of gaps.
    fn kolmogorov_smirnov(moments: &[u64], mean_gap_ns: f64) -> f64 {
        let mut gaps: Vec<u64> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        let count = gaps.len() as f64;
        let distance = (0_u32..)
            .map(f64::from)
            .zip(&gaps)
            .map(|(below, gap)| {
                let share = -libm::expm1(-(*gap as f64) / mean_gap_ns);
                (share - below / count)
                    .abs()
                    .max((share - (below + 1.0) / count).abs())
            })
            .fold(0.0, f64::max);
        distance * count.sqrt()
    }

    /// Returns the correlation of neighbouring gaps, times the square root of the number of gaps.
    fn correlation(moments: &[u64], mean_gap_ns: f64) -> f64 {
        let gaps: Vec<f64> = moments
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / mean_gap_ns - 1.0)
            .collect();
        let squares: f64 = gaps.iter().map(|gap| gap * gap).sum();
        let products: f64 = gaps.windows(2).map(|pair| pair[0] * pair[1]).sum();
        products / squares * (gaps.len() as f64).sqrt()
    }

    #[test]
    fn poisson_arrivals_are_a_poisson_process() {
        // At 1,000 operations per second, each of 100,000 intervals of 4 ms has 4 arrivals on
        // average. The seeds are fixed, so the result of this test is always the same. A true
        // Poisson process with a random seed would exceed each limit once in a thousand runs. The
        // limits are 31.26 for chi-squared with 11 degrees of freedom, 1.949 for the distance and
        // 3.29 for the correlation.
        const INTERVALS: usize = 100_000;
        let end_ns = INTERVALS as u64 * 4_000_000;
        for (seed, workers) in [(42, 1), (43, 1), (42, 8), (43, 64)] {
            let moments = together(ArrivalProcess::Poisson, 1_000.0, seed, workers, end_ns);
            let chi = chi_squared(&moments, 4_000_000, INTERVALS);
            let distance = kolmogorov_smirnov(&moments, 1e6);
            let correlation = correlation(&moments, 1e6);
            println!(
                "seed {seed}, {workers} workers: chi-squared {chi:.2}, distance {distance:.3}, \
                 correlation {correlation:.2}"
            );
            assert!(chi < 31.26 && distance < 1.949 && correlation.abs() < 3.29);
            // The number of arrivals has the mean 400,000. For a Poisson distribution, the standard
            // deviation is the square root of the mean.
            assert!((moments.len() as f64 - 400_000.0).abs() < 3.29 * 400_000_f64.sqrt());
        }
    }

    #[test]
    fn poisson_statistics_reject_other_processes() {
        let end_ns = 10_000 * 4_000_000;
        let even = together(ArrivalProcess::Constant, 1_000.0, 0, 1, end_ns);
        assert!(chi_squared(&even, 4_000_000, 10_000) > 31.26);
        assert!(kolmogorov_smirnov(&even, 1e6) > 1.949);
        // This Poisson process has a rate of 1,050 operations per second. The statistics compare it
        // with 1,000 operations per second.
        let fast = together(ArrivalProcess::Poisson, 1_050.0, 42, 1, end_ns);
        assert!(chi_squared(&fast, 4_000_000, 10_000) > 31.26);
        assert!(kolmogorov_smirnov(&fast, 1e6) > 1.949);
    }
}
