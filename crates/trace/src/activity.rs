//! What is done with an open file, and the operations that it amounts to.

use engine::Action;

use crate::done::{Done, Path, Stamp, Synced};

/// How a file was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The file did not exist before.
    pub is_new: bool,
    pub is_truncated: bool,
    pub appends: bool,
    /// The size in bytes when the file was opened, if it is known.
    pub size: Option<u64>,
}

/// What is done with an open file or directory until all its descriptors are closed, or until a
/// sync ends an operation.
#[derive(Clone, Debug)]
pub struct Activity {
    pub path: Path,
    opened: Opened,
    begin: Stamp,
    /// The number of the process that opened the file.
    pub owner: u64,
    /// Whether another process used the descriptor.
    pub is_shared: bool,
    position: u64,
    size: Option<u64>,
    read: Transfer,
    written: Transfer,
    /// Whether a read returned no bytes, which only happens at the end of the file.
    is_end_read: bool,
    synced: Synced,
    pub is_mapped: bool,
    locks: u64,
    /// Entries that were listed; `None` if nothing was listed.
    entries: Option<u64>,
    /// Requests for attributes of entries.
    stats: u64,
    has_attributes: bool,
    extended_set: u64,
    extended_read: u64,
    copied: Option<Action>,
    /// The source of a copy or clone.
    source: Option<Path>,
    is_source: bool,
    resized: bool,
    is_reported: bool,
}

/// Bytes that were read or written.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    calls: u64,
    bytes: u64,
    start: u64,
}

impl Transfer {
    fn add(&mut self, offset: u64, bytes: u64) {
        if self.calls == 0 || offset < self.start {
            self.start = offset;
        }
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl Activity {
    pub fn new(path: Path, opened: Opened, begin: Stamp, owner: u64) -> Self {
        let size = match opened.is_new || opened.is_truncated {
            true => Some(0),
            false => opened.size,
        };
        Self {
            path,
            opened,
            begin,
            owner,
            is_shared: false,
            position: 0,
            size,
            read: Transfer::default(),
            written: Transfer::default(),
            is_end_read: false,
            synced: Synced::default(),
            is_mapped: false,
            locks: 0,
            entries: None,
            stats: 0,
            has_attributes: false,
            extended_set: 0,
            extended_read: 0,
            copied: None,
            source: None,
            is_source: false,
            resized: false,
            is_reported: false,
        }
    }

    /// Counts a read that returned `bytes`, at the descriptor's position or at `offset`.
    pub fn read(&mut self, offset: Option<u64>, bytes: u64) {
        let at = offset.unwrap_or(self.position);
        if bytes == 0 {
            self.is_end_read = true;
            // An empty file is read as a whole.
            if self.read.calls == 0 {
                self.read.add(at, 0);
            }
            return;
        }
        self.read.add(at, bytes);
        if offset.is_none() {
            self.position = at.saturating_add(bytes);
        }
    }

    /// Counts a write of `bytes`, at the descriptor's position or at `offset`.
    pub fn write(&mut self, offset: Option<u64>, bytes: u64) {
        let at = match (self.opened.appends, self.size) {
            (true, Some(size)) => size,
            _ => offset.unwrap_or(self.position),
        };
        self.written.add(at, bytes);
        let end = at.saturating_add(bytes);
        match self.opened.appends && self.size.is_none() {
            true => {}
            false => self.size = Some(self.size.unwrap_or(0).max(end)),
        }
        if offset.is_none() {
            self.position = end;
        }
    }

    pub fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// Sets the size that a call reported.
    pub fn set_size(&mut self, size: u64) {
        if self.written.calls == 0 {
            self.opened.size = self.opened.size.or(Some(size));
        }
        self.size = Some(size);
    }

    pub fn resize(&mut self, size: u64) {
        self.size = Some(size);
        self.resized = true;
    }

    pub fn list(&mut self, entries: u64) {
        self.entries = Some(self.entries.unwrap_or(0).saturating_add(entries));
    }

    /// Whether the descriptor is a directory that was listed, so that requests for attributes of
    /// its entries belong to the listing. Counts the request.
    pub fn takes_stat(&mut self) -> bool {
        self.stats += u64::from(self.entries.is_some());
        self.entries.is_some()
    }

    pub fn lock(&mut self) {
        self.locks += 1;
    }

    pub fn set_attributes(&mut self) {
        self.has_attributes = true;
    }

    pub fn extended(&mut self, sets: bool) {
        match sets {
            true => self.extended_set += 1,
            false => self.extended_read += 1,
        }
    }

    /// Marks the file as the source of a copy.
    pub fn copy_from(&mut self) {
        self.is_source = true;
    }

    /// Counts bytes that the kernel copied to the file, or all bytes of a clone.
    pub fn copy_to(&mut self, action: Action, bytes: u64, source: Option<Path>) {
        self.copied = Some(action);
        self.source = source;
        self.written.add(self.position, bytes);
        self.position = self.position.saturating_add(bytes);
        self.size = Some(self.size.unwrap_or(0).max(self.position));
    }

    /// Counts that the contents were written durably: 1 for the data, 2 with all attributes.
    pub fn note_sync(&mut self, file: u8) {
        self.synced.file = self.synced.file.max(file);
    }

    /// Counts a sync. A sync after writes ends an operation, which is returned.
    pub fn sync(&mut self, file: u8, now: Stamp) -> Vec<Done> {
        self.synced.file = self.synced.file.max(file);
        if self.written.calls == 0 {
            return Vec::new();
        }
        let operations = self.finish(now);
        let mut next = Self::new(
            self.path.clone(),
            Opened {
                appends: self.opened.appends,
                size: self.size,
                ..Opened::default()
            },
            now,
            self.owner,
        );
        next.position = self.position;
        next.is_shared = self.is_shared;
        next.is_reported = true;
        *self = next;
        operations
    }

    /// Returns whether the file was written to, so that a sync belongs to it.
    pub fn has_writes(&self) -> bool {
        self.written.calls > 0 || self.opened.is_new || self.is_reported
    }

    /// Returns the operations that the calls amount to.
    pub fn finish(&self, now: Stamp) -> Vec<Done> {
        let mut done = Vec::new();
        let mut add = |action, bytes, times| {
            let mut one = Done::new(action, self.path.clone(), self.begin, now);
            (one.bytes, one.times) = (bytes, times);
            (one.size, one.synced) = (self.size, self.synced);
            one.has_attributes = self.has_attributes;
            if action == Action::ReadRange {
                one.offset = self.read.start;
            } else if self.copied == Some(action) {
                one.from.clone_from(&self.source);
            }
            done.push(one);
        };
        if let Some(action) = self.changes() {
            add(action, self.written.bytes, 1);
        }
        if self.read.calls > 0 && !self.is_source {
            add(self.reads(), self.read.bytes, 1);
        }
        if self.is_mapped && self.read.calls == 0 && self.written.calls == 0 {
            add(Action::ReadMapped, self.size.unwrap_or(0), 1);
        }
        match self.entries {
            Some(entries) if self.stats > 0 && self.stats.saturating_mul(2) >= entries => {
                add(Action::ListWithStat, 0, 1);
            }
            Some(_) => {
                add(Action::List, 0, 1);
                if self.stats > 0 {
                    add(Action::Stat, 0, self.stats);
                }
            }
            None => {}
        }
        for (action, times) in [
            (Action::Lock, self.locks),
            (Action::SetExtended, self.extended_set),
            (Action::GetExtended, self.extended_read),
        ] {
            if times > 0 {
                add(action, 0, times);
            }
        }
        let is_used = self.is_source || self.is_reported || self.synced.file > 0;
        if done.is_empty() && !is_used {
            let mut one = Done::new(Action::OpenClose, self.path.clone(), self.begin, now);
            one.size = self.size;
            done.push(one);
        }
        done
    }

    /// The operation that changed the file; `None` if nothing changed.
    fn changes(&self) -> Option<Action> {
        let before = self.opened.size;
        Some(match () {
            () if self.opened.is_new => self.copied.unwrap_or(Action::Create),
            () if self.opened.is_truncated => Action::Rewrite,
            () if self.written.calls == 0 && self.resized => Action::Truncate,
            () if self.written.calls == 0 && self.has_attributes => Action::SetAttributes,
            () if self.written.calls == 0 => return None,
            () if self.opened.appends || before == Some(self.written.start) => Action::Append,
            () if self.resized && self.written.start == 0 => Action::Rewrite,
            () => Action::Overwrite,
        })
    }

    /// Whether writes began neither at the start nor at the end of an existing file.
    pub fn writes_inside(&self) -> bool {
        self.changes() == Some(Action::Overwrite) && self.written.start > 0
    }

    fn reads(&self) -> Action {
        let is_complete = self.is_end_read
            || self.size.is_some_and(|size| self.read.bytes >= size)
            || self.size.is_none();
        match self.read.start == 0 && is_complete {
            true => Action::Read,
            false => Action::ReadRange,
        }
    }
}
