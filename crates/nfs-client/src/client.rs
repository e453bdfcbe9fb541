//! A client that makes one call at a time and waits for its reply. If the connection is lost, the
//! call is repeated on a new connection and the repetition is counted. A call is never repeated on
//! the same connection.

use core::time::Duration;
use std::sync::Arc;

use rustix::io::Errno;

use crate::channel::{Broken, Channel, LOOK_EVERY};
use crate::counters::Counters;
use crate::data::{FileAttributes, FileKind, Handle, Status, errno};
use crate::endpoint::Endpoint;
use crate::procedure::{Procedure, Program};
use crate::records::MARK_BYTES;
use crate::rpc::{self, Body, RpcRefusal};
use crate::timer::Timer;
use crate::xdr::{Garbled, Reader};
use crate::{arguments, results};

/// Why a call has no results: no reply, a rejection, an error status, or an invalid reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There was no connection, or no reply in time.
    #[error("no reply: {0}")]
    Connection(Errno),
    /// The server rejected the call in the RPC layer.
    #[error(transparent)]
    Refused(RpcRefusal),
    /// The procedure failed; the status of the server is converted to this error number.
    #[error("{0}")]
    Failed(Errno),
    /// The reply violates the protocol.
    #[error("the reply could not be understood")]
    Garbled,
    /// The connection was lost after the call was sent, and no later reply shows whether the server
    /// executed the call.
    #[error("the connection was lost before the reply: the server may have done it or not")]
    NotKnown,
}

impl CallError {
    /// The system's error number that describes the error most closely.
    pub fn errno(self) -> Errno {
        match self {
            Self::Connection(errno) | Self::Failed(errno) => errno,
            Self::Refused(refusal) => refusal.errno(),
            Self::Garbled => Errno::BADMSG,
            Self::NotKnown => Errno::CONNRESET,
        }
    }
}

impl From<CallError> for Errno {
    fn from(error: CallError) -> Self {
        error.errno()
    }
}

impl From<Garbled> for CallError {
    fn from(_: Garbled) -> Self {
        Self::Garbled
    }
}

/// The first delay before a call is repeated after NFS3ERR_JUKEBOX, or before another attempt to
/// connect. Each further delay is twice as long.
pub const DELAY_MIN: Duration = Duration::from_millis(5);
/// The maximum delay before a repeated call or another attempt to connect.
pub const DELAY_MAX: Duration = Duration::from_secs(1);

/// Delays between attempts to connect. The first attempt is immediate, because servers close idle
/// connections. Each further delay is longer, until the server answers a call.
#[derive(Debug, Default)]
pub struct Backoff(Duration);

impl Backoff {
    /// Returns the delay before the next attempt, and doubles the delay of later attempts.
    pub fn next_wait(&mut self) -> Duration {
        let wait = self.0;
        self.0 = (wait * 2).clamp(DELAY_MIN, DELAY_MAX);
        wait
    }

    /// Resets the delay, because the server answered.
    #[inline]
    pub fn reset(&mut self) {
        self.0 = Duration::ZERO;
    }
}

/// A client of an RPC program. The client connects when it makes its first call.
#[derive(Debug)]
pub struct Client {
    endpoint: Endpoint,
    channel: Option<Channel>,
    was_connected: bool,
    backoff: Backoff,
    xid: u32,
    timer: Timer,
    counters: Arc<Counters>,
}

/// Returns a random number, so that the XIDs of different runs differ.
pub fn any_number() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

impl Client {
    /// Creates a client, which connects when it makes its first call.
    pub fn new(endpoint: Endpoint, counters: Arc<Counters>) -> Result<Self, Errno> {
        Ok(Self {
            endpoint,
            channel: None,
            was_connected: false,
            backoff: Backoff::default(),
            xid: any_number() as u32,
            timer: Timer::new()?,
            counters,
        })
    }

    /// The time since the client was created.
    pub fn elapsed(&self) -> Duration {
        self.timer.elapsed()
    }

    /// Connects if necessary and returns the connection, for a caller with several calls in flight.
    pub fn into_channel(mut self) -> Result<Channel, Errno> {
        let until = self.timer.elapsed() + self.endpoint.timeout;
        self.connect(until)?;
        self.channel.ok_or(Errno::NOTCONN)
    }

    /// Makes a call, waits for its reply and decodes the results.
    pub fn call<T>(
        &mut self,
        procedure: Procedure,
        arguments: impl Fn(&mut Vec<u8>),
        results: impl Fn(Reader<'_>) -> Result<T, Garbled>,
    ) -> Result<T, CallError> {
        let until = self.timer.elapsed() + self.endpoint.timeout;
        let (mut is_counted, mut was_sent) = (false, false);
        let mut delay = DELAY_MIN;
        self.xid = self.xid.wrapping_add(1);
        loop {
            let may_be_done = was_sent && procedure.differs_repeated();
            if let Err(errno) = self.connect(until) {
                return Err(self.gave_up(may_be_done, errno));
            }
            let bytes = self.write(procedure, &arguments);
            // The first transmission is counted as a call. A later transmission is counted as a
            // repetition, but only if an earlier one was sent completely (`was_sent`).
            if !is_counted || was_sent {
                self.counters.sends(procedure, bytes, was_sent);
                is_counted = true;
            }
            match self.answer(procedure, until, &results) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => {
                    self.counters.delayed.add(1);
                    if !self.pause(delay, until) {
                        return Err(CallError::Connection(Errno::TIMEDOUT));
                    }
                    delay = (delay * 2).min(DELAY_MAX);
                    self.xid = self.xid.wrapping_add(1);
                    (is_counted, was_sent) = (false, false);
                }
                Err(Stopped::Lost(errno)) => {
                    let lost = self.channel.take();
                    was_sent |= lost.is_some_and(|channel| !channel.has_unsent());
                    // A server may accept connections and close each one before it answers, so the
                    // client waits before it connects again.
                    let wait = self.backoff.next_wait();
                    if !self.pause(wait, until) {
                        return Err(self.gave_up(was_sent && procedure.differs_repeated(), errno));
                    }
                }
                Err(Stopped::Answered(CallError::Failed(Errno::EXIST | Errno::NOENT)))
                    if may_be_done =>
                {
                    return Err(self.gave_up(true, Errno::CONNRESET));
                }
                Err(Stopped::Answered(error)) => return Err(error),
            }
        }
    }

    /// Requests the attributes of a file with GETATTR.
    pub fn attributes(&mut self, file: &Handle) -> Result<FileAttributes, CallError> {
        self.call(
            Procedure::GetAttributes,
            |out| file.write(out),
            |mut reader| FileAttributes::read(&mut reader),
        )
    }

    /// Looks up a name in a directory; returns the handle and the attributes of the file. A
    /// symbolic link is not followed.
    pub fn look_up(
        &mut self,
        directory: &Handle,
        name: &[u8],
    ) -> Result<(Handle, FileAttributes), CallError> {
        let arguments = |out: &mut Vec<u8>| arguments::name_in(out, directory, name);
        let (handle, attributes) = self.call(Procedure::Lookup, arguments, results::lookup)?;
        match attributes {
            Some(attributes) => Ok((handle, attributes)),
            None => self.attributes(&handle).map(|found| (handle, found)),
        }
    }

    /// Returns the handle of the directory that `path` denotes relative to `from`. Symbolic links
    /// are not followed.
    ///
    /// # Errors
    /// Returns an error if a call fails, or if a part of the path is not a directory.
    pub fn open_directory(&mut self, from: &Handle, path: &[u8]) -> Result<Handle, CallError> {
        let mut directory = *from;
        let names = path.split(|byte| *byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            let (handle, attributes) = self.look_up(&directory, name)?;
            directory = match attributes.kind {
                FileKind::Directory => handle,
                FileKind::SymbolicLink => return Err(CallError::Failed(Errno::LOOP)),
                FileKind::File | FileKind::Other => {
                    return Err(CallError::Failed(Errno::NOTDIR));
                }
            };
        }
        Ok(directory)
    }

    /// Writes a call to the connection's buffer; returns the length of the call, or 0 without a
    /// connection.
    fn write(&mut self, procedure: Procedure, arguments: impl Fn(&mut Vec<u8>)) -> usize {
        let (head, xid) = (&self.endpoint.head, self.xid);
        let channel = self.channel.as_mut();
        channel.map_or(0, |channel| {
            head.write(channel.out(), xid, procedure, arguments)
        })
    }

    /// Sleeps for `wait` if the sleep ends before `until`; returns whether it slept.
    fn pause(&self, wait: Duration, until: Duration) -> bool {
        let has_time = self.timer.elapsed() + wait <= until;
        if has_time {
            std::thread::sleep(wait);
        }
        has_time
    }

    /// Returns the error for a call without a reply. With `may_be_done`, the server may have
    /// executed the call, so the error is `NotKnown`.
    fn gave_up(&self, may_be_done: bool, errno: Errno) -> CallError {
        if may_be_done {
            self.counters.not_known.add(1);
            return CallError::NotKnown;
        }
        CallError::Connection(errno)
    }

    /// Sends the buffer and waits for the reply; returns `None` if the server answered
    /// NFS3ERR_JUKEBOX.
    fn answer<T>(
        &mut self,
        procedure: Procedure,
        until: Duration,
        results: &impl Fn(Reader<'_>) -> Result<T, Garbled>,
    ) -> Result<Option<T>, Stopped> {
        loop {
            let Some(channel) = &mut self.channel else {
                return Err(Stopped::Lost(Errno::NOTCONN));
            };
            if let Err(broken) = exchange(channel) {
                return Err(self.broken(broken));
            }
            loop {
                let Some(channel) = &mut self.channel else {
                    return Err(Stopped::Lost(Errno::NOTCONN));
                };
                let record = match channel.records().next_record() {
                    Ok(Some(record)) => record,
                    Ok(None) => break,
                    Err(Garbled) => return Err(self.broken(Broken::Garbled)),
                };
                let bytes = channel.bytes(record);
                let answered = match rpc::reply(bytes) {
                    Ok((xid, body)) if xid == self.xid => {
                        self.counters.receives(procedure, bytes.len() + MARK_BYTES);
                        self.backoff.reset();
                        Some(read(procedure, body, results))
                    }
                    Ok(_) => {
                        self.counters.stray_replies.add(1);
                        None
                    }
                    Err(Garbled) => return Err(self.broken(Broken::Garbled)),
                };
                channel.records().done_with(record);
                if let Some(answered) = answered {
                    return answered.map_err(Stopped::Answered);
                }
            }
            if self.timer.elapsed() > until {
                return Err(Stopped::Answered(CallError::Connection(Errno::TIMEDOUT)));
            }
        }
    }

    fn broken(&mut self, broken: Broken) -> Stopped {
        match broken {
            Broken::Lost(errno) => Stopped::Lost(errno),
            Broken::Garbled => {
                self.channel = None;
                Stopped::Answered(CallError::Garbled)
            }
        }
    }

    /// Connects if there is no connection. The first connection attempt of a client is not
    /// repeated, so a server that refuses the connection is reported at once.
    fn connect(&mut self, until: Duration) -> Result<(), Errno> {
        while self.channel.is_none() {
            match self.connect_once(until) {
                Ok(channel) => {
                    self.counters.connections.add(1);
                    self.counters.reconnections.add(self.was_connected.into());
                    self.channel = Some(channel);
                    self.was_connected = true;
                }
                Err(errno) => {
                    let wait = self.backoff.next_wait();
                    if !self.was_connected || !self.pause(wait, until) {
                        return Err(errno);
                    }
                }
            }
        }
        Ok(())
    }

    fn connect_once(&self, until: Duration) -> Result<Channel, Errno> {
        let channel = Channel::begin(&self.endpoint)?;
        while !channel.wait(true, LOOK_EVERY)? {
            if self.timer.elapsed() > until {
                return Err(Errno::TIMEDOUT);
            }
        }
        channel.finish().map(|()| channel)
    }
}

/// Why a call got no results. After `Lost`, the call is repeated on a new connection. `Answered` is
/// final.
enum Stopped {
    Lost(Errno),
    Answered(CallError),
}

fn exchange(channel: &mut Channel) -> Result<(), Broken> {
    channel.send()?;
    if channel.has_unsent() {
        // Receives as well, because a server may accept no requests until its replies are read.
        channel.wait(true, LOOK_EVERY).map_err(Broken::Lost)?;
        channel.receive(false)?;
    } else {
        channel.receive(true)?;
    }
    Ok(())
}

/// Decodes a reply; `None` means that the server answered NFS3ERR_JUKEBOX.
fn read<T>(
    procedure: Procedure,
    body: Body<'_>,
    results: &impl Fn(Reader<'_>) -> Result<T, Garbled>,
) -> Result<Option<T>, CallError> {
    let mut reader = body?.map_err(CallError::Refused)?;
    match procedure.program() {
        Program::Nfs => match Status::read(&mut reader)? {
            Status::Done => {}
            Status::Later => return Ok(None),
            Status::Failed(errno) => return Err(CallError::Failed(errno)),
        },
        Program::Mount => match reader.u32()? {
            0 => {}
            status => return Err(errno(status).map_or(CallError::Garbled, CallError::Failed)),
        },
        Program::Portmapper => {}
    }
    results(reader).map(Some).map_err(CallError::from)
}
