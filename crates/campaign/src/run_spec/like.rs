//! Repeats the work of an earlier run.
//!
//! The run spec of the earlier run is treated like a configuration file: options take precedence
//! over the run spec. The earlier run's targets, prepared pool and acknowledgement log are not
//! adopted, because the record may be another user's.

use record::Record;
use spec::{Climb, Note, RunSpec};
use workload::Workload;
use workload::fingerprint::{self, GENERATORS_VERSION};

/// Returns a note for each difference between this run and the earlier one.
pub(super) fn differs(earlier: &Record, spec: &RunSpec) -> Vec<Note> {
    let mut notes = Vec::new();
    // A workload that has no fingerprint is refused elsewhere.
    let fingerprint = fingerprint::fingerprint(&first_work(spec)).ok();
    if fingerprint.is_some_and(|fingerprint| fingerprint != earlier.fingerprint) {
        let theirs = earlier.tool.generators;
        notes.push(Note::OtherWork {
            generators: (theirs != GENERATORS_VERSION).then_some(theirs),
        });
    }
    if earlier.spec.ack_log.is_some() && spec.ack_log.is_none() {
        notes.push(Note::NoAckLog);
    }
    if earlier.spec.prepared {
        notes.push(Note::NotPrepared);
    }
    notes
}

/// Returns the workload whose fingerprint a record contains. For a sweep over workers or ranks,
/// this is the workload of the first load level.
fn first_work(spec: &RunSpec) -> Workload {
    let climb = spec.drive.sweep.as_ref().map(|sweep| &sweep.climb);
    let of_first = match climb {
        Some(Climb::Workers(counts)) => counts.first().map(|count| spec.of_workers(*count)),
        Some(Climb::Ranks(counts)) => counts.first().map(|count| spec.of_ranks(*count)),
        _ => None,
    };
    of_first.map_or_else(|| spec.workload.clone(), |first| first.workload)
}
