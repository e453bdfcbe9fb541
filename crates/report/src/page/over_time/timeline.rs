//! The time axis, marks in the background, and lines over time.

use document::units::grouped;
use record::{Outcome, PhaseRecord, Record, SegmentKind};

use super::stretches::{POINTS_MAX, Stretch, phases, span_ns};
use crate::pictures::chart::{Axis, Behind, Series, points};
use crate::pictures::scale::Scale;

/// The time axis, in seconds since the run's origin.
pub(super) fn time(record: &Record) -> Axis {
    let phases = phases(record).into_iter();
    let ends: Vec<f64> = phases
        .flat_map(|phase| <[u64; 2]>::from(span_ns(phase)))
        .map(|ns| ns as f64 / 1e9)
        .collect();
    let scale = Scale::over(ends.iter().copied());
    Axis::new("seconds since the start of the run", scale, second)
}

fn second(value: f64) -> String {
    // Labels need decimals if a run takes only a few seconds.
    document::units::trimmed(value, 3)
}

fn stretch((from_ns, to_ns): (u64, u64), name: impl Into<String>, class: &'static str) -> Behind {
    Behind::Stretch {
        from: from_ns as f64 / 1e9,
        to: to_ns as f64 / 1e9,
        name: name.into(),
        class,
    }
}

/// Phases and warm-ups, as marks in the background.
pub(super) fn behind(record: &Record) -> Vec<Behind> {
    let mut behind = Vec::new();
    for (number, phase) in phases(record).into_iter().enumerate() {
        let class = ["phase", "phase other"][number % 2];
        behind.push(stretch(span_ns(phase), phase.phase.name(), class));
        for segment in &phase.segments {
            let name = match segment.kind {
                SegmentKind::WarmUp => "warm-up",
                SegmentKind::Approach => "approach",
                SegmentKind::Measured => continue,
            };
            let span = (segment.began_ns, segment.ended_ns);
            behind.push(stretch(span, name, "warm-up"));
        }
    }
    behind
}

/// Intervals with failed operations, as marks in the background.
pub(super) fn failures(stretches: &[Stretch]) -> impl Iterator<Item = Behind> {
    let failed = stretches.iter().filter(|stretch| stretch.failed > 0);
    failed.map(|of| {
        let name = format!("{} failed", grouped(of.failed));
        stretch((of.began_ns, of.ended_ns), name, "failed")
    })
}

/// Intervals of phases in which no operation completed. Adjacent slices are merged, and intervals
/// that are too narrow to be seen are left out.
pub(super) fn stalls(phases: &[&PhaseRecord]) -> Vec<Behind> {
    let mut stalls: Vec<(u64, u64)> = Vec::new();
    let (mut widest_ns, mut whole_ns) = (0, 0);
    for phase in phases {
        let ((began_ns, ended_ns), width_ns) = (span_ns(phase), phase.slices.width_ns());
        let idle: Vec<bool> = phase
            .slices
            .iter()
            .map(|slice| slice.iter().all(|(_, meter)| meter.operations == 0))
            .collect();
        if idle.is_empty() || width_ns == 0 {
            continue;
        }
        widest_ns = widest_ns.max(width_ns);
        whole_ns = ended_ns;
        // The slices end with the last slice in which an operation completed, and the phase is idle
        // after that slice.
        for number in 0..ended_ns.saturating_sub(began_ns).div_ceil(width_ns) {
            if !idle.get(number as usize).copied().unwrap_or(true) {
                continue;
            }
            let from_ns = began_ns + number * width_ns;
            let to_ns = (from_ns + width_ns).min(ended_ns);
            match stalls.last_mut() {
                Some((_, before_ns)) if *before_ns == from_ns => *before_ns = to_ns,
                _ => stalls.push((from_ns, to_ns)),
            }
        }
    }
    let least_ns = widest_ns.max(whole_ns / POINTS_MAX as u64);
    let seen = stalls
        .into_iter()
        .filter(|(from_ns, to_ns)| to_ns - from_ns >= least_ns);
    seen.map(|span| stretch(span, "no operation was completed", "stalled"))
        .collect()
}

/// The reason why a record contains no activity over time.
pub(super) fn why_missing(record: &Record) -> &'static str {
    let mut steps = record.actual.sweep_steps.iter();
    match (&record.actual.outcome, phases(record).is_empty()) {
        (_, true) if steps.any(|step| step.of_run.is_some()) => {
            "each load level of the sweep was a run of its own"
        }
        (Outcome::Complete, true) => "the run has no phases",
        (_, true) => "the run ended before its first phase did",
        (_, false) => "the run was made with --no-series, or no operation was completed",
    }
}

pub(super) fn line(
    name: &str,
    stretches: &[Stretch],
    value: impl Fn(&Stretch) -> Option<f64>,
) -> Series {
    let point = |stretch: &Stretch| Some((stretch.middle_s(), value(stretch)?));
    let mut points = Vec::new();
    let mut before_ns = None;
    for stretch in stretches {
        // The line is interrupted between phases.
        if before_ns.is_some_and(|before_ns| before_ns != stretch.began_ns) {
            points.push(None);
        }
        points.push(point(stretch));
        before_ns = Some(stretch.ended_ns);
    }
    Series::new(name, points)
}

/// The values of all series on the vertical axis.
pub(super) fn values(series: &[Series]) -> impl Iterator<Item = f64> {
    points(series).map(|(_, y)| y)
}
