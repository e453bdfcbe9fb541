//! The initial record of a run, without results. Displays that follow the run start with this
//! record.

use std::path::PathBuf;

use engine::Engine;
use record::{Actual, Host, Origin, Record, RunId, Tool};
use spec::RunSpec;
use workload::{Action, Phase};
use xxhash_rust::xxh3::xxh3_128;

use crate::clock::{Clock, SystemClock};
use crate::counter_baseline::Since;
use crate::preflight::Looked;

/// Builds the record of a run before its first operation.
pub(crate) fn head(
    request: &RunSpec,
    looked: Looked,
    (directories, origin): (&[PathBuf], Origin),
    since: &Since,
) -> Record {
    Record {
        schema: record::run::SCHEMA_VERSION,
        id: identity(&looked.host, origin),
        tool: Tool::this(),
        spec: request.clone(),
        sizing: None,
        locations: looked.locations(request, directories),
        fingerprint: looked.fingerprint,
        origin,
        host: looked.host,
        during: since.during(),
        room: looked.room,
        plain_operations: Vec::new(),
        actual: Actual::unfinished(request.check, request.overhead),
        cluster: None,
        hints: Vec::new(),
        study: None,
    }
}

/// Returns the operations of the run that the engine's interface does not support on this machine.
/// For example, an old kernel lacks some operations of io_uring. The engine performs them with
/// ordinary system calls.
pub(crate) fn plain_operations(request: &RunSpec, engine: &dyn Engine) -> Vec<Action> {
    let plain = engine.plain_operations();
    let mut actions: Vec<Action> = Phase::ALL
        .into_iter()
        .flat_map(|phase| request.workload.actions(phase))
        .filter(|action| action.performs().is_some_and(|kind| plain.contains(&kind)))
        .collect();
    actions.dedup();
    actions
}

/// Derives the run's identifier as a hash of values that together differ between any two runs. The
/// values are the boot ID, the host name, the process ID, and the time on two clocks.
fn identity(host: &Host, origin: Origin) -> RunId {
    let boot = host.boot_id.known().map_or("", String::as_str);
    let (process, now_ns) = (std::process::id(), SystemClock.now_ns());
    let all = format!(
        "{boot} {} {process} {} {now_ns}",
        host.hostname, origin.unix_ns
    );
    RunId::new(xxh3_128(all.as_bytes()))
}
