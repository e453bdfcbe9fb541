//! The rates of a run, from which the duration of another run is estimated.

use record::{Phase, Record};
use verdict::Summary;

/// Rates of a run, per second: files created and deleted, and transactions. A rate is 0 if the run
/// has no such phase.
pub(crate) struct Rates {
    pub created: f64,
    /// Like `created`, but the time includes the sync of the files, if the run synced them.
    pub created_until_durable: f64,
    pub deleted: f64,
    /// `None` if no transactions were measured.
    pub transactions: Option<f64>,
}

impl Rates {
    pub(crate) fn of(record: &Record) -> Self {
        let summary = Summary::of(record);
        let rate = |phase| {
            summary
                .phase(phase)
                .and_then(|phase| phase.last_done.done.per_second)
        };
        let created = rate(Phase::Prepare).unwrap_or(0.0);
        let prepare = summary.phase(Phase::Prepare);
        let durable = prepare.and_then(|phase| phase.until_durable.as_ref()?.done.per_second);
        let transactions = summary
            .phase(Phase::Transactions)
            .and_then(|phase| phase.transactions);
        Self {
            created,
            created_until_durable: durable.unwrap_or(created),
            deleted: rate(Phase::Delete).unwrap_or(0.0),
            transactions: transactions
                .filter(|rate| rate.count > 0)
                .and_then(|rate| rate.per_second),
        }
    }
}
