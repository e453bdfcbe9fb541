//! Servers of a run, as several rules examine them.

use record::run::Record;
use record::server::ServerCounts;
use system::{Class, Fact};

/// Whether a target is on a server, through a mount or through the engine's own client.
pub(super) fn targets_a_server(record: &Record) -> bool {
    let is_mounted = record
        .targets()
        .any(|target| target.class == Fact::Known(Class::Network));
    is_mounted || record.spec.engine.calls_server()
}

/// Returns the counts of the engine's own client, summed over all phases.
pub(super) fn server_counts(record: &Record) -> ServerCounts {
    let phases = record.actual.all_phases();
    let counts = phases.filter_map(|phase| phase.evidence.as_ref()?.server.as_ref());
    counts.fold(ServerCounts::default(), ServerCounts::and)
}
