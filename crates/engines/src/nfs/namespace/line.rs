//! The connection of a namespace, and calls that several types of the namespace make.

use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use nfs_client::{
    CallError, Client, Counters, FileAttributes, Garbled, Handle, Procedure,
    arguments::{self, NewAttributes},
    results,
    xdr::Reader,
};

use engine::Errno;
use engine::namespace::Facts;

use crate::nfs::convert::facts;
use crate::nfs::shared::{NfsShared, Target};

/// A connection on which a namespace makes its calls, one at a time.
#[derive(Debug)]
pub(super) struct HomeLine {
    shared: Arc<NfsShared>,
    pub(super) target: Arc<Target>,
    counters: Arc<Counters>,
    client: Mutex<Client>,
}

impl Drop for HomeLine {
    fn drop(&mut self) {
        self.shared.counters.end(&self.counters);
    }
}

impl HomeLine {
    pub(super) fn new(shared: &Arc<NfsShared>, target: Arc<Target>) -> Result<Self, Errno> {
        let endpoint = target.mounted.endpoint.clone();
        let counters = shared.counters.add();
        let client = Client::new(endpoint, Arc::clone(&counters))
            .inspect_err(|_| shared.counters.end(&counters))?;
        Ok(Self {
            shared: Arc::clone(shared),
            target,
            counters,
            client: Mutex::new(client),
        })
    }

    /// Performs `work` with exclusive use of the connection, so that no other thread makes a call
    /// in between.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&mut Client) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        work(&mut self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The time since the connection was created.
    pub(super) fn elapsed(&self) -> Duration {
        self.client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed()
    }

    pub(super) fn call<T>(
        &self,
        procedure: Procedure,
        arguments: impl Fn(&mut Vec<u8>),
        results: impl Fn(Reader<'_>) -> Result<T, Garbled>,
    ) -> Result<T, CallError> {
        self.with(|client| client.call(procedure, arguments, results))
    }

    /// Makes a call whose reply contains only a status.
    pub(super) fn change(
        &self,
        procedure: Procedure,
        arguments: impl Fn(&mut Vec<u8>),
    ) -> Result<(), CallError> {
        self.call(procedure, arguments, |reader| {
            results::changed(procedure, reader)
        })
    }

    pub(super) fn facts(&self, file: &Handle) -> Result<Facts, Errno> {
        Ok(facts(&self.with(|client| client.attributes(file))?))
    }

    pub(super) fn set_attributes(
        &self,
        file: &Handle,
        new: &NewAttributes,
    ) -> Result<(), CallError> {
        self.change(Procedure::SetAttributes, |out| {
            arguments::set_attributes(out, file, new);
        })
    }

    pub(super) fn look_up(
        &self,
        directory: &Handle,
        name: &[u8],
    ) -> Result<(Handle, FileAttributes), CallError> {
        self.with(|client| client.look_up(directory, name))
    }

    /// Whether a name denotes this file.
    pub(super) fn stands_for(
        &self,
        directory: &Handle,
        name: &[u8],
        file: &Handle,
    ) -> Result<bool, CallError> {
        let own = match self.with(|client| client.attributes(file)) {
            // The file has no name any more.
            Err(CallError::Failed(Errno::STALE)) => return Ok(false),
            own => own?,
        };
        match self.look_up(directory, name) {
            Ok((_, found)) => Ok(found.is_same_file(&own)),
            Err(CallError::Failed(Errno::NOENT)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads a file's bytes from `offset` on until `into` is full or the file ends; returns the
    /// number of bytes read.
    pub(super) fn read(
        &self,
        file: &Handle,
        offset: u64,
        into: &mut [u8],
    ) -> Result<usize, CallError> {
        let most = self.target.mounted.sizes.read as usize;
        let mut done = 0;
        while done < into.len() {
            let asked = most.min(into.len() - done);
            let arguments =
                |out: &mut Vec<u8>| arguments::read(out, file, offset + done as u64, asked as u32);
            let (data, is_end) = self.call(Procedure::Read, arguments, |reader| {
                let result = results::read(reader, asked)?;
                Ok((result.data.to_vec(), result.is_end))
            })?;
            into[done..done + data.len()].copy_from_slice(&data);
            done += data.len();
            if is_end {
                break;
            }
            if data.is_empty() {
                return Err(CallError::Garbled);
            }
        }
        Ok(done)
    }
}
