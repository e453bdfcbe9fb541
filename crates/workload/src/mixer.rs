//! The random draws of a mix: the next operation, its size, and the random number that selects its
//! file. Every drawn value is a pure function of seed, worker and index. The drawn values form a
//! [`Draft`], which becomes an [`Intent`] when its file is chosen.

use crate::births::{Births, Tables};
use crate::intent::{Action, Intent, Pause, PoolState};
use crate::mix::{Mix, Think, Weights};
use crate::pool::File;
use crate::popularity::Popularity;
use crate::random::{Key, below, running_sums, unit};
use crate::sizes::sampler::Sampler;
use crate::skip::SkipReason;

/// An operation whose file is not chosen yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft {
    pub action: Action,
    /// The random number that selects the file; for a shuffled order, a running number instead.
    pub pick: u64,
    /// The random number that selects a size or an amount of bytes.
    pub amount: u64,
    /// The random number that selects an offset in the file.
    pub offset: u64,
    /// The time that the worker spends before it issues the operation.
    pub pause: Pause,
}

/// The effect of a performed intent on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    None,
    /// The file has a new state, such as another size, version or name.
    Becomes(File),
    Removed,
    /// The operation's file is unchanged, and this new file is added to the pool.
    Adds(File),
}

/// Look-ups of missing files use names with this number or a higher one. Files that exist have
/// lower numbers.
const MISSING: u64 = 1 << 47;

/// Generates the drafts of one worker of a mix.
#[derive(Clone, Debug)]
pub struct Mixer {
    choices: Vec<Choice>,
    sum: u64,
    /// Whether any operation has think time or processor time before it.
    pauses: bool,
    think: Think,
    append_sizes: Sampler,
    range_sizes: Sampler,
    births: Births,
    size_max: u64,
    align: u64,
    keys: Keys,
    /// Whether files are selected by a running number (a shuffled order), not by random numbers.
    is_shuffled: bool,
}

/// An action of a mix, with the range of random numbers that selects the action.
#[derive(Clone, Copy, Debug)]
struct Choice {
    /// The sum of the action's weight and of all weights before it. A random number below the sum
    /// of all weights selects the first action whose `end` is greater.
    end: u64,
    action: Action,
    /// The processor time before the operation, in nanoseconds.
    compute_ns: u64,
}

fn pauses(mix: &Mix, choices: &[Choice]) -> bool {
    mix.think != Think::None || choices.iter().any(|choice| choice.compute_ns > 0)
}

fn choices(mix: &Mix, weights: &Weights) -> Vec<Choice> {
    let ends = running_sums(weights.actions().map(|action| weights.get(action).into()));
    let choice = |(end, action)| Choice {
        end,
        action,
        compute_ns: mix.compute.ns_of(action),
    };
    ends.zip(weights.actions()).map(choice).collect()
}

#[derive(Clone, Copy, Debug)]
struct Keys {
    action: Key,
    pick: Key,
    amount: Key,
    offset: Key,
    think: Key,
}

impl Mixer {
    /// Returns the draft generator of a worker that performs the actions of `weights`. `seed` is
    /// the worker's own seed. `births_seed` determines the directories and sizes of new files.
    pub fn new(
        mix: &Mix,
        tables: &Tables,
        weights: &Weights,
        (seed, worker): (u64, u32),
        births_seed: u64,
    ) -> Self {
        let key = |name| Key::new(seed, name, worker);
        let choices = choices(mix, weights);
        Self {
            sum: weights.sum(),
            pauses: pauses(mix, &choices),
            choices,
            think: mix.think,
            append_sizes: tables.append_sizes.clone(),
            range_sizes: tables.range_sizes.clone(),
            births: Births::new(mix, tables, births_seed),
            size_max: mix.size_max_bytes,
            align: mix.align_bytes.max(1),
            is_shuffled: mix.popularity == Popularity::Shuffled,
            keys: Keys {
                action: key("action"),
                pick: key("pick"),
                amount: key("amount"),
                offset: key("offset"),
                think: key("think"),
            },
        }
    }

    /// Returns the same generator for the actions of other weights.
    #[must_use]
    pub fn with_weights(&self, mix: &Mix, weights: &Weights) -> Self {
        let choices = choices(mix, weights);
        Self {
            sum: weights.sum(),
            pauses: pauses(mix, &choices),
            choices,
            ..self.clone()
        }
    }

    pub fn births(&self) -> &Births {
        &self.births
    }

    /// Returns whether this worker has think time or processor time before any of its operations.
    pub fn pauses(&self) -> bool {
        self.pauses
    }

    /// Returns whether this worker can create files in an empty pool.
    pub fn creates(&self) -> bool {
        self.choices.iter().any(|choice| choice.action.creates())
    }

    /// Returns whether at least one operation of this worker is possible on a pool. `has_room`
    /// states whether at least one directory is below its limit of entries.
    pub fn can_perform_any(&self, pool: &PoolState, has_room: bool) -> bool {
        let mut choices = self.choices.iter();
        choices.any(|choice| self.can_perform(choice.action, pool, has_room))
    }

    fn can_perform(&self, action: Action, pool: &PoolState, has_room: bool) -> bool {
        let has_files = pool.sizes.is_some();
        match action {
            action if action.creates() => has_room,
            Action::MakeDirectory | Action::MakeDirectoryExisting | Action::RemoveDirectory => {
                has_room || pool.has_extras
            }
            action if action.copies() => has_files && has_room,
            Action::Link | Action::InstallLink | Action::SymbolicLink => {
                has_files && (has_room || pool.has_extras)
            }
            action if action.is_on_tree() => has_files && (has_room || pool.has_extras),
            Action::ReadLink => pool.has_symbolic_link || (has_files && has_room),
            Action::Append => pool.sizes.is_some_and(|(least, _)| {
                let append = self.append_sizes.low().max(1);
                self.append_sizes.high() > 0 && least.saturating_add(append) <= self.size_max
            }),
            Action::ReadRange | Action::Overwrite | Action::Truncate => {
                pool.sizes.is_some_and(|(_, most)| most > 0)
            }
            Action::Nothing => false,
            _ => has_files,
        }
    }

    /// Returns the draft with number `index`, which counts from 0.
    #[inline]
    pub fn draft(&self, index: u64) -> Draft {
        let share = below(self.keys.action.at(index), self.sum);
        let choice = self.choices.iter().find(|choice| share < choice.end);
        let think_ns = match self.think {
            Think::None => 0,
            Think::Fixed(ns) => ns,
            Think::Exponential(mean_ns) => {
                let open = 1.0 - unit(self.keys.think.at(index));
                (-libm::log(open) * mean_ns as f64) as u64
            }
        };
        Draft {
            action: choice.map_or(Action::Nothing, |choice| choice.action),
            pick: match self.is_shuffled {
                true => index,
                false => self.keys.pick.at(index),
            },
            amount: self.keys.amount.at(index),
            offset: self.keys.offset.at(index),
            pause: Pause {
                think_ns,
                compute_ns: choice.map_or(0, |choice| choice.compute_ns),
            },
        }
    }

    /// Combines a draft with the file that was chosen for it. Returns the intent, and the effect of
    /// the intent on the file. If the operation creates a name, the name gets the number `fresh`.
    #[inline]
    pub fn decide(&self, draft: &Draft, file: File, fresh: u64) -> (Intent, Change) {
        let mut intent = Intent {
            action: draft.action,
            ends_transaction: true,
            place: file.place,
            number: file.number,
            size_bytes: file.size_bytes,
            file: file.file,
            version: file.version,
            pause: draft.pause,
            ..Intent::NOTHING
        };
        let change = self.change(&mut intent, draft, file, fresh);
        (intent, change)
    }

    #[inline]
    fn change(&self, intent: &mut Intent, draft: &Draft, file: File, fresh: u64) -> Change {
        let size = file.size_bytes;
        match draft.action {
            Action::Read | Action::ReadMapped => intent.bytes = size,
            Action::StatMissing | Action::OpenMissing => {
                (intent.number, intent.file) = (intent.number | MISSING, 0);
            }
            Action::Copy | Action::Clone | Action::InstallCopy | Action::InstallClone => {
                (intent.number, intent.other) = (fresh, file.number);
                (intent.bytes, intent.size_bytes) = (size, 0);
                return Change::Adds(File {
                    number: fresh,
                    has_extended: false,
                    ..file
                });
            }
            Action::Delete => return Change::Removed,
            Action::ReadRange if size > 0 => {
                intent.bytes = self.range_sizes.draw(draft.amount).clamp(1, size);
                intent.offset_bytes =
                    below(draft.offset, (size - intent.bytes) / self.align + 1) * self.align;
            }
            Action::Append => return self.append(intent, draft, file),
            Action::Overwrite if size > 0 => {
                intent.bytes = size;
                intent.version = file.next_version();
                let version = intent.version;
                return Change::Becomes(File { version, ..file });
            }
            Action::Truncate if size > 0 => {
                intent.bytes = below(draft.amount, size) / self.align * self.align;
                let size_bytes = intent.bytes;
                return Change::Becomes(File { size_bytes, ..file });
            }
            Action::Rename => {
                intent.other = fresh;
                return Change::Becomes(File {
                    number: fresh,
                    ..file
                });
            }
            Action::Replace | Action::Rewrite => {
                intent.bytes = self.births.sizes.draw(draft.amount);
                intent.version = file.next_version();
                return Change::Becomes(File {
                    size_bytes: intent.bytes,
                    version: intent.version,
                    // `Replace` creates a new file under the old name, without extended attributes.
                    // `Rewrite` keeps the file.
                    has_extended: file.has_extended && draft.action == Action::Rewrite,
                    ..file
                });
            }
            Action::Link | Action::InstallLink | Action::SymbolicLink => intent.other = fresh,
            Action::GetExtended if file.has_extended => {}
            Action::SetExtended | Action::GetExtended => {
                intent.action = Action::SetExtended;
                return Change::Becomes(File {
                    has_extended: true,
                    ..file
                });
            }
            Action::SetAttributes => intent.other = draft.amount & 1,
            Action::Stat
            | Action::List
            | Action::ListWithStat
            | Action::OpenClose
            | Action::Lock
            | Action::LockFile => {}
            _ => {
                intent.action = Action::Nothing;
                intent.skip = Some(SkipReason::EmptyFile);
            }
        }
        Change::None
    }

    #[inline]
    fn append(&self, intent: &mut Intent, draft: &Draft, file: File) -> Change {
        let bytes = self.append_sizes.draw(draft.amount);
        if bytes == 0 || file.size_bytes + bytes > self.size_max {
            intent.action = Action::Nothing;
            intent.skip = Some(SkipReason::AtMaximumSize);
            return Change::None;
        }
        intent.bytes = bytes;
        intent.offset_bytes = file.size_bytes;
        Change::Becomes(File {
            size_bytes: file.size_bytes + bytes,
            ..file
        })
    }
}

/// Returns the intent that creates `file`. `action` must be an action that creates a file with new
/// contents.
#[inline]
pub fn creation(action: Action, file: File, pause: Pause) -> Intent {
    Intent {
        action,
        ends_transaction: true,
        place: file.place,
        number: file.number,
        bytes: file.size_bytes,
        file: file.file,
        version: file.version,
        pause,
        ..Intent::NOTHING
    }
}

/// Returns the intent that deletes a file at the end of a run.
#[inline]
pub fn deletion(file: File) -> Intent {
    Intent {
        action: Action::Delete,
        place: file.place,
        number: file.number,
        size_bytes: file.size_bytes,
        file: file.file,
        version: file.version,
        ..Intent::NOTHING
    }
}
