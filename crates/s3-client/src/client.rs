//! A client that makes one request at a time, and waits for its answer.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::connection::{Broken, Connection, Progress, Sink, Wants};
use crate::counters::Counters;
use crate::error::{CallError, Failed, Reason};
use crate::head::{Garbled, Head, Tag};
use crate::request::{Condition, Kind, Request, Writer};
use crate::server::Server;
use crate::xml::{self, Listed, Page, Upload};

/// What a server reports about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The size in bytes.
    pub size_bytes: u64,
    /// The date of the last change, in seconds since the epoch.
    pub modified_s: Option<i64>,
    /// The entity tag (`ETag`), with its quotes.
    pub tag: Option<Tag>,
}

/// Receives a whole answer into memory. A body that exceeds the limit is an error.
#[derive(Debug)]
pub struct Collected {
    /// The head, once it has arrived.
    pub head: Option<Head>,
    /// The bytes of the body that have arrived.
    pub body: Vec<u8>,
    bytes_max: usize,
}

impl Collected {
    /// Creates an empty collection for bodies of up to `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            head: None,
            body: Vec::new(),
            bytes_max,
        }
    }
}

impl Sink for Collected {
    fn head(&mut self, head: &Head) -> Result<(), Garbled> {
        self.head = Some(*head);
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<(), Garbled> {
        if self.body.len() + bytes.len() > self.bytes_max {
            return Err(Garbled);
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }
}

/// Checks whether an answer reports an error. Even an answer with status 200 may report one,
/// because a server may have sent the status before the error occurred.
///
/// # Errors
/// Returns the error of the answer.
pub fn check(head: &Head, body: &[u8]) -> Result<(), CallError> {
    let code = xml::error_code(body);
    match (200..300).contains(&head.status) && code.is_none() {
        true => Ok(()),
        false => Err(CallError::Failed(Failed::new(
            head.status,
            &code.unwrap_or_default(),
        ))),
    }
}

/// The limit for the size of bodies is at least this number of bytes, so that the document of an
/// error fits.
const SMALL_BYTES_MAX: usize = 64 << 10;

/// Begins requests on connections, for callers that have several connections.
#[derive(Debug)]
pub struct Requests {
    server: Arc<Server>,
    writer: Writer,
}

impl Requests {
    /// Creates the buffers for requests to a server.
    pub fn new(server: &Arc<Server>) -> Self {
        Self {
            server: Arc::clone(server),
            writer: Writer::new(server),
        }
    }

    /// Begins a request on an idle connection, without sending it. Reads the system's clock for the
    /// signature and the time limit.
    pub fn begin(&mut self, connection: &mut Connection, request: &Request<'_>) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now_s = now.map_or(0, |now| now.as_secs() as i64);
        let limit = self.server.limit(request.body.len() as u64);
        connection.begin_with(&mut self.writer, request, now_s, limit);
    }
}

/// A client with one connection, which is opened by the first request, and again after it was
/// closed.
#[derive(Debug)]
pub struct Client {
    server: Arc<Server>,
    requests: Requests,
    counters: Arc<Counters>,
    connection: Option<Connection>,
    /// Whether the last request lost its connection.
    is_lost: bool,
}

impl Client {
    /// Creates a client without a connection.
    pub fn new(server: &Arc<Server>, counters: Arc<Counters>) -> Self {
        Self {
            requests: Requests::new(server),
            server: Arc::clone(server),
            counters,
            connection: None,
            is_lost: false,
        }
    }

    /// Makes a request and passes its answer to `sink`.
    ///
    /// # Errors
    /// Returns an error if no answer arrived; answers with an error status are passed to `sink`.
    pub fn call(&mut self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), CallError> {
        let mut earlier = self.connection.take();
        let is_usable = earlier.as_mut().is_some_and(Connection::is_usable);
        let mut connection = match earlier {
            Some(connection) if is_usable => connection,
            earlier => {
                self.is_lost |= earlier.is_some_and(|connection| !connection.is_closing());
                let connection = Connection::connect(&self.server)?;
                self.counters.connections.add(1);
                let is_lost = mem::take(&mut self.is_lost);
                self.counters.reconnections.add(u64::from(is_lost));
                connection
            }
        };
        self.requests.begin(&mut connection, request);
        let ended = exchange(&mut connection, request.body, sink);
        let (sent, received) = connection.bytes();
        self.counters.ends(request.kind, sent, received);
        let was_sent = connection.was_sent();
        self.is_lost = ended.is_err();
        match ended {
            Ok(()) => {
                self.connection = Some(connection);
                Ok(())
            }
            Err(Broken::Lost(error)) => Err(CallError::Lost { error, was_sent }),
            Err(Broken::Garbled) => Err(CallError::Garbled),
        }
    }

    fn collect(
        &mut self,
        request: &Request<'_>,
        bytes_max: usize,
    ) -> Result<(Head, Vec<u8>), CallError> {
        let mut collected = Collected::new(bytes_max.max(SMALL_BYTES_MAX));
        self.call(request, &mut collected)?;
        let head = collected.head.ok_or(CallError::Garbled)?;
        // The contents of an object are not parsed: an object may contain the XML of an error.
        let is_object = request.kind == Kind::Get && (200..300).contains(&head.status);
        if !is_object {
            let checked = check(&head, &collected.body);
            let is_slow = checked.is_err_and(|error| error.is(Reason::SlowDown));
            self.counters.slow_downs.add(u64::from(is_slow));
            checked?;
        }
        Ok((head, collected.body))
    }

    /// Requests the properties of an object; `None` if it does not exist.
    ///
    /// # Errors
    /// Returns the error of the request.
    pub fn head(&mut self, key: &[u8]) -> Result<Option<Found>, CallError> {
        match self.collect(&Request::new(Kind::Head, key), 0) {
            Ok((head, _)) => Ok(Some(Found {
                size_bytes: head.length.unwrap_or(0),
                modified_s: head.modified_s,
                tag: head.tag,
            })),
            Err(error) if error.is(Reason::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes an object.
    ///
    /// # Errors
    /// Returns the error of the request; [`Reason::Exists`] if the condition is not fulfilled.
    pub fn put(
        &mut self,
        key: &[u8],
        body: &[u8],
        condition: Condition<'_>,
    ) -> Result<(), CallError> {
        let request = Request {
            condition,
            body,
            ..Request::new(Kind::Put, key)
        };
        self.collect(&request, 0).map(drop)
    }

    /// Reads up to `count` bytes of an object from the offset `first` on; fewer if the object ends
    /// earlier.
    ///
    /// # Errors
    /// Returns the error of the request.
    pub fn get(&mut self, key: &[u8], first: u64, count: usize) -> Result<Vec<u8>, CallError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let request = Request {
            range: Some((first, count as u64)),
            ..Request::new(Kind::Get, key)
        };
        match self.collect(&request, count) {
            Ok((head, body)) if head.status == 206 && body.len() <= count => Ok(body),
            // An empty object has no ranges, so a server may return all of it.
            Ok((_, body)) if body.is_empty() => Ok(body),
            Ok(_) => Err(CallError::Garbled),
            Err(error) if error.is(Reason::Range) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Removes an object; also succeeds if there is no such object.
    ///
    /// # Errors
    /// Returns the error of the request.
    pub fn delete(&mut self, key: &[u8]) -> Result<(), CallError> {
        self.collect(&Request::new(Kind::Delete, key), 0).map(drop)
    }

    /// Requests a page of a listing of keys that begin with `prefix`, and calls `each` for every
    /// entry. With `by_directory`, keys that contain a slash after `prefix` are not listed.
    /// Instead, each beginning of such keys, up to this slash, is listed once as a common prefix.
    ///
    /// # Errors
    /// Returns the error of the request.
    pub fn list(
        &mut self,
        prefix: &[u8],
        by_directory: bool,
        token: Option<&[u8]>,
        entries_max: usize,
        each: &mut dyn FnMut(&Listed<'_>),
    ) -> Result<Page, CallError> {
        let entries_max = entries_max.to_string();
        let query = list_query(prefix, by_directory, token, entries_max.as_bytes());
        let request = Request {
            query: &query,
            ..Request::new(Kind::List, b"")
        };
        let (_, body) = self.collect(&request, xml::DOCUMENT_BYTES_MAX)?;
        xml::list(&body, each).map_err(|Garbled| CallError::Garbled)
    }

    /// Lists incomplete multipart uploads whose keys begin with `prefix`, from `after` on. Also
    /// returns where the next page begins; `None` if this page is the last one.
    ///
    /// # Errors
    /// Returns the error of the request.
    pub fn uploads(
        &mut self,
        prefix: &[u8],
        after: Option<&Upload>,
    ) -> Result<(Vec<Upload>, Option<Upload>), CallError> {
        let after_all: [(&str, &[u8]); 4];
        let of_all: [(&str, &[u8]); 2] = [("prefix", prefix), ("uploads", b"")];
        let query: &[(&str, &[u8])] = match after {
            None => &of_all,
            Some(after) => {
                after_all = [
                    ("key-marker", &after.key),
                    of_all[0],
                    ("upload-id-marker", &after.id),
                    of_all[1],
                ];
                &after_all
            }
        };
        let request = Request {
            query,
            ..Request::new(Kind::ListUploads, b"")
        };
        let (_, body) = self.collect(&request, xml::DOCUMENT_BYTES_MAX)?;
        xml::uploads(&body).map_err(|Garbled| CallError::Garbled)
    }

    /// Aborts an upload; the server then removes its parts.
    ///
    /// # Errors
    /// Returns the error of the request.
    pub fn abort(&mut self, upload: &Upload) -> Result<(), CallError> {
        let request = Request {
            query: &[("uploadId", &upload.id)],
            ..Request::new(Kind::AbortUpload, &upload.key)
        };
        self.collect(&request, 0).map(drop)
    }
}

/// Returns the query parameters of `ListObjectsV2` for the arguments of [`Client::list`].
pub fn list_query<'a>(
    prefix: &'a [u8],
    by_directory: bool,
    token: Option<&'a [u8]>,
    entries_max: &'a [u8],
) -> Vec<(&'static str, &'a [u8])> {
    let mut query: Vec<(&'static str, &[u8])> = Vec::with_capacity(5);
    if let Some(token) = token {
        query.push(("continuation-token", token));
    }
    if by_directory {
        query.push(("delimiter", b"/"));
    }
    query.extend([
        ("list-type", &b"2"[..]),
        ("max-keys", entries_max),
        ("prefix", prefix),
    ]);
    query
}

/// Performs a request that has begun, and waits for its answer.
fn exchange(connection: &mut Connection, body: &[u8], sink: &mut dyn Sink) -> Result<(), Broken> {
    let mut progress = Progress::Waits(connection.send(body));
    loop {
        match progress {
            Progress::Done => return Ok(()),
            Progress::More => {}
            Progress::Waits(wants) => {
                let left = connection.time_left();
                if left.is_zero() {
                    return Err(Broken::Lost(Errno::TIMEDOUT));
                }
                wait(connection, wants, left);
                if wants.to_send {
                    connection.send(body);
                }
            }
        }
        progress = connection.receive(sink)?;
    }
}

fn wait(connection: &Connection, wants: Wants, limit: Duration) {
    let mut events = PollFlags::IN;
    if wants.to_send {
        events |= PollFlags::OUT;
    }
    let limit = Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: limit.subsec_nanos().into(),
    };
    let descriptor = connection.descriptor();
    // After an interrupted wait, the caller finds that nothing has arrived, and waits again.
    let _ = poll(&mut [PollFd::new(&descriptor, events)], Some(&limit));
}

/// Measures elapsed time, for callers that read no clock themselves.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins to measure.
    #[allow(clippy::new_without_default, reason = "the time of creation matters")]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// The time since the creation.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
