//! Collects the operations of a trace into a profile.

use std::collections::{BTreeMap, HashMap};

use engine::Action;
use learn::{Distribution, LeftOut, Profile, Source, Syncs};
use workload::replay::{Trace, TracedKind};

use crate::done::{Done, Path, Stamp, is_below};
use crate::files::{Files, Kind};
use crate::kept::Kept;
use crate::reason::Reason;
use crate::scope::{Changes, Names, is_of_system};
use crate::window::Window;

/// A thread waits in system calls for a part of each pause, and strace delays each call by up to
/// some tens of microseconds. Shorter pauses count as none.
const PAUSE_MIN_NS: u64 = 200_000;
const SEQUENCES_MAX: usize = 10;
/// A thread counts as a worker if it performs at least this share of the operations of the busiest
/// one.
const WORKER_SHARE: u64 = 20;

/// Which operations are collected.
#[derive(Debug)]
enum Scope {
    /// All, to find the directory that contains the changes.
    Find(Changes),
    /// Those below this directory.
    Below(Path),
}

/// Collects the operations of a trace.
#[derive(Debug)]
pub struct Recorder {
    scope: Scope,
    names: Names,
    pub files: Files,
    threads: HashMap<u32, Thread>,
    mix: BTreeMap<Action, u64>,
    syncs: BTreeMap<Action, Syncs>,
    append_sizes: Distribution,
    range_sizes: Distribution,
    pauses: Distribution,
    left_out: BTreeMap<Reason, (u64, Option<String>)>,
    /// The operations themselves, if they are replayed.
    kept: Option<Kept>,
}

/// The operations of a thread.
#[derive(Debug, Default)]
struct Thread {
    window: Window,
    first: u64,
    last: Stamp,
    operations: u64,
}

impl Recorder {
    /// Creates a recorder that finds the directory with the changes.
    pub fn finding() -> Self {
        Self::new(Scope::Find(Changes::default()), Names::Plain)
    }

    /// Creates a recorder of the operations below a directory.
    pub fn below(directory: Path, names: Names) -> Self {
        Self::new(Scope::Below(directory), names)
    }

    /// Creates a recorder that also keeps at most `operations_max` operations below a directory.
    pub fn keeping(directory: Path, operations_max: u64) -> Self {
        let kept = Some(Kept::new(directory.clone(), operations_max));
        Self {
            kept,
            ..Self::below(directory, Names::Plain)
        }
    }

    /// Whether the trace has more operations than are kept.
    pub fn is_full(&self) -> bool {
        self.kept.as_ref().is_some_and(Kept::is_full)
    }

    /// Removes and returns the kept operations.
    pub fn take_kept(&mut self) -> Trace {
        self.kept.take().map(Kept::finish).unwrap_or_default()
    }

    fn new(scope: Scope, names: Names) -> Self {
        Self {
            scope,
            names,
            files: Files::default(),
            threads: HashMap::new(),
            mix: BTreeMap::new(),
            syncs: BTreeMap::new(),
            append_sizes: Distribution::default(),
            range_sizes: Distribution::default(),
            pauses: Distribution::default(),
            left_out: BTreeMap::new(),
            kept: None,
        }
    }

    /// Returns the directory that contains the changes, if this recorder finds one.
    pub fn common(&self) -> Option<Path> {
        match &self.scope {
            Scope::Find(changes) => changes.common(),
            Scope::Below(directory) => Some(directory.clone()),
        }
    }

    /// Counts something that a profile cannot represent, with a path as example.
    pub fn leave_out(&mut self, reason: Reason, example: Option<&[u8]>) {
        let names = self.names;
        let (count, first) = self.left_out.entry(reason).or_default();
        *count += 1;
        if first.is_none() {
            *first = example.map(|path| names.show(path));
        }
    }

    /// Counts several things that a profile cannot represent.
    pub fn leave_out_times(&mut self, reason: Reason, times: u64) {
        if times > 0 {
            self.left_out.entry(reason).or_default().0 += times;
        }
    }

    /// Counts something that a profile cannot represent, if its path is below the directory.
    pub fn leave_out_below(&mut self, reason: Reason, path: &[u8]) {
        if matches!(&self.scope, Scope::Below(directory) if is_below(path, directory)) {
            self.leave_out(reason, Some(path));
        }
    }

    /// Remembers that a name of this kind exists.
    pub fn meet(&mut self, path: &[u8], kind: Kind, size: Option<u64>) {
        match &self.scope {
            Scope::Below(directory) if is_below(path, directory) => {
                self.files.meet(path, directory, kind, size);
            }
            _ => {}
        }
    }

    /// Records an operation of a thread.
    pub fn perform(&mut self, thread: u32, done: Done) {
        let directory = match &mut self.scope {
            Scope::Find(changes) => {
                if !done.action.reads() && !is_of_system(&done.path) {
                    changes.add(crate::done::parent(&done.path));
                }
                return;
            }
            Scope::Below(directory) => directory.clone(),
        };
        let paths = [Some(&done.path), done.to.as_ref()];
        let outside = paths
            .into_iter()
            .flatten()
            .find(|path| !is_below(path, &directory));
        if let Some(outside) = outside {
            if !is_of_system(outside) {
                self.leave_out(Reason::Outside, Some(outside));
            }
            return;
        }
        let done = self.known(done);
        self.change_files(&done, &directory);
        let state = self.threads.entry(thread).or_default();
        state.window.is_single = self.kept.is_some();
        if let Some(ready) = state.window.push(done) {
            self.count(thread, ready);
        }
    }

    /// Counts the sync of a directory as part of the thread's last change in it.
    pub fn sync_directory(&mut self, thread: u32, directory: &[u8]) {
        if let Some(state) = self.threads.get_mut(&thread) {
            state.window.sync_directory(directory);
        }
    }

    /// Completes an operation with what is known about its files.
    fn known(&self, mut done: Done) -> Done {
        let kind = self.files.kind(&done.path);
        done.kind = match kind {
            Kind::File | Kind::Link => TracedKind::File,
            Kind::SymbolicLink => TracedKind::SymbolicLink,
            Kind::Directory => TracedKind::Directory,
        };
        done.action = match (done.action, kind) {
            (Action::Delete, Kind::Link) => Action::RemoveLink,
            (Action::Delete, Kind::SymbolicLink) => Action::RemoveSymbolicLink,
            (action, _) => action,
        };
        if done.action == Action::Rename {
            let to = done.to.as_ref();
            done.is_over |= to.is_some_and(|to| self.files.exists(to) == Some(true));
        }
        done
    }

    fn change_files(&mut self, done: &Done, below: &[u8]) {
        let to = done.to.as_ref().unwrap_or(&done.path);
        let files = &mut self.files;
        match done.action {
            Action::Create | Action::Copy | Action::Clone => {
                files.create(&done.path, below, Kind::File, done.size);
            }
            Action::Delete => {
                files.meet(&done.path, below, Kind::File, None);
                files.remove(&done.path);
            }
            Action::RemoveLink | Action::RemoveSymbolicLink | Action::RemoveDirectory => {
                files.remove(&done.path);
            }
            Action::Rename => files.rename(&done.path, to, below),
            Action::Link => files.create(to, below, Kind::Link, None),
            Action::SymbolicLink => files.create(&done.path, below, Kind::SymbolicLink, None),
            Action::MakeDirectory | Action::MakeDirectoryExisting => {
                files.create(&done.path, below, Kind::Directory, None);
            }
            Action::List | Action::ListWithStat => {
                files.meet(&done.path, below, Kind::Directory, None);
            }
            Action::ReadLink => files.meet(&done.path, below, Kind::SymbolicLink, None),
            Action::StatMissing | Action::OpenMissing => {}
            Action::Append | Action::Rewrite | Action::Overwrite | Action::Truncate => {
                let before = match done.action {
                    Action::Append => done.size.map(|size| size.saturating_sub(done.bytes)),
                    _ => None,
                };
                if files.exists(&done.path) != Some(true) || files.size(&done.path).is_none() {
                    files.meet(&done.path, below, Kind::File, before);
                }
                files.resize(&done.path, done.size);
            }
            _ => files.meet(&done.path, below, Kind::File, done.size),
        }
    }

    /// Counts an operation that is complete.
    fn count(&mut self, thread: u32, done: Done) {
        if let Some(kept) = &mut self.kept {
            kept.add(thread, &done);
        }
        *self.mix.entry(done.action).or_default() += done.times;
        if !done.action.reads() {
            let of = self.syncs.entry(done.action).or_default();
            of.operations += done.times;
            match done.synced.file {
                0 => {}
                1 => of.data += done.times,
                _ => of.file += done.times,
            }
            of.directory += u64::from(done.synced.directory) * done.times;
        }
        match done.action {
            Action::Append => self.append_sizes.add(done.bytes),
            Action::ReadRange => self.range_sizes.add(done.bytes),
            action if action.creates() || action.copies() => self.files.add_size(done.bytes),
            Action::Replace | Action::Rewrite => self.files.add_size(done.bytes),
            _ => {}
        }
        let uses = done.action.changes_count().is_none() && done.action.performs().is_some();
        if uses && !matches!(done.action, Action::StatMissing | Action::OpenMissing) {
            self.files.use_file(&done.path, done.times);
        }
        self.files.follow(&done.path, done.action);
        let state = self.threads.entry(thread).or_default();
        let pause = state.last.ns.zip(done.begin.ns);
        if state.operations == 0 {
            state.first = done.begin.order;
        } else if let Some((last, begin)) = pause {
            let pause = begin.saturating_sub(last);
            self.pauses
                .add(if pause < PAUSE_MIN_NS { 0 } else { pause });
        }
        state.operations += 1;
        state.last = done.end;
    }

    /// Ends a thread, so that its last operations are counted.
    pub fn end_thread(&mut self, thread: u32) {
        let waiting: Vec<Done> = match self.threads.get_mut(&thread) {
            Some(state) => state.window.drain().collect(),
            None => return,
        };
        for done in waiting {
            self.count(thread, done);
        }
    }

    /// Ends all threads.
    pub fn end_threads(&mut self) {
        let threads: Vec<u32> = self.threads.keys().copied().collect();
        threads.iter().for_each(|thread| self.end_thread(*thread));
    }

    /// Returns the profile of all operations.
    pub fn finish(mut self) -> Profile {
        self.end_threads();
        let total: u64 = self.mix.values().sum();
        let mut profile = Profile {
            source: Source::Trace,
            workers: Some(self.workers()),
            ..Profile::default()
        };
        if self.files.beyond > 0 {
            let beyond = self.files.beyond;
            self.left_out.insert(Reason::Files, (beyond, None));
        }
        let left_out = self.left_out.iter().map(|(reason, (count, example))| {
            LeftOut::new(reason.text(), *count, total.saturating_add(*count))
                .with_example(example.clone())
        });
        profile.left_out = left_out.collect();
        self.files.write(&mut profile, SEQUENCES_MAX);
        let some = |distribution: Distribution| (distribution.count() > 0).then_some(distribution);
        profile.append_sizes = some(self.append_sizes);
        profile.range_sizes = some(self.range_sizes);
        profile.pauses = some(self.pauses);
        profile.syncs = Some(self.syncs);
        profile.mix = Some(self.mix);
        profile
    }

    /// The largest number of threads whose operations overlap, without threads that perform few.
    fn workers(&self) -> u64 {
        let most = self.threads.values().map(|thread| thread.operations).max();
        let enough = most.unwrap_or(0).div_ceil(WORKER_SHARE).max(1);
        let busy = self
            .threads
            .values()
            .filter(|thread| thread.operations >= enough);
        let mut ends: Vec<(u64, i64)> = busy
            .flat_map(|thread| [(thread.first, 1), (thread.last.order + 1, -1)])
            .collect();
        ends.sort_unstable();
        let (mut now, mut largest) = (0_i64, 1_i64);
        for (_, change) in ends {
            now += change;
            largest = largest.max(now);
        }
        largest.unsigned_abs()
    }
}
