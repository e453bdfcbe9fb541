//! Durations of operations, of their calls, and of waits for other workers.

use document::units::{counted, duration, percent};
use document::{Cell, Document, Number, Table};
use record::{Phase, Record, Role};
use verdict::Summary;
use verdict::summary::LatencySummary;

use super::phases::{by_phase, role};
use crate::latencies;

pub(crate) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    if record.spec.latencies && summary.phases.is_empty() {
        // If each load level of a sweep has its own pool, the record contains phases of the levels,
        // but no durations for the whole run.
        return;
    }
    if record.spec.latencies {
        latencies(document, summary);
        slowest(document, record);
        steps(document, record, summary);
    } else {
        document.line("Latencies were not recorded (--no-latencies).");
        document.gap();
    }
    if record.spec.workload.workers.is_shared() {
        claim_waits(document, record, summary);
    }
    compute(document, summary);
}

fn latencies(document: &mut Document, summary: &Summary) {
    let mut table = Table::new(2, &[&["Latency", ""][..], &latencies::COLUMNS].concat());
    let mut is_open = false;
    for phase in &summary.phases {
        let name = phase.phase.name();
        let mut roles = phase.operations.iter().map(|operation| operation.role);
        let has_roles = roles.any(|role| role != Role::Worker);
        if has_roles {
            table.row(vec![name.into()]);
        }
        for operation in &phase.operations {
            let first = match has_roles {
                true => role(operation.role),
                false => name.to_owned(),
            };
            let action = operation.action.name();
            table.row(latency_cells(first, action, &operation.latency_ns));
            if let Some(service) = &operation.service_ns {
                is_open = true;
                table.row(latency_cells(String::new(), "  service", service));
            }
            if let Some(per_file) = &operation.per_file_ns {
                table.row(latency_cells(String::new(), "  per file", per_file));
            }
        }
    }
    document.table(table);
    let from = if is_open {
        "response times from due to completion, service times from issue to completion"
    } else {
        "from issue to completion"
    };
    document.note(format!(
        "{from}; percentiles have an error of at most {}, mean and max are exact",
        percent(summary.latency_error_bound)
    ));
    document.gap();
}

/// Adds the slowest operation of each kind in the transactions. The record contains more slow
/// operations.
fn slowest(document: &mut Document, record: &Record) {
    let phases = record.actual.phases.iter();
    let header = ["Slowest", "longest call", "call", "all", "at"];
    let mut table = Table::new(2, &header).leading(1);
    // The path is the last column, so that only the path continues on the next line if a line is
    // too long.
    table.column("path", true);
    let run_directory = match record.locations.as_slice() {
        [only] => only.directory.rsplit('/').next(),
        _ => None,
    };
    let run_directory = run_directory.map(|name| format!("{name}/"));
    for phase in phases.filter(|phase| phase.phase == Phase::Transactions) {
        let began_ns = phase.span_ns().map_or(0, |(began_ns, _)| began_ns);
        for kind in &phase.slowest {
            let Some(slow) = kind.operations.first() else {
                continue;
            };
            let step = slow.step.as_ref();
            let directory = run_directory.as_deref();
            let inside = directory.and_then(|directory| slow.path.split_once(directory));
            table.row(vec![
                kind.action.name().into(),
                step.map(|step| step.step.as_str()).into(),
                Cell::latency(step.map(|step| step.ns)),
                Number::Latency(slow.ns as f64).into(),
                Number::Latency(slow.issued_ns.saturating_sub(began_ns) as f64).into(),
                inside.map_or(&*slow.path, |(_, inside)| inside).into(),
            ]);
        }
    }
    if !table.is_empty() {
        document.table(table);
        if run_directory.is_some() {
            document.note("paths begin in the run directory");
        }
        document.gap();
    }
}

fn latency_cells(first: String, action: &str, times: &LatencySummary) -> Vec<Cell> {
    let mut cells = vec![first.into(), action.into()];
    cells.extend(cells_of(times, latencies::COLUMNS));
    cells
}

fn cells_of<const N: usize>(times: &LatencySummary, columns: [&str; N]) -> [Cell; N] {
    latencies::cells(times, columns, Number::Latency)
}

const STEP_COLUMNS: [&str; 5] = ["mean", "p50", "p99", "p99.9", "max"];

fn steps(document: &mut Document, record: &Record, summary: &Summary) {
    let head = ["Call", "", "", "count"];
    let mut table = Table::new(3, &[&head[..], &STEP_COLUMNS].concat());
    for phase in &summary.phases {
        let mut name = phase.phase.name().to_owned();
        for operation in &phase.operations {
            if operation.steps.is_empty() {
                continue;
            }
            if operation.role != Role::Worker {
                if !name.is_empty() {
                    table.row(vec![name.into()]);
                }
                name = role(operation.role);
            }
            let mut action = operation.action.name();
            for step in &operation.steps {
                let mut cells = vec![
                    std::mem::take(&mut name).into(),
                    std::mem::take(&mut action).into(),
                    step.step.as_str().into(),
                    Cell::count(step.count),
                ];
                cells.extend(cells_of(&step.duration_ns, STEP_COLUMNS));
                table.row(cells);
            }
        }
    }
    if !table.is_empty() {
        document.table(table);
        document.note("time of each call; the first starts at issue");
        let plain = &record.plain_operations;
        if !plain.is_empty() {
            let names: Vec<&str> = plain.iter().map(|action| action.name()).collect();
            document.note(format!(
                "system calls: those of {}; all others are requests of engine {}",
                names.join(", "),
                record.spec.engine
            ));
        }
        document.gap();
    }
}

/// Adds the processor time that workers spent before operations (`--compute`).
fn compute(document: &mut Document, summary: &Summary) {
    let phases = summary.phases.iter();
    for compute in phases.filter_map(|phase| phase.compute) {
        document.line(format!(
            "Compute before operations: {}, {} of processor time, {} of the workers' time.",
            counted(compute.count, "time"),
            duration(compute.ns as f64 / 1e9),
            percent(compute.workers_fraction)
        ));
        document.gap();
    }
}

/// For shared pools, adds the waits for files that other workers had claimed.
fn claim_waits(document: &mut Document, record: &Record, summary: &Summary) {
    let columns = ["mean", "p99", "max"];
    let (name, whose, counts) = match record.spec.workload.replay() {
        None => ("Claim wait", "for a file that another worker used", false),
        Some(_) => (
            "Order wait",
            "for an operation of another worker on the same file or directory",
            record.spec.workload.has_traced_times(),
        ),
    };
    let head = [name, "", "count"];
    let mut table = Table::new(2, &[head, columns].concat());
    for (name, _, waits) in by_phase(summary, |phase| &phase.claim_waits) {
        let role = format!("{}s", waits.role.name());
        let mut cells = vec![name.into(), role.into(), Cell::count(waits.count)];
        cells.extend(cells_of(&waits.wait_ns, columns));
        table.row(cells);
    }
    if table.is_empty() {
        document.line(format!("No worker waited {whose}."));
    } else {
        document.table(table);
        document.note(match counts {
            false => format!("{whose}; latencies do not include these waits"),
            true => format!("{whose}; latencies include these waits"),
        });
    }
    document.gap();
}
