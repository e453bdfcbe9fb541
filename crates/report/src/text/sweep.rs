//! The load levels of a sweep, its saturation rate, SLO and knee.

use std::collections::BTreeSet;

use document::units::{counted, grouped, latency, percent, rate};
use document::{Cell, Column, Document, Number, Table};
use measure::knee::{POINTS_MIN, RISE_MIN};
use record::{Action, Load, Role};
use verdict::{Limit, Summary, SweepStepSummary, SweepSummary};

use crate::latencies::{self, Unit};
use crate::steps::{self, Swept, by_load, load};
use crate::text::{contradictions, slo};

/// Maximum number of kinds of operations in one table.
const KINDS_MAX: usize = 5;

/// Adds the load levels of a sweep, and the saturation rate, SLO and knee that follow from the load
/// levels. With `is_full`, adds all columns and the latencies by operation.
pub(crate) fn render(document: &mut Document, summary: &Summary, is_full: bool) {
    let Some(sweep) = &summary.sweep else {
        return;
    };
    if is_full {
        sweep_steps(document, summary);
        by_operation(document, sweep, summary);
    } else {
        in_short(document, summary);
    }
    if let Some(limit) = &sweep.limit {
        let words = format!(
            "{} (sustained: in the last fifth of the level, every worker caught up with its \
             arrivals at least once, and at most 1 % of the operations failed or were skipped)",
            saturation(limit)
        );
        document.sentence("Saturation", words);
    }
    if let Some(slo) = &sweep.slo {
        document.sentence("SLO", slo::sentence(slo, sweep));
    }
    if let Some(highest) = highest(summary) {
        document.sentence("Maximum", highest);
    }
    if !sweep.is_of_phases() {
        knee(document, sweep);
    }
    document.gap();
}

/// Largest gain of more workers or ranks that counts as none: half of the drift that a steady run
/// may have.
const GAIN_MAX: f64 = 0.05;

/// The highest rate of a sweep of workers or ranks, and whether more of them raise it. `None` for
/// other sweeps, and without two complete load levels.
fn highest(summary: &Summary) -> Option<String> {
    let swept = Swept::of(summary.sweep.as_ref()?);
    if !matches!(swept, Swept::Workers | Swept::Ranks) {
        return None;
    }
    let levels = by_load(summary).into_iter();
    let complete = levels.filter(|(_, level)| level.complete && level.holds);
    let rates = complete.filter_map(|(_, level)| Some((level.load, level.achieved_per_second?)));
    let rates: Vec<(Load, f64)> = rates.collect();
    let (last, _) = rates.last().filter(|_| rates.len() > 1)?;
    let best = rates
        .iter()
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    let mut near = rates
        .iter()
        .filter(|(_, rate)| *rate >= best.1 / (1.0 + GAIN_MAX));
    let (enough, _) = near.next()?;
    let found = format!("{} transactions/s at {}", rate(Some(best.1)), load(best.0));
    let unit = swept.column();
    Some(match enough == last {
        true => {
            format!("{found}, the most {unit} of the sweep: it still rises (sweep more {unit})")
        }
        false => format!(
            "{found}; more than {} raise it by less than {}",
            load(*enough),
            percent(GAIN_MAX)
        ),
    })
}

/// Describes the load of a level, or names the phase of the workload.
pub(crate) fn name(step: &SweepStepSummary) -> String {
    match &step.name {
        Some(name) => format!("phase {name}"),
        None => load(step.load),
    }
}

/// The results of a sweep, for the first lines of the short report.
pub(crate) fn found(sweep: &SweepSummary) -> Vec<String> {
    let sentence = |(name, words)| match name {
        "Saturation" => format!("saturates {words}"),
        "Knee" => format!("knee {words}"),
        _ => words,
    };
    results(sweep).into_iter().map(sentence).collect()
}

/// The results of a sweep, a line each: saturation rate, SLO and knee, as far as they were found.
pub(crate) fn results(sweep: &SweepSummary) -> Vec<(&'static str, String)> {
    let mut results = Vec::new();
    let rate_of = |limit| Some(("Saturation", saturation_rate(limit)?));
    results.extend(sweep.limit.as_ref().and_then(rate_of));
    if let Some(slo) = &sweep.slo {
        results.push(("SLO", slo::short(slo, sweep)));
    }
    results.extend(knee_load(sweep).map(|load| ("Knee", format!("at {load}"))));
    results
}

/// The load at the knee, with its unit.
fn knee_load(sweep: &SweepSummary) -> Option<String> {
    let knee = sweep.knee.as_ref()?;
    Some(Swept::of(sweep).load(knee.rate))
}

/// The saturation rate: the highest sustained rate, or the rate that bounds it. `None` if no load
/// level with a rate was complete.
fn saturation_rate(limit: &Limit) -> Option<String> {
    match (limit.highest, limit.lowest_beyond) {
        (Some(_), Some(_)) => Some(format!("at {}", slo::achieved(Swept::Rates, limit))),
        (Some(_), None) => Some(format!("above {}", slo::achieved(Swept::Rates, limit))),
        (None, Some(beyond)) => Some(format!(
            "below {} transactions/s offered",
            rate(Some(beyond))
        )),
        (None, None) => None,
    }
}

/// The saturation rate, and the lowest rate that was not sustained. If only one of them was found,
/// adds advice on which rates to sweep next.
fn saturation(limit: &Limit) -> String {
    let Some(words) = saturation_rate(limit) else {
        return "not found: the sweep has no complete load level with a rate".to_owned();
    };
    match (limit.highest, limit.lowest_beyond) {
        (Some(_), Some(beyond)) => {
            let beyond = rate(Some(beyond));
            format!("{words}; {beyond} offered was not sustained")
        }
        (Some(_), None) => format!("{words}, the highest rate of the sweep (sweep higher rates)"),
        (None, _) => format!("{words}, the lowest rate of the sweep (sweep lower rates)"),
    }
}

fn state(step: &SweepStepSummary) -> &'static str {
    match (step.complete, step.holds) {
        (false, _) => "PARTIAL",
        (true, true) => "",
        (true, false) => "not sustained",
    }
}

/// Adds a table of the load levels, with the columns that fit on one screen. With an SLO for one
/// operation, a column has its 99th percentile.
fn in_short(document: &mut Document, summary: &Summary) {
    const COLUMNS: [&str; 4] = ["p50", "p99", "p99.9", "max"];
    let Some(sweep) = &summary.sweep else {
        return;
    };
    let steps = by_load(summary);
    let times: Vec<_> = steps.iter().map(|(_, of)| latencies::of_step(of)).collect();
    let mut columns: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for name in COLUMNS {
        let of_levels = times.iter().map(|times| latencies::ns(times, name));
        columns.push((name.to_owned(), of_levels.collect()));
    }
    let of_one = sweep.slo.as_ref().filter(|slo| slo.operation.is_some());
    if let Some(slo) = of_one {
        let p99s = steps.iter().map(|(_, of)| of.p99_ns_of(slo.operation));
        let p99s = p99s.map(|ns| ns.map(|ns| ns as f64));
        columns.push((slo.name(), p99s.collect()));
    }
    let mut table = Table::new(0, &[Swept::of(sweep).column(), "achieved/s"]);
    let units = columns
        .iter()
        .map(|(_, ns)| Unit::of(ns.iter().copied().flatten()));
    let units: Vec<Unit> = units.collect();
    for ((name, _), unit) in columns.iter().zip(&units) {
        table.column(format!("{name}, {}", unit.name), false);
    }
    table.column("", true);
    for (index, (_, step)) in steps.iter().enumerate() {
        let mut cells = vec![steps::cell(step), Cell::rate(step.achieved_per_second)];
        let of_columns = columns.iter().zip(&units);
        cells.extend(of_columns.map(|((_, ns), unit)| unit.cell(ns[index])));
        cells.push(state(step).into());
        table.row(cells);
    }
    document.table(table.leading(1));
    document.note(match of_one {
        None => "rates in transactions/s; latencies of all operations".to_owned(),
        Some(slo) => format!(
            "rates in transactions/s; latencies of all operations, but for {}",
            slo.name()
        ),
    });
    contradictions::add(document, summary, sweep);
    document.gap();
}

fn sweep_steps(document: &mut Document, summary: &Summary) {
    let Some(sweep) = &summary.sweep else {
        return;
    };
    let columns: [Column<(usize, &SweepStepSummary)>; 13] = [
        (Swept::of(sweep).ordinal(), |(number, _)| ordinal(*number)),
        (Swept::of(sweep).column(), |(_, of)| steps::cell(of)),
        ("achieved/s", |(_, of)| Cell::rate(of.achieved_per_second)),
        ("of arrived", |(_, of)| {
            or_empty(of.achieved_fraction.map(Number::Share))
        }),
        ("waiting", |(_, of)| or_empty(of.waiting.map(Number::Count))),
        ("kept up", |(_, of)| {
            or_empty(of.caught_up_fraction.map(Number::Share))
        }),
        ("mean, µs", |(_, of)| {
            of.mean_ns.map(Number::Microseconds).into()
        }),
        ("p50, µs", |(_, of)| micros(of.p50_ns).into()),
        ("p99, µs", |(_, of)| micros(of.p99_ns).into()),
        ("p99.9, µs", |(_, of)| micros(of.p999_ns).into()),
        ("max, µs", |(_, of)| micros(of.max_ns).into()),
        ("service p99, µs", |(_, of)| {
            or_empty(micros(of.service_p99_ns))
        }),
        ("", |(_, of)| state(of).into()),
    ];
    let table = Table::of(1, &columns, by_load(summary));
    document.table(table.leading(2).with_words(columns.len() - 1));
    document.note(match sweep.is_of_phases() {
        true => {
            "phases in their order; rates in transactions/s; latencies of all operations; with an \
             offered rate, response times from the due time"
        }
        false => {
            "levels by load, numbered in the order of measurement; rates in transactions/s; \
             latencies of all operations; with an offered rate, response times from the due time; \
             kept up: share of the level until which every worker had moments without a waiting \
             transaction (sustained from 80 % on); waiting: due at the end, also after a short \
             burst or stall"
        }
    });
    contradictions::add(document, summary, sweep);
    for (number, step) in by_load(summary) {
        if step.failed > 0 || step.skipped.total() > 0 {
            document.note(format!(
                "{}: {} failed, {} skipped",
                step.name.as_ref().map_or_else(
                    || format!("level {}", number + 1),
                    |name| format!("phase {name}")
                ),
                counted(step.failed, "operation"),
                grouped(step.skipped.total())
            ));
        }
    }
    document.gap();
}

/// The number of a load level, from its index.
fn ordinal(place: usize) -> Cell {
    Number::Ordinal(place as u64 + 1).into()
}

fn micros(ns: Option<u64>) -> Option<Number> {
    ns.map(|ns| Number::Microseconds(ns as f64))
}

fn or_empty(number: Option<Number>) -> Cell {
    number.map_or(Cell::Empty, Cell::from)
}

/// Adds a table with a column for each kind of operation whose latency is available at any load
/// level.
fn by_operation(document: &mut Document, sweep: &SweepSummary, summary: &Summary) {
    let operations = sweep.sweep_steps.iter().flat_map(|step| &step.by_operation);
    let known = operations.filter(|operation| operation.p99_ns.is_some());
    let kinds: BTreeSet<(Role, Action)> = known.map(|of| (of.role, of.action)).collect();
    let kinds: Vec<(Role, Action)> = kinds.into_iter().collect();
    for kinds in kinds.chunks(KINDS_MAX) {
        let mut table = Table::new(1, &["p99, µs", Swept::of(sweep).column()]);
        for (role, action) in kinds {
            table.column(of_role(*role, action.name()), false);
        }
        for (number, sweep_step) in by_load(summary) {
            let of_kind = |(role, action): &(Role, Action)| {
                let mut all = sweep_step.by_operation.iter();
                let found =
                    all.find(|operation| (operation.role, operation.action) == (*role, *action));
                micros(found.and_then(|operation| operation.p99_ns)).into()
            };
            let mut cells = vec![ordinal(number), steps::cell(sweep_step)];
            cells.extend(kinds.iter().map(of_kind));
            table.row(cells);
        }
        document.table(table.leading(2));
    }
    document.note(
        "--format json has each level's time series, calls of operations, slowest operations, \
         waits and machine counters",
    );
}

fn of_role(role: Role, name: &str) -> String {
    match role {
        Role::Worker => name.to_owned(),
        Role::Writer | Role::Reader => format!("{} {name}", role.name()),
    }
}

fn knee(document: &mut Document, sweep: &SweepSummary) {
    let words = match (&sweep.knee, knee_load(sweep)) {
        (Some(knee), Some(load)) => format!(
            "at {load}: latency rises steeply from this load on (mean latency there {}; found in \
             {} sustained levels){}",
            latency(knee.latency),
            knee.points,
            contradictions::higher_below(sweep, knee)
        ),
        _ => format!(
            "none (it needs {POINTS_MIN} sustained levels whose mean latency at least doubles, \
             bends upwards, and is less than {RISE_MIN:.0} times as high at each lower load)"
        ),
    };
    document.sentence("Knee", words);
}

#[cfg(test)]
mod tests {
    use measure::Knee;
    use record::SweepStep;

    use super::*;

    #[test]
    fn knee_names_what_the_sweep_raises() {
        for (load, shown) in [
            (Load::Rate(4.0), "knee at 4.00 transactions/s"),
            (Load::Workers(4), "knee at 4 workers"),
            (Load::Ranks(4), "knee at 4 ranks"),
        ] {
            let step = SweepStep {
                load,
                name: None,
                workers: 4,
                phases: Vec::new(),
                of_run: None,
            };
            let sweep = SweepSummary {
                sweep_steps: vec![SweepStepSummary::of(&step)],
                limit: None,
                slo: None,
                knee: Some(Knee {
                    rate: 4.0,
                    latency: 2e6,
                    difference: 0.5,
                    sensitivity: 1.0,
                    points: 5,
                }),
            };
            assert_eq!(found(&sweep), [shown]);
        }
    }
}
