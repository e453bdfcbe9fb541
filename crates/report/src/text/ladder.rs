//! The rungs of a ladder, its limits and its knee; and what a rule of steady state found.

use record::{
    Action, GoalSummary, LadderSummary, Limit, Load, PhaseSummary, Role, RungOperation, RungSummary, SteadyAsked,
    Summary,
};

use super::{line, sentence, wrapped};
use crate::table::Table;
use crate::units::{counted, grouped, microseconds, percent, rate};

/// So many kinds of operations stand beside one another.
const KINDS_MAX: usize = 5;

pub(super) fn render(text: &mut String, summary: &Summary) {
    let Some(ladder) = &summary.ladder else {
        return;
    };
    rungs(text, ladder);
    by_operation(text, ladder);
    if let Some(limit) = &ladder.limit {
        self::limit(
            text,
            "Limit",
            limit,
            "a rung holds where every worker was up to its arrivals in the last fifth of it, and at most 1 % of the operations failed",
        );
    }
    if let Some(goal) = &ladder.goal {
        self::goal(text, goal, &ladder.rungs);
    }
    knee(text, ladder);
    text.push('\n');
}

fn load(load: Load) -> String {
    match load {
        Load::Closed => "closed loop".to_owned(),
        Load::Rate(per_second) => format!("{}/s", rate(Some(per_second))),
        Load::Workers(workers) => counted(workers.into(), "worker"),
    }
}

fn rungs(text: &mut String, ladder: &LadderSummary) {
    let header = [
        "Rung",
        "load",
        "",
        "per second",
        "achieved",
        "waiting",
        "mean, µs",
        "p50",
        "p99",
        "p99.9",
        "max",
        "service p99",
    ];
    let mut table = Table::new(3, &header);
    let micros = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| microseconds(ns as f64));
    for (number, rung) in ladder.rungs.iter().enumerate() {
        table.row(vec![
            (number + 1).to_string(),
            load(rung.load),
            match (rung.complete, rung.holds) {
                (false, _) => "PARTIAL",
                (true, true) => "",
                (true, false) => "TOO MUCH",
            }
            .to_owned(),
            rate(rung.achieved_per_second),
            rung.achieved_fraction.map_or_else(String::new, percent),
            rung.waiting.map_or_else(String::new, grouped),
            rung.mean_ns.map_or_else(|| "-".to_owned(), microseconds),
            micros(rung.p50_ns),
            micros(rung.p99_ns),
            micros(rung.p999_ns),
            micros(rung.max_ns),
            rung.service_p99_ns
                .map_or_else(String::new, |ns| microseconds(ns as f64)),
        ]);
    }
    text.push_str(&table.render());
    line(
        text,
        format_args!("  (latencies of all operations together, from the due moment where a rate was requested)"),
    );
    for (number, rung) in ladder.rungs.iter().enumerate() {
        if rung.failed > 0 || rung.skipped > 0 {
            line(
                text,
                format_args!(
                    "  (rung {}: {} failed, {} skipped for that)",
                    number + 1,
                    counted(rung.failed, "operation"),
                    grouped(rung.skipped)
                ),
            );
        }
    }
    text.push('\n');
}

/// A column for each kind of operation whose latency is known of any rung.
fn by_operation(text: &mut String, ladder: &LadderSummary) {
    let mut kinds: Vec<(Role, Action)> = Vec::new();
    let known = |operation: &&RungOperation| operation.p99_ns.is_some();
    for operation in ladder.rungs.iter().flat_map(|rung| &rung.by_operation).filter(known) {
        let kind = (operation.role, operation.action);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.sort_unstable();
    // More do not fit beside one another.
    for kinds in kinds.chunks(KINDS_MAX) {
        let names: Vec<String> = kinds
            .iter()
            .map(|(role, action)| of_role(*role, action.name()))
            .collect();
        let mut header = vec!["p99, µs", "load"];
        header.extend(names.iter().map(String::as_str));
        let mut table = Table::new(2, &header);
        for (number, rung) in ladder.rungs.iter().enumerate() {
            let of_kind = |(role, action): &(Role, Action)| {
                let mut all = rung.by_operation.iter();
                let found = all.find(|operation| (operation.role, operation.action) == (*role, *action));
                let p99_ns = found.and_then(|operation| operation.p99_ns);
                p99_ns.map_or_else(|| "-".to_owned(), |ns| microseconds(ns as f64))
            };
            let mut cells = vec![(number + 1).to_string(), load(rung.load)];
            cells.extend(kinds.iter().map(of_kind));
            table.row(cells);
        }
        text.push_str(&table.render());
    }
    line(
        text,
        format_args!(
            "  (each rung's seconds, steps, slowest operations, waits and counters of the machine: --format json)"
        ),
    );
}

fn of_role(role: Role, name: &str) -> String {
    match role {
        Role::Worker => name.to_owned(),
        Role::Writer | Role::Reader => format!("{} {name}", role.name()),
    }
}

fn limit(text: &mut String, label: &str, limit: &Limit, meaning: &str) {
    let between = match (limit.highest, limit.lowest_beyond) {
        (Some(highest), Some(beyond)) => format!("{}/s; {}/s is too much", rate(Some(highest)), rate(Some(beyond))),
        (Some(highest), None) => format!(
            "not found: {}/s, the highest rate, is not too much: climb higher",
            rate(Some(highest))
        ),
        (None, Some(beyond)) => format!(
            "not found: {}/s, the lowest rate, is too much: begin lower",
            rate(Some(beyond))
        ),
        (None, None) => "not found: no rung with a rate was climbed".to_owned(),
    };
    sentence(text, label, &format!("{between} ({meaning})"));
}

fn goal(text: &mut String, goal: &GoalSummary, rungs: &[RungSummary]) {
    let asked = format!("p99 < {} µs", microseconds(goal.p99_ns as f64));
    match goal.nearest.and_then(|(place, p99)| Some((rungs.get(place)?, p99))) {
        Some((nearest, p99)) => sentence(
            text,
            "Goal",
            &format!(
                "{asked}: NOT MET by any rung; the nearest is {} with p99 {} µs",
                load(nearest.load),
                microseconds(p99 as f64)
            ),
        ),
        None => limit(text, "Goal", &goal.limit, &asked),
    }
}

fn knee(text: &mut String, ladder: &LadderSummary) {
    let words = match &ladder.knee {
        Some(knee) => format!(
            "at {} with a mean latency of {} µs (Kneedle over {} rungs that hold)",
            if ladder.limit.is_some() {
                format!("{}/s", rate(Some(knee.rate)))
            } else {
                counted(knee.rate as u64, "worker")
            },
            microseconds(knee.latency),
            knee.points
        ),
        None => "none: the rungs that hold are too few, or their latency does not bend upwards".to_owned(),
    };
    sentence(text, "Knee", &words);
}

/// What the rule of steady state found in the transactions.
pub(super) fn steady(text: &mut String, asked: &SteadyAsked, phase: &PhaseSummary) {
    let Some(found) = &phase.steady else {
        return;
    };
    let verdict = if found.is_steady { "STEADY" } else { "NOT STEADY" };
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
            "greatest less least round {} of their mean (at most 20 %)",
            percent(snia.excursion)
        ));
        words.push(format!("line {} (at most 10 %)", percent(snia.slope_excursion)));
    }
    if let Some(slope) = &found.slope {
        let interval = slope.interval.map_or_else(
            || "unknown: its seconds hang together too closely".to_owned(),
            |(low, high)| format!("{} to {}", percent(low), percent(high)),
        );
        words.push(format!("slope with 95 % confidence {interval} (within ±10 %)"));
    }
    wrapped(text, "Steady", "", &words);
    let rates: Vec<String> = found.rounds.iter().map(|per_second| rate(Some(*per_second))).collect();
    wrapped(text, "", "rounds, transactions a second: ", &rates);
}
