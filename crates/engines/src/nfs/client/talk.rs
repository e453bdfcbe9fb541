//! Calls one at a time, each waited for: what a run's home does, and how servers are found. A call
//! whose connection was lost is sent again on another one, which is counted; never on the same one.

use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

use engine::Errno;
use rustix::io::Errno as System;

use super::channel::{Broken, Channel, LOOK_EVERY};
use super::counters::Counters;
use super::data::{Status, errno};
use super::procedure::{Procedure, Program};
use super::rpc::{self, Body, CallHead, RpcRefusal};
use super::timer::Timer;
use super::xdr::{Garbled, Reader};

/// Why a call was not performed, or what it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// No connection, or no reply in time.
    Connection(Errno),
    /// The server refused the call as such.
    Refused(RpcRefusal),
    /// The procedure failed.
    Failed(Errno),
    /// The reply is none.
    Garbled,
    /// The call was repeated, and its answer does not tell what the first one did.
    NotKnown,
}

impl CallError {
    pub(crate) fn errno(self) -> Errno {
        match self {
            Self::Connection(errno) | Self::Failed(errno) => errno,
            Self::Refused(refusal) => refusal.errno(),
            Self::Garbled => Errno(libc::EBADMSG),
            Self::NotKnown => Errno(libc::ECONNRESET),
        }
    }
}

impl From<Garbled> for CallError {
    fn from(_: Garbled) -> Self {
        Self::Garbled
    }
}

pub(crate) fn ours(errno: System) -> Errno {
    Errno(errno.raw_os_error())
}

/// How a program is reached.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) address: SocketAddr,
    pub(crate) privileged: bool,
    pub(crate) head: CallHead,
    pub(crate) timeout: Duration,
    pub(crate) record_bytes_max: usize,
}

/// Waits before the first repetition of what a server asked to be asked later, or before another
/// attempt to connect; then twice as long each time.
pub(crate) const DELAY_MIN: Duration = Duration::from_millis(5);
/// No wait is longer.
pub(crate) const DELAY_MAX: Duration = Duration::from_secs(1);

/// How long to wait before the next attempt to connect: not at all at first, as servers close idle
/// connections; then longer each time, until the server has answered something.
#[derive(Debug, Default)]
pub(crate) struct Backoff(Duration);

impl Backoff {
    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.0;
        self.0 = (wait * 2).clamp(DELAY_MIN, DELAY_MAX);
        wait
    }

    #[inline]
    pub(crate) fn reset(&mut self) {
        self.0 = Duration::ZERO;
    }
}

/// A connection to a program, made when it is needed.
#[derive(Debug)]
pub(crate) struct Talk {
    way: Way,
    channel: Option<Channel>,
    was_connected: bool,
    backoff: Backoff,
    xid: u32,
    timer: Timer,
    counters: Arc<Counters>,
}

/// A first number of transactions that no other run begins with, by chance.
pub(crate) fn any_number() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

impl Talk {
    pub(crate) fn new(way: Way, counters: Arc<Counters>) -> Result<Self, Errno> {
        Ok(Self {
            way,
            channel: None,
            was_connected: false,
            backoff: Backoff::default(),
            xid: any_number() as u32,
            timer: Timer::new().map_err(ours)?,
            counters,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.way.address
    }

    /// Since it was made.
    pub(crate) fn elapsed(&self) -> Duration {
        self.timer.elapsed()
    }

    /// Its connection, made if there is none, for somebody who has several calls at once under way.
    pub(crate) fn into_channel(mut self) -> Result<Channel, Errno> {
        let until = self.timer.elapsed() + self.way.timeout;
        self.connect(until)?;
        self.channel.ok_or(Errno(libc::ENOTCONN))
    }

    /// Makes a call, and reads its results.
    pub(crate) fn call<T>(
        &mut self,
        procedure: Procedure,
        arguments: impl Fn(&mut Vec<u8>),
        results: impl Fn(Reader<'_>) -> Result<T, Garbled>,
    ) -> Result<T, CallError> {
        let until = self.timer.elapsed() + self.way.timeout;
        let (mut is_counted, mut was_sent) = (false, false);
        let mut delay = DELAY_MIN;
        self.xid = self.xid.wrapping_add(1);
        loop {
            if let Err(errno) = self.connect(until) {
                return Err(self.gave_up(was_sent && procedure.differs_repeated(), errno));
            }
            let Some(channel) = &mut self.channel else {
                return Err(CallError::Connection(Errno(libc::ENOTCONN)));
            };
            let bytes = self
                .way
                .head
                .write(channel.out(), self.xid, procedure, &arguments);
            // What did not leave wholly is the same call still.
            if !is_counted || was_sent {
                self.counters.sends(procedure, bytes, was_sent);
                is_counted = true;
            }
            match self.answer(procedure, until, &results) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => {
                    self.counters.delayed.add(1);
                    if self.timer.elapsed() + delay > until {
                        return Err(CallError::Connection(Errno::TIMEDOUT));
                    }
                    std::thread::sleep(delay);
                    delay = (delay * 2).min(DELAY_MAX);
                    self.xid = self.xid.wrapping_add(1);
                    (is_counted, was_sent) = (false, false);
                }
                Err(Stopped::Lost(errno)) => {
                    let whole = self
                        .channel
                        .take()
                        .is_some_and(|channel| !channel.has_unsent());
                    was_sent |= whole;
                    // A server may take every connection and close it before it has answered.
                    let wait = self.backoff.next();
                    if self.timer.elapsed() + wait > until {
                        return Err(
                            self.gave_up(was_sent && procedure.differs_repeated(), ours(errno))
                        );
                    }
                    std::thread::sleep(wait);
                }
                Err(Stopped::Answered(CallError::Failed(Errno::EXIST | Errno::NOENT)))
                    if was_sent && procedure.differs_repeated() =>
                {
                    self.counters.not_known.add(1);
                    return Err(CallError::NotKnown);
                }
                Err(Stopped::Answered(error)) => return Err(error),
            }
        }
    }

    /// The time is over. What was sent, and differs where it is repeated, may have been performed.
    fn gave_up(&self, may_be_done: bool, errno: Errno) -> CallError {
        if may_be_done {
            self.counters.not_known.add(1);
            return CallError::NotKnown;
        }
        CallError::Connection(errno)
    }

    /// Sends what is to be sent and waits for the reply; `None` where the server asks for the call
    /// later.
    fn answer<T>(
        &mut self,
        procedure: Procedure,
        until: Duration,
        results: &impl Fn(Reader<'_>) -> Result<T, Garbled>,
    ) -> Result<Option<T>, Stopped> {
        loop {
            let Some(channel) = &mut self.channel else {
                return Err(Stopped::Lost(System::NOTCONN));
            };
            if let Err(broken) = exchange(channel) {
                return Err(self.broken(broken));
            }
            loop {
                let Some(channel) = &mut self.channel else {
                    return Err(Stopped::Lost(System::NOTCONN));
                };
                let record = match channel.records().next() {
                    Ok(Some(record)) => record,
                    Ok(None) => break,
                    Err(Garbled) => return Err(self.broken(Broken::Garbled)),
                };
                let bytes = channel.bytes(record);
                let answered = match rpc::reply(bytes) {
                    Ok((xid, body)) if xid == self.xid => {
                        self.counters
                            .receives(procedure, bytes.len() + rpc::MARK_BYTES);
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

    /// Sees to it that there is a connection. Who never had one is not kept waiting for a server
    /// that refuses.
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
                    let wait = self.backoff.next();
                    if !self.was_connected || self.timer.elapsed() + wait > until {
                        return Err(ours(errno));
                    }
                    std::thread::sleep(wait);
                }
            }
        }
        Ok(())
    }

    fn connect_once(&self, until: Duration) -> Result<Channel, System> {
        let channel = Channel::begin(
            self.way.address,
            self.way.privileged,
            self.way.record_bytes_max,
        )?;
        while !channel.wait(true, LOOK_EVERY)? {
            if self.timer.elapsed() > until {
                return Err(System::TIMEDOUT);
            }
        }
        channel.finish().map(|()| channel)
    }
}

/// Why there is no answer yet.
enum Stopped {
    Lost(System),
    Answered(CallError),
}

fn exchange(channel: &mut Channel) -> Result<(), Broken> {
    channel.send()?;
    if channel.has_unsent() {
        // Both directions: a server that waits for its replies to be read takes no requests.
        channel.wait(true, LOOK_EVERY).map_err(Broken::Lost)?;
        channel.receive(false)?;
    } else {
        channel.receive(true)?;
    }
    Ok(())
}

/// What a reply says: `None` that the server wants to be asked later.
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
