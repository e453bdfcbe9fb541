//! The end of a run: removes its files, or keeps its pool for a later run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use record::{CleanUp, End, Outcome};
use rundir::ack_log::AckLog;
use rundir::manifest::{KeptPool, Position};
use rundir::ownership::Evidence;
use rundir::run_directory::RunDirectories;
use spec::RunSpec;

use crate::events::{Event, Progress, Stage};
use crate::processes::EndState;
use crate::timed_call::{Call, Waiter};
use crate::workers::Performed;

/// Removes everything that a refused run created. A reused pool has not been changed yet and is
/// only closed.
pub(crate) fn give_back(request: &RunSpec, owned: Arc<RunDirectories>, waiter: &mut Waiter<'_>) {
    if request.keeping.reuse {
        untouched(owned, waiter);
    } else {
        let _ = leave(owned, Evidence::default(), None, waiter);
    }
}

/// Cleans up the directories after the run, then completes the acknowledgement log.
pub(crate) fn leave_all(
    request: &RunSpec,
    performed: &mut Performed,
    (owned, ack_log): (Arc<RunDirectories>, Option<AckLog>),
    waiter: &mut Waiter<'_>,
) -> Option<CleanUp> {
    let life = owned.life().clone();
    let own = EndState {
        set_back_ns: life.set_back_ns(),
        latest_ns: life.latest_ns(),
        ..performed.end.clone()
    };
    let left = waiter.control.processes().end_state(own);
    let is_first = waiter.control.is_first();
    let (clean_up, unanswered) = match is_first {
        true => clean_up(request, performed, &left, owned, waiter),
        false => {
            // Only the first rank removes files, and it removes the files of all ranks.
            leave_open(owned);
            (None, None)
        }
    };
    performed.end.abandoned |= left.abandoned;
    if let Some(why) = unanswered {
        performed.outcome = Outcome::Failed { why };
        performed.end.abandoned = true;
    }
    let stays = clean_up
        .as_ref()
        .is_some_and(|clean_up| clean_up.incomplete);
    let stays = waiter.control.processes().tell_incomplete(stays);
    // `end` removes the heartbeat file of this process. A later clean-up needs this file, so it is
    // removed only if no files of the run remain.
    if let (Some(false), false) = (stays, is_first || left.abandoned) {
        life.end();
    }
    // A call hangs, possibly on the acknowledgement log. The log is not closed, because closing it
    // could also hang.
    if performed.end.abandoned {
        leave_open(ack_log);
    } else if let Some(ack_log) = ack_log {
        let removed = clean_up.as_ref().map_or(0, |done| done.files);
        let path = request.ack_log.as_deref().unwrap_or(Path::new(""));
        let call = Call::new("end the acknowledgement log", path.display().to_string());
        // The error is ignored: the log is valid even without its end (see `AckLog::over`).
        let _ = waiter.wait_for(&call, move || ack_log.over(removed));
    }
    clean_up
}

/// Closes directories in which the run changed nothing.
fn untouched(owned: Arc<RunDirectories>, waiter: &mut Waiter<'_>) {
    let place = owned.describe();
    owned.life().end();
    // The error is ignored: if closing a file hangs, the kernel closes it when the process ends.
    let _ = waiter.wait_for(&Call::new("close what is open in", place), move || {
        drop(owned)
    });
}

/// Removes the remaining files of the run; after a complete run, only the manifest. Returns the
/// result of the clean-up, and the reason why a call did not return.
fn clean_up(
    request: &RunSpec,
    performed: &Performed,
    left: &EndState,
    owned: Arc<RunDirectories>,
    waiter: &mut Waiter<'_>,
) -> (Option<CleanUp>, Option<String>) {
    if left.abandoned {
        let place = owned.describe();
        leave_open(owned);
        let asked = match performed.end.abandoned {
            true => not_asked(place),
            false => self::left(place, WITH_OTHERS.to_owned()),
        };
        return (Some(asked), None);
    }
    if request.keeping.reuse && !left.in_use {
        untouched(owned, waiter);
        return (None, None);
    }
    if let (true, true, Some(positions)) = (request.keeping.keep, left.is_whole, &left.positions) {
        let kept = kept_pool(request, left, positions);
        return keep(owned, kept, waiter);
    }
    if left.complete && !left.any_spoiled {
        // The run has deleted all of its files. A remaining file with a name of the run belongs to
        // another program and is not removed.
        let (done, unanswered) = leave(owned, Evidence::default(), None, waiter);
        return (
            (done.files > 0 || !done.left.is_empty()).then_some(done),
            unanswered,
        );
    }
    waiter
        .events
        .event(Event::PhaseStarted(Stage::CleanUp, Progress::default()));
    let evidence = Evidence {
        numbers_made: performed.numbers_made,
        partly_written: left.partly_written.clone(),
        set_back_ns: left.set_back_ns,
        until: None,
        is_complete: true,
    };
    let (done, unanswered) = leave(owned, evidence, Some(Stage::CleanUp), waiter);
    let progress = Progress {
        done: done.files,
        completed: done.files,
        total: Some(done.files),
    };
    waiter
        .events
        .event(Event::PhaseEnded(Stage::CleanUp, progress, End::Complete));
    (Some(done), unanswered)
}

/// Describes the pool of a complete run for the manifest. `positions` are those of the workers'
/// streams.
fn kept_pool(request: &RunSpec, left: &EndState, positions: &[Position]) -> KeptPool {
    KeptPool {
        pool: request.workload.pool_canonical(),
        workload: request.workload.endless_canonical(),
        positions: positions.to_vec(),
        names: left.names,
        left_ns: left.latest_ns,
        set_back_ns: left.set_back_ns,
    }
}

/// Leaves the pool on the target and records it in the manifest, so that a later run can reuse it.
fn keep(
    owned: Arc<RunDirectories>,
    kept: KeptPool,
    waiter: &mut Waiter<'_>,
) -> (Option<CleanUp>, Option<String>) {
    let call = Call::new("write the manifest of the kept pool in", owned.describe());
    let marked = waiter.wait_for(&call, move || owned.keep(&kept));
    let (why, unanswered) = match marked {
        Ok(Ok(())) => return (None, None),
        Ok(Err(why)) => (why, None),
        Err(why) => (
            why.to_string(),
            Some(format!("cannot {} {}: {why}", call.what, call.path)),
        ),
    };
    let why = format!(
        "the pool exists, but cannot be marked as kept: {why} ('postmark clean' removes it)"
    );
    (Some(left(call.path, why)), unanswered)
}

/// Removes the remaining files of a run. Waits without a time limit while files are being removed.
fn leave(
    owned: Arc<RunDirectories>,
    evidence: Evidence,
    stage: Option<Stage>,
    waiter: &mut Waiter<'_>,
) -> (CleanUp, Option<String>) {
    let call = Call {
        stage,
        ..Call::new("remove what the run made in", owned.describe())
    };
    let removed = Arc::clone(&call.progress);
    // The closure owns the last reference to the open directories. The target can be unmounted when
    // the closure has returned.
    let answer = waiter.wait_for(&call, move || {
        owned.leave(&evidence, &mut |files| {
            removed.store(files, Ordering::Relaxed)
        })
    });
    answer.map_or_else(
        |why| {
            let unanswered = format!("cannot {} {}: {why}", call.what, call.path);
            let why = format!("{why} ('postmark clean' removes the rest later)");
            (left(call.path, why), Some(unanswered))
        },
        |done| (done, None),
    )
}

/// Leaves files on a hanging target open, because closing them could block this thread forever. The
/// exit of this process closes them and may also block. Therefore a child process performs runs on
/// targets with a server, and its parent does not wait for its exit.
pub(crate) fn leave_open<T>(of_target: T) {
    std::mem::forget(of_target);
}

const WITH_OTHERS: &str = "a rank is lost or did not return from a call, and may still be \
                           working, so the run left its files ('postmark clean' removes them \
                           later)";

/// The result of a clean-up that leaves files because a call on the file system did not return.
pub(crate) fn not_asked(path: String) -> CleanUp {
    let why =
        "a call did not return, so the run left its files ('postmark clean' removes them later)";
    left(path, why.to_owned())
}

/// The result of a clean-up that leaves files.
fn left(path: String, why: String) -> CleanUp {
    CleanUp {
        left: vec![record::Left { path, why }],
        incomplete: true,
        ..CleanUp::default()
    }
}
