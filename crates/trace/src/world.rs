//! Follows the calls of all threads, and records the operations that they amount to.

mod descriptor_calls;
mod name_calls;
mod process_calls;

use std::cell::RefCell;
use std::rc::Rc;

use engine::Action;

use crate::activity::{Activity, Opened};
use crate::call::Call;
use crate::done::{Done, Path, Stamp, parent, resolve};
use crate::files::Kind;
use crate::own_times::Role;
use crate::processes::{Open, Processes, UNKNOWN_DIRECTORY};
use crate::reason::Reason;
use crate::recorder::Recorder;

/// A call with its thread and times.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub thread: u32,
    pub call: &'a Call<'a>,
    pub begin: Stamp,
    pub end: Stamp,
}

/// The state of all threads.
#[derive(Debug)]
pub struct World {
    pub processes: Processes,
    pub recorder: Recorder,
    /// Whether a file of the current call is below the directory; `None` without a file.
    uses_inside: Option<bool>,
}

impl World {
    pub fn new(recorder: Recorder) -> Self {
        Self {
            processes: Processes::default(),
            recorder,
            uses_inside: None,
        }
    }

    /// Follows a call.
    pub fn follow(&mut self, event: &Event<'_>) {
        if let Some(own) = &mut self.recorder.own {
            own.begin_call(event.thread, event.begin);
        }
        self.uses_inside = None;
        self.apply(event);
        if let Some(own) = &mut self.recorder.own {
            let role = match self.uses_inside {
                Some(true) => Role::OfOperation,
                inside => Role::of(event.call, inside.is_some()),
            };
            own.end_call(event.thread, event.call, role, event.end);
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        let call = event.call;
        let is_followed = match call.name {
            "open" | "openat" | "openat2" | "creat" => self.open(event),
            "close" | "close_range" | "dup" | "dup2" | "dup3" | "fcntl" | "execve" | "execveat"
            | "clone" | "clone3" | "fork" | "vfork" | "unshare" | "chdir" | "fchdir" | "getcwd" => {
                self.change_process(event)
            }
            "stat" | "lstat" | "fstatat" | "statx" | "access" | "faccessat" | "faccessat2" => {
                self.stat(event)
            }
            _ => self.use_descriptor(event) || self.use_names(event),
        };
        if !is_followed {
            self.refuse(event);
        }
    }

    /// Counts calls that have no form in a profile.
    fn refuse(&mut self, event: &Event<'_>) {
        let reason = match event.call.name {
            "io_uring_enter" => Reason::Uring,
            "chroot" | "pivot_root" | "setns" | "unshare" => Reason::Roots,
            _ => return,
        };
        self.recorder.leave_out(reason, None);
    }

    /// Records an operation that a single call performs.
    fn perform(&mut self, event: &Event<'_>, action: Action, path: Path) {
        let done = Done::new(action, path, event.begin, event.end);
        self.recorder.perform(event.thread, done);
    }

    /// Records the operations of closed files.
    pub fn finish(&mut self, thread: u32, closed: impl IntoIterator<Item = Activity>, now: Stamp) {
        for activity in closed {
            if activity.is_shared {
                self.recorder
                    .leave_out_below(Reason::SharedOffsets, &activity.path);
            }
            if activity.writes_inside() {
                self.recorder
                    .leave_out_below(Reason::Inside, &activity.path);
            }
            for done in activity.finish(now) {
                self.recorder.perform(thread, done);
            }
        }
    }

    /// Ends a thread.
    pub fn end_thread(&mut self, thread: u32, now: Stamp) {
        let closed = self.processes.end(thread);
        self.finish(thread, closed, now);
        self.recorder.end_thread(thread);
    }

    /// Returns the open file of the descriptor at `index`. A file that was opened before the trace
    /// is known if strace shows its path.
    fn descriptor(&mut self, event: &Event<'_>, index: usize) -> Option<Open> {
        let descriptor = event.call.descriptor(index)?;
        let number = descriptor.number?;
        if let Some(open) = self.processes.get(event.thread, number) {
            let process = self.processes.process(event.thread);
            let mut activity = open.borrow_mut();
            activity.is_shared |= activity.owner != process;
            self.note_use(&activity.path);
            drop(activity);
            return Some(open);
        }
        let path = resolve(b"/", descriptor.path?);
        self.note_use(&path);
        let opened = Opened {
            size: self.recorder.size(&path),
            ..Opened::default()
        };
        let process = self.processes.process(event.thread);
        let activity = Activity::new(path, opened, event.begin, process);
        let open: Open = Rc::new(RefCell::new(activity));
        self.processes
            .add(event.thread, number, open.clone(), false);
        Some(open)
    }

    /// Resolves the path at `index` from the working directory.
    fn path(&mut self, event: &Event<'_>, index: usize) -> Option<Path> {
        let text = event.call.string(index)?;
        let base = self.processes.directory(event.thread);
        self.resolved(&base, &text)
    }

    /// Resolves the path at `index + 1` from the directory at `index`.
    fn path_at(&mut self, event: &Event<'_>, index: usize) -> Option<Path> {
        let directory = event.call.descriptor(index)?;
        let text = event.call.string(index + 1)?;
        let known = directory.number.and_then(|number| {
            let open = self.processes.get(event.thread, number)?;
            let path = open.borrow().path.clone();
            Some(path)
        });
        let base: Path = match (directory.path, known) {
            (Some(path), _) => path.into(),
            (None, Some(path)) => path,
            (None, None) if directory.number.is_none() => self.processes.directory(event.thread),
            (None, None) => UNKNOWN_DIRECTORY.into(),
        };
        if directory.number.is_none() && directory.path.is_some() {
            self.processes.change_directory(event.thread, base.clone());
        }
        self.resolved(&base, &text)
    }

    /// Notes whether the current call uses a file below the directory.
    fn note_use(&mut self, path: &[u8]) {
        let is_inside = self.recorder.is_inside(path);
        self.uses_inside = Some(is_inside || self.uses_inside == Some(true));
    }

    fn resolved(&mut self, base: &[u8], text: &[u8]) -> Option<Path> {
        let path = resolve(base, text);
        self.note_use(&path);
        if path.starts_with(UNKNOWN_DIRECTORY) {
            self.recorder
                .leave_out(Reason::UnknownDirectory, Some(&path));
        }
        Some(path)
    }

    fn open(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let (path, flags) = match call.name {
            "openat" | "openat2" => (self.path_at(event, 0), 2),
            _ => (self.path(event, 0), 1),
        };
        let Some(path) = path else { return true };
        let has = |flag| call.has(flags, flag);
        let creates = has("O_CREAT") || call.name == "creat";
        let Some(number) = call.answer.and_then(|answer| i32::try_from(answer).ok()) else {
            match call.error {
                Some("ENOENT") if !creates => self.perform(event, Action::OpenMissing, path),
                // The directory is missing, or the name is used.
                Some("ENOENT") => self.perform(event, Action::StatMissing, parent(&path).into()),
                Some("EEXIST") => self.perform(event, Action::Stat, path),
                _ => self.recorder.leave_out_below(Reason::Failed, &path),
            }
            return true;
        };
        let path = call.returned_path.map_or(path, |real| resolve(b"/", real));
        if has("O_TMPFILE") {
            self.recorder.leave_out_below(Reason::Unnamed, &path);
        }
        let exists = self.recorder.exists(&path);
        let opened = Opened {
            is_new: creates && (has("O_EXCL") || exists != Some(true)),
            is_truncated: has("O_TRUNC") || call.name == "creat",
            appends: has("O_APPEND"),
            size: self.recorder.size(&path),
        };
        let process = self.processes.process(event.thread);
        let activity = Activity::new(path, opened, event.begin, process);
        let open: Open = Rc::new(RefCell::new(activity));
        let before = self
            .processes
            .add(event.thread, number, open, has("O_CLOEXEC"));
        self.finish(event.thread, before, event.end);
        true
    }

    fn stat(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let is_at = matches!(call.name, "fstatat" | "statx" | "faccessat" | "faccessat2");
        let size = ["st_size", "stx_size"].iter().find_map(|name| {
            let mut values = (1..call.arguments.len()).filter_map(|at| call.field(at, name));
            values.next().and_then(crate::call::number)
        });
        let size = size.and_then(|size| u64::try_from(size).ok());
        let is_directory = |at: usize| call.has(at, "S_IFDIR");
        if is_at && matches!(call.argument(1), b"\"\"" | b"NULL") {
            if let Some((open, size)) = self.descriptor(event, 0).zip(size) {
                open.borrow_mut().set_size(size);
            }
            return true;
        }
        if is_at && call.answer.is_some() && self.is_entry(event) {
            return true;
        }
        let path = match is_at {
            true => self.path_at(event, 0),
            false => self.path(event, 0),
        };
        let Some(path) = path else { return true };
        match call.error {
            None if call.answer.is_some() => {
                let mut done = Done::new(Action::Stat, path.clone(), event.begin, event.end);
                done.size = size;
                if (1..call.arguments.len()).any(is_directory) {
                    done.size = None;
                    self.recorder.meet(&path, Kind::Directory, None);
                } else if (1..call.arguments.len()).any(|at| call.has(at, "S_IFLNK")) {
                    done.size = None;
                    self.recorder.meet(&path, Kind::SymbolicLink, None);
                }
                self.recorder.perform(event.thread, done);
            }
            Some("ENOENT") => self.perform(event, Action::StatMissing, path),
            _ => self.recorder.leave_out_below(Reason::Failed, &path),
        }
        true
    }

    /// Whether the call requests attributes of an entry of a directory that is being listed.
    fn is_entry(&mut self, event: &Event<'_>) -> bool {
        let is_name = event
            .call
            .string(1)
            .is_some_and(|name| !name.contains(&b'/'));
        let open = is_name.then(|| self.descriptor(event, 0)).flatten();
        open.is_some_and(|open| open.borrow_mut().takes_stat())
    }
}
