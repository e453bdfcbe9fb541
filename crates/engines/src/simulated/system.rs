//! System calls that are simulated in memory.

use std::ffi::{CStr, c_int};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use super::state::{Kind, Node, Shared, State};
use super::truth::{Fault, Struck};
use crate::system::{At, Object, System, entries};
use engine::{Errno, Step};

#[derive(Debug)]
pub(super) struct SimulatedSystem {
    shared: Arc<Shared>,
    roots: Vec<Vec<u8>>,
}

impl SimulatedSystem {
    pub(super) fn new(shared: Arc<Shared>, roots: Vec<Vec<u8>>) -> Self {
        Self { shared, roots }
    }

    /// Returns the full path without trailing slashes or `/.`.
    fn name(&self, state: &State, at: At<'_>) -> Result<Vec<u8>, Errno> {
        let mut name = match at {
            At::Location(location, relative) => {
                [&self.roots[location], &b"/"[..], relative.to_bytes()].concat()
            }
            At::In(directory, relative) => {
                let directory = state.open.get(&directory).ok_or(Errno::BADF)?;
                [&directory.name, &b"/"[..], relative.to_bytes()].concat()
            }
        };
        while let [rest @ .., b'/'] | [rest @ .., b'/', b'.'] = &name[..] {
            name.truncate(rest.len());
        }
        Ok(name)
    }

    /// Starts a call: advances the clock and returns the fault requested for this call.
    fn begin(&self, step: Step, asked_bytes: usize) -> (MutexGuard<'_, State>, Option<Fault>) {
        let mut state = self.shared.state();
        let call = state.calls;
        let is_cut = state.is_cut();
        state.calls += 1;
        let cost_ns = state.call_cost_ns;
        state.now_ns = cost_ns + self.shared.clock_ns.fetch_add(cost_ns, Ordering::Relaxed);
        if is_cut {
            return (state, Some(Fault::Error(libc::EIO)));
        }
        let fault = state.faults.get(&call).copied();
        if fault.is_some() {
            state.struck.push(Struck {
                call,
                step,
                asked_bytes,
            });
        }
        (state, fault)
    }

    fn begin_or_fail(&self, step: Step) -> Result<MutexGuard<'_, State>, Errno> {
        let (state, fault) = self.begin(step, 0);
        moved(0, fault).map(|_| state)
    }

    /// Starts a call that takes a name; also returns the full path.
    fn begin_at(&self, step: Step, at: At<'_>) -> Result<(MutexGuard<'_, State>, Vec<u8>), Errno> {
        let state = self.begin_or_fail(step)?;
        let name = self.name(&state, at)?;
        Ok((state, name))
    }

    fn object<'a>(&self, state: &'a mut State, object: Object<'_>) -> Result<&'a mut Node, Errno> {
        match object {
            Object::File(file) => state.node_of(file),
            Object::Name(at) => {
                let name = self.name(state, at)?;
                state.node_mut(&name)
            }
        }
    }

    fn extended<'a>(state: &'a mut State, file: c_int, key: &CStr) -> Result<&'a mut Node, Errno> {
        if !key.to_bytes().starts_with(b"user.") {
            return Err(Errno::OPNOTSUPP);
        }
        state.node_of(file)
    }
}

/// Returns the number of bytes that a call moves under a fault.
fn moved(asked: usize, fault: Option<Fault>) -> Result<usize, Errno> {
    match fault {
        None => Ok(asked),
        Some(Fault::Error(errno)) => Err(Errno::from_raw_os_error(errno)),
        Some(Fault::Short) => Ok((asked / 2).max(asked.min(1))),
        Some(Fault::Nothing) => Ok(0),
    }
}

/// Copies as much of `answer` as fits into `room`; returns the number of bytes copied.
pub(super) fn put(room: &mut [u8], answer: &[u8]) -> usize {
    let length = room.len().min(answer.len());
    room[..length].copy_from_slice(&answer[..length]);
    length
}

impl System for SimulatedSystem {
    fn open(&mut self, at: At<'_>, flags: c_int, mode: libc::mode_t) -> Result<c_int, Errno> {
        let (mut state, name) = self.begin_at(Step::Open, at)?;
        state.open(name, flags, mode)
    }

    fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<usize, Errno> {
        let (mut state, fault) = self.begin(Step::Write, bytes.len());
        let length = moved(bytes.len(), fault)?;
        state.write(file, &bytes[..length])?;
        Ok(length)
    }

    fn read(&mut self, file: c_int, bytes: &mut [u8]) -> Result<usize, Errno> {
        let (mut state, fault) = self.begin(Step::Read, bytes.len());
        let length = moved(bytes.len(), fault)?;
        state.read(file, &mut bytes[..length], None)
    }

    fn read_at(&mut self, file: c_int, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let (mut state, fault) = self.begin(Step::Read, bytes.len());
        let length = moved(bytes.len(), fault)?;
        state.read(file, &mut bytes[..length], Some(offset))
    }

    fn truncate(&mut self, file: c_int, bytes: u64) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::Truncate)?;
        let bytes = usize::try_from(bytes).map_err(|_| Errno::FBIG)?;
        match &mut state.node_of(file)?.kind {
            Kind::File(content) => content.resize(bytes, 0),
            Kind::Directory | Kind::Symbolic(_) => return Err(Errno::INVAL),
        }
        state.truth.truncated += 1;
        Ok(())
    }

    fn close(&mut self, file: c_int) -> Result<(), Errno> {
        let (mut state, fault) = self.begin(Step::Close, 0);
        state.close(file)?;
        moved(0, fault).map(drop)
    }

    fn unlink(&mut self, at: At<'_>) -> Result<(), Errno> {
        let (mut state, name) = self.begin_at(Step::Unlink, at)?;
        state.unlink(&name)
    }

    fn mkdir(&mut self, at: At<'_>, mode: libc::mode_t) -> Result<(), Errno> {
        let (mut state, name) = self.begin_at(Step::MakeDirectory, at)?;
        // The directory of a location always exists, even if the test has not created it.
        if self.roots.contains(&name) {
            return Err(Errno::EXIST);
        }
        state.make(name, Kind::Directory, mode)?;
        state.truth.directories_made += 1;
        Ok(())
    }

    fn rmdir(&mut self, at: At<'_>) -> Result<(), Errno> {
        let (mut state, name) = self.begin_at(Step::RemoveDirectory, at)?;
        state.remove_directory(&name)
    }

    fn sync(&mut self, file: c_int, contents_only: bool) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::Sync)?;
        state.node_of(file)?;
        let truth = &mut state.truth;
        *(if contents_only {
            &mut truth.contents_synced
        } else {
            &mut truth.files_synced
        }) += 1;
        Ok(())
    }

    /// Makes three calls: open, sync, close. The close is made even if the sync failed.
    fn sync_directory(&mut self, at: At<'_>) -> Result<(), Errno> {
        {
            let (state, name) = self.begin_at(Step::SyncDirectory, at)?;
            state.directory(&name)?;
        }
        let synced = self.begin_or_fail(Step::SyncDirectory).map(drop);
        let mut state = self.begin_or_fail(Step::SyncDirectory)?;
        synced?;
        state.truth.directories_synced += 1;
        Ok(())
    }

    fn sync_file_system(&mut self, _: usize) -> Result<(), Errno> {
        self.begin_or_fail(Step::SyncFileSystem)?
            .truth
            .file_systems_synced += 1;
        Ok(())
    }

    fn size(&mut self, at: At<'_>) -> Result<u64, Errno> {
        const DIRECTORY_BYTES: usize = 4096;
        let (mut state, name) = self.begin_at(Step::Stat, at)?;
        let size = match &state.node(&name)?.kind {
            Kind::File(bytes) | Kind::Symbolic(bytes) => bytes.len(),
            Kind::Directory => DIRECTORY_BYTES,
        };
        state.truth.stats += 1;
        Ok(size as u64)
    }

    fn size_of(&mut self, file: c_int) -> Result<u64, Errno> {
        let mut state = self.begin_or_fail(Step::Stat)?;
        match &state.node_of(file)?.kind {
            Kind::File(bytes) | Kind::Symbolic(bytes) => Ok(bytes.len() as u64),
            Kind::Directory => Err(Errno::ISDIR),
        }
    }

    fn set_mode(&mut self, object: Object<'_>, mode: libc::mode_t) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::SetMode)?;
        self.object(&mut state, object)?.mode = mode;
        Ok(())
    }

    fn set_times(&mut self, object: Object<'_>, times_ns: i64) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::SetTimes)?;
        self.object(&mut state, object)?.times_ns = times_ns;
        Ok(())
    }

    fn rename(&mut self, from: At<'_>, to: At<'_>, replaces: bool) -> Result<(), Errno> {
        let (mut state, from) = self.begin_at(Step::Rename, from)?;
        let to = self.name(&state, to)?;
        state.rename(&from, to, replaces)
    }

    fn link(&mut self, from: At<'_>, to: At<'_>) -> Result<(), Errno> {
        let (mut state, from) = self.begin_at(Step::Link, from)?;
        let to = self.name(&state, to)?;
        state.link(&from, to)
    }

    fn symbolic_link(&mut self, target: &CStr, at: At<'_>) -> Result<(), Errno> {
        const MODE: u32 = 0o777;
        let (mut state, name) = self.begin_at(Step::SymbolicLink, at)?;
        state.make(name, Kind::Symbolic(target.to_bytes().to_owned()), MODE)?;
        state.truth.symbolic_links_made += 1;
        Ok(())
    }

    fn read_link(&mut self, at: At<'_>, target: &mut [u8]) -> Result<usize, Errno> {
        let (state, name) = self.begin_at(Step::ReadLink, at)?;
        match &state.node(&name)?.kind {
            Kind::Symbolic(said) => Ok(put(target, said)),
            Kind::File(_) | Kind::Directory => Err(Errno::INVAL),
        }
    }

    fn set_extended(&mut self, file: c_int, key: &CStr, value: &[u8]) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::SetExtended)?;
        let node = Self::extended(&mut state, file, key)?;
        node.extended
            .insert(key.to_bytes().to_owned(), value.to_owned());
        Ok(())
    }

    fn get_extended(&mut self, file: c_int, key: &CStr, value: &mut [u8]) -> Result<usize, Errno> {
        let mut state = self.begin_or_fail(Step::GetExtended)?;
        let node = Self::extended(&mut state, file, key)?;
        let kept = node.extended.get(key.to_bytes()).ok_or(Errno::NODATA)?;
        if kept.len() > value.len() {
            return Err(Errno::RANGE);
        }
        Ok(put(value, kept))
    }

    fn entries(&mut self, file: c_int, room: &mut [u8]) -> Result<usize, Errno> {
        let mut state = self.begin_or_fail(Step::List)?;
        if !matches!(state.node_of(file)?.kind, Kind::Directory) {
            return Err(Errno::NOTDIR);
        }
        let mut open = state.open.remove(&file).ok_or(Errno::BADF)?;
        let listed = open
            .entries
            .take()
            .unwrap_or_else(|| state.list(&open.name));
        let mut end = 0;
        while let Some(length) = listed
            .get(open.at)
            .and_then(|name| entries::put(&mut room[end..], name))
        {
            end += length;
            open.at += 1;
        }
        let is_stuck = end == 0 && open.at < listed.len();
        open.entries = Some(listed);
        state.open.insert(file, open);
        if is_stuck { Err(Errno::INVAL) } else { Ok(end) }
    }

    fn evict(&mut self, file: c_int) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::Evict)?;
        state.node_of(file)?;
        state.truth.evicted += 1;
        Ok(())
    }

    fn map(&mut self, file: c_int, bytes: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::Map)?;
        let mut content = vec![0; bytes];
        // A read of a mapping fails beyond the end of the file.
        if state.read(file, &mut content, Some(0))? < bytes {
            return Err(Errno::IO);
        }
        state.truth.mapped += 1;
        drop(state);
        each(&content);
        Ok(())
    }

    fn lock(&mut self, file: c_int) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::Lock)?;
        state.node_of(file)?;
        state.truth.locked += 1;
        Ok(())
    }

    fn unlock(&mut self, file: c_int) -> Result<(), Errno> {
        self.begin_or_fail(Step::Unlock)?.node_of(file).map(drop)
    }

    fn copy(&mut self, from: c_int, to: c_int, bytes: usize) -> Result<usize, Errno> {
        let (mut state, fault) = self.begin(Step::Copy, bytes);
        let length = moved(bytes, fault)?;
        state.copy(from, to, length)
    }

    fn clone_blocks(&mut self, from: c_int, to: c_int) -> Result<(), Errno> {
        let mut state = self.begin_or_fail(Step::Clone)?;
        state.truth.cloned += 1;
        state.copy(from, to, usize::MAX).map(drop)
    }
}
