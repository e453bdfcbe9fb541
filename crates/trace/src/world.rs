//! Follows the calls of all threads, and records the operations that they amount to.

use std::cell::RefCell;
use std::rc::Rc;

use engine::Action;

use crate::activity::{Activity, Opened};
use crate::call::Call;
use crate::done::{Done, Path, Stamp, resolve};
use crate::files::Kind;
use crate::processes::{Open, Processes, Sharing, UNKNOWN_DIRECTORY};
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
}

impl World {
    pub fn new(recorder: Recorder) -> Self {
        Self {
            processes: Processes::default(),
            recorder,
        }
    }

    /// Follows a call.
    pub fn follow(&mut self, event: &Event<'_>) {
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
            drop(activity);
            return Some(open);
        }
        let path = resolve(b"/", descriptor.path?);
        let opened = Opened {
            size: self.recorder.files.size(&path),
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

    fn resolved(&mut self, base: &[u8], text: &[u8]) -> Option<Path> {
        let path = resolve(base, text);
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
                _ => self.recorder.leave_out_below(Reason::Failed, &path),
            }
            return true;
        };
        let path = call.returned_path.map_or(path, |real| resolve(b"/", real));
        if has("O_TMPFILE") {
            self.recorder.leave_out_below(Reason::Unnamed, &path);
        }
        let exists = self.recorder.files.exists(&path);
        let opened = Opened {
            is_new: creates && (has("O_EXCL") || exists != Some(true)),
            is_truncated: has("O_TRUNC") || call.name == "creat",
            appends: has("O_APPEND"),
            size: self.recorder.files.size(&path),
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

    fn change_process(&mut self, event: &Event<'_>) -> bool {
        let (call, thread) = (event.call, event.thread);
        let answer = call.answer.and_then(|answer| i32::try_from(answer).ok());
        let first = call.descriptor(0).and_then(|descriptor| descriptor.number);
        match call.name {
            "clone" | "clone3" | "fork" | "vfork" => {
                let created = call.answer.and_then(|answer| u32::try_from(answer).ok());
                self.processes.end_clone(
                    thread,
                    created.filter(|created| *created > 0),
                    sharing(call),
                );
            }
            "fcntl" => return self.control(event),
            "unshare" => {
                if call.has(0, "CLONE_FILES") && answer.is_some() {
                    self.processes.unshare(thread);
                }
                return !call.argument(0).windows(9).any(|flag| flag == b"CLONE_NEW");
            }
            // A failed call of these changes nothing.
            _ if answer.is_none() => {}
            "close" => {
                let closed = first.and_then(|first| self.processes.close_one(thread, first));
                self.finish(thread, closed, event.end);
            }
            "close_range" => {
                let last = call.number(1).and_then(|last| i32::try_from(last).ok());
                let range = (first.unwrap_or(0), last.unwrap_or(i32::MAX));
                if call.has(2, "CLOSE_RANGE_CLOEXEC") {
                    self.processes.mark(thread, range.0, range.1);
                } else {
                    let closed = self.processes.close(thread, range.0, range.1);
                    self.finish(thread, closed, event.end);
                }
            }
            "dup" | "dup2" | "dup3" => self.duplicate(event, call.has(2, "O_CLOEXEC")),
            "execve" | "execveat" => {
                let closed = self.processes.execute(thread);
                self.finish(thread, closed, event.end);
            }
            "chdir" => {
                if let Some(path) = self.path(event, 0) {
                    self.processes.change_directory(thread, path);
                }
            }
            "fchdir" => {
                if let Some(open) = self.descriptor(event, 0) {
                    let path = open.borrow().path.clone();
                    self.processes.change_directory(thread, path);
                }
            }
            _ => {
                if let Some(path) = call.string(0).filter(|path| path.starts_with(b"/")) {
                    self.processes
                        .change_directory(thread, resolve(b"/", &path));
                }
            }
        }
        true
    }

    fn duplicate(&mut self, event: &Event<'_>, closes_on_exec: bool) {
        let answer = event
            .call
            .answer
            .and_then(|number| i32::try_from(number).ok());
        let same = event.call.descriptor(0).and_then(|first| first.number) == answer;
        let open = self.descriptor(event, 0);
        let Some((open, number)) = open.zip(answer).filter(|_| !same) else {
            return;
        };
        let closed = self
            .processes
            .add(event.thread, number, open, closes_on_exec);
        self.finish(event.thread, closed, event.end);
    }

    fn control(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        if call.answer.is_none() {
            return true;
        }
        let command = call.argument(1);
        match command {
            b"F_DUPFD" => self.duplicate(event, false),
            b"F_DUPFD_CLOEXEC" => self.duplicate(event, true),
            b"F_SETFD" => {
                let number = call.descriptor(0).and_then(|descriptor| descriptor.number);
                if let Some(number) = number {
                    let closes = call.has(2, "FD_CLOEXEC");
                    self.processes.close_on_exec(event.thread, number, closes);
                }
            }
            b"F_SETLK" | b"F_SETLKW" | b"F_OFD_SETLK" | b"F_OFD_SETLKW" | b"F_SETLK64"
            | b"F_SETLKW64"
                if !call.has(2, "F_UNLCK") =>
            {
                if let Some(open) = self.descriptor(event, 0) {
                    open.borrow_mut().lock();
                }
            }
            _ => {}
        }
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

    /// Follows a call on a descriptor. Returns whether it is one.
    fn use_descriptor(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let bytes = call.answer.and_then(|answer| u64::try_from(answer).ok());
        let offset = |index: usize| {
            let offset = call.number(index)?;
            u64::try_from(offset).ok()
        };
        // What a failed call would have done is not known.
        let Some(bytes) = bytes else {
            return is_of_descriptor(call.name);
        };
        let (index, apply): (usize, &dyn Fn(&mut Activity)) = match call.name {
            "read" | "readv" => (0, &|file| file.read(None, bytes)),
            "pread" | "preadv" => (0, &|file| file.read(offset(3), bytes)),
            "write" | "writev" => (0, &|file| file.write(None, bytes)),
            "pwrite" | "pwritev" => (0, &|file| file.write(offset(3), bytes)),
            "lseek" => (0, &|file| file.seek(bytes)),
            "fstat" => (0, &|file| {
                let size = call.field(1, "st_size").and_then(crate::call::number);
                if let Some(size) = size.and_then(|size| u64::try_from(size).ok()) {
                    file.set_size(size);
                }
            }),
            "getdents" => (0, &|file| file.list(entries(call))),
            "ftruncate" => (0, &|file| file.resize(offset(1).unwrap_or(0))),
            "fchmod" | "fchown" | "futimes" => (0, &|file| file.set_attributes()),
            "utimensat" if call.argument(1) == b"NULL" => (0, &|file| file.set_attributes()),
            "fsetxattr" | "fremovexattr" => (0, &|file| file.extended(true)),
            "fgetxattr" | "flistxattr" => (0, &|file| file.extended(false)),
            "flock" if !call.has(1, "LOCK_UN") => (0, &|file| file.lock()),
            "mmap" => (4, &|file| file.is_mapped = true),
            "fsync" | "fdatasync" | "sync_file_range" => return self.sync(event),
            "copy_file_range" | "sendfile" | "ioctl" => return self.copy(event, bytes),
            name => return is_of_descriptor(name),
        };
        let Some(open) = self.descriptor(event, index) else {
            return true;
        };
        if call.name == "mmap" && call.has(2, "PROT_WRITE") && call.has(3, "MAP_SHARED") {
            let path = open.borrow().path.clone();
            self.recorder.leave_out_below(Reason::MappedWrites, &path);
            return true;
        }
        apply(&mut open.borrow_mut());
        true
    }

    fn sync(&mut self, event: &Event<'_>) -> bool {
        let Some(open) = self.descriptor(event, 0) else {
            return true;
        };
        let level = match event.call.name {
            "fsync" => 2,
            _ => 1,
        };
        let mut activity = open.borrow_mut();
        if !activity.has_writes() {
            self.recorder.sync_directory(event.thread, &activity.path);
        }
        for done in activity.sync(level, event.end) {
            self.recorder.perform(event.thread, done);
        }
        true
    }

    fn copy(&mut self, event: &Event<'_>, bytes: u64) -> bool {
        let call = event.call;
        let (from, to, action) = match call.name {
            "copy_file_range" => (0, 2, Action::Copy),
            "sendfile" => (1, 0, Action::Copy),
            _ if call.has(1, "FICLONE") => (2, 0, Action::Clone),
            _ => return true,
        };
        let source = self.descriptor(event, from);
        let target = self.descriptor(event, to);
        if let (None, Some(source)) = (&target, &source) {
            // Bytes to a socket are read from the file.
            source.borrow_mut().read(None, bytes);
            return true;
        }
        if let Some(source) = &source {
            source.borrow_mut().copy_from();
        }
        let size = source.and_then(|source| self.recorder.files.size(&source.borrow().path));
        if let Some(target) = target {
            let bytes = match action {
                Action::Clone => size.unwrap_or(0),
                _ => bytes,
            };
            target.borrow_mut().copy_to(action, bytes);
        }
        true
    }

    /// Follows a call that names files. Returns whether it is one.
    fn use_names(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let (action, at, reason) = match call.name {
            "unlink" => (Action::Delete, None, Reason::Failed),
            "unlinkat" if call.has(2, "AT_REMOVEDIR") => {
                (Action::RemoveDirectory, Some(0), Reason::Failed)
            }
            "unlinkat" => (Action::Delete, Some(0), Reason::Failed),
            "rmdir" => (Action::RemoveDirectory, None, Reason::Failed),
            "mkdir" => (Action::MakeDirectory, None, Reason::Failed),
            "mkdirat" => (Action::MakeDirectory, Some(0), Reason::Failed),
            "symlink" => return self.name(event, Action::SymbolicLink, None, 1),
            "symlinkat" => return self.name(event, Action::SymbolicLink, Some(1), 1),
            "readlink" => (Action::ReadLink, None, Reason::Failed),
            "readlinkat" => (Action::ReadLink, Some(0), Reason::Failed),
            "truncate" => (Action::Truncate, None, Reason::Failed),
            "chmod" | "chown" | "lchown" | "utime" | "utimes" => {
                (Action::SetAttributes, None, Reason::Failed)
            }
            "fchmodat" | "fchmodat2" | "fchownat" | "utimensat" | "futimesat" => {
                (Action::SetAttributes, Some(0), Reason::Failed)
            }
            "setxattr" | "lsetxattr" | "removexattr" | "lremovexattr" => {
                (Action::SetExtended, None, Reason::Failed)
            }
            "getxattr" | "lgetxattr" | "listxattr" | "llistxattr" => {
                (Action::GetExtended, None, Reason::Failed)
            }
            "mknod" => (Action::Create, None, Reason::Special),
            "mknodat" => (Action::Create, Some(0), Reason::Special),
            _ => return self.use_two_names(event),
        };
        if reason == Reason::Special && !call.has(1, "S_IFREG") && !call.has(2, "S_IFREG") {
            self.recorder.leave_out(reason, None);
            return true;
        }
        self.name(event, action, at, 0)
    }

    /// Records an operation on the name at `index`, or after the directory at `at`.
    fn name(&mut self, event: &Event<'_>, action: Action, at: Option<usize>, index: usize) -> bool {
        let call = event.call;
        let path = match at {
            Some(at) => self.path_at(event, at),
            None => self.path(event, index),
        };
        let Some(path) = path else { return true };
        match (call.error, action) {
            (None, Action::Truncate) => {
                let mut done = Done::new(action, path, event.begin, event.end);
                done.size = call.number(1).and_then(|size| u64::try_from(size).ok());
                self.recorder.perform(event.thread, done);
            }
            (None, _) if call.answer.is_some() => self.perform(event, action, path),
            (Some("EEXIST"), Action::MakeDirectory) => {
                self.perform(event, Action::MakeDirectoryExisting, path);
            }
            // The name is no symbolic link, as in a resolution of a path.
            (Some("EINVAL"), Action::ReadLink) => self.perform(event, Action::Stat, path),
            (Some("ENODATA"), Action::GetExtended) => self.perform(event, action, path),
            (Some("ENOENT"), Action::ReadLink | Action::GetExtended) => {
                self.perform(event, Action::StatMissing, path);
            }
            _ => self.recorder.leave_out_below(Reason::Failed, &path),
        }
        true
    }

    fn use_two_names(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let (action, from, to) = match call.name {
            "rename" => (Action::Rename, self.path(event, 0), self.path(event, 1)),
            "link" => (Action::Link, self.path(event, 0), self.path(event, 1)),
            "renameat" | "renameat2" => (
                Action::Rename,
                self.path_at(event, 0),
                self.path_at(event, 2),
            ),
            "linkat" => (Action::Link, self.path_at(event, 0), self.path_at(event, 2)),
            _ => return false,
        };
        let Some((from, to)) = from.zip(to) else {
            return true;
        };
        if call.answer.is_none() {
            self.recorder.leave_out_below(Reason::Failed, &to);
            return true;
        }
        if action == Action::Rename && self.recorder.files.kind(&from) == Kind::Directory {
            self.recorder.leave_out_below(Reason::DirectoryNames, &to);
            return true;
        }
        let mut done = Done::new(action, from, event.begin, event.end);
        done.to = Some(to);
        self.recorder.perform(event.thread, done);
        true
    }
}

/// The entries that a listing shows, such as `/* 80 entries */`; 1 if it shows no number.
fn entries(call: &Call<'_>) -> u64 {
    let argument = String::from_utf8_lossy(call.argument(1));
    let words: Vec<&str> = argument.split(' ').collect();
    let before = words.windows(2).find(|pair| pair[1] == "entries");
    let entries = before.and_then(|pair| pair[0].parse().ok());
    entries.unwrap_or(u64::from(call.answer.is_some_and(|bytes| bytes > 0)))
}

fn is_of_descriptor(name: &str) -> bool {
    matches!(
        name,
        "read"
            | "readv"
            | "pread"
            | "preadv"
            | "write"
            | "writev"
            | "pwrite"
            | "pwritev"
            | "lseek"
            | "fstat"
            | "getdents"
            | "ftruncate"
            | "fchmod"
            | "fchown"
            | "fsetxattr"
            | "fgetxattr"
            | "flock"
            | "mmap"
            | "fsync"
            | "fdatasync"
            | "copy_file_range"
            | "sendfile"
            | "ioctl"
    )
}

/// What a new thread shares, according to the flags of the call that creates it.
pub fn sharing(call: &Call<'_>) -> Sharing {
    let has = |flag| (0..call.arguments.len()).any(|index| call.has(index, flag));
    Sharing {
        descriptors: has("CLONE_FILES"),
        directory: has("CLONE_FS"),
    }
}
