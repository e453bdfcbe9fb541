//! Adding up what several did, or one in several segments.

use record::OperationRecord;

/// Adds to those of the same role and kind.
pub(crate) fn add(operations: &mut Vec<OperationRecord>, record: OperationRecord) {
    let same = |known: &&mut OperationRecord| (known.role, known.action) == (record.role, record.action);
    let Some(known) = operations.iter_mut().find(same) else {
        operations.push(record);
        return;
    };
    known.meter.merge(&record.meter);
    for step in record.steps {
        match known.steps.iter_mut().find(|known| known.step == step.step) {
            Some(same) => same.latency.merge(&step.latency),
            None => known.steps.push(step),
        }
    }
}
