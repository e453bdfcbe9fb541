//! Operations from calls of NFS version 3 with their replies.

use std::collections::HashMap;

use engine::Action;
use nfs_client::xdr::Reader;
use nfs_client::{FileAttributes, FileKind, Garbled, Procedure};

use crate::activity::{Activity, Opened};
use crate::done::{Done, Path, Stamp, resolve};
use crate::files::Kind;
use crate::reason::Reason;
use crate::recorder::Recorder;

/// The maximum length of a file handle (`NFS3_FHSIZE`).
const HANDLE_BYTES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 1024;
const HANDLES_MAX: usize = 1 << 20;
const ACTIVE_MAX: usize = 1 << 16;
/// NFS has no close: a file that was not used for this time counts as closed.
const IDLE_NS: u64 = 1_000_000_000;
/// After this number of exchanges, files that were not used are closed.
const SWEEP_EVERY: u64 = 1024;
/// NFS3ERR_NOENT, NFS3ERR_EXIST
const MISSING: u32 = 2;
const EXISTS: u32 = 17;

/// A call with its reply.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The number of the client's connection.
    pub thread: u32,
    pub procedure: u32,
    pub arguments: &'a [u8],
    pub results: Reader<'a>,
    pub begin: Stamp,
    pub end: Stamp,
}

struct Active {
    activity: Activity,
    thread: u32,
    last: Stamp,
    is_written: bool,
}

/// Follows the calls to servers.
pub struct Server {
    pub recorder: Recorder,
    handles: HashMap<Vec<u8>, Path>,
    /// The handle of each path.
    paths: HashMap<Path, Vec<u8>>,
    active: HashMap<Path, Active>,
    exchanges: u64,
}

impl Server {
    pub fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            handles: HashMap::new(),
            paths: HashMap::new(),
            active: HashMap::new(),
            exchanges: 0,
        }
    }

    /// Follows a call with its reply.
    pub fn take(&mut self, exchange: &Exchange<'_>) {
        self.exchanges += 1;
        if self.exchanges.is_multiple_of(SWEEP_EVERY) || self.active.len() > ACTIVE_MAX {
            self.sweep(exchange.end);
        }
        let of_nfs = Procedure::ALL[..].iter().find(|procedure| {
            procedure.program() == nfs_client::Program::Nfs
                && procedure.number() == exchange.procedure
        });
        let Some(procedure) = of_nfs else { return };
        if self.follow(*procedure, exchange).is_err() {
            self.recorder.leave_out(Reason::Incomplete, None);
        }
    }

    /// Records the operations of all open files, and returns the recorder.
    pub fn finish(mut self, now: Stamp) -> Recorder {
        let mut paths: Vec<Path> = self.active.keys().cloned().collect();
        paths.sort_unstable();
        paths.iter().for_each(|path| self.close(path, now));
        self.recorder
    }

    fn sweep(&mut self, now: Stamp) {
        let is_full = self.active.len() > ACTIVE_MAX;
        let idle = |active: &Active| {
            let times = now.ns.zip(active.last.ns);
            times.is_some_and(|(now, last)| now.saturating_sub(last) >= IDLE_NS)
        };
        let found = self.active.iter();
        let found = found.filter(|(_, active)| is_full || idle(active));
        let mut paths: Vec<Path> = found.map(|(path, _)| path.clone()).collect();
        paths.sort_unstable();
        paths.iter().for_each(|path| self.close(path, now));
    }

    fn close(&mut self, path: &Path, now: Stamp) {
        let Some(active) = self.active.remove(path) else {
            return;
        };
        for done in active.activity.finish(now) {
            self.recorder.perform(active.thread, done);
        }
    }

    fn handle(&mut self, reader: &mut Reader<'_>) -> Result<Path, Garbled> {
        let handle = reader.opaque(HANDLE_BYTES_MAX)?;
        if let Some(path) = self.handles.get(handle) {
            return Ok(path.clone());
        }
        let hex: String = handle.iter().map(|byte| format!("{byte:02x}")).collect();
        let path: Path = format!("/(handle {hex})").into_bytes().into();
        self.know(handle, path.clone());
        Ok(path)
    }

    fn know(&mut self, handle: &[u8], path: Path) {
        if self.handles.len() < HANDLES_MAX || self.handles.contains_key(handle) {
            self.handles.insert(handle.to_vec(), path.clone());
            self.paths.insert(path, handle.to_vec());
        }
    }

    /// Decodes a name in a directory (`diropargs3`).
    fn name(&mut self, reader: &mut Reader<'_>) -> Result<Path, Garbled> {
        let directory = self.handle(reader)?;
        Ok(resolve(&directory, reader.opaque(NAME_BYTES_MAX)?))
    }

    fn perform(&mut self, exchange: &Exchange<'_>, action: Action, path: Path) {
        self.close(&path, exchange.begin);
        let done = Done::new(action, path, exchange.begin, exchange.end);
        self.recorder.perform(exchange.thread, done);
    }

    fn follow(&mut self, procedure: Procedure, exchange: &Exchange<'_>) -> Result<(), Garbled> {
        let mut arguments = Reader::new(exchange.arguments);
        let mut results = exchange.results;
        let status = results.u32()?;
        match procedure {
            Procedure::Lookup => self.look_up(exchange, &mut arguments, status, results),
            Procedure::Create
            | Procedure::MakeDirectory
            | Procedure::SymbolicLink
            | Procedure::Remove
            | Procedure::RemoveDirectory
            | Procedure::Rename
            | Procedure::Link => self.change_names(procedure, exchange, status),
            _ if status != 0 => {
                let path = self.handle(&mut arguments)?;
                self.recorder.leave_out_below(Reason::Failed, &path);
                Ok(())
            }
            _ => self.use_file(procedure, exchange, &mut arguments, results),
        }
    }

    fn look_up(
        &mut self,
        exchange: &Exchange<'_>,
        arguments: &mut Reader<'_>,
        status: u32,
        mut results: Reader<'_>,
    ) -> Result<(), Garbled> {
        let path = self.name(arguments)?;
        match status {
            0 => {
                self.know(results.opaque(HANDLE_BYTES_MAX)?, path.clone());
                if let Some(attributes) = FileAttributes::read_optional(&mut results)? {
                    self.meet(&path, &attributes);
                }
            }
            MISSING => self.perform(exchange, Action::StatMissing, path),
            _ => self.recorder.leave_out_below(Reason::Failed, &path),
        }
        Ok(())
    }

    fn meet(&mut self, path: &Path, attributes: &FileAttributes) {
        let (kind, size) = match attributes.kind {
            FileKind::Directory => (Kind::Directory, None),
            FileKind::SymbolicLink => (Kind::SymbolicLink, None),
            FileKind::File | FileKind::Other => (Kind::File, Some(attributes.size_bytes)),
        };
        self.recorder.meet(path, kind, size);
    }

    fn change_names(
        &mut self,
        procedure: Procedure,
        exchange: &Exchange<'_>,
        status: u32,
    ) -> Result<(), Garbled> {
        let mut arguments = Reader::new(exchange.arguments);
        let mut results = exchange.results;
        results.u32()?;
        let first = match procedure {
            Procedure::Link => self.handle(&mut arguments)?,
            _ => self.name(&mut arguments)?,
        };
        let second = match procedure {
            Procedure::Link | Procedure::Rename => Some(self.name(&mut arguments)?),
            _ => None,
        };
        let action = match (procedure, status) {
            (Procedure::MakeDirectory, EXISTS) => Action::MakeDirectoryExisting,
            (_, 1..) => {
                self.recorder.leave_out_below(Reason::Failed, &first);
                return Ok(());
            }
            (Procedure::Create, _) => return self.create(exchange, first, &mut results),
            (Procedure::MakeDirectory, _) => Action::MakeDirectory,
            (Procedure::SymbolicLink, _) => Action::SymbolicLink,
            (Procedure::Remove, _) => Action::Delete,
            (Procedure::RemoveDirectory, _) => Action::RemoveDirectory,
            (Procedure::Rename, _) => Action::Rename,
            _ => Action::Link,
        };
        if matches!(action, Action::MakeDirectory | Action::SymbolicLink) {
            let handle = results.optional(|reader| reader.opaque(HANDLE_BYTES_MAX))?;
            if let Some(handle) = handle {
                self.know(handle, first.clone());
            }
        }
        self.close(&first, exchange.begin);
        let mut done = Done::new(action, first.clone(), exchange.begin, exchange.end);
        done.to.clone_from(&second);
        self.recorder.perform(exchange.thread, done);
        if let Some(to) = second.filter(|_| action == Action::Rename) {
            self.close(&to, exchange.begin);
            if let Some(handle) = self.paths.remove(&first) {
                self.know(&handle, to);
            }
        }
        Ok(())
    }

    fn create(
        &mut self,
        exchange: &Exchange<'_>,
        path: Path,
        results: &mut Reader<'_>,
    ) -> Result<(), Garbled> {
        self.close(&path, exchange.begin);
        if let Some(handle) = results.optional(|reader| reader.opaque(HANDLE_BYTES_MAX))? {
            self.know(handle, path.clone());
        }
        let opened = Opened {
            is_new: self.recorder.exists(&path) != Some(true),
            ..Opened::default()
        };
        self.open(exchange, &path, opened, true);
        Ok(())
    }

    /// Returns the file as it is being used; a change between reading and writing ends an
    /// operation.
    fn open(
        &mut self,
        exchange: &Exchange<'_>,
        path: &Path,
        opened: Opened,
        is_written: bool,
    ) -> &mut Activity {
        let before = self.active.get(path);
        if before.is_some_and(|active| active.is_written != is_written) {
            self.close(path, exchange.begin);
        }
        let new = || Active {
            activity: Activity::new(path.clone(), opened, exchange.begin, 0),
            thread: exchange.thread,
            last: exchange.end,
            is_written,
        };
        let active = self.active.entry(path.clone()).or_insert_with(new);
        active.last = exchange.end;
        &mut active.activity
    }

    fn use_file(
        &mut self,
        procedure: Procedure,
        exchange: &Exchange<'_>,
        arguments: &mut Reader<'_>,
        mut results: Reader<'_>,
    ) -> Result<(), Garbled> {
        let path = self.handle(arguments)?;
        let opened = Opened {
            size: self.recorder.size(&path),
            ..Opened::default()
        };
        match procedure {
            Procedure::GetAttributes => {
                let attributes = FileAttributes::read(&mut results)?;
                self.meet(&path, &attributes);
                let done = Done::new(Action::Stat, path, exchange.begin, exchange.end);
                self.recorder.perform(exchange.thread, done);
            }
            Procedure::ReadLink => self.perform(exchange, Action::ReadLink, path),
            Procedure::ReadDirectory | Procedure::ReadDirectoryPlus => {
                // Later parts of a listing have the cookie of the last entry.
                let is_start = arguments.u64()? == 0;
                if is_start {
                    let action = match procedure {
                        Procedure::ReadDirectory => Action::List,
                        _ => Action::ListWithStat,
                    };
                    self.perform(exchange, action, path);
                }
            }
            Procedure::Read => {
                let offset = arguments.u64()?;
                self.read(exchange, &path, (opened, offset), &mut results)?;
            }
            Procedure::Write => {
                let (offset, count, stable) =
                    (arguments.u64()?, arguments.u32()?, arguments.u32()?);
                let file = self.open(exchange, &path, opened, true);
                file.write(Some(offset), count.into());
                if stable > 0 {
                    file.note_sync(stable.min(2) as u8);
                }
            }
            Procedure::Commit => {
                if let Some(active) = self.active.get_mut(&path) {
                    active.activity.note_sync(2);
                    self.close(&path, exchange.end);
                }
            }
            Procedure::SetAttributes => self.set_attributes(exchange, path, opened, arguments)?,
            _ => {}
        }
        Ok(())
    }

    fn read(
        &mut self,
        exchange: &Exchange<'_>,
        path: &Path,
        (opened, offset): (Opened, u64),
        results: &mut Reader<'_>,
    ) -> Result<(), Garbled> {
        let attributes = FileAttributes::read_optional(results)?;
        let (bytes, is_end) = (results.u32()?, results.bool()?);
        let file = self.open(exchange, path, opened, false);
        if let Some(attributes) = attributes {
            file.set_size(attributes.size_bytes);
        }
        file.read(Some(offset), bytes.into());
        if is_end {
            file.read(Some(offset), 0);
            self.close(path, exchange.end);
        }
        Ok(())
    }

    fn set_attributes(
        &mut self,
        exchange: &Exchange<'_>,
        path: Path,
        opened: Opened,
        arguments: &mut Reader<'_>,
    ) -> Result<(), Garbled> {
        for _ in ["mode", "owner", "group"] {
            arguments.optional(Reader::u32)?;
        }
        match arguments.optional(Reader::u64)? {
            Some(size) => self.open(exchange, &path, opened, true).resize(size),
            None if self.active.contains_key(&path) => {
                if let Some(active) = self.active.get_mut(&path) {
                    active.activity.set_attributes();
                }
            }
            None => self.perform(exchange, Action::SetAttributes, path),
        }
        Ok(())
    }
}
