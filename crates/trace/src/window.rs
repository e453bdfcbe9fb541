//! Recognizes compound operations, such as the delivery of a message, in the last operations of a
//! thread.

use std::collections::VecDeque;

use engine::Action;

use crate::done::{Done, parent};

/// The number of operations that wait for the next ones.
const WAITING_MAX: usize = 3;
/// A file with at most this number of bytes that is removed at once is a lock file.
const LOCK_FILE_BYTES_MAX: u64 = 64;

/// The last operations of a thread.
#[derive(Debug, Default)]
pub struct Window {
    waiting: VecDeque<Done>,
    /// Whether removals and trees remain single operations, each with its name.
    pub is_single: bool,
}

impl Window {
    /// Adds an operation. Returns an operation that can no longer be part of a compound one.
    pub fn push(&mut self, done: Done) -> Option<Done> {
        self.waiting.push_back(done);
        while self.combine() {}
        match self.waiting.len() > WAITING_MAX {
            true => self.waiting.pop_front(),
            false => None,
        }
    }

    /// Returns the waiting operations at the end of a thread.
    pub fn drain(&mut self) -> impl Iterator<Item = Done> + '_ {
        self.waiting.drain(..)
    }

    /// Counts the sync of a directory as part of the last operation that changed it. Returns
    /// whether there is one.
    pub fn sync_directory(&mut self, directory: &[u8]) -> bool {
        let changed = |done: &&mut Done| {
            let names = [Some(&done.path), done.to.as_ref()];
            let mut names = names.into_iter().flatten();
            !done.action.reads() && names.any(|name| parent(name) == directory)
        };
        let last = self.waiting.iter_mut().rev().find(changed);
        last.map(|done| done.synced.directory = true).is_some()
    }

    /// Replaces the last operations by a compound one. Returns whether there is one.
    fn combine(&mut self) -> bool {
        self.waiting.make_contiguous();
        let (all, _) = self.waiting.as_slices();
        let (combined, used) = match all {
            [.., one, two, three] if install(one, two, three).is_some() => {
                (install(one, two, three), 3)
            }
            [.., one, two, three] if !self.is_single && is_tree_removal(one, two, three) => {
                let tree = spanning(one, three, Action::RemoveTree);
                (Some(tree), 3)
            }
            [.., one, two] if self.is_single && is_of_many(one, two) => (None, 0),
            [.., one, two] => (pair(one, two), 2),
            _ => (None, 0),
        };
        let Some(mut combined) = combined else {
            return false;
        };
        let first = self.waiting.len() - used;
        combined.own = self.waiting.range(first..).map(|done| done.own).sum();
        self.waiting.truncate(first);
        self.waiting.push_back(combined);
        true
    }
}

/// An operation with the names and results of `last`, which begins with `first`.
fn spanning(first: &Done, last: &Done, action: Action) -> Done {
    Done {
        action,
        begin: first.begin,
        ..last.clone()
    }
}

/// The compound operation of two operations.
fn pair(one: &Done, two: &Done) -> Option<Done> {
    let is_same = one.path == two.path && one.times == 1;
    Some(match (one.action, two.action) {
        (Action::Create, Action::Delete)
            if is_same && two.times == 1 && one.bytes <= LOCK_FILE_BYTES_MAX =>
        {
            spanning(one, two, Action::LockFile)
        }
        (Action::Create, Action::Rename) if is_same => {
            let action = match two.is_over {
                true => Action::Replace,
                false => Action::Deliver,
            };
            Done {
                action,
                path: two.to.clone().unwrap_or_else(|| two.path.clone()),
                to: None,
                end: two.end,
                ..one.clone()
            }
        }
        (Action::SetAttributes, Action::SetAttributes) if is_same => {
            spanning(one, two, Action::SetAttributes)
        }
        (Action::Delete, Action::Delete) if parent(&one.path) == parent(&two.path) => Done {
            times: one.times + two.times,
            ..spanning(one, two, Action::Delete)
        },
        (Action::MakeDirectory | Action::CopyTree, Action::Copy)
            if parent(&two.path) == &*one.path =>
        {
            Done {
                path: one.path.clone(),
                bytes: match one.action {
                    Action::CopyTree => one.bytes.saturating_add(two.bytes),
                    _ => two.bytes,
                },
                ..spanning(one, two, Action::CopyTree)
            }
        }
        (Action::CopyTree, Action::List) if one.path != two.path => Done {
            end: two.end,
            ..one.clone()
        },
        _ => return None,
    })
}

/// Whether two operations could become one operation on several names.
fn is_of_many(one: &Done, two: &Done) -> bool {
    let makes = matches!(one.action, Action::MakeDirectory | Action::CopyTree);
    let removes = one.action == Action::Delete && two.action == Action::Delete;
    removes || (makes && two.action == Action::Copy)
}

/// An installation of a file: check that its name is free, try to create its directory, create the
/// file.
fn install(one: &Done, two: &Done, three: &Done) -> Option<Done> {
    let name = three.to.as_ref().unwrap_or(&three.path);
    let is_checked = one.action == Action::StatMissing
        && two.action == Action::MakeDirectoryExisting
        && one.path == *name
        && parent(name) == &*two.path;
    let action = match three.action {
        Action::Create => Action::Install,
        Action::Copy => Action::InstallCopy,
        Action::Clone => Action::InstallClone,
        Action::Link => Action::InstallLink,
        _ => return None,
    };
    is_checked.then(|| spanning(one, three, action))
}

fn is_tree_removal(one: &Done, two: &Done, three: &Done) -> bool {
    one.action == Action::Delete
        && two.action == Action::List
        && three.action == Action::RemoveDirectory
        && two.path == three.path
        && parent(&one.path) == &*three.path
}
