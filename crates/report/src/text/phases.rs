//! What was done in each phase, until when, and how the workers shared in it.

use record::summary::Until;
use record::{Fact, OperationSummary, Phase, PhaseSummary, Rate, Role, Summary};

use super::{line, role};
use crate::table::Table;
use crate::units::{bytes, grouped, percent, rate, seconds};

pub(super) fn render(text: &mut String, summary: &Summary) {
    if summary.phases.is_empty() {
        // Those of a ladder with a pool for each rung are the rungs'.
        return;
    }
    operations(text, summary);
    text.push('\n');
    arrivals(text, summary);
    moments(text, summary);
    spread(text, summary);
}

fn operations(text: &mut String, summary: &Summary) {
    let mut table = Table::new(
        2,
        &[
            "Phase",
            "",
            "seconds",
            "operations",
            "per second",
            "bytes",
            "per second",
        ],
    );
    for phase in &summary.phases {
        let name = if phase.complete {
            phase.phase.name().to_owned()
        } else {
            format!("{} (partial)", phase.phase.name())
        };
        for (name, stretch) in [("warm-up", &phase.warm_up), ("approach", &phase.approach)] {
            if let Some(stretch) = stretch {
                table.row(vec![
                    name.to_owned(),
                    "transactions".to_owned(),
                    seconds(stretch.duration_ns),
                    grouped(stretch.transactions.count),
                    rate(stretch.transactions.per_second),
                ]);
            }
        }
        let mut cells = vec![name, String::new(), seconds(phase.duration_ns)];
        if let Some(transactions) = phase.transactions {
            cells[1] = "transactions".to_owned();
            cells.push(grouped(transactions.count));
            cells.push(rate(transactions.per_second));
        }
        table.row(cells);
        for operation in &phase.operations {
            table.row(vec![
                role(operation.role),
                operation.action.name().to_owned(),
                String::new(),
                grouped(operation.operations.count),
                rate(operation.operations.per_second),
                data(operation, |rate| Some(rate.count as f64), ""),
                data(operation, |rate| rate.per_second, "/s"),
            ]);
        }
    }
    text.push_str(&table.render());
}

/// What an open loop came to, beside what was requested of it.
fn arrivals(text: &mut String, summary: &Summary) {
    let Some(found) = &summary.arrivals else {
        return;
    };
    let of_requested = found.achieved_per_second.map_or_else(
        || "nothing was achieved".to_owned(),
        |achieved| {
            format!(
                "achieved {}/s, {} of what had arrived",
                rate(Some(achieved)),
                found.done_fraction.map_or_else(|| "-".to_owned(), percent)
            )
        },
    );
    line(
        text,
        format_args!(
            "  Requested {}/s ({} arrivals); {of_requested};",
            rate(Some(found.requested_per_second)),
            found.form
        ),
    );
    line(
        text,
        format_args!("  {} due and not begun at the end", grouped(found.waiting)),
    );
    text.push('\n');
}

/// Bytes of operations that move any.
fn data(operation: &OperationSummary, value: impl Fn(&Rate) -> Option<f64>, per: &str) -> String {
    if !operation.action.moves_bytes_in() && !operation.action.moves_bytes_out() {
        return String::new();
    }
    value(&operation.bytes).map_or_else(|| "-".to_owned(), |value| format!("{}{per}", bytes(value)))
}

/// What rates of a whole phase count.
fn unit(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare | Phase::Delete => "files",
        Phase::Transactions => "transactions",
    }
}

/// Rates until the first worker was done, the last one, and all was on the device: where these differ.
fn moments(text: &mut String, summary: &Summary) {
    let mut header = vec!["Done until", "", "seconds", "done", "per second"];
    if summary.phases.iter().any(|phase| phase.settle_ns.is_some()) {
        header.push("settling, s");
    }
    let mut table = Table::new(2, &header);
    for phase in &summary.phases {
        let mut name = phase.phase.name();
        let mut row = |words: &str, until: &Until, settling: String| {
            table.row(vec![
                std::mem::take(&mut name).to_owned(),
                words.to_owned(),
                seconds(until.ns),
                format!("{} {}", grouped(until.done.count), unit(phase.phase)),
                rate(until.done.per_second),
                settling,
            ]);
        };
        if phase.workers.is_empty() {
            row("the only worker was done", &phase.last_done, String::new());
        } else {
            if let Some(first) = &phase.first_done {
                row("the first worker was done", first, String::new());
            }
            row("the last worker was done", &phase.last_done, String::new());
        }
        if let (Some(durable), Some(settle_ns)) = (&phase.until_durable, phase.settle_ns) {
            row("all was on the device", durable, seconds(settle_ns));
        }
    }
    if !table.is_empty() {
        text.push_str(&table.render());
        summary.phases.iter().for_each(|phase| space_back(text, phase));
        text.push('\n');
    }
}

fn space_back(text: &mut String, phase: &PhaseSummary) {
    match &phase.space_back_ns {
        Some(Fact::Known(ns)) => line(
            text,
            format_args!(
                "  (the space was free again {} s after the last deletion)",
                seconds(*ns)
            ),
        ),
        Some(Fact::Unavailable(why)) => line(
            text,
            format_args!("  (when the space was free again is not known: {why})"),
        ),
        Some(Fact::NotApplicable) | None => {}
    }
}

/// The workers' own rates, where there are several.
fn spread(text: &mut String, summary: &Summary) {
    let header = [
        "Workers' own rates",
        "",
        "",
        "workers",
        "sum",
        "mean",
        "min",
        "median",
        "max",
    ];
    let mut table = Table::new(3, &header);
    for phase in &summary.phases {
        let mut name = phase.phase.name();
        for spread in &phase.spread {
            let mut cells = vec![
                std::mem::take(&mut name).to_owned(),
                match spread.role {
                    Role::Worker => String::new(),
                    Role::Writer | Role::Reader => format!("{}s", spread.role.name()),
                },
                format!("{}/s", unit(phase.phase)),
                grouped(spread.workers),
            ];
            cells.extend(
                [
                    spread.sum_per_second,
                    spread.mean_per_second,
                    spread.min_per_second,
                    spread.median_per_second,
                    spread.max_per_second,
                ]
                .map(|per_second| rate(Some(per_second))),
            );
            table.row(cells);
        }
    }
    if !table.is_empty() {
        text.push_str(&table.render());
        line(text, format_args!("  (of each worker over its own time)"));
        summary.phases.iter().for_each(|phase| of_each(text, phase));
        text.push('\n');
    }
}

/// Each worker's rate, where they are few enough to be read.
fn of_each(text: &mut String, phase: &PhaseSummary) {
    /// More are in the record only.
    const WORKERS_MAX: usize = 16;
    const PER_LINE: usize = 8;
    if phase.workers.len() > WORKERS_MAX {
        return;
    }
    for (index, workers) in phase.workers.chunks(PER_LINE).enumerate() {
        let name = if index == 0 { phase.phase.name() } else { "" };
        let rates: Vec<String> = workers.iter().map(|worker| rate(worker.done.per_second)).collect();
        line(
            text,
            format_args!("  {name:12}  worker {:>2} on: {}", workers[0].worker, rates.join("  ")),
        );
    }
}
