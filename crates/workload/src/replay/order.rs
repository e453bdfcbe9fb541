//! Which operations of other workers must be complete before an operation starts.
//!
//! Operations on one file keep their order: a change waits for earlier uses of other workers, and
//! a use waits for the last change. Changes and listings of one directory also keep their order,
//! unless they overlapped in the trace.

use std::collections::HashMap;

use super::step::Dependency;

/// The number of uses that are remembered of one file or directory.
const USES_MAX: usize = 8;

/// An operation of a worker, by the number of operations that the worker has then completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub worker: u32,
    pub completed: u32,
    /// The positions of its first and last line in the trace.
    pub begin: u64,
    pub end: u64,
}

/// Whether an operation changes a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Read,
    Change,
}

/// The last uses of a file or directory.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    changes: Vec<Turn>,
    reads: Vec<Turn>,
}

impl Uses {
    /// Adds a use, and passes the earlier uses for which it waits to `waits`. `may_overlap` is
    /// whether operations that overlapped in the trace keep no order.
    pub fn add(&mut self, turn: Turn, how: Use, may_overlap: bool, waits: &mut impl FnMut(Turn)) {
        let is_before = |one: &Turn| !may_overlap || one.end < turn.begin;
        let is_full = self.reads.len() >= USES_MAX;
        self.changes
            .iter()
            .copied()
            .filter(is_before)
            .for_each(&mut *waits);
        if how == Use::Read && (may_overlap || !is_full) {
            self.reads.retain(|read| read.worker != turn.worker);
            if is_full && self.reads.len() >= USES_MAX {
                self.reads.remove(0);
            }
            push(&mut self.reads, turn);
            return;
        }
        // The last of many reads also orders those before it.
        self.reads
            .iter()
            .copied()
            .filter(is_before)
            .for_each(&mut *waits);
        self.reads.retain(|read| !is_before(read));
        self.changes.retain(|change| !is_before(change));
        if self.changes.len() >= USES_MAX {
            self.changes.remove(0);
        }
        push(&mut self.changes, turn);
    }
}

/// Adds an element. Most files have one use, so the memory for more is not reserved at first.
fn push(turns: &mut Vec<Turn>, turn: Turn) {
    if turns.is_empty() {
        turns.reserve_exact(1);
    }
    turns.push(turn);
}

/// The operations of other workers for which each worker has already waited.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    of_workers: Vec<HashMap<u32, u32>>,
}

impl Waits {
    pub fn new(workers: usize) -> Self {
        Self {
            of_workers: vec![HashMap::new(); workers],
        }
    }

    /// Returns a dependency of `turn` on an earlier one, unless it follows from the order of a
    /// worker or from an earlier dependency.
    pub fn dependency(&mut self, turn: Turn, before: Turn) -> Option<Dependency> {
        if before.worker == turn.worker {
            return None;
        }
        let known = self.of_workers.get_mut(turn.worker as usize)?;
        let known = known.entry(before.worker).or_default();
        if *known >= before.completed {
            return None;
        }
        *known = before.completed;
        Some(Dependency {
            worker: before.worker,
            completed: before.completed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(worker: u32, completed: u32, begin: u64, end: u64) -> Turn {
        Turn {
            worker,
            completed,
            begin,
            end,
        }
    }

    fn waits(uses: &mut Uses, turn: Turn, how: Use, may_overlap: bool) -> Vec<u32> {
        let mut found = Vec::new();
        uses.add(turn, how, may_overlap, &mut |one| found.push(one.worker));
        found
    }

    #[test]
    fn a_change_waits_for_all_reads_and_a_read_for_the_last_change() {
        let mut uses = Uses::default();
        assert!(waits(&mut uses, turn(0, 1, 1, 1), Use::Change, false).is_empty());
        assert_eq!(waits(&mut uses, turn(1, 1, 2, 9), Use::Read, false), [0]);
        assert_eq!(waits(&mut uses, turn(2, 1, 3, 9), Use::Read, false), [0]);
        assert_eq!(
            waits(&mut uses, turn(3, 1, 4, 4), Use::Change, false),
            [0, 1, 2]
        );
        assert_eq!(waits(&mut uses, turn(0, 2, 5, 5), Use::Read, false), [3]);
    }

    #[test]
    fn many_readers_of_a_file_are_ordered_before_a_change() {
        let mut uses = Uses::default();
        for worker in 0..100 {
            waits(&mut uses, turn(worker, 1, 1, 1), Use::Read, false);
            assert!(uses.reads.len() <= USES_MAX);
        }
        let all: u32 = waits(&mut uses, turn(100, 1, 2, 2), Use::Change, false)
            .into_iter()
            .max()
            .unwrap();
        assert_eq!(all, 99);
    }

    #[test]
    fn changes_of_a_directory_that_overlapped_keep_no_order() {
        let mut uses = Uses::default();
        waits(&mut uses, turn(0, 1, 1, 5), Use::Change, true);
        assert!(waits(&mut uses, turn(1, 1, 2, 3), Use::Change, true).is_empty());
        assert_eq!(waits(&mut uses, turn(2, 1, 4, 6), Use::Change, true), [1]);
        assert_eq!(
            waits(&mut uses, turn(3, 1, 7, 8), Use::Read, true),
            [0, 2],
            "both are complete"
        );
    }

    #[test]
    fn a_dependency_that_follows_from_another_one_is_left_out() {
        let mut all = Waits::new(2);
        let wanted = Dependency {
            worker: 1,
            completed: 5,
        };
        let mut depends =
            |completed, before| all.dependency(turn(0, completed, 0, 0), turn(before, 5, 0, 0));
        assert_eq!(depends(1, 1), Some(wanted));
        assert_eq!(depends(2, 1), None);
        assert_eq!(depends(3, 0), None);
    }
}
