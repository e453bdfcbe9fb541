//! Threads of a trace with their descriptors and working directories.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::activity::Activity;
use crate::done::Path;

/// The number of threads whose state is kept.
const THREADS_MAX: usize = 1 << 16;
/// The number of descriptors of a process.
const DESCRIPTORS_MAX: usize = 1 << 16;
/// The number of descriptors of all processes.
const ALL_DESCRIPTORS_MAX: usize = 1 << 20;

/// An open file, which several descriptors may share.
pub type Open = Rc<RefCell<Activity>>;

#[derive(Clone, Debug)]
struct Entry {
    open: Open,
    closes_on_exec: bool,
}

/// The descriptors of a process.
#[derive(Clone, Debug, Default)]
struct Table(HashMap<i32, Entry>);

/// A thread: what it shares with other threads is behind references.
#[derive(Clone, Debug)]
struct Thread {
    table: Rc<RefCell<Table>>,
    directory: Rc<RefCell<Path>>,
    process: u64,
}

/// What a new thread shares with its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sharing {
    /// `CLONE_FILES`
    pub descriptors: bool,
    /// `CLONE_FS`
    pub directory: bool,
}

/// All threads of a trace.
#[derive(Debug, Default)]
pub struct Processes {
    threads: HashMap<u32, Thread>,
    /// Threads that are inside a call that creates a thread.
    cloning: HashMap<u32, Sharing>,
    processes: u64,
    descriptors: usize,
    /// Descriptors that were not kept because of a limit.
    pub beyond: u64,
}

/// The directory of a process whose working directory the trace does not show.
pub const UNKNOWN_DIRECTORY: &[u8] = b"/(working directory)";

impl Processes {
    /// Whether the thread is known, or can become known. A thread that was not created by a call in
    /// the trace continues the state of a thread that is inside such a call.
    pub fn admit(&mut self, thread: u32) -> bool {
        if self.threads.contains_key(&thread) {
            return true;
        }
        if self.threads.len() >= THREADS_MAX {
            return false;
        }
        let parent = self.cloning.iter().min().map(|(one, how)| (*one, *how));
        if let Some((parent, how)) = parent {
            return self.create(parent, thread, how);
        }
        self.processes += 1;
        let new = Thread {
            table: Rc::default(),
            directory: Rc::new(RefCell::new(UNKNOWN_DIRECTORY.into())),
            process: self.processes,
        };
        self.threads.insert(thread, new);
        true
    }

    /// Remembers that a thread is inside a call that creates a thread.
    pub fn begin_clone(&mut self, thread: u32, sharing: Sharing) {
        if self.threads.contains_key(&thread) {
            self.cloning.insert(thread, sharing);
        }
    }

    /// Creates the thread that a call returned, unless an earlier line of that thread created it.
    pub fn end_clone(&mut self, parent: u32, created: Option<u32>, sharing: Sharing) {
        self.cloning.remove(&parent);
        if let Some(created) = created.filter(|created| !self.threads.contains_key(created)) {
            self.create(parent, created, sharing);
        }
    }

    fn create(&mut self, parent: u32, thread: u32, sharing: Sharing) -> bool {
        let Some(of_parent) = self.threads.get(&parent).cloned() else {
            return false;
        };
        let copied = of_parent.table.borrow().0.len();
        let is_full = !sharing.descriptors && self.descriptors + copied > ALL_DESCRIPTORS_MAX;
        if self.threads.len() >= THREADS_MAX || is_full {
            self.beyond += 1;
            return false;
        }
        let mut new = of_parent.clone();
        if !sharing.descriptors {
            self.processes += 1;
            self.descriptors += copied;
            new.process = self.processes;
            new.table = Rc::new(RefCell::new(of_parent.table.borrow().clone()));
        }
        if !sharing.directory {
            new.directory = Rc::new(RefCell::new(of_parent.directory.borrow().clone()));
        }
        self.threads.insert(thread, new);
        true
    }

    /// Returns the number of the thread's process; threads that share descriptors have the same.
    pub fn process(&self, thread: u32) -> u64 {
        self.threads.get(&thread).map_or(0, |thread| thread.process)
    }

    pub fn directory(&self, thread: u32) -> Path {
        let directory = self
            .threads
            .get(&thread)
            .map(|it| it.directory.borrow().clone());
        directory.unwrap_or_else(|| UNKNOWN_DIRECTORY.into())
    }

    pub fn change_directory(&self, thread: u32, directory: Path) {
        if let Some(thread) = self.threads.get(&thread) {
            *thread.directory.borrow_mut() = directory;
        }
    }

    /// Returns the open file of a descriptor.
    pub fn get(&self, thread: u32, descriptor: i32) -> Option<Open> {
        let table = self.threads.get(&thread)?.table.borrow();
        table.0.get(&descriptor).map(|entry| entry.open.clone())
    }

    /// Adds a descriptor. Returns the file that it replaced, if that is now closed.
    pub fn add(
        &mut self,
        thread: u32,
        descriptor: i32,
        open: Open,
        closes_on_exec: bool,
    ) -> Option<Activity> {
        let table = &self.threads.get(&thread)?.table;
        let mut table = table.borrow_mut();
        let is_full = table.0.len() >= DESCRIPTORS_MAX || self.descriptors >= ALL_DESCRIPTORS_MAX;
        if is_full && !table.0.contains_key(&descriptor) {
            self.beyond += 1;
            return None;
        }
        let entry = Entry {
            open,
            closes_on_exec,
        };
        let before = table.0.insert(descriptor, entry);
        self.descriptors += usize::from(before.is_none());
        closed(before)
    }

    /// Sets whether a descriptor is closed by `execve`.
    pub fn close_on_exec(&self, thread: u32, descriptor: i32, closes: bool) {
        let Some(thread) = self.threads.get(&thread) else {
            return;
        };
        if let Some(entry) = thread.table.borrow_mut().0.get_mut(&descriptor) {
            entry.closes_on_exec = closes;
        }
    }

    /// Closes the descriptors from `first` to `last`. Returns the files that are now closed.
    pub fn close(&mut self, thread: u32, first: i32, last: i32) -> Vec<Activity> {
        self.close_if(thread, |descriptor, _| (first..=last).contains(&descriptor))
    }

    /// Marks the descriptors from `first` to `last`, so that `execve` closes them.
    pub fn mark(&self, thread: u32, first: i32, last: i32) {
        if let Some(thread) = self.threads.get(&thread) {
            let mut table = thread.table.borrow_mut();
            let marked = table
                .0
                .iter_mut()
                .filter(|(at, _)| (first..=last).contains(at));
            marked.for_each(|(_, entry)| entry.closes_on_exec = true);
        }
    }

    /// Closes what `execve` closes. The thread gets its own table of descriptors.
    pub fn execute(&mut self, thread: u32) -> Vec<Activity> {
        self.unshare(thread);
        self.close_if(thread, |_, closes_on_exec| closes_on_exec)
    }

    /// Gives a thread its own descriptors.
    pub fn unshare(&mut self, thread: u32) {
        let Some(state) = self.threads.get_mut(&thread) else {
            return;
        };
        if Rc::strong_count(&state.table) > 1 {
            let copy = state.table.borrow().clone();
            self.descriptors += copy.0.len();
            state.table = Rc::new(RefCell::new(copy));
            self.processes += 1;
            state.process = self.processes;
        }
    }

    fn close_if(&mut self, thread: u32, is_closed: impl Fn(i32, bool) -> bool) -> Vec<Activity> {
        let Some(thread) = self.threads.get(&thread) else {
            return Vec::new();
        };
        let mut table = thread.table.borrow_mut();
        let mut numbers: Vec<i32> = match table.0.len() {
            0 => return Vec::new(),
            _ => table
                .0
                .iter()
                .filter(|(number, entry)| is_closed(**number, entry.closes_on_exec))
                .map(|(number, _)| *number)
                .collect(),
        };
        numbers.sort_unstable();
        let entries: Vec<Option<Entry>> = numbers
            .iter()
            .map(|number| table.0.remove(number))
            .collect();
        self.descriptors = self.descriptors.saturating_sub(entries.len());
        entries.into_iter().filter_map(closed).collect()
    }

    /// Closes one descriptor. Returns its file if that is now closed.
    pub fn close_one(&mut self, thread: u32, descriptor: i32) -> Option<Activity> {
        let table = &self.threads.get(&thread)?.table;
        let entry = table.borrow_mut().0.remove(&descriptor);
        self.descriptors = self
            .descriptors
            .saturating_sub(usize::from(entry.is_some()));
        closed(entry)
    }

    /// Ends a thread. Returns the files that are now closed.
    pub fn end(&mut self, thread: u32) -> Vec<Activity> {
        self.cloning.remove(&thread);
        let Some(state) = self.threads.remove(&thread) else {
            return Vec::new();
        };
        let Ok(table) = Rc::try_unwrap(state.table) else {
            return Vec::new();
        };
        let entries = table.into_inner().0;
        self.descriptors = self.descriptors.saturating_sub(entries.len());
        let mut entries: Vec<(i32, Entry)> = entries.into_iter().collect();
        entries.sort_unstable_by_key(|(number, _)| *number);
        let entries = entries.into_iter().map(|(_, entry)| Some(entry));
        entries.filter_map(closed).collect()
    }

    /// All threads, in the order of their numbers.
    pub fn threads(&self) -> Vec<u32> {
        let mut threads: Vec<u32> = self.threads.keys().copied().collect();
        threads.sort_unstable();
        threads
    }
}

/// The file of a removed descriptor, unless another descriptor keeps it open.
fn closed(entry: Option<Entry>) -> Option<Activity> {
    entry.and_then(|entry| Rc::try_unwrap(entry.open).ok().map(RefCell::into_inner))
}
