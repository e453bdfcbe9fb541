//! Collects the operations of a trace into a profile.

use std::collections::{BTreeMap, HashMap};

use engine::Action;
use learn::{Distribution, LeftOut, Profile, Source, Syncs};
use workload::replay::{Trace, TracedKind};

use crate::concurrency::{self, Span};
use crate::done::{Done, Path, Stamp, is_below};
use crate::files::{Files, Kind};
use crate::kept::Kept;
use crate::moved::Moved;
use crate::own_times::OwnTimes;
use crate::reason::Reason;
use crate::scope::{Changes, Names, is_of_system};
use crate::spent::Spent;
use crate::window::Window;

const SEQUENCES_MAX: usize = 10;

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
    files: Files,
    moved: Moved,
    threads: HashMap<u32, Thread>,
    mix: BTreeMap<Action, u64>,
    syncs: BTreeMap<Action, Syncs>,
    append_sizes: Distribution,
    range_sizes: Distribution,
    spent: Spent,
    /// The own times of threads; `None` if the trace shows no calls but messages to a server.
    pub own: Option<OwnTimes>,
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
            moved: Moved::default(),
            threads: HashMap::new(),
            mix: BTreeMap::new(),
            syncs: BTreeMap::new(),
            append_sizes: Distribution::default(),
            range_sizes: Distribution::default(),
            spent: Spent::default(),
            own: None,
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
        if self.is_inside(path) {
            self.leave_out(reason, Some(path));
        }
    }

    /// Whether a path is below the directory whose operations are collected.
    pub fn is_inside(&self, path: &[u8]) -> bool {
        matches!(&self.scope, Scope::Below(directory) if is_below(path, directory))
    }

    /// Counts the own times of threads from now on, unless only the directory is wanted.
    pub fn count_own_times(&mut self) {
        self.own = matches!(self.scope, Scope::Below(_)).then(OwnTimes::default);
    }

    /// The path of a file in tables, which does not change when a directory is renamed.
    pub fn path_of(&self, path: &Path) -> Path {
        self.moved.earlier(path).unwrap_or_else(|| path.clone())
    }

    /// Whether a file exists; `None` if the trace does not show it.
    pub fn exists(&self, path: &Path) -> Option<bool> {
        self.files.exists(&self.path_of(path))
    }

    /// The size of a file in bytes, if it is known.
    pub fn size(&self, path: &Path) -> Option<u64> {
        self.files.size(&self.path_of(path))
    }

    /// Remembers that a name of this kind exists.
    pub fn meet(&mut self, path: &Path, kind: Kind, size: Option<u64>) {
        let path = &self.path_of(path);
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
        let done = self.moved(done);
        let mut done = self.known(done);
        if let Some(own) = &mut self.own {
            done.own = own.take(thread);
        }
        self.files.apply(&done, &directory);
        let state = self.threads.entry(thread).or_default();
        state.window.is_single = self.kept.is_some();
        if let Some(ready) = state.window.push(done) {
            self.count(thread, ready);
        }
    }

    /// Replaces the paths of an operation by those in tables. From then on, the files in a renamed
    /// directory are found under its new name.
    fn moved(&mut self, mut done: Done) -> Done {
        let names = done.to.clone().map(|to| (done.path.clone(), to));
        done.path = self.path_of(&done.path);
        done.from = done.from.map(|from| self.path_of(&from));
        done.to = done.to.map(|to| self.path_of(&to));
        let is_directory = done.action == Action::Rename && self.files.is_directory(&done.path);
        if let Some((from, to)) = names.filter(|_| is_directory) {
            done.kind = TracedKind::Directory;
            if !self.moved.rename(&from, &to) {
                self.leave_out(Reason::DirectoryNames, Some(&to));
            }
        }
        done
    }

    /// Counts the sync of a directory as part of the thread's last change in it.
    pub fn sync_directory(&mut self, thread: u32, directory: &Path) {
        let directory = &self.path_of(directory);
        if let Some(state) = self.threads.get_mut(&thread) {
            state.window.sync_directory(directory);
        }
    }

    /// Completes an operation with what is known about its files.
    fn known(&self, mut done: Done) -> Done {
        let kind = self.files.kind(&done.path);
        done.kind = match kind {
            _ if done.kind == TracedKind::Directory => TracedKind::Directory,
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

    /// Counts an operation that is complete.
    fn count(&mut self, thread: u32, mut done: Done) {
        self.count_own_time(thread, &mut done);
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
        if state.operations == 0 {
            state.first = done.begin.order;
        }
        state.operations += 1;
        state.last = done.end;
    }

    /// Counts the time that a thread spent before an operation. Messages show only the time since
    /// the operation before.
    fn count_own_time(&mut self, thread: u32, done: &mut Done) {
        if let Some(own) = &self.own {
            if own.calls() > 0 {
                self.spent.add(done);
            }
            return;
        }
        let before = self.threads.get(&thread);
        let times = before.and_then(|before| before.last.ns).zip(done.begin.ns);
        if let Some((last, begin)) = times {
            done.own.idle_ns = begin.saturating_sub(last);
            self.spent.add_gap(done.own.idle_ns);
        }
    }

    /// Ends a thread, so that its last operations are counted.
    pub fn end_thread(&mut self, thread: u32) {
        if let Some(own) = &mut self.own {
            own.end(thread);
        }
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
        self.spent.write(self.own.as_ref(), &mut profile);
        profile.syncs = Some(self.syncs);
        profile.mix = Some(self.mix);
        profile
    }

    /// The largest number of threads whose operations overlap, without threads that perform few.
    fn workers(&self) -> u64 {
        let spans = self.threads.values().map(|thread| Span {
            first: thread.first,
            last: thread.last.order,
            operations: thread.operations,
        });
        concurrency::workers(&spans.collect::<Vec<_>>())
    }
}
