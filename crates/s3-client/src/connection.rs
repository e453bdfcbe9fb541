//! A connection that performs one request at a time and never blocks.

use std::io::{ErrorKind, IoSlice};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::body::Framing;
use crate::error::{CallError, errno};
use crate::head::{Garbled, Head, head_length};
use crate::request::{Request, Writer};
use crate::server::Server;
use crate::transport::Transport;

/// The reason why a request got no usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The connection was lost.
    Lost(Errno),
    /// The answer violates the protocol or a limit.
    Garbled,
}

impl From<Garbled> for Broken {
    fn from(_: Garbled) -> Self {
        Self::Garbled
    }
}

/// Receives the parts of an answer as they arrive.
pub trait Sink {
    /// Receives the head.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be used; the connection is then closed.
    fn head(&mut self, head: &Head) -> Result<(), Garbled>;

    /// Receives bytes of the body.
    ///
    /// # Errors
    /// Returns an error if the body exceeds a limit.
    fn data(&mut self, bytes: &[u8]) -> Result<(), Garbled>;
}

/// The events that a connection waits for: bytes from the server and, with `to_send`, room in the
/// send buffer of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// Whether the connection also waits until the kernel accepts more bytes of the request.
    pub to_send: bool,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The answer is complete.
    Done,
    /// The request or the answer is not complete.
    Waits(Wants),
    /// [`receive`](Connection::receive) must be called again at once, because the socket may have
    /// more bytes.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    Head,
    Body(Framing),
}

/// Interim answers (status 1xx) beyond this number are not accepted.
const INTERIM_MAX: u32 = 8;
const BUFFER_BYTES: usize = 64 << 10;

/// A connection to a server. Between two requests it stays open if the server permits that.
#[derive(Debug)]
pub struct Connection {
    transport: Transport,
    /// The head of the request.
    out: Vec<u8>,
    sent: usize,
    body_bytes: usize,
    /// The error of a failed write. The server may have answered before it closed the connection,
    /// so the answer is still read.
    failed_write: Option<Errno>,
    input: Vec<u8>,
    begin: usize,
    end: usize,
    stage: Stage,
    has_no_body: bool,
    interim: u32,
    keeps_alive: bool,
    received: u64,
    /// The time at which the current request began. Between two requests, the time at which the
    /// last request ended.
    since: Instant,
    limit: Duration,
}

impl Connection {
    /// Connects to a server. Blocks, at most for the server's time limit, and with encryption for
    /// the same time again.
    ///
    /// # Errors
    /// Returns the system's error, or the reason why the connection cannot be encrypted.
    pub fn connect(server: &Server) -> Result<Self, CallError> {
        Ok(Self {
            transport: Transport::connect(server)?,
            out: Vec::with_capacity(2048),
            sent: 0,
            body_bytes: 0,
            failed_write: None,
            input: vec![0; BUFFER_BYTES],
            begin: 0,
            end: 0,
            stage: Stage::Idle,
            has_no_body: false,
            interim: 0,
            keeps_alive: true,
            received: 0,
            since: Instant::now(),
            limit: server.timeout,
        })
    }

    /// The socket, for poll(2).
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.transport.descriptor()
    }

    /// Whether the next request can be sent: the last answer is complete, the server keeps the
    /// connection open, and no unrequested bytes have arrived. A system call checks this, because
    /// a server may close a connection at any time, and a request on a closed connection fails.
    pub fn is_usable(&mut self) -> bool {
        let is_idle = self.stage == Stage::Idle && self.keeps_alive && self.begin == self.end;
        is_idle && self.transport.is_silent()
    }

    /// Whether the connection is idle, but cannot be used for another request. Usually, the last
    /// answer announced that the server closes the connection.
    pub fn is_closing(&self) -> bool {
        self.stage == Stage::Idle && !self.keeps_alive
    }

    /// The time that is left until the time limit of the current request; zero after the limit.
    pub fn time_left(&self) -> Duration {
        self.limit.saturating_sub(self.since.elapsed())
    }

    /// Replaces the time limit of the current request by that of an exchange of `bytes` bytes
    /// ([`Server::limit`]).
    pub fn extend_limit(&mut self, server: &Server, bytes: u64) {
        self.limit = server.limit(bytes);
    }

    pub(crate) fn begin_with(
        &mut self,
        writer: &mut Writer,
        request: &Request<'_>,
        now_s: i64,
        limit: Duration,
    ) {
        self.out.clear();
        writer.write(request, now_s, &mut self.out);
        (self.sent, self.body_bytes, self.failed_write) = (0, request.body.len(), None);
        (self.begin, self.end) = (0, 0);
        self.stage = Stage::Head;
        self.has_no_body = request.kind.method() == "HEAD";
        (self.interim, self.received) = (0, 0);
        (self.since, self.limit) = (Instant::now(), limit);
    }

    /// Whether the kernel accepted the whole request.
    pub fn was_sent(&self) -> bool {
        self.sent == self.out.len() + self.body_bytes && self.transport.is_flushed()
    }

    /// Bytes of the request that were sent, and bytes of the answer that were received, both
    /// without encryption.
    pub fn bytes(&self) -> (u64, u64) {
        (self.sent as u64, self.received)
    }

    /// Sends as many bytes of the request as the kernel accepts. `body` must be the body with which
    /// the request began.
    #[inline]
    pub fn send(&mut self, body: &[u8]) -> Wants {
        while !self.was_sent() && self.failed_write.is_none() {
            let head = self.out.get(self.sent..).unwrap_or_default();
            let body = &body[self.sent.saturating_sub(self.out.len())..];
            let written = match (head, body) {
                ([], []) => self.transport.flush().map(|()| 0),
                (head, []) => self.transport.write(&[IoSlice::new(head)]),
                ([], body) => self.transport.write(&[IoSlice::new(body)]),
                (head, body) => {
                    let both = [IoSlice::new(head), IoSlice::new(body)];
                    self.transport.write(&both)
                }
            };
            match written {
                Ok(bytes) => self.sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.failed_write = Some(errno(&error)),
            }
        }
        self.wants()
    }

    /// The events to wait for before the next call of [`send`](Self::send) or
    /// [`receive`](Self::receive).
    pub fn wants(&self) -> Wants {
        Wants {
            to_send: !self.was_sent() && self.failed_write.is_none(),
        }
    }

    /// Makes one receive call, and passes the received part of the answer to `sink`.
    ///
    /// # Errors
    /// Returns an error if the connection was lost, or if the answer cannot be used. The connection
    /// must then be dropped.
    #[inline]
    pub fn receive(&mut self, sink: &mut dyn Sink) -> Result<Progress, Broken> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            self.input.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        match self.transport.read(&mut self.input[self.end..]) {
            Ok(0) => Err(Broken::Lost(self.failed_write.unwrap_or(Errno::CONNRESET))),
            Ok(bytes) => {
                self.end += bytes;
                self.received += bytes as u64;
                if self.parse(sink)? {
                    self.since = Instant::now();
                    return Ok(Progress::Done);
                }
                Ok(match self.end == self.input.len() {
                    true => Progress::More,
                    false => Progress::Waits(self.wants()),
                })
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Ok(Progress::Waits(self.wants()))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Progress::More),
            Err(error) => Err(Broken::Lost(self.failed_write.unwrap_or(errno(&error)))),
        }
    }

    /// Parses received bytes; returns whether the answer is complete.
    fn parse(&mut self, sink: &mut dyn Sink) -> Result<bool, Garbled> {
        loop {
            let bytes = &self.input[self.begin..self.end];
            match &mut self.stage {
                // The server sent bytes without a request.
                Stage::Idle => return Err(Garbled),
                Stage::Head => {
                    let Some(length) = head_length(bytes)? else {
                        return Ok(false);
                    };
                    let head = Head::parse(&bytes[..length])?;
                    self.begin += length;
                    if head.status < 200 {
                        self.interim += 1;
                        if self.interim > INTERIM_MAX {
                            return Err(Garbled);
                        }
                        continue;
                    }
                    self.keeps_alive = head.keeps_alive;
                    let framing = Framing::new(&head, self.has_no_body)?;
                    sink.head(&head)?;
                    self.stage = Stage::Body(framing);
                }
                Stage::Body(Framing::Done) => {
                    self.stage = Stage::Idle;
                    // If the server answered before the whole request was sent, the connection
                    // cannot be used for another request.
                    self.keeps_alive &= self.was_sent();
                    return Ok(true);
                }
                Stage::Body(framing) => {
                    let taken = framing.take(bytes)?;
                    let data = &bytes[taken.skipped..taken.skipped + taken.data];
                    if !data.is_empty() {
                        sink.data(data)?;
                    }
                    self.begin += taken.skipped + taken.data;
                    if taken.skipped + taken.data == 0 && *framing != Framing::Done {
                        return Ok(false);
                    }
                }
            }
        }
    }
}
