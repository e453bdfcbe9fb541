//! How far the stream of each worker has come, by the operations in the acknowledgement logs.

use engine::OperationKind;
use workload::{Intent, Phase, Workload};

use crate::ack_log::loss::VerifyError;
use crate::ack_log::replay::Replay;
use crate::manifest::Position;

/// Follows each stream to the last operation that its worker has begun. Operations that change
/// nothing are not in the logs; those after the last change are performed again.
pub(super) fn positions(
    workload: &Workload,
    replay: &Replay,
) -> Result<Vec<Position>, VerifyError> {
    let workload = &workload.with_transactions(Workload::ENDLESS);
    (0..workload.workers.count())
        .map(|worker| position(workload, replay, worker))
        .collect()
}

fn position(workload: &Workload, replay: &Replay, worker: u32) -> Result<Position, VerifyError> {
    let error = |why: &dyn std::fmt::Display| {
        VerifyError::new(format!(
            "the stream of worker {worker} cannot be followed: {why}"
        ))
    };
    let mut stream = workload
        .stream(worker, |_| ())
        .map_err(|cause| error(&cause))?;
    let (begun, mut changes) = (replay.begun(worker), 0);
    while let Some(intent) = stream.next(Phase::Prepare) {
        changes += u64::from(is_logged(&intent));
    }
    if begun.count() < changes {
        return Err(error(&"its preparation has not ended"));
    }
    let mut intents = 0;
    while changes < begun.count() {
        let next = stream.next(Phase::Transactions);
        let intent = next.ok_or_else(|| error(&"it is shorter than the log"))?;
        intents += 1;
        changes += u64::from(is_logged(&intent));
        if changes == begun.count() && !begun.ends_with(&intent) {
            return Err(error(&"the log has another operation"));
        }
    }
    Ok(Position {
        transactions: stream.transactions_begun(),
        intents,
    })
}

fn is_logged(intent: &Intent) -> bool {
    intent.action.performs().is_some_and(OperationKind::changes)
}
