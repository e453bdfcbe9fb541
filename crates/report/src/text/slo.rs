//! The result of an SLO: the loads between which it stops being met, or why it is undecided.

use document::units::{grouped, latency, rate};
use verdict::summary::LatencySummary;
use verdict::{Limit, SloSummary, SweepSummary};

use crate::steps::{Swept, load};

/// The name of an SLO, such as `p99 < 10 ms`.
pub(crate) fn slo_name(slo: &SloSummary) -> String {
    let shown = latency(slo.p99_ns as f64);
    let (digits, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    format!("{} < {digits} {unit}", slo.name())
}

/// The result in a few words, for the first lines of the short report.
pub(super) fn short(slo: &SloSummary, sweep: &SweepSummary) -> String {
    let name = slo_name(slo);
    match slo.limit.highest {
        Some(highest) => {
            let highest = at(Swept::of(sweep), Some(highest));
            format!("{name} up to {highest} (one measurement)")
        }
        None if slo.met_beyond(&sweep.sweep_steps).is_some() => format!("{name} undecided"),
        None if slo.undecided.is_some() => {
            let few = format!("(too few {})", operations_of(slo));
            match slo.limit.lowest_beyond {
                Some(beyond) => {
                    let beyond = at(Swept::of(sweep), Some(beyond));
                    format!("{name} not met from {beyond}, undecided below {few}")
                }
                None => format!("{name} undecided {few}"),
            }
        }
        None => format!("{name} not met"),
    }
}

/// The operations to which an SLO applies: `operations`, or `deliver operations`.
fn operations_of(slo: &SloSummary) -> String {
    let operation = slo
        .operation
        .map(|operation| format!("{} ", operation.name()));
    operation.unwrap_or_default() + "operations"
}

/// A load: an offered rate in transactions/s, or a number of workers or ranks. The unit of a rate
/// is left out, because the line of the saturation rate contains it.
fn at(swept: Swept, load: Option<f64>) -> String {
    match swept {
        Swept::Rates => format!("{} offered", rate(load)),
        _ => load.map_or_else(String::new, |load| swept.load(load)),
    }
}

/// The achieved rate and the load of the highest load level within a limit (the saturation rate or
/// an SLO).
pub(super) fn achieved(swept: Swept, limit: &Limit) -> String {
    let achieved = format!(
        "{} transactions/s achieved",
        rate(limit.achieved_per_second)
    );
    let load = at(swept, limit.highest);
    match swept {
        Swept::Rates => format!("{achieved} ({load})"),
        _ => format!("{load} ({achieved})"),
    }
}

/// The highest load that meets the SLO, and the lowest load that does not. If no load level meets
/// the SLO, the load level whose latency is nearest to it.
pub(super) fn sentence(slo: &SloSummary, sweep: &SweepSummary) -> String {
    let (swept, name) = (Swept::of(sweep), slo_name(slo));
    let limit = &slo.limit;
    if let Some(higher) = slo.met_beyond(&sweep.sweep_steps) {
        return format!(
            "{name} is undecided: not met at {}, but met at {}; something else disturbed a level \
             (repeat the sweep)",
            at(swept, limit.lowest_beyond),
            at(swept, Some(higher))
        );
    }
    if let Some(few) = too_few(slo, sweep) {
        let beyond = at(swept, limit.lowest_beyond);
        return match (limit.highest, limit.lowest_beyond) {
            (Some(_), Some(_)) => format!(
                "{name} is met at {}, not met from {beyond} on, and undecided in between: {few}",
                achieved(swept, limit)
            ),
            (Some(_), None) => format!(
                "{name} is met at {}, and undecided above: {few}",
                achieved(swept, limit)
            ),
            (None, Some(_)) => {
                format!("{name} is not met from {beyond} on, and undecided below: {few}")
            }
            (None, None) => format!("{name} is undecided: {few}"),
        };
    }
    if let Some(nearest) = nearest(slo, sweep) {
        return format!("{name}: NOT MET by any level; {nearest}");
    }
    let (lower, higher) = match swept {
        Swept::Rates | Swept::Phases => ("lower rates", "higher rates"),
        Swept::Workers => ("fewer workers", "more workers"),
        Swept::Ranks => ("fewer ranks", "more ranks"),
    };
    let beyond = at(swept, limit.lowest_beyond);
    match (limit.highest, limit.lowest_beyond) {
        (Some(_), Some(_)) => format!(
            "{name} is met at {}, and not at {beyond}: one measurement of each level",
            achieved(swept, limit)
        ),
        (Some(_), None) => format!(
            "{name} is met at all levels, the highest {} (sweep {higher}): one measurement of each \
             level",
            achieved(swept, limit)
        ),
        (None, Some(_)) => {
            let why = why_missed(slo, sweep).unwrap_or_default();
            format!("{name} is not met at {beyond}, the lowest level{why} (sweep {lower})")
        }
        (None, None) => format!("{name}: the sweep has no complete load level"),
    }
}

/// Why the lowest level that misses an SLO misses it; `None` if its 99th percentile, which the
/// table shows, is the reason.
fn why_missed(slo: &SloSummary, sweep: &SweepSummary) -> Option<&'static str> {
    let mut levels = sweep.sweep_steps.iter();
    let level = levels.find(|level| level.load.value() == slo.limit.lowest_beyond)?;
    match level.p99_ns_of(slo.operation) {
        _ if !level.holds => Some(", because this load was not sustained"),
        None => Some(", because half of the operations took longer"),
        Some(_) => None,
    }
}

/// The load level whose latency is nearest to an SLO that no level meets.
fn nearest(slo: &SloSummary, sweep: &SweepSummary) -> Option<String> {
    let (place, p99) = slo.nearest?;
    let nearest = sweep.sweep_steps.get(place)?;
    let service = nearest.service_p99_ns.filter(|_| slo.operation.is_none());
    let why = match service.filter(|service| *service >= slo.p99_ns) {
        Some(service) => format!(
            "; the operations alone, from their start, have a p99 of {}, so a lower rate will not \
             meet it",
            latency(service as f64)
        ),
        None => String::new(),
    };
    Some(format!(
        "the nearest level is {} with {} {}{why}",
        load(nearest.load),
        slo.name(),
        latency(p99 as f64)
    ))
}

/// How many operations a level measured that has too few for a 99th percentile, and how long the
/// level must be for enough of them.
fn too_few(slo: &SloSummary, sweep: &SweepSummary) -> Option<String> {
    let level = sweep.sweep_steps.get(slo.undecided?)?;
    let measured = level.count_of(slo.operation);
    let seconds = level.transactions as f64 / level.achieved_per_second?;
    let remedy = match measured {
        0 => String::new(),
        _ => {
            let needed = seconds * LatencySummary::P99_MIN as f64 / measured as f64;
            // A tenth is added, because the number of operations varies.
            // A level with a lower load has fewer operations in the same time.
            let longer = grouped((needed * 1.1).ceil() as u64);
            format!(" (use --for {longer}s; lower loads need longer levels)")
        }
    };
    Some(format!(
        "the level of {} measured {} {}, and a p99 needs {}{remedy}",
        load(level.load),
        grouped(measured),
        operations_of(slo),
        grouped(LatencySummary::P99_MIN)
    ))
}
