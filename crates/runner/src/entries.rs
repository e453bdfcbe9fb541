//! Computes bounds for the number of entries of a directory that several operations change at the
//! same time. For each listing, counts of started and completed changes give the smallest and the
//! largest possible number of entries.

use std::sync::atomic::{AtomicI64, Ordering};

use workload::Action;

/// For one directory, counts of started changes (such as `making`) and of completed changes (such
/// as `made`).
#[derive(Debug, Default)]
pub(crate) struct Entries {
    making: AtomicI64,
    made: AtomicI64,
    removing: AtomicI64,
    removed: AtomicI64,
    /// Started renames, replacements and lock files. During a rename or replacement, a listing may
    /// miss the file's name or return it twice. A lock file is an additional name while it exists.
    moving: AtomicI64,
    moved: AtomicI64,
}

/// Counts of completed changes at the start of a listing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    made: i64,
    removed: i64,
    moved: i64,
}

/// The effect of an operation on the number of entries: one more, one less, or the same number
/// after a rename, a replacement or a lock file.
enum Change {
    More,
    Less,
    Moves,
}

fn change(action: Action) -> Option<Change> {
    match action {
        Action::Link | Action::InstallLink | Action::SymbolicLink | Action::MakeDirectory => {
            Some(Change::More)
        }
        action if action.makes_tree() || action.changes_count() == Some(true) => Some(Change::More),
        Action::Delete
        | Action::RemoveLink
        | Action::RemoveSymbolicLink
        | Action::RemoveDirectory
        | Action::RemoveTree => Some(Change::Less),
        Action::Rename | Action::Replace | Action::LockFile => Some(Change::Moves),
        _ => None,
    }
}

fn one(count: &AtomicI64) {
    count.fetch_add(1, Ordering::AcqRel);
}

impl Entries {
    /// Counts the creation of an entry as started and returns true. Returns false without counting
    /// if the directory already contains `max` entries.
    pub(crate) fn takes_one_more(&self, max: Option<u64>) -> bool {
        let now =
            self.making.fetch_add(1, Ordering::AcqRel) + 1 - self.removed.load(Ordering::Acquire);
        if max.is_some_and(|max| now > max as i64) {
            self.making.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        true
    }

    /// Upper bound of the number of entries, including entries that are being created.
    pub(crate) fn most(&self) -> u64 {
        let entries = self.making.load(Ordering::Acquire) - self.removed.load(Ordering::Acquire);
        entries.max(0) as u64
    }

    /// Counts a change as started. Not called for a creation that [`Entries::takes_one_more`] has
    /// already counted.
    pub(crate) fn begins(&self, action: Action) {
        match change(action) {
            Some(Change::More) => one(&self.making),
            Some(Change::Less) => one(&self.removing),
            Some(Change::Moves) => one(&self.moving),
            None => {}
        }
    }

    /// Counts a change as completed. Not called for a failed change, which may have changed the
    /// directory or not. Because it counts only as started, the bounds of later listings include
    /// both cases.
    pub(crate) fn done(&self, action: Action) {
        match change(action) {
            Some(Change::More) => one(&self.made),
            Some(Change::Less) => one(&self.removed),
            Some(Change::Moves) => one(&self.moved),
            None => {}
        }
    }

    pub(crate) fn seen(&self) -> Seen {
        Seen {
            made: self.made.load(Ordering::Acquire),
            removed: self.removed.load(Ordering::Acquire),
            moved: self.moved.load(Ordering::Acquire),
        }
    }

    /// Returns a lower and an upper bound of the number of entries in a listing that has just
    /// ended. The bounds are equal if no change overlapped the listing.
    pub(crate) fn since(&self, seen: Seen) -> (u64, u64) {
        let moves = self.moving.load(Ordering::Acquire) - seen.moved;
        let least = seen.made - self.removing.load(Ordering::Acquire) - moves;
        let most = self.making.load(Ordering::Acquire) - seen.removed + moves;
        (least.max(0) as u64, most.max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_may_contain_a_lock_file_that_exists_meanwhile() {
        let entries = Entries::default();
        entries.begins(Action::Create);
        entries.done(Action::Create);
        let before = entries.seen();
        entries.begins(Action::LockFile);
        assert_eq!(entries.since(before), (0, 2));
        entries.done(Action::LockFile);
        assert_eq!(entries.since(entries.seen()), (1, 1));
    }
}
