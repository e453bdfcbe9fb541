//! How far a worker has come, by the entries of the acknowledgement logs.

use workload::{Action, Intent};

use super::entry::Entry;

/// The operations that a worker has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begun {
    /// Number of operations in earlier logs.
    earlier: u64,
    /// Sequence number of the last operation in the present log.
    sequence: u64,
    last: Option<(Action, u64, u32)>,
}

impl Begun {
    pub(crate) fn add(&mut self, entry: &Entry) -> Result<(), String> {
        self.sequence += 1;
        if entry.sequence != self.sequence {
            return Err(format!(
                "operation {} of worker {} stands in place of its operation {}",
                entry.sequence, entry.worker, self.sequence
            ));
        }
        self.last = Some((entry.action, entry.file, entry.version));
        Ok(())
    }

    /// Number of operations in all logs.
    pub(crate) const fn count(&self) -> u64 {
        self.earlier + self.sequence
    }

    /// Begins the next log.
    pub(crate) const fn begin_next_log(&mut self) {
        self.earlier += self.sequence;
        self.sequence = 0;
    }

    /// Whether the last operation is that of an intent.
    pub(crate) fn ends_with(&self, intent: &Intent) -> bool {
        self.last == Some((intent.action, intent.file, intent.version))
    }
}
