//! Calls that change a process: its descriptors, its directory, and new processes.

use super::{Event, World};
use crate::call::Call;
use crate::done::{Path, resolve};
use crate::processes::Sharing;

impl World {
    pub(super) fn change_process(&mut self, event: &Event<'_>) -> bool {
        let (call, thread) = (event.call, event.thread);
        let answer = call.answer.and_then(|answer| i32::try_from(answer).ok());
        let first = call.descriptor(0).and_then(|descriptor| descriptor.number);
        match call.name {
            "clone" | "clone3" | "fork" | "vfork" => {
                let created = call.answer.and_then(|answer| u32::try_from(answer).ok());
                let created = created.filter(|created| *created > 0);
                if let Some((own, created)) = self.recorder.own.as_mut().zip(created) {
                    own.create(thread, created, event.begin);
                }
                self.processes.end_clone(thread, created, sharing(call));
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
            _ => {
                if let Some(path) = self.new_directory(event) {
                    self.processes.change_directory(thread, path);
                }
            }
        }
        true
    }

    /// The working directory that a call of chdir, fchdir or getcwd shows.
    fn new_directory(&mut self, event: &Event<'_>) -> Option<Path> {
        match event.call.name {
            "chdir" => self.path(event, 0),
            "fchdir" => {
                let open = self.descriptor(event, 0)?;
                let path = open.borrow().path.clone();
                Some(path)
            }
            _ => {
                let path = event.call.string(0)?;
                path.starts_with(b"/").then(|| resolve(b"/", &path))
            }
        }
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
}

/// What a new thread shares, according to the flags of the call that creates it.
fn sharing(call: &Call<'_>) -> Sharing {
    let has = |flag| (0..call.arguments.len()).any(|index| call.has(index, flag));
    Sharing {
        descriptors: has("CLONE_FILES"),
        directory: has("CLONE_FS"),
    }
}
