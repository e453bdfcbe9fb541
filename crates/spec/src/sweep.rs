//! The load levels of a sweep, its SLO, and the text form of both.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;
use workload::quantity::{self, duration_text};

use crate::limits::SWEEP_STEPS_MAX;
use crate::stop::PhaseLoad;
use crate::values::{PerSecond, as_text};

/// The load levels of `--sweep auto`, as fractions of the closed loop's rate. Levels above the
/// closed loop's rate find the saturation rate of a target that became faster after the first
/// level. A sweep ends after two levels that were not sustained, so most sweeps end before 1.7.
const AUTO: [f64; 9] = [0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.05, 1.3, 1.7];
/// Largest load level that a user may request, as a fraction of the closed loop's rate. Higher
/// rates are never sustained.
const SHARE_MAX: f64 = 10.0;

/// What varies between the load levels of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Climb {
    /// Offered rates in transactions/s, in the order of the load levels.
    Rates(Vec<f64>),
    /// Offered rates as shares of the closed loop's rate. The closed loop is measured as the first
    /// load level.
    OfClosedLoop(Vec<f64>),
    /// Numbers of workers of each rank in a closed loop, in the order of the load levels.
    Workers(Vec<u32>),
    /// Numbers of ranks in a closed loop, in the order of the load levels. A level uses the first
    /// of the launched ranks, each with its workers; the other ranks wait.
    Ranks(Vec<u32>),
    /// The phases of the workload, each with its own load, in their order. A phase performs other
    /// operations than the phase before it.
    Phases(Vec<PhaseLoad>),
}

impl Climb {
    /// Whether the load levels are closed loops with different numbers of workers or ranks. Each of
    /// these load levels has its own pool and its own run.
    pub fn is_of_counts(&self) -> bool {
        matches!(self, Self::Workers(_) | Self::Ranks(_))
    }

    /// Whether the load levels are the phases of a workload, which have different operations.
    pub fn is_of_phases(&self) -> bool {
        matches!(self, Self::Phases(_))
    }

    /// Checks that there are between 1 and [`SWEEP_STEPS_MAX`] load levels, and that their values
    /// are in range and in ascending order.
    pub(crate) fn check(&self) -> Result<(), InvalidSweep> {
        match self {
            Self::Rates(rates) => rising(
                rates,
                |rate| *rate > 0.0 && rate.is_finite(),
                "number above 0",
            ),
            Self::OfClosedLoop(shares) => {
                if let Some(share) = shares.iter().find(|share| **share > SHARE_MAX) {
                    return wrong(format!(
                        "{}% is more than {}%",
                        share * 100.0,
                        SHARE_MAX * 100.0
                    ));
                }
                rising(shares, |share| *share > 0.0, "share above 0")
            }
            Self::Workers(workers) => rising(workers, |count| *count > 0, "number of workers"),
            Self::Ranks(ranks) => rising(ranks, |count| *count > 0, "number of ranks"),
            Self::Phases(_) => Ok(()),
        }
    }

    /// Number of load levels that the option lists.
    pub fn sweep_steps(&self) -> usize {
        match self {
            Self::Rates(sweep_steps) | Self::OfClosedLoop(sweep_steps) => sweep_steps.len(),
            Self::Workers(sweep_steps) | Self::Ranks(sweep_steps) => sweep_steps.len(),
            Self::Phases(loads) => loads.len(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SweepOption(pub Climb);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} (expected auto, rates from low to high like 1000,2000,4000 or 1000..8000:8 for 8 rates, \
     percentages of the closed loop's rate like 30%,60%,90%, workers=1,2,4, or ranks=1,2,4)"
)]
pub struct InvalidSweep(String);

fn wrong<T>(what: impl Into<String>) -> Result<T, InvalidSweep> {
    Err(InvalidSweep(what.into()))
}

fn number(text: &str) -> Result<f64, InvalidSweep> {
    let number = text.parse::<PerSecond>().ok().map(|rate| rate.0);
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| InvalidSweep(format!("'{}' is not a number above 0", text.trim())))
}

fn rising<T: PartialOrd + fmt::Display>(
    sweep_steps: &[T],
    is_one: impl Fn(&T) -> bool,
    what: &str,
) -> Result<(), InvalidSweep> {
    if sweep_steps.is_empty() {
        return wrong("it has no load levels");
    }
    if sweep_steps.len() > SWEEP_STEPS_MAX {
        return wrong(format!(
            "{} load levels are too many (at most {SWEEP_STEPS_MAX})",
            sweep_steps.len()
        ));
    }
    if let Some(other) = sweep_steps.iter().find(|sweep_step| !is_one(sweep_step)) {
        return wrong(format!("'{other}' is not a {what}"));
    }
    match sweep_steps.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => wrong(format!(
            "loads must rise, and {} follows {}",
            pair[1], pair[0]
        )),
        None => Ok(()),
    }
}

impl FromStr for SweepOption {
    type Err = InvalidSweep;

    fn from_str(text: &str) -> Result<Self, InvalidSweep> {
        let climb = climb_of(text.trim())?;
        climb.check()?;
        Ok(Self(climb))
    }
}

/// Parses numbers of workers or ranks, separated by commas.
fn counts(text: &str, of: &str) -> Result<Vec<u32>, InvalidSweep> {
    let count = |text: &str| match text.trim().parse() {
        Ok(count) => Ok(count),
        Err(_) => wrong(format!("'{}' is not a number of {of}", text.trim())),
    };
    text.split(',').map(count).collect()
}

fn climb_of(text: &str) -> Result<Climb, InvalidSweep> {
    if text.is_empty() {
        return wrong("it has no load levels");
    }
    if text == "auto" {
        return Ok(Climb::OfClosedLoop(AUTO.to_vec()));
    }
    if let Some(counts) = text.strip_prefix("workers=") {
        return self::counts(counts, "workers").map(Climb::Workers);
    }
    if let Some(counts) = text.strip_prefix("ranks=") {
        return self::counts(counts, "ranks").map(Climb::Ranks);
    }
    if let Some((low, rest)) = text.split_once("..") {
        let Some((high, count)) = rest.split_once(':') else {
            return wrong(format!("'{text}' does not set the number of load levels"));
        };
        let (low, high) = (number(low)?, number(high)?);
        let count = match count.trim().parse::<usize>() {
            Ok(count) if (2..=SWEEP_STEPS_MAX).contains(&count) => count,
            _ => {
                return wrong(format!(
                    "'{}' is not a number of load levels from 2 to {SWEEP_STEPS_MAX}",
                    count.trim()
                ));
            }
        };
        let step = (high - low) / (count - 1) as f64;
        let rates = (0..count).map(|place| low + step * place as f64);
        return Ok(Climb::Rates(rates.collect()));
    }
    let words = text.split(',').map(str::trim);
    if words.clone().all(|word| word.ends_with('%')) {
        let share = |word: &str| number(word.trim_end_matches('%')).map(|percent| percent / 100.0);
        let shares: Result<_, _> = words.map(share).collect();
        return shares.map(Climb::OfClosedLoop);
    }
    let rates: Result<_, _> = words.map(number).collect();
    rates.map(Climb::Rates)
}

impl fmt::Display for SweepOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lead, words): (&str, Vec<String>) = match &self.0 {
            Climb::Rates(rates) => ("", rates.iter().map(f64::to_string).collect()),
            Climb::OfClosedLoop(shares) => ("", shares.iter().map(|one| percent(*one)).collect()),
            Climb::Workers(counts) => ("workers=", counts.iter().map(u32::to_string).collect()),
            Climb::Ranks(counts) => ("ranks=", counts.iter().map(u32::to_string).collect()),
            // No option sets phases.
            Climb::Phases(_) => ("", vec!["phases".to_owned()]),
        };
        write!(f, "{lead}{}", words.join(","))
    }
}

/// Formats a fraction as a percentage, with the fewest digits that parse to the same fraction.
fn percent(share: f64) -> String {
    const DIGITS_MAX: usize = 17;
    let percent = share * 100.0;
    let plain = (0..=DIGITS_MAX).map(|digits| format!("{percent:.digits$}"));
    let small = (0..=DIGITS_MAX).map(|digits| format!("{percent:.digits$e}"));
    let is_same = |text: &String| {
        text.parse::<f64>()
            .is_ok_and(|percent| percent / 100.0 == share)
    };
    let shortest = plain.chain(small).find(is_same);
    shortest.unwrap_or_else(|| percent.to_string()) + "%"
}

/// The SLO: 99 % of the operations must be faster than a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SloOption {
    /// The kind of operations; `None` for all operations together.
    pub operation: Option<Action>,
    pub p99_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSlo {
    #[error("expected a limit for the p99, like p99<10ms or deliver.p99<10ms")]
    Form,
    #[error("there is no operation '{0}' (give the name of one, like deliver.p99<10ms)")]
    Operation(String),
}

impl FromStr for SloOption {
    type Err = InvalidSlo;

    fn from_str(text: &str) -> Result<Self, InvalidSlo> {
        let wrong = || InvalidSlo::Form;
        let (what, limit) = text.split_once('<').ok_or_else(wrong)?;
        let (operation, statistic) = match what.trim().split_once('.') {
            None => (None, what.trim()),
            Some((name, statistic)) => {
                let is_named = |action: &Action| action.name() == name;
                let unknown = || InvalidSlo::Operation(name.to_owned());
                let operation = Action::operations().find(is_named).ok_or_else(unknown)?;
                (Some(operation), statistic)
            }
        };
        let p99_ns = quantity::duration_ns(limit.trim()).map_err(|_| wrong())?;
        if statistic != "p99" || p99_ns == 0 {
            return Err(wrong());
        }
        Ok(Self { operation, p99_ns })
    }
}

impl fmt::Display for SloOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.operation {
            write!(f, "{}.", operation.name())?;
        }
        write!(f, "p99<{}", duration_text(self.p99_ns))
    }
}

as_text!(SweepOption);
as_text!(SloOption);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_parse_as_rates_fractions_workers_or_ranks() {
        for (text, climb) in [
            (
                "1000, 2k,4000.5",
                Climb::Rates(vec![1_000.0, 2_000.0, 4_000.5]),
            ),
            ("100..400:4", Climb::Rates(vec![100.0, 200.0, 300.0, 400.0])),
            ("30%,60%,120%", Climb::OfClosedLoop(vec![0.3, 0.6, 1.2])),
            (
                "1e-30%,33.333333333333%",
                Climb::OfClosedLoop(vec![1e-32, 33.333_333_333_333 / 100.0]),
            ),
            ("workers=1,2,4", Climb::Workers(vec![1, 2, 4])),
            ("ranks=1, 2,64", Climb::Ranks(vec![1, 2, 64])),
            ("auto", Climb::OfClosedLoop(AUTO.to_vec())),
        ] {
            let said: SweepOption = text.parse().unwrap();
            assert_eq!(said, SweepOption(climb), "{text}");
            assert_eq!(said.to_string().parse(), Ok(said), "{text}");
        }
    }

    #[test]
    fn invalid_sweeps_are_refused_with_examples() {
        for text in [
            "",
            "fast",
            "2,1",
            "5,5",
            "0,1",
            "-1,2",
            "nan",
            "1..",
            "1..9",
            "9..1:3",
            "1..9:1",
            "1..9:1000",
            "50%,60",
            "50%,2000%",
            "5e-324%",
            "workers=",
            "workers=0",
            "workers=2,1",
            "workers=1.5",
            "ranks=",
            "ranks=0,1",
            "ranks=4,2",
            "ranks=two",
        ] {
            let message = text.parse::<SweepOption>().unwrap_err().to_string();
            assert!(message.contains("expected auto"), "{text}: {message}");
        }
    }

    #[test]
    fn slo_requires_a_p99_latency() {
        for (text, operation, written) in [
            ("p99 < 10ms", None, "p99<10ms"),
            (
                " deliver.p99 < 10ms",
                Some(Action::Deliver),
                "deliver.p99<10ms",
            ),
        ] {
            let slo: SloOption = text.parse().unwrap();
            let p99_ns = 10_000_000;
            assert_eq!(slo, SloOption { operation, p99_ns });
            assert_eq!(slo.to_string(), written);
            assert_eq!(written.parse(), Ok(slo));
        }
        for text in [
            "",
            "10ms",
            "p99",
            "p50<1ms",
            "p99<",
            "p99<0s",
            "p99<10",
            "p99>1ms",
            "deliver<1ms",
            "deliver.p50<1ms",
            "post.p99<1ms",
            ".p99<1ms",
        ] {
            let message = text.parse::<SloOption>().unwrap_err().to_string();
            assert!(message.contains("p99<10ms"), "{text}: {message}");
        }
    }
}
