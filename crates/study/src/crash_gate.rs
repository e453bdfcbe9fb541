//! Gates over crash rounds: `lost == 0`, and bounds of the share of crashes with a loss.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::gate::{Decision, RequirementError};

/// The numbers of crash rounds that requirements are about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrashFigures {
    /// Number of crashes of a system; crashes of the run alone show nothing.
    pub crashes: u32,
    /// Number of paths that do not exist, and of lost run directories.
    pub lost: u64,
    pub torn: u64,
    pub resurrected: u64,
    pub foreign: u64,
    /// The limits of the share of crashes with a loss, with a confidence of 95 %.
    pub share: Option<(f64, f64)>,
}

/// What a requirement limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Lost,
    Torn,
    Resurrected,
    Foreign,
}

const COUNTED: [(Counted, &str); 4] = [
    (Counted::Lost, "lost"),
    (Counted::Torn, "torn"),
    (Counted::Resurrected, "resurrected"),
    (Counted::Foreign, "foreign"),
];

/// The name of the upper limit of the share of crashes with a loss.
const BOUND: &str = "lost.bound";

/// A requirement of crash rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CrashRequirement {
    /// No path of this kind: `lost == 0`.
    None(CountedPaths),
    /// The share of crashes with a loss is below this number in percent: `lost.bound < 2%`.
    ShareBelow(f64),
}

/// A kind of paths that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedPaths(Counted);

/// A requirement with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedCrash {
    pub requirement: CrashRequirement,
    pub decision: Decision,
    /// The number of paths, or the upper limit of the share; `None` without a crash.
    pub found: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashGate {
    pub decision: Decision,
    /// The rounds that were judged, in a few words.
    pub rounds: String,
    pub requirements: Vec<JudgedCrash>,
}

impl CrashGate {
    /// Judges the figures of rounds. A requirement is undecided if the rounds show too little.
    pub fn of(rounds: String, figures: &CrashFigures, requirements: &[CrashRequirement]) -> Self {
        let judged = requirements.iter().map(|one| one.judge(figures));
        let requirements: Vec<JudgedCrash> = judged.collect();
        let has = |decision| requirements.iter().any(|one| one.decision == decision);
        let decision = [Decision::Failed, Decision::Undecided]
            .into_iter()
            .find(|decision| has(*decision))
            .unwrap_or(Decision::Passed);
        Self {
            decision,
            rounds,
            requirements,
        }
    }
}

impl CrashRequirement {
    /// Whether a text is about crash rounds and not about a ratio.
    pub fn is_begun_by(text: &str) -> bool {
        let name = text.trim().split(['=', '<', '>', ' ']).next();
        let name = name.unwrap_or_default();
        name == BOUND || COUNTED.iter().any(|(_, counted)| *counted == name)
    }

    fn judge(&self, figures: &CrashFigures) -> JudgedCrash {
        let (found, decision) = match *self {
            Self::None(paths) => {
                let count = paths.of(figures);
                let decision = match (count, figures.crashes) {
                    (1.., _) => Decision::Failed,
                    (0, 0) => Decision::Undecided,
                    (0, _) => Decision::Passed,
                };
                (Some(count as f64), decision)
            }
            Self::ShareBelow(percent) => match figures.share {
                Some((_, max)) if max * 100.0 < percent => (Some(max), Decision::Passed),
                Some((min, max)) if min * 100.0 >= percent => (Some(max), Decision::Failed),
                share => (share.map(|(_, max)| max), Decision::Undecided),
            },
        };
        JudgedCrash {
            requirement: *self,
            decision,
            found,
        }
    }
}

impl CountedPaths {
    const fn of(self, figures: &CrashFigures) -> u64 {
        match self.0 {
            Counted::Lost => figures.lost,
            Counted::Torn => figures.torn,
            Counted::Resurrected => figures.resurrected,
            Counted::Foreign => figures.foreign,
        }
    }
}

impl fmt::Display for CrashRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None(paths) => {
                let name = COUNTED.iter().find(|(counted, _)| *counted == paths.0);
                write!(f, "{} == 0", name.map_or("", |(_, name)| name))
            }
            Self::ShareBelow(percent) => write!(f, "{BOUND} < {percent} %"),
        }
    }
}

impl Serialize for CrashRequirement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for CrashRequirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let wrong = || {
            RequirementError::new(
                "expected 'lost == 0', 'torn == 0', 'resurrected == 0', 'foreign == 0', or a bound \
                 of the share of crashes with a loss, like 'lost.bound < 2%'",
            )
        };
        let text = text.trim();
        if let Some(bound) = text.strip_prefix(BOUND) {
            let share = bound.trim().strip_prefix('<').ok_or_else(wrong)?;
            let share = share.trim().strip_suffix('%').ok_or_else(wrong)?;
            let percent: f64 = share.trim().parse().map_err(|_| wrong())?;
            let is_share = percent > 0.0 && percent < 100.0;
            return is_share
                .then_some(Self::ShareBelow(percent))
                .ok_or_else(wrong);
        }
        let (name, number) = text.split_once("==").ok_or_else(wrong)?;
        let found = COUNTED.iter().find(|(_, counted)| *counted == name.trim());
        match (found, number.trim()) {
            (Some((counted, _)), "0") => Ok(Self::None(CountedPaths(*counted))),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(figures: &CrashFigures, requirements: &[&str]) -> Decision {
        let parsed = requirements.iter().map(|text| text.parse().unwrap());
        CrashGate::of(String::new(), figures, &parsed.collect::<Vec<_>>()).decision
    }

    const CLEAN: CrashFigures = CrashFigures {
        crashes: 200,
        lost: 0,
        torn: 0,
        resurrected: 0,
        foreign: 2,
        share: Some((0.0, 0.0149)),
    };

    #[test]
    fn losses_fail_and_rounds_without_a_crash_are_undecided() {
        let all = [
            "lost == 0",
            "torn==0",
            "resurrected == 0",
            "lost.bound < 2%",
        ];
        assert_eq!(decision(&CLEAN, &all), Decision::Passed);
        assert_eq!(decision(&CLEAN, &["foreign == 0"]), Decision::Failed);
        let lossy = CrashFigures { torn: 1, ..CLEAN };
        assert_eq!(decision(&lossy, &["lost == 0"]), Decision::Passed);
        assert_eq!(decision(&lossy, &all), Decision::Failed);
        let none = CrashFigures::default();
        assert_eq!(decision(&none, &["lost == 0"]), Decision::Undecided);
        assert_eq!(decision(&none, &["lost.bound < 2%"]), Decision::Undecided);
    }

    #[test]
    fn bound_fails_only_if_the_whole_interval_is_above_it() {
        let of = |share| CrashFigures {
            share: Some(share),
            ..CLEAN
        };
        let bound = ["lost.bound < 2%"];
        assert_eq!(decision(&of((0.0, 0.3)), &bound), Decision::Undecided);
        assert_eq!(decision(&of((0.01, 0.3)), &bound), Decision::Undecided);
        assert_eq!(decision(&of((0.02, 0.3)), &bound), Decision::Failed);
    }

    #[test]
    fn requirement_is_parsed_as_written() {
        for text in [
            "lost == 0",
            "torn == 0",
            "lost.bound < 2 %",
            "lost.bound < 1.5 %",
        ] {
            assert!(CrashRequirement::is_begun_by(text));
            assert_eq!(text.parse::<CrashRequirement>().unwrap().to_string(), text);
        }
        for text in [
            "lost == 1",
            "lost < 2%",
            "lost.bound < 0%",
            "lost.bound < 2",
            "lost",
        ] {
            assert!(text.parse::<CrashRequirement>().is_err(), "{text}");
        }
        assert!(!CrashRequirement::is_begun_by("transactions >= 0.985"));
    }
}
