//! How many entries a directory has while several change it: from what was begun and what was done.
//! A listing lies in between.

use std::sync::atomic::{AtomicI64, Ordering};

use workload::Action;

/// Of one place.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    making: AtomicI64,
    made: AtomicI64,
    removing: AtomicI64,
    removed: AtomicI64,
    /// Renamings and replacements: names that come and go.
    moving: AtomicI64,
    moved: AtomicI64,
}

/// What was known of a place when its listing began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    made: i64,
    removed: i64,
    moved: i64,
}

/// What becomes of a place's entries.
enum Change {
    More,
    Less,
    Moves,
}

fn change(action: Action) -> Option<Change> {
    match action {
        Action::Create
        | Action::Deliver
        | Action::Link
        | Action::SymbolicLink
        | Action::MakeDirectory => Some(Change::More),
        Action::Delete
        | Action::RemoveLink
        | Action::RemoveSymbolicLink
        | Action::RemoveDirectory => Some(Change::Less),
        Action::Rename | Action::Replace => Some(Change::Moves),
        _ => None,
    }
}

fn one(count: &AtomicI64) {
    count.fetch_add(1, Ordering::AcqRel);
}

impl Entries {
    /// Whether there is room for one more entry; counts it as being made.
    pub(crate) fn takes_one_more(&self, max: Option<u64>) -> bool {
        let now =
            self.making.fetch_add(1, Ordering::AcqRel) + 1 - self.removed.load(Ordering::Acquire);
        if max.is_some_and(|max| now > max as i64) {
            self.making.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        true
    }

    /// Entries that there are, and those that are being made.
    pub(crate) fn most(&self) -> u64 {
        let entries = self.making.load(Ordering::Acquire) - self.removed.load(Ordering::Acquire);
        entries.max(0) as u64
    }

    /// An operation is about to be done. What makes an entry more is counted here or by
    /// [`Entries::takes_one_more`].
    pub(crate) fn begins(&self, action: Action) {
        match change(action) {
            Some(Change::More) => one(&self.making),
            Some(Change::Less) => one(&self.removing),
            Some(Change::Moves) => one(&self.moving),
            None => {}
        }
    }

    /// It has been done. One that failed goes on for ever, as far as listings are concerned.
    pub(crate) fn done(&self, action: Action) {
        match change(action) {
            Some(Change::More) => one(&self.made),
            Some(Change::Less) => one(&self.removed),
            Some(Change::Moves) => one(&self.moved),
            None => {}
        }
    }

    /// A listing begins.
    pub(crate) fn seen(&self) -> Seen {
        Seen {
            made: self.made.load(Ordering::Acquire),
            removed: self.removed.load(Ordering::Acquire),
            moved: self.moved.load(Ordering::Acquire),
        }
    }

    /// How many entries a listing may show that has ended now: at least, and at most. They are the
    /// same where nothing was changed meanwhile.
    pub(crate) fn since(&self, seen: Seen) -> (u64, u64) {
        let moves = self.moving.load(Ordering::Acquire) - seen.moved;
        let least = seen.made - self.removing.load(Ordering::Acquire) - moves;
        let most = self.making.load(Ordering::Acquire) - seen.removed + moves;
        (least.max(0) as u64, most.max(0) as u64)
    }
}
