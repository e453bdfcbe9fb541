//! What observers counted on their machines, for the whole run and in each phase, beside what the ranks sent.

use document::units::{counted, grouped, percent};
use document::{Cell, Document, Number, Table, kept};
use record::summary::{ObserverRow, ObserverSummary};
use record::{Fact, Summary};

/// More rows are in the record only.
const ROWS_MAX: usize = 32;
/// Calls that differ by more are told, as a share of those that clients sent.
const CALLS_DIFFER: f64 = 0.01;
/// Phases that lasted for less are not judged: their calls are taken from readings 100 ms apart.
const JUDGED_NS: u64 = 2_000_000_000;

pub(crate) fn render(document: &mut Document, summary: &Summary) {
    let observers = summary
        .ranks
        .as_ref()
        .map(|ranks| &ranks.observers[..])
        .unwrap_or_default();
    if observers.is_empty() {
        return;
    }
    document.head("Observers");
    let header = [
        "host",
        "phase",
        "CPU",
        "iowait",
        "read/s",
        "written/s",
        "I/O per s",
        "network/s",
        "NFS calls",
        "sent",
    ];
    // Where nobody counted calls, a line says why.
    let is_counted = |row: &ObserverRow| row.server_calls.is_known() || row.client_calls.is_known();
    let has_calls = observers.iter().flat_map(|observer| &observer.rows).any(is_counted);
    let columns = if has_calls { header.len() } else { header.len() - 2 };
    let mut table = Table::new(2, &header[..columns]);
    let rows = observers
        .iter()
        .flat_map(|observer| observer.rows.iter().map(move |row| (observer, row)));
    for (observer, row) in rows.clone().take(ROWS_MAX) {
        let mut cells = cells(observer, row);
        cells.truncate(columns);
        table.row(cells);
    }
    document.table(table);
    let more = rows.clone().count().saturating_sub(ROWS_MAX);
    if more > 0 {
        document.line(format!("{} more are in the record.", counted(more as u64, "row")));
    }
    document.line("CPU: of all processors. Read, written: devices that lie on no others. Network: both directions.");
    if has_calls {
        document
            .line("NFS calls: counted by the machine's kernel, of all clients; sent: counted by the ranks' clients.");
    }
    for observer in observers {
        document.line(format!(
            "{}: counters read every {:.0} ms, and counted evenly in between; moments within {:.1} µs.",
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
    document.gap();
}

fn cells(observer: &ObserverSummary, row: &ObserverRow) -> Vec<Cell> {
    let share = |fact: &Fact<f64>| -> Cell { fact.known().map(|share| Number::Share(*share)).into() };
    let bytes = |fact: &Fact<f64>| -> Cell { fact.known().map(|bytes| Number::Bytes(*bytes)).into() };
    let count = |fact: &Fact<u64>| -> Cell { fact.known().map(|count| Number::Count(*count)).into() };
    vec![
        kept(&observer.host).into(),
        name(row).into(),
        share(&row.cpu_busy),
        share(&row.cpu_iowait),
        bytes(&row.device_read_per_s),
        bytes(&row.device_written_per_s),
        row.device_operations_per_s
            .known()
            .map(|rate| Number::Rate(*rate))
            .into(),
        bytes(&row.passed_per_s),
        count(&row.server_calls),
        count(&row.client_calls),
    ]
}

fn name(row: &ObserverRow) -> String {
    match (row.step, row.phase) {
        (_, None) => "whole run".to_owned(),
        (None, Some(phase)) => phase.name().to_owned(),
        (Some(step), Some(phase)) => format!("step {} {}", step + 1, phase.name()),
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
