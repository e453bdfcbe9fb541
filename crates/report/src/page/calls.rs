//! The durations of the calls (system calls or requests) that the operations of the transactions
//! consist of, if calls were timed.

use document::{Cell, Column, Document, Number, Table};
use record::{Phase, Role};
use verdict::{OperationSummary, StepSummary, Summary};

use super::labels::short_latency;
use crate::pictures::chart::Axis;
use crate::pictures::rows::{Mark, Row, Rows};
use crate::pictures::scale::Scale;

const ROWS_MAX: usize = 100;

/// Adds a chart of the calls. Each call is a point at its median duration, with a line to its 99th
/// percentile.
pub(super) fn render(document: &mut Document, summary: &Summary) {
    let phase = summary.phase(Phase::Transactions);
    let operations = phase.iter().flat_map(|phase| &phase.operations);
    let mut rows = Vec::new();
    let mut ends: Vec<f64> = Vec::new();
    let mut timed: Vec<(&OperationSummary, &StepSummary)> = Vec::new();
    for operation in operations.filter(|operation| !operation.steps.is_empty()) {
        let name = match operation.role {
            Role::Worker => operation.action.name().to_owned(),
            role => format!("{}, {}s", operation.action.name(), role.name()),
        };
        rows.push(Row::heading(name));
        for step in &operation.steps {
            let times = &step.duration_ns;
            let p50 = times.p50.map(|ns| ns.max(1) as f64);
            let p99 = times.p99.map(|ns| ns.max(1) as f64);
            ends.extend(p50.into_iter().chain(p99));
            let mark = |at| Mark {
                series: 0,
                at,
                range: p99.map(|p99| (at, p99)),
            };
            rows.push(Row {
                name: step.step.clone(),
                band: None,
                marks: p50.map(mark).into_iter().collect(),
                why: p50
                    .is_none()
                    .then(|| "fewer than ten lie beyond the median".to_owned()),
            });
            timed.push((operation, step));
        }
    }
    if ends.is_empty() {
        return;
    }
    let mut caption = "Time of each call of the transactions' operations: the median, and a line \
                       to the 99th percentile."
        .to_owned();
    if rows.len() > ROWS_MAX {
        rows.truncate(ROWS_MAX);
        caption += " The first are drawn; the table has all.";
    }
    let plot = Rows {
        title: "System calls of the transactions".to_owned(),
        caption,
        x: Axis::new(
            "time of a call (logarithmic)",
            Scale::decades(ends.iter().copied()),
            short_latency,
        ),
        rule: None,
        series: Vec::new(),
        rows,
    };
    document.figure(plot.picture(table(&timed)));
}

fn table(timed: &[(&OperationSummary, &StepSummary)]) -> Table {
    let columns: [Column<&(&OperationSummary, &StepSummary)>; 8] = [
        ("operation", |(of, _)| of.action.name().into()),
        ("role", |(of, _)| of.role.name().into()),
        ("call", |(_, step)| step.step.as_str().into()),
        ("count", |(_, step)| Cell::count(step.count)),
        ("mean", |(_, step)| {
            step.duration_ns.mean.map(Number::Latency).into()
        }),
        ("p50", |(_, step)| Cell::latency(step.duration_ns.p50)),
        ("p99", |(_, step)| Cell::latency(step.duration_ns.p99)),
        ("max", |(_, step)| Cell::latency(step.duration_ns.max)),
    ];
    Table::of(3, &columns, timed)
}
