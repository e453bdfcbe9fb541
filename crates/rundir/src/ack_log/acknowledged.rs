//! Acknowledged operations, counted in groups.

use serde::Serialize;
use workload::Action;

use super::replay::Replay;

/// Number of acknowledged operations by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Acknowledged {
    /// Includes copies and installations of files.
    pub creations: u64,
    /// Files delivered as to a Maildir: written under a temporary name, and then renamed.
    pub deliveries: u64,
    pub renames: u64,
    /// Files replaced by a renamed temporary file.
    pub replacements: u64,
    pub deletions: u64,
    pub appends: u64,
    /// Includes rewrites, which first truncate the file.
    pub overwrites: u64,
    pub truncations: u64,
    /// Operations on links, directories, attributes and lock files.
    pub other: u64,
}

impl Acknowledged {
    pub(crate) fn of(replay: &Replay) -> Self {
        let mut sum = Self::default();
        for (action, count) in &replay.acknowledged {
            *match action {
                Action::Deliver => &mut sum.deliveries,
                action if action.changes_count() == Some(true) => &mut sum.creations,
                Action::Rename => &mut sum.renames,
                Action::Replace => &mut sum.replacements,
                Action::Delete => &mut sum.deletions,
                Action::Append => &mut sum.appends,
                Action::Overwrite | Action::Rewrite => &mut sum.overwrites,
                Action::Truncate => &mut sum.truncations,
                _ => &mut sum.other,
            } += count;
        }
        sum
    }

    pub fn total(&self) -> u64 {
        self.creations
            + self.deliveries
            + self.renames
            + self.replacements
            + self.deletions
            + self.appends
            + self.overwrites
            + self.truncations
            + self.other
    }
}
