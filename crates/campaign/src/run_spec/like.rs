//! The work of an earlier run, to be done again.
//!
//! Its description is taken for a configuration file: what is said beside holds over the one as
//! over the other. Its place is not taken over: not its targets, not the pool that lay there, and
//! not its acknowledgement log. Records may be anybody's.

use record::Record;
use spec::{Climb, Note, RunSpec};
use workload::Workload;
use workload::fingerprint::{self, GENERATORS_VERSION};

/// How this run differs from the earlier one that it is to be like, a note for each difference.
pub(super) fn differs(earlier: &Record, spec: &RunSpec) -> Vec<Note> {
    let mut notes = Vec::new();
    // What has no fingerprint is refused elsewhere.
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

/// The work whose fingerprint a record has: on a sweep of workers or ranks that of its first step.
fn first_work(spec: &RunSpec) -> Workload {
    let climb = spec.drive.sweep.as_ref().map(|sweep| &sweep.climb);
    let of_first = match climb {
        Some(Climb::Workers(counts)) => counts.first().map(|count| spec.of_workers(*count)),
        Some(Climb::Ranks(counts)) => counts.first().map(|count| spec.of_ranks(*count)),
        _ => None,
    };
    of_first.map_or_else(|| spec.workload.clone(), |first| first.workload)
}
