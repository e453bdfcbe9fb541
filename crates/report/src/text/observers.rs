//! Counters that observers read on their machines, for the whole run and for each phase, compared
//! with the calls that the ranks sent.

use document::units::{counted, grouped, percent};
use document::{Cell, Column, Document, Number, Table, kept};
use record::Fact;
use verdict::Summary;
use verdict::summary::{ObserverRow, ObserverSummary};

/// Maximum number of rows in the table. The record contains all rows.
const ROWS_MAX: usize = 32;
/// A difference between the calls that a server counted and the calls that clients sent is reported
/// above this share of the sent calls.
const CALLS_DIFFER: f64 = 0.01;
/// Minimum duration of a phase whose calls are compared. Readings are 100 ms apart and
/// interpolated, which is too inaccurate for shorter phases.
const JUDGED_NS: u64 = 2_000_000_000;

/// The columns about calls, which are left out if no observer counted calls.
const CALLS: [&str; 3] = ["NFS calls", "sent", "CPU/call"];

pub(crate) fn render(document: &mut Document, summary: &Summary) {
    let ranks = summary.ranks.as_ref();
    let observers = ranks.map_or(&[][..], |ranks| &ranks.observers);
    if observers.is_empty() {
        return;
    }
    document.head("Observers");
    // If calls were not counted, a line below states the reason.
    let is_counted = |row: &ObserverRow| row.server_calls.is_known() || row.client_calls.is_known();
    let list = observers.iter();
    let rows = list.flat_map(|observer| observer.rows.iter().map(move |row| (observer, row)));
    let has_calls = rows.clone().any(|(_, row)| is_counted(row));
    document.table(Table::of(2, &columns(has_calls), rows.clone().take(ROWS_MAX)).folding());
    let more = rows.clone().count().saturating_sub(ROWS_MAX);
    if more > 0 {
        document.line(format!(
            "{} more are in the record.",
            counted(more as u64, "row")
        ));
    }
    document.line("CPU: of all processors; p99: of windows of 2 s.");
    document.line("Read, written: devices that lie on no others. Network: both directions.");
    if has_calls {
        document.line(
            "NFS calls: counted by the machine's servers, of all clients; sent: counted by the \
             ranks' clients.",
        );
        document.line("CPU/call: time that the processors worked, for each of the server's calls.");
    }
    accuracy_and_calls(document, observers);
    document.gap();
}

/// Adds the accuracy of each observer's counters. Also warns if the number of calls that an
/// observer counted differs from the number that the clients sent.
fn accuracy_and_calls(document: &mut Document, observers: &[ObserverSummary]) {
    for observer in observers {
        document.line(format!(
            "{}: counters read every {:.0} ms, and counted evenly in between; moments within \
             {:.1} µs.",
            kept(&observer.host),
            observer.interval_ns as f64 / 1e6,
            observer.clock_error_ns as f64 / 1e3
        ));
    }
    for observer in observers {
        if let Some(Fact::Unavailable(why)) = observer.rows.first().map(|row| &row.server_calls) {
            document.line(format!(
                "{}: NFS calls are not available ({}).",
                kept(&observer.host),
                kept(why)
            ));
        }
        for row in &observer.rows {
            calls(document, observer, row);
        }
    }
}

fn columns<'a>(has_calls: bool) -> Vec<Column<(&'a ObserverSummary, &'a ObserverRow)>> {
    let mut columns: Vec<Column<(&ObserverSummary, &ObserverRow)>> = vec![
        ("host", |(observer, _)| kept(&observer.host).into()),
        ("phase", |(_, of)| name(of).into()),
        ("CPU", |(_, of)| cell(&of.cpu_busy, Number::Share)),
        ("p99", |(_, of)| cell(&of.cpu_busy_p99, Number::Share)),
        ("iowait", |(_, of)| cell(&of.cpu_iowait, Number::Share)),
        (CALLS[0], |(_, of)| cell(&of.server_calls, Number::Count)),
        (CALLS[1], |(_, of)| cell(&of.client_calls, Number::Count)),
        (CALLS[2], |(_, of)| {
            cell(&of.cpu_ns_per_call, Number::Latency)
        }),
        ("read/s", |(_, of)| {
            cell(&of.device_read_per_s, Number::Bytes)
        }),
        ("written/s", |(_, of)| {
            cell(&of.device_written_per_s, Number::Bytes)
        }),
        ("I/O per s", |(_, of)| {
            cell(&of.device_operations_per_s, Number::Rate)
        }),
        ("network/s", |(_, of)| cell(&of.passed_per_s, Number::Bytes)),
    ];
    columns.retain(|(head, _)| has_calls || !CALLS.contains(head));
    columns
}

fn cell<T: Copy>(fact: &Fact<T>, number: fn(T) -> Number) -> Cell {
    fact.known().map(|value| number(*value)).into()
}

fn name(row: &ObserverRow) -> String {
    match (row.step, row.phase) {
        (_, None) => "whole run".to_owned(),
        (None, Some(phase)) => phase.name().to_owned(),
        (Some(step), Some(phase)) => format!("level {} {}", step + 1, phase.name()),
    }
}

fn calls(document: &mut Document, observer: &ObserverSummary, row: &ObserverRow) {
    let (Fact::Known(server), Fact::Known(client), Some(differ)) =
        (&row.server_calls, &row.client_calls, row.calls_differ())
    else {
        return;
    };
    if differ.abs() <= CALLS_DIFFER || (row.phase.is_some() && row.ns < JUDGED_NS) {
        return;
    }
    document.warning(format!(
        "Calls in {}: clients sent {}, {} counted {} ({} {}).",
        name(row),
        grouped(*client),
        kept(&observer.host),
        grouped(*server),
        percent(differ.abs()),
        if differ > 0.0 { "more" } else { "less" }
    ));
    document.line("Other clients used the server, or calls did not reach it.");
}
