//! What a workload reaches at most: files, bytes, directories, numbers, and which actions occur.

use super::{Work, Workers, Workload};
use crate::intent::{Action, Phase};
use crate::mix::Mix;

impl Workload {
    /// No more files are ever there at once, in all pools together: for mixes with a chance of
    /// error below 10^-8. Their pools walk at random: this is the drift of creations over
    /// deletions, and six standard deviations; and as many symbolic links and directories as a
    /// mix makes at most.
    pub fn files_max(&self) -> u64 {
        let pools = u64::from(self.streams());
        match &self.work {
            Work::Classic(classic) => classic
                .slots()
                .min(classic.files.saturating_add(classic.transactions))
                .saturating_mul(pools),
            Work::Mix(mix) => {
                let transactions = mix
                    .transactions
                    .saturating_mul(u64::from(self.workers.count()) / pools);
                let sum = mix.weights.sum().max(1) as f64;
                let share = |grows| weight_of_change(mix, grows) as f64 / sum;
                let (up, down) = (share(true), share(false));
                let steps = transactions as f64;
                let grown =
                    ((up - down) * steps).max(0.0) + 6.0 * ((up + down) * steps).sqrt() + 16.0;
                let grown = (grown as u64).min(transactions);
                let extras = mix.extras_max().min(transactions);
                let extras = [
                    Action::SymbolicLink,
                    Action::ReadLink,
                    Action::MakeDirectory,
                    Action::RemoveDirectory,
                ]
                .chunks(2)
                .filter(|actions| actions.iter().any(|action| mix.weights.get(*action) > 0))
                .map(|_| extras)
                .sum::<u64>();
                mix.files
                    .saturating_add(grown + extras)
                    .saturating_mul(pools)
            }
        }
    }

    /// Whether pools grow for as long as the transactions go on.
    pub fn grows(&self) -> bool {
        self.mix()
            .is_some_and(|mix| weight_of_change(mix, true) > weight_of_change(mix, false))
    }

    /// The actions that can occur in a phase, each once.
    pub fn actions(&self, phase: Phase) -> Vec<Action> {
        let of_transactions: Vec<Action> = match &self.work {
            Work::Classic(_) => vec![Action::Create, Action::Read, Action::Append, Action::Delete],
            // Where the pool is empty, a file is created, whatever the mix asks for.
            Work::Mix(mix) => [Action::Create]
                .into_iter()
                .chain(
                    mix.weights
                        .actions()
                        .flat_map(|action| action.comes_as().iter().copied()),
                )
                .collect(),
        };
        let mut actions = match phase {
            Phase::Prepare => vec![Action::Create],
            Phase::Transactions => of_transactions,
            // What one operation stands in for makes things, too: a symbolic link is made where
            // there is none to read.
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

    /// Directories in each location, those of workers included.
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

    /// The largest content that one operation moves, in bytes: no file is ever larger.
    pub fn content_bytes_max(&self) -> u64 {
        self.work.either(
            |classic| classic.size_high_bytes,
            |mix| mix.content_bytes_max(),
        )
    }

    /// Bytes of one read call.
    pub fn read_block_bytes(&self) -> u64 {
        self.work.either(
            |classic| classic.read_block_bytes,
            |mix| mix.read_block_bytes,
        )
    }

    /// Bytes of one write call.
    pub fn write_block_bytes(&self) -> u64 {
        self.work.either(
            |classic| classic.write_block_bytes,
            |mix| mix.write_block_bytes,
        )
    }

    /// Running numbers in one pool's names stay at or below this.
    pub fn numbers_max(&self) -> u64 {
        let work = match self.workers {
            Workers::Private { .. } => self.transactions(),
            // Every worker takes numbers in steps.
            Workers::Shared { .. } => self
                .transactions()
                .saturating_add(1)
                .saturating_mul(self.workers.of_a_pool().into()),
        };
        self.files().saturating_add(work)
    }
}

/// The weights of all actions that make the pool grow, or of those that make it shrink.
fn weight_of_change(mix: &Mix, grows: bool) -> u64 {
    let of_kind = mix
        .weights
        .actions()
        .filter(|action| action.changes_count() == Some(grows));
    of_kind
        .map(|action| u64::from(mix.weights.get(action)))
        .sum()
}
