//! Upper bounds of a workload's files, bytes, directories and file numbers, and the actions that
//! can occur.

use super::{Work, Workers, Workload};
use crate::intent::{Action, Phase};
use crate::mix::{Mix, Weights};
use crate::phases::PhaseOperations;

impl Workload {
    /// Returns an upper bound of the number of files at one time, in all pools together. The number
    /// of files in a mix is a random walk. The bound of its growth is the drift (creations minus
    /// deletions) plus six standard deviations, which is exceeded with a probability below 10^-8.
    /// The bound also includes the largest number of symbolic links and directories that a mix
    /// creates, and of the files and directories of its trees.
    pub fn files_max(&self) -> u64 {
        let pools = u64::from(self.streams());
        match &self.work {
            Work::Classic(classic) => classic
                .slots()
                .min(classic.files.saturating_add(classic.transactions))
                .saturating_mul(pools),
            Work::Mix(mix) if mix.replay.is_some() => mix.files.saturating_add(created(mix)),
            Work::Mix(mix) => {
                let transactions = mix
                    .transactions
                    .saturating_mul(u64::from(self.workers.count()) / pools);
                let grown = match mix.phases.is_empty() {
                    true => grown(&mix.weights, transactions),
                    false => grown_in_phases(mix, transactions),
                };
                let extras = mix.extras_max().min(transactions);
                let extras = [
                    Action::SymbolicLink,
                    Action::ReadLink,
                    Action::MakeDirectory,
                    Action::RemoveDirectory,
                ]
                .chunks(2)
                .filter(|actions| {
                    let asked = |action: Action| mix.weights.get(action) > 0;
                    actions.iter().any(|action| asked(*action))
                        || (actions.contains(&Action::MakeDirectory)
                            && asked(Action::MakeDirectoryExisting))
                })
                .map(|_| extras)
                .sum::<u64>();
                let files = mix.files.saturating_add(grown);
                let trees = files_in_trees(mix, files);
                files
                    .saturating_add(extras)
                    .saturating_add(trees)
                    .saturating_mul(pools)
            }
        }
    }

    /// Returns whether the number of files in a pool grows on average during the transactions.
    pub fn grows(&self) -> bool {
        let grows =
            |weights: &Weights| weight_of_change(weights, true) > weight_of_change(weights, false);
        self.mix().is_some_and(|mix| match mix.phases.is_empty() {
            true => grows(&mix.weights),
            false => mix
                .phases
                .iter()
                .any(|phase| grows(&phase.operations.weights())),
        })
    }

    /// Returns the actions that can occur in a phase, without duplicates.
    pub fn actions(&self, phase: Phase) -> Vec<Action> {
        let of_transactions: Vec<Action> = match &self.work {
            Work::Classic(_) => vec![Action::Create, Action::Read, Action::Append, Action::Delete],
            // If the pool is empty, a mix whose operations can create files performs `Create`, even
            // if `Create` has the weight 0.
            Work::Mix(mix) => [Action::Create]
                .into_iter()
                .chain(
                    mix.weights
                        .actions()
                        .flat_map(|action| action.comes_as().iter().copied()),
                )
                .collect(),
        };
        if let Some(mix) = self.mix().filter(|mix| mix.replay.is_some()) {
            return actions_of_replay(mix, phase);
        }
        let mut actions = match phase {
            Phase::Prepare => vec![Action::Create],
            Phase::Transactions => of_transactions,
            // All objects that the transactions may create are deleted. An action may also create
            // an object of another kind: a read of a symbolic link creates one if the pool contains
            // none.
            Phase::Delete => [Action::Delete]
                .into_iter()
                .chain(
                    of_transactions
                        .iter()
                        .flat_map(|action| action.comes_as().iter().copied()),
                )
                .filter(|action| action.removes())
                .collect(),
        };
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    /// Returns the number of directories in each target. If there are several pools, each pool has
    /// one directory more, which contains the pool.
    pub fn directories(&self) -> u64 {
        let of_a_pool = match &self.work {
            Work::Classic(classic) if classic.subdirectories > 1 => classic.subdirectories.into(),
            Work::Classic(_) => 0,
            Work::Mix(mix) => mix.layout.directory_count(),
        };
        match self.workers.pools() {
            0 | 1 => of_a_pool,
            pools => (of_a_pool + 1) * u64::from(pools),
        }
    }

    /// Returns the largest number of bytes that one operation reads or writes. No file is larger.
    pub fn content_bytes_max(&self) -> u64 {
        self.work.either(
            |classic| classic.size_high_bytes,
            |mix| mix.content_bytes_max(),
        )
    }

    pub fn read_block_bytes(&self) -> u64 {
        self.work.either(
            |classic| classic.read_block_bytes,
            |mix| mix.read_block_bytes,
        )
    }

    pub fn write_block_bytes(&self) -> u64 {
        self.work.either(
            |classic| classic.write_block_bytes,
            |mix| mix.write_block_bytes,
        )
    }

    /// Returns the largest running number in the names of one pool's files.
    pub fn numbers_max(&self) -> u64 {
        let work = match self.workers {
            Workers::Private { .. } => self.transactions(),
            // In a shared pool, each worker numbers its new files in steps of the pool's number of
            // workers.
            Workers::Shared { .. } => self
                .transactions()
                .saturating_add(1)
                .saturating_mul(self.workers.of_a_pool().into()),
        };
        self.files().saturating_add(work)
    }
}

/// Returns the number of objects that the operations of a replay create.
fn created(mix: &Mix) -> u64 {
    let creates = |action: &Action| {
        let makes = [Action::MakeDirectory, Action::SymbolicLink];
        action.changes_count() == Some(true) || makes.contains(action)
    };
    let creating = mix.weights.actions().filter(creates);
    creating
        .map(|action| u64::from(mix.weights.get(action)))
        .sum()
}

/// Returns the actions that can occur in a phase of a replay.
fn actions_of_replay(mix: &Mix, phase: Phase) -> Vec<Action> {
    let has = |actions: &[Action]| actions.iter().any(|action| mix.weights.get(*action) > 0);
    let has_links = has(&[Action::Link, Action::InstallLink]);
    let has_symbolic_links = has(&[
        Action::SymbolicLink,
        Action::ReadLink,
        Action::RemoveSymbolicLink,
    ]);
    let has_directories = has(&[
        Action::MakeDirectory,
        Action::MakeDirectoryExisting,
        Action::RemoveDirectory,
    ]);
    let all = match phase {
        Phase::Transactions => return mix.weights.actions().collect(),
        Phase::Prepare => [
            (Action::Create, true),
            (Action::SymbolicLink, has_symbolic_links),
            (Action::MakeDirectory, has_directories),
        ]
        .to_vec(),
        Phase::Delete => [
            (Action::Delete, true),
            (Action::RemoveLink, has_links),
            (Action::RemoveSymbolicLink, has_symbolic_links),
            (Action::RemoveDirectory, has_directories),
        ]
        .to_vec(),
    };
    let possible = all.into_iter().filter(|(_, is_possible)| *is_possible);
    possible.map(|(action, _)| action).collect()
}

/// Returns the sum of the weights of all actions that create files (if `grows` is true), or of all
/// actions that delete files.
fn weight_of_change(weights: &Weights, grows: bool) -> u64 {
    let of_kind = weights
        .actions()
        .filter(|action| action.changes_count() == Some(grows));
    of_kind.map(|action| u64::from(weights.get(action))).sum()
}

/// Returns the bound of a pool's growth in a number of transactions.
fn grown(weights: &Weights, transactions: u64) -> u64 {
    let sum = weights.sum().max(1) as f64;
    let share = |grows| weight_of_change(weights, grows) as f64 / sum;
    let (up, down) = (share(true), share(false));
    let steps = transactions as f64;
    let grown = ((up - down) * steps).max(0.0) + 6.0 * ((up + down) * steps).sqrt() + 16.0;
    (grown as u64).min(transactions)
}

/// Returns the largest number of files and directories of trees, if the pool has `files` files. A
/// walk, and all operations that are drawn together, copy at most as many files as the pool has. A
/// walk copies each directory once. A tree that is drawn has at least one file.
fn files_in_trees(mix: &Mix, files: u64) -> u64 {
    let places = u64::from(mix.layout.places()) * mix.location_weights.len() as u64;
    let trees = places / u64::from(mix.layout.places_of_tree(mix.tree_levels));
    let in_trees = |trees: u64| files.saturating_add(trees.saturating_mul(mix.tree_directories()));
    let of_weights = |weights: &Weights| match weights.actions().any(Action::is_on_tree) {
        true => in_trees(files),
        false => 0,
    };
    if mix.phases.is_empty() {
        return of_weights(&mix.weights);
    }
    let phases = mix.phases.iter().map(|phase| match &phase.operations {
        PhaseOperations::Walk(action) if action.makes_tree() => in_trees(trees),
        PhaseOperations::Walk(_) => 0,
        PhaseOperations::Mix(weights) => of_weights(weights),
    });
    phases.fold(0, u64::saturating_add)
}

/// Returns the bound of a pool's growth in all phases. A walk that creates files adds as many as
/// the initial pool has, and a walk that copies files at most doubles the pool.
fn grown_in_phases(mix: &Mix, transactions: u64) -> u64 {
    let mut all = 0_u64;
    for phase in &mix.phases {
        let most = phase.transactions.min(transactions);
        let more = match phase.operations {
            PhaseOperations::Mix(ref weights) => grown(weights, most),
            PhaseOperations::Walk(action) if action.creates() => mix.files.min(most),
            PhaseOperations::Walk(action) if action.copies() => {
                mix.files.saturating_add(all).min(most)
            }
            PhaseOperations::Walk(_) => 0,
        };
        all = all.saturating_add(more);
    }
    all
}
