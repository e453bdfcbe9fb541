//! Receives the answer to the request of an operation: checks the length of an object, keeps its
//! contents for verification, and collects other bodies.

use engine::Cause;
use s3_client::{Garbled, Head, Sink, xml};

/// Maximum size in bytes of a body that is neither an object nor a listing.
const SMALL_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The status and headers of the answer; `None` until they have arrived.
    pub(super) head: Option<Head>,
    /// The body of the answer; empty if the body is an object.
    pub(super) body: Vec<u8>,
    pub(super) is_listing: bool,
    /// Whether the request is a GET of an object. `wants_range` is `true` if it requests only a
    /// range.
    pub(super) wants_object: bool,
    pub(super) wants_range: bool,
    /// Number of bytes of the object that the answer must contain.
    pub(super) expected_bytes: u64,
    /// Number of bytes of the object that arrived.
    pub(super) read_bytes: u64,
    /// The last bytes of the object, for verification.
    pub(super) kept: Vec<u8>,
    /// Maximum number of bytes that are kept; 0 keeps none.
    pub(super) keep_bytes: usize,
    /// The difference between the object and the expected one; `None` if none was found yet.
    pub(super) wrong: Option<Cause>,
}

impl Answer {
    /// Removes the answer to the previous request, but not the contents that are kept for
    /// verification.
    pub(super) fn clear(&mut self) {
        self.head = None;
        self.body.clear();
        (self.is_listing, self.wants_object, self.wants_range) = (false, false, false);
        (self.expected_bytes, self.wrong) = (0, None);
    }

    /// Whether the answer contains the requested object: its head arrived, with a status of
    /// success.
    pub(super) fn is_object(&self) -> bool {
        let is_done = |head: &Head| (200..300).contains(&head.status);
        self.wants_object && self.head.as_ref().is_some_and(is_done)
    }

    fn is_wrong(&mut self, cause: Cause) -> Result<(), Garbled> {
        self.wrong = Some(cause);
        Err(Garbled)
    }

    /// Keeps the data for verification. When `keep_bytes` are stored, the buffer is emptied and
    /// filled from its start.
    #[inline]
    fn keep(&mut self, mut data: &[u8]) {
        while self.keep_bytes > 0 && !data.is_empty() {
            if self.kept.len() == self.keep_bytes {
                self.kept.clear();
            }
            let room = self.keep_bytes - self.kept.len();
            let (now, later) = data.split_at(data.len().min(room));
            self.kept.extend_from_slice(now);
            data = later;
        }
    }
}

impl Sink for Answer {
    fn head(&mut self, head: &Head) -> Result<(), Garbled> {
        self.head = Some(*head);
        if !self.is_object() {
            return Ok(());
        }
        let (found, expected) = (head.length, self.expected_bytes);
        // If the object ends inside the requested range, the server returns only the existing
        // bytes.
        match found {
            _ if self.wants_range && head.status != 206 => Err(Garbled),
            Some(read) if self.wants_range && read < expected => {
                self.is_wrong(Cause::EndedEarly { read, expected })
            }
            Some(_) if self.wants_range && found > Some(expected) => Err(Garbled),
            Some(read) if read < expected => self.is_wrong(Cause::EndedEarly { read, expected }),
            Some(found) if found > expected => self.is_wrong(Cause::WrongSize { found, expected }),
            _ => Ok(()),
        }
    }

    #[inline]
    fn data(&mut self, bytes: &[u8]) -> Result<(), Garbled> {
        if self.is_object() {
            self.read_bytes += bytes.len() as u64;
            if self.read_bytes > self.expected_bytes {
                return Err(Garbled);
            }
            self.keep(bytes);
            return Ok(());
        }
        let most = match self.is_listing {
            true => xml::DOCUMENT_BYTES_MAX,
            false => SMALL_BYTES_MAX,
        };
        if self.body.len() + bytes.len() > most {
            return Err(Garbled);
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }
}
