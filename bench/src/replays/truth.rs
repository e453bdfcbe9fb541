//! How far the times of a replay and of a model are from those of the command.

use std::collections::{BTreeMap, BTreeSet};

use super::part::{CPU, P99, Part, TRACE};
use crate::realism::rounds::Line;
use crate::realism::volume::BASELINE;
use crate::statistics::{Median, median};

/// Greatest accepted error of the ratio between two file systems.
const REPLAY_ERROR_MAX: f64 = 0.10;
const MODEL_ERROR_MAX: f64 = 0.20;

/// Seconds by round.
type Seconds = BTreeMap<u32, f64>;

/// A command beside its replay and its model.
#[derive(Clone, Debug)]
pub struct Truth {
    pub command: &'static str,
    /// Share of the trace's operations that the model does not represent.
    pub left_out: Option<f64>,
    /// Operations of the replay; `None` if it was not measured.
    pub operations: Option<u64>,
    /// Processor time of the command on the baseline, in seconds.
    pub cpu: Option<Median>,
    /// The relative difference between the time of a replay at the times of the trace and that of
    /// the trace.
    pub traced: Option<f64>,
    pub systems: Vec<System>,
    /// The 99th percentiles of operations that both the replay and the model have.
    pub latencies: Vec<Latency>,
}

/// The times on one file system.
#[derive(Clone, Debug)]
pub struct System {
    pub name: String,
    pub original: Option<Median>,
    pub replay: Option<Compared>,
    /// The replay with the pauses of the trace.
    pub paused: Option<Compared>,
    pub model: Option<Compared>,
    /// The command's speed relative to the baseline.
    pub ratio: Option<Median>,
}

/// A replay or a model on one file system.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    pub seconds: Median,
    /// The speed relative to the baseline.
    pub ratio: Median,
    /// The same, for a replay without pauses with the command's own time (see [`own_time`]) added
    /// on both file systems.
    pub ratio_with_own: Median,
    /// The relative difference between this time and that of the command. A replay without pauses
    /// has the command's own time added, so it has none on the baseline, unless it is slower.
    pub inaccuracy: Option<f64>,
}

/// The 99th percentile of an operation's latency on the baseline in seconds, and its quotient on
/// another file system by that on the baseline.
#[derive(Clone, Debug)]
pub struct Latency {
    pub action: String,
    pub system: String,
    pub replay: (f64, f64),
    pub model: (f64, f64),
}

/// The measurements of a command.
struct Measured<'a> {
    lines: &'a [Line],
    data: &'a str,
    command: &'static str,
}

impl Measured<'_> {
    fn lines(&self, part: Part) -> impl Iterator<Item = &Line> {
        let name = part.of(self.command);
        self.lines
            .iter()
            .filter(move |line| line.place.data == self.data && line.place.name == name)
    }

    fn seconds(&self, part: Part, step: &str, file_system: &str) -> Seconds {
        self.lines(part)
            .filter(|line| line.step.name == step && line.place.file_system == file_system)
            .map(|line| (line.place.round, line.step.seconds))
            .collect()
    }

    fn times(&self, part: Part, file_system: &str) -> Seconds {
        self.seconds(part, part.name(), file_system)
    }

    fn compared(&self, part: Part, file_system: &str) -> Option<Compared> {
        let [base, other] = [BASELINE, file_system].map(|name| self.times(part, name));
        let original = middle(&self.times(Part::Original, file_system));
        // The others compute as the command does.
        let own = match part {
            Part::Replay => own_time(&self.times(Part::Original, BASELINE), &base),
            _ => 0.0,
        };
        let seconds = middle(&other)?;
        Some(Compared {
            seconds,
            ratio: ratio(&base, &other, 0.0)?,
            ratio_with_own: ratio(&base, &other, own)?,
            inaccuracy: original.map(|original| {
                let predicted = seconds.value + own;
                (predicted - original.value).abs() / original.value
            }),
        })
    }

    fn latencies(&self, file_system: &str) -> Vec<Latency> {
        let names = |part| -> BTreeSet<&str> {
            let steps = self.lines(part).map(|line| line.step.name.as_str());
            steps.filter_map(|name| name.strip_prefix(P99)).collect()
        };
        let (of_replay, of_model) = (names(Part::Replay), names(Part::Model));
        let common = of_replay.intersection(&of_model);
        let found = common.filter_map(|action| {
            let of = |part| {
                let step = format!("{P99}{action}");
                let base = self.seconds(part, &step, BASELINE);
                let other = self.seconds(part, &step, file_system);
                Some((middle(&base)?.value, 1.0 / ratio(&base, &other, 0.0)?.value))
            };
            Some(Latency {
                action: (*action).to_owned(),
                system: file_system.to_owned(),
                replay: of(Part::Replay)?,
                model: of(Part::Model)?,
            })
        });
        found.collect()
    }
}

impl Truth {
    pub fn new(lines: &[Line], data: &str, command: &'static str, left_out: Option<f64>) -> Self {
        let measured = Measured {
            lines,
            data,
            command,
        };
        let original = measured.lines(Part::Original);
        let names: BTreeSet<&str> = original.map(|of| of.place.file_system.as_str()).collect();
        let system = |name: &&str| System {
            name: (*name).to_owned(),
            original: middle(&measured.times(Part::Original, name)),
            replay: measured.compared(Part::Replay, name),
            paused: measured.compared(Part::Paused, name),
            model: measured.compared(Part::Model, name),
            ratio: ratio(
                &measured.times(Part::Original, BASELINE),
                &measured.times(Part::Original, name),
                0.0,
            ),
        };
        let trace = middle(&measured.seconds(Part::Traced, TRACE, BASELINE));
        let traced = middle(&measured.times(Part::Traced, BASELINE));
        let others = names.iter().filter(|name| **name != BASELINE);
        let mut replays = measured.lines(Part::Replay);
        Self {
            command,
            left_out,
            operations: replays.next().map(|line| line.step.operations),
            cpu: middle(&measured.seconds(Part::Original, CPU, BASELINE)),
            traced: trace
                .zip(traced)
                .map(|(trace, replay)| (replay.value - trace.value).abs() / trace.value),
            systems: names.iter().map(system).collect(),
            latencies: others.flat_map(|name| measured.latencies(name)).collect(),
        }
    }

    /// The requirements that are not met, as sentences.
    pub fn missed(&self) -> Vec<String> {
        let others = self.systems.iter().filter(|system| system.name != BASELINE);
        let rows = others.flat_map(|system| {
            [
                ("replay", system, system.replay, REPLAY_ERROR_MAX),
                (
                    "replay with pauses",
                    system,
                    system.paused,
                    REPLAY_ERROR_MAX,
                ),
                ("model", system, system.model, MODEL_ERROR_MAX),
            ]
        });
        let missed = rows.filter_map(|(what, system, compared, error_max)| {
            let where_ = format!("{what} of {} on {}", self.command, system.name);
            let Some(error) = compared.and_then(|of| error(system, of.ratio_with_own)) else {
                return Some(format!("{where_}: not measured"));
            };
            (error > error_max).then(|| {
                let (found, wanted) = (error * 100.0, error_max * 100.0);
                format!("{where_}: the ratio is off by {found:.0} %, wanted at most {wanted:.0} %")
            })
        });
        missed.collect()
    }
}

/// The relative difference between a ratio and that of the command.
pub fn error(system: &System, ratio: Median) -> Option<f64> {
    let original = system.ratio?;
    Some((ratio.value / original.value - 1.0).abs())
}

/// The time that a command spends with other than its operations: the difference to a replay or a
/// model on the baseline, at least 0.
fn own_time(original: &Seconds, part: &Seconds) -> f64 {
    let difference = middle(original)
        .zip(middle(part))
        .map(|(original, part)| original.value - part.value);
    difference.unwrap_or(0.0).max(0.0)
}

fn middle(seconds: &Seconds) -> Option<Median> {
    (!seconds.is_empty()).then(|| median(seconds.values().copied()))
}

/// The speed relative to the baseline, over the rounds that have both times. `own` is added to
/// each time.
fn ratio(base: &Seconds, other: &Seconds, own: f64) -> Option<Median> {
    let ratios = other
        .iter()
        .filter_map(|(round, seconds)| Some((base.get(round)? + own) / (seconds + own)));
    let ratios: Vec<f64> = ratios.collect();
    (!ratios.is_empty()).then(|| median(ratios))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realism::cell::Step;
    use crate::realism::rounds::Place;

    fn line(part: Part, file_system: &str, step: &str, seconds: f64) -> Line {
        Line {
            place: Place {
                data: "other".to_owned(),
                round: 0,
                file_system: file_system.to_owned(),
                name: part.of("tar"),
            },
            step: Step {
                name: step.to_owned(),
                operations: 7,
                seconds,
            },
        }
    }

    #[test]
    fn own_time_of_a_command_is_added_to_its_replay_without_pauses() {
        let lines = [
            line(Part::Original, "ext4", "original", 3.0),
            line(Part::Original, "xfs", "original", 4.0),
            line(Part::Replay, "ext4", "replay", 1.0),
            line(Part::Replay, "xfs", "replay", 2.0),
            line(Part::Paused, "ext4", "pauses", 2.5),
            line(Part::Paused, "xfs", "pauses", 3.0),
            line(Part::Model, "ext4", "model", 4.0),
            line(Part::Model, "xfs", "model", 2.0),
            line(Part::Traced, "ext4", "traced", 5.5),
            line(Part::Traced, "ext4", TRACE, 5.0),
            line(Part::Replay, "ext4", "p99 create", 0.001),
            line(Part::Replay, "xfs", "p99 create", 0.002),
            line(Part::Model, "ext4", "p99 create", 0.003),
            line(Part::Model, "xfs", "p99 create", 0.003),
        ];
        let truth = Truth::new(&lines, "other", "tar", None);
        assert_eq!(truth.operations, Some(7));
        assert!((truth.traced.unwrap() - 0.1).abs() < 1e-9);
        let xfs = truth.systems.iter().find(|one| one.name == "xfs").unwrap();
        let (replay, model) = (xfs.replay.unwrap(), xfs.model.unwrap());
        // The command computes for two seconds.
        assert_eq!(
            (replay.ratio.value, replay.ratio_with_own.value),
            (0.5, 0.75)
        );
        assert_eq!(replay.inaccuracy, Some(0.0));
        assert_eq!((model.ratio.value, model.ratio_with_own.value), (2.0, 2.0));
        assert_eq!(model.inaccuracy, Some(0.5));
        let paused = xfs.paused.unwrap();
        assert!((paused.ratio_with_own.value - 2.5 / 3.0).abs() < 1e-9);
        assert_eq!(paused.inaccuracy, Some(0.25));
        let [latency] = &truth.latencies[..] else {
            panic!("{:?}", truth.latencies)
        };
        assert_eq!(
            (latency.replay, latency.model),
            ((0.001, 2.0), (0.003, 1.0))
        );
        let [paused, model] = &truth.missed()[..] else {
            panic!("{:?}", truth.missed())
        };
        assert!(paused.contains("replay with pauses of tar on xfs: the ratio is off by 11 %"));
        assert!(model.contains("model of tar on xfs: the ratio is off by 167 %"));
    }
}
