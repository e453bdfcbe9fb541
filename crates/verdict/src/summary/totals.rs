//! Totals of the transactions, in fields with short names, because most readers of a record need
//! these numbers.

use std::collections::BTreeMap;

use measure::{Histogram, LatencySummary, Meter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Phase, Skipped};

use super::rate::Rate;
use crate::intervals;
use record::run::Record;

/// Totals of the measured transactions over all operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionsSummary {
    /// Transactions with at least one completed operation, and their rate.
    #[serde(flatten)]
    pub rate: Rate,
    /// Dispersion of the rate: the standard deviation of the operations a second in the measured
    /// intervals, divided by their mean. Only intervals in which all workers worked are included.
    /// An interval is a second; in runs of more than half an hour it is wider. Absent for fewer
    /// than six intervals, without a time series, and in older summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_dispersion: Option<f64>,
    /// Time from the start of the first measured segment to the end of the last, in nanoseconds.
    pub duration_ns: u64,
    /// Bytes read in the measured time, and their rate.
    pub read_bytes: Rate,
    /// Bytes written in the measured time, and their rate.
    pub written_bytes: Rate,
    /// Operations that failed. Rates exclude them.
    pub failed: u64,
    /// Skipped operations of the measured time, by reason.
    pub skipped: Skipped,
    /// Share of skipped operations in all operations of the stream, from 0 to 1.
    pub skipped_fraction: f64,
    /// Latencies of all operations together; empty if no latencies were recorded.
    pub latency_ns: LatencySummary,
}

/// The operations of one kind in the measured transactions, of all roles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationTotal {
    /// Completed operations, and their rate.
    #[serde(flatten)]
    pub rate: Rate,
    /// Bytes that the operations read or wrote, and their rate.
    pub bytes: Rate,
    /// Share of the workers' time that these operations took, from issue to completion: the sum of
    /// their service times, divided by the measured time, the number of workers and the queue
    /// depth. Absent if no latencies were recorded, and in older summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_fraction: Option<f64>,
    /// Operations that failed. Rates exclude them.
    pub failed: u64,
    /// Latencies. In an open loop these are response times, measured from the due time.
    pub latency_ns: LatencySummary,
    /// Latencies divided by the number of files, for operations that copy or remove a directory
    /// with its files; absent for other operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_file_ns: Option<LatencySummary>,
}

/// Returns the totals of a record. There are no totals without transactions, or for a load sweep,
/// whose load levels contain their own totals.
pub(super) fn totals(
    record: &Record,
) -> (
    Option<TransactionsSummary>,
    BTreeMap<String, OperationTotal>,
) {
    let phase = record.actual.phase(Phase::Transactions);
    let Some(phase) = phase.filter(|_| record.spec.drive.sweep.is_none()) else {
        return Default::default();
    };
    let duration_ns = phase.measured_ns();
    let (mut all, mut read, mut written) = (Meter::default(), 0, 0);
    let mut kinds = BTreeMap::new();
    for operation in phase.measured_operations() {
        let (action, meter) = (operation.action, &operation.meter);
        all.merge(meter);
        if action.moves_bytes_in() {
            read += meter.bytes;
        } else if action.moves_bytes_out() {
            written += meter.bytes;
        }
        let kind: &mut Meter = kinds.entry(action.name().to_owned()).or_default();
        kind.merge(meter);
    }
    let spec = &record.spec;
    let slots = f64::from(spec.workload.workers.count()) * f64::from(spec.depth.max(1));
    let workers_ns = duration_ns as f64 * slots;
    let time_fraction = |meter: &Meter| {
        let times = meter.service.as_ref().unwrap_or(&meter.latency);
        (times.count() > 0 && workers_ns > 0.0).then(|| times.sum_ns() as f64 / workers_ns)
    };
    let of_kind = |meter: Meter| OperationTotal {
        rate: Rate::over(meter.operations, duration_ns),
        bytes: Rate::over(meter.bytes, duration_ns),
        time_fraction: time_fraction(&meter),
        failed: meter.failed,
        latency_ns: meter.latency.summary(),
        per_file_ns: meter.per_file.as_ref().map(Histogram::summary),
    };
    let transactions = TransactionsSummary {
        rate: Rate::over(phase.transactions(), duration_ns),
        rate_dispersion: intervals::dispersion(phase),
        duration_ns,
        read_bytes: Rate::over(read, duration_ns),
        written_bytes: Rate::over(written, duration_ns),
        failed: all.failed,
        skipped: phase.skipped(),
        skipped_fraction: phase.skipped_fraction(),
        latency_ns: all.latency.summary(),
    };
    let kinds = kinds
        .into_iter()
        .map(|(name, meter)| (name, of_kind(meter)));
    (Some(transactions), kinds.collect())
}
