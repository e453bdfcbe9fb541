//! What rules ask of targets that are servers.

use record::run::Record;
use record::server::ServerCounts;
use system::{Class, Fact};

/// Whether a target is a server, over a mount or without one.
pub(super) fn targets_a_server(record: &Record) -> bool {
    let is_mounted = record
        .targets()
        .any(|target| target.class == Fact::Known(Class::Network));
    is_mounted || record.spec.engine.calls_server()
}

/// What the client counted of its server in all phases.
pub(super) fn server_counts(record: &Record) -> ServerCounts {
    let phases = record.actual.all_phases();
    let counts = phases.filter_map(|phase| phase.evidence.as_ref()?.server.as_ref());
    counts.fold(ServerCounts::default(), ServerCounts::and)
}
