//! Calls on descriptors.

use engine::Action;

use super::{Event, World};
use crate::activity::Activity;
use crate::call::Call;
use crate::reason::Reason;

impl World {
    /// Follows a call on a descriptor. Returns whether it is one.
    pub(super) fn use_descriptor(&mut self, event: &Event<'_>) -> bool {
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
        let source = source.map(|source| source.borrow().path.clone());
        let size = source.as_ref();
        let size = size.and_then(|path| self.recorder.size(path));
        if let Some(target) = target {
            let bytes = match action {
                Action::Clone => size.unwrap_or(0),
                _ => bytes,
            };
            target.borrow_mut().copy_to(action, bytes, source);
        }
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
