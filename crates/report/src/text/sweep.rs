//! The load levels of a sweep, its limits and its knee; and the result of a steady-state rule.

use std::collections::BTreeSet;

use document::units::{counted, grouped, latency, microseconds, percent, rate};
use document::{Cell, Column, Document, Number, Table};
use measure::knee::POINTS_MIN;
use measure::steady;
use record::{Action, Load, Role, SteadyAsked};
use verdict::{Limit, PhaseSummary, SloSummary, Summary, SweepStepSummary, SweepSummary};

use crate::latencies;
use crate::steps::by_load;

/// Maximum number of kinds of operations in one table.
const KINDS_MAX: usize = 5;

/// Adds the load levels of a sweep, and the saturation rate, SLO and knee that follow from the
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
        self::limit(
            document,
            "Saturation",
            "sustained",
            limit,
            "sustained: every worker kept up with its arrivals in the last fifth of the step, and \
             at most 1 % of the operations failed or were skipped",
        );
    }
    if let Some(slo) = &sweep.slo {
        self::slo(document, slo, &sweep.sweep_steps);
    }
    knee(document, sweep);
    document.gap();
}

pub(crate) fn load(load: Load) -> String {
    match load {
        Load::Closed => "closed loop".to_owned(),
        Load::Rate(per_second) => format!("{}/s", rate(Some(per_second))),
        Load::Workers(workers) => counted(workers.into(), "worker"),
        Load::Ranks(ranks) => counted(ranks.into(), "rank"),
    }
}

/// The results of a sweep, for the first lines of the short report.
pub(crate) fn found(sweep: &SweepSummary) -> Vec<String> {
    let mut words = Vec::new();
    let highest = |limit: &Limit| {
        // If no load level exceeded a limit, the only known fact is that the limit is above the
        // highest level.
        let above = limit.lowest_beyond.map_or("above ", |_| "");
        Some(format!("{above}{}/s", rate(Some(limit.highest?))))
    };
    let limit = sweep.limit.as_ref().and_then(highest);
    words.extend(limit.map(|rate| format!("saturation {rate}")));
    if let Some(slo) = &sweep.slo {
        let met = highest(&slo.limit)
            .map_or_else(|| "not met".to_owned(), |rate| format!("met at {rate}"));
        let limit = latency(slo.p99_ns as f64);
        words.push(format!("{} < {limit}: {met}", slo.name()));
    }
    if let Some(knee) = &sweep.knee {
        words.push(match sweep.limit {
            Some(_) => format!("knee {}/s", rate(Some(knee.rate))),
            None => format!("knee {}", counted(knee.rate as u64, "worker")),
        });
    }
    words
}

fn state(step: &SweepStepSummary) -> &'static str {
    match (step.complete, step.holds) {
        (false, _) => "PARTIAL",
        (true, true) => "",
        (true, false) => "not sustained",
    }
}

/// Adds a table of the load levels, with the columns that fit on one screen.
fn in_short(document: &mut Document, summary: &Summary) {
    let columns = ["mean", "p50", "p99", "p99.9", "max"];
    let mut table = Table::new(2, &[&["load", "", "per second"][..], &columns].concat());
    for (_, step) in by_load(summary) {
        let mut cells = vec![load(step.load).into(), state(step).into()];
        cells.push(Cell::rate(step.achieved_per_second));
        let times = latencies::of_step(step);
        cells.extend(latencies::cells(&times, columns, Number::Latency));
        table.row(cells);
    }
    document.table(table);
    document.gap();
}

fn sweep_steps(document: &mut Document, summary: &Summary) {
    let columns: [Column<(usize, &SweepStepSummary)>; 12] = [
        ("Step", |(number, _)| ordinal(*number)),
        ("load", |(_, of)| load(of.load).into()),
        ("", |(_, of)| state(of).into()),
        ("per second", |(_, of)| Cell::rate(of.achieved_per_second)),
        ("achieved", |(_, of)| {
            or_empty(of.achieved_fraction.map(Number::Share))
        }),
        ("waiting", |(_, of)| or_empty(of.waiting.map(Number::Count))),
        ("mean, µs", |(_, of)| {
            of.mean_ns.map(Number::Microseconds).into()
        }),
        ("p50", |(_, of)| micros(of.p50_ns).into()),
        ("p99", |(_, of)| micros(of.p99_ns).into()),
        ("p99.9", |(_, of)| micros(of.p999_ns).into()),
        ("max", |(_, of)| micros(of.max_ns).into()),
        ("service p99", |(_, of)| or_empty(micros(of.service_p99_ns))),
    ];
    document.table(Table::of(3, &columns, by_load(summary)));
    document.note(
        "steps by load, numbered in the order of measurement; latencies of all operations; with a \
         requested rate, response times from the due time",
    );
    for (number, step) in by_load(summary) {
        if step.failed > 0 || step.skipped.total() > 0 {
            document.note(format!(
                "step {}: {} failed, {} skipped",
                number + 1,
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
        let mut table = Table::new(2, &["p99, µs", "load"]);
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
            let mut cells = vec![ordinal(number), load(sweep_step.load).into()];
            cells.extend(kinds.iter().map(of_kind));
            table.row(cells);
        }
        document.table(table);
    }
    document.note(
        "--format json has each step's time series, operation steps, slowest operations, waits \
         and machine counters",
    );
}

fn of_role(role: Role, name: &str) -> String {
    match role {
        Role::Worker => name.to_owned(),
        Role::Writer | Role::Reader => format!("{} {name}", role.name()),
    }
}

fn limit(document: &mut Document, label: &str, word: &str, limit: &Limit, meaning: &str) {
    let (highest, beyond) = (rate(limit.highest), rate(limit.lowest_beyond));
    let between = match (limit.highest, limit.lowest_beyond) {
        (Some(_), Some(_)) => format!("{word} at {highest}/s, not {word} at {beyond}/s"),
        (Some(_), None) => {
            format!("not found: {word} at the highest rate, {highest}/s (sweep higher rates)")
        }
        (None, Some(_)) => {
            format!("not found: not {word} at the lowest rate, {beyond}/s (sweep lower rates)")
        }
        (None, None) => "not found: the sweep has no step with a rate".to_owned(),
    };
    document.sentence(label, format!("{between} ({meaning})"));
}

fn slo(document: &mut Document, slo: &SloSummary, sweep_steps: &[SweepStepSummary]) {
    let asked = format!("{} < {} µs", slo.name(), microseconds(slo.p99_ns as f64));
    match slo
        .nearest
        .and_then(|(place, p99)| Some((sweep_steps.get(place)?, p99)))
    {
        Some((nearest, p99)) => document.sentence(
            "SLO",
            format!(
                "{asked}: NOT MET by any step; the nearest step is {} with {} {} µs",
                load(nearest.load),
                slo.name(),
                microseconds(p99 as f64)
            ),
        ),
        None => limit(document, "SLO", "met", &slo.limit, &asked),
    }
}

fn knee(document: &mut Document, sweep: &SweepSummary) {
    let words = match &sweep.knee {
        Some(knee) => format!(
            "at {} with a mean latency of {} µs (Kneedle over {} sustained steps)",
            if sweep.limit.is_some() {
                format!("{}/s", rate(Some(knee.rate)))
            } else {
                let is_of_ranks = |step: &SweepStepSummary| matches!(step.load, Load::Ranks(_));
                let by = match sweep.sweep_steps.iter().any(is_of_ranks) {
                    true => "rank",
                    false => "worker",
                };
                counted(knee.rate as u64, by)
            },
            microseconds(knee.latency),
            knee.points
        ),
        None => format!(
            "none (it needs {POINTS_MIN} sustained steps whose mean latency at least doubles and \
             bends upwards)"
        ),
    };
    document.sentence("Knee", words);
}

/// A fraction in whole percent.
fn threshold(fraction: f64) -> String {
    format!("{:.0} %", 100.0 * fraction)
}

/// Adds the result of the steady-state rule for the transactions.
pub(crate) fn steady(document: &mut Document, asked: &SteadyAsked, phase: &PhaseSummary) {
    let Some(found) = &phase.steady else {
        return;
    };
    let verdict = if found.is_steady {
        "STEADY"
    } else {
        "NOT STEADY"
    };
    let rounds = format!(
        "{verdict} by the rule {} after {} of {} s, at most {}",
        asked.rule.name(),
        counted(found.rounds.len() as u64, "round"),
        asked.round_ns as f64 / 1e9,
        asked.rounds_max
    );
    let mut words = vec![rounds];
    if let Some(snia) = &found.snia {
        words.push(format!(
            "rounds vary by {} of their mean (threshold {})",
            percent(snia.excursion),
            threshold(steady::EXCURSION_MAX)
        ));
        words.push(format!(
            "trend line changes by {} (threshold {})",
            percent(snia.slope_excursion),
            threshold(steady::SLOPE_EXCURSION_MAX)
        ));
    }
    if let Some(slope) = &found.slope {
        let interval = slope.interval.map_or_else(
            || {
                "not available: the rates of successive seconds are too strongly correlated"
                    .to_owned()
            },
            |(low, high)| format!("{} to {}", percent(low), percent(high)),
        );
        words.push(format!(
            "slope, 95 % confidence interval {interval} (threshold ±{})",
            threshold(steady::DRIFT_MAX)
        ));
    }
    document.list("Steady", "", &words);
    let rounds = found.rounds.iter();
    let rates: Vec<String> = rounds.map(|round| rate(Some(*round))).collect();
    document.list("", "rounds, transactions/s: ", &rates);
}
