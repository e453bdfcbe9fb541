//! **`device-wrote-nothing`** (DOUBTFUL, INVALID). A phase wrote contents, and the file systems
//! were synced after it, but the device wrote nothing: no acknowledged write has reached the device
//! that the kernel names. *Threshold*: no byte written. INVALID: with a durability policy that
//! syncs each creation. DOUBTFUL without a policy, because files that are deleted before the sync
//! need not be written. *Evidence*: the counters of the devices. *What to do*: find out what the
//! device is, or use another one.

use super::rule::*;
use crate::summary::evidence::phase_evidence;

/// Contents were written and synced, but the device wrote nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DeviceWroteNothing {
    /// The phase that wrote the contents.
    pub phase: Phase,
    /// Bytes that the operations of the phase wrote.
    pub written_bytes: u64,
    /// Whether the durability policy syncs each creation.
    pub is_durable: bool,
}

impl Rule for DeviceWroteNothing {
    const ADVICE: &str = "check whether the device or its driver keeps writes in memory";

    /// A target in memory has no device, so the rule does not apply to it.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let mut phases = record.actual.all_phases().filter(|phase| phase.complete);
        phases.find_map(|phase| {
            phase.evidence.as_ref()?.syncing.as_ref()?;
            let writes = phase_evidence(record, phase)?.writes;
            let is_nothing = writes.written_bytes > 0 && writes.device_bytes == Fact::Known(0);
            let durability = &record.spec.durability;
            let mut written = phase.all_operations().filter(|operation| {
                operation.action.moves_bytes_out() && operation.meter.operations > 0
            });
            is_nothing.then(|| Self {
                phase: phase.phase,
                written_bytes: writes.written_bytes,
                is_durable: written.all(|operation| {
                    let kind = operation.action.performs();
                    kind.is_some_and(|kind| durability.of(operation.action).covers(kind))
                }),
            })
        })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.is_durable)
    }

    fn sentence(&self) -> String {
        format!(
            "{} written in {} and synced{}, but the device wrote nothing",
            bytes(self.written_bytes as f64),
            self.phase.name(),
            match self.is_durable {
                true => " one by one",
                false => "",
            }
        )
    }
}
