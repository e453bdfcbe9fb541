//! How the body of an answer is delimited: by its length, or in chunks (RFC 9112, sections 6 and
//! 7).

use crate::head::{Garbled, Head};

/// Maximum length in bytes of the line before a chunk, and of all trailers together.
const LINES_BYTES_MAX: usize = 4 << 10;

/// What follows next in the bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A body with `Content-Length`: the number of bytes that are left.
    Length(u64),
    /// Inside of a chunk: the number of bytes that are left of this chunk.
    Chunk(u64),
    /// Outside of chunks. `true`: the line with the length of the next chunk follows. `false`: the
    /// line end of the last chunk follows first.
    ChunkLine(bool),
    /// Trailers after the last chunk: the number of bytes of trailers that were received.
    Trailers(usize),
    /// The body is complete.
    Done,
}

/// What [`Framing::take`] found at the start of the received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Number of bytes of framing, before the data.
    pub skipped: usize,
    /// Number of bytes of the body's data, after the framing.
    pub data: usize,
}

impl Framing {
    /// Determines the framing of the body of an answer.
    ///
    /// # Errors
    /// Returns an error if a body has neither a length nor chunks. The end of such a body looks
    /// like a lost connection.
    pub fn new(head: &Head, has_no_body: bool) -> Result<Self, Garbled> {
        if has_no_body || matches!(head.status, 100..=199 | 204 | 304) {
            return Ok(Self::Done);
        }
        match (head.is_chunked, head.length) {
            (true, _) => Ok(Self::ChunkLine(true)),
            (false, Some(0)) => Ok(Self::Done),
            (false, Some(length)) => Ok(Self::Length(length)),
            (false, None) => Err(Garbled),
        }
    }

    /// Takes framing and data from the start of `bytes`. Nothing is taken if more bytes are needed.
    ///
    /// # Errors
    /// Returns an error if the framing is invalid or exceeds a limit.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Taken, Garbled> {
        let taken = |skipped, data| Ok(Taken { skipped, data });
        match *self {
            Self::Length(left) | Self::Chunk(left) => {
                let data = left.min(bytes.len() as u64);
                *self = match (*self, left - data) {
                    (Self::Chunk(_), 0) => Self::ChunkLine(false),
                    (Self::Chunk(_), left) => Self::Chunk(left),
                    (_, 0) => Self::Done,
                    (_, left) => Self::Length(left),
                };
                taken(0, data as usize)
            }
            Self::ChunkLine(false) => match bytes {
                [b'\r', b'\n', ..] => {
                    *self = Self::ChunkLine(true);
                    taken(2, 0)
                }
                [] | [b'\r'] => taken(0, 0),
                _ => Err(Garbled),
            },
            Self::ChunkLine(true) => match line(bytes, LINES_BYTES_MAX)? {
                None => taken(0, 0),
                Some(text) => {
                    *self = match chunk_length(text)? {
                        0 => Self::Trailers(0),
                        length => Self::Chunk(length),
                    };
                    taken(text.len() + 2, 0)
                }
            },
            Self::Trailers(so_far) => match line(bytes, LINES_BYTES_MAX - so_far)? {
                None => taken(0, 0),
                Some(text) => {
                    *self = match text.is_empty() {
                        true => Self::Done,
                        false => Self::Trailers(so_far + text.len() + 2),
                    };
                    taken(text.len() + 2, 0)
                }
            },
            Self::Done => taken(0, 0),
        }
    }
}

/// Returns the line at the start of `bytes` without `\r\n`; `None` if the line is incomplete.
fn line(bytes: &[u8], bytes_max: usize) -> Result<Option<&[u8]>, Garbled> {
    let within = &bytes[..bytes.len().min(bytes_max)];
    match within.windows(2).position(|two| two == b"\r\n") {
        Some(at) => Ok(Some(&bytes[..at])),
        None if bytes.len() >= bytes_max => Err(Garbled),
        None => Ok(None),
    }
}

fn chunk_length(line: &[u8]) -> Result<u64, Garbled> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = digits.trim_ascii();
    if digits.is_empty() || digits.len() > 15 {
        return Err(Garbled);
    }
    digits.iter().try_fold(0, |sum: u64, byte| {
        let digit = char::from(*byte).to_digit(16).ok_or(Garbled)?;
        Ok(sum << 4 | u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a body that arrives in pieces of `piece` bytes. Returns the data, and whether the
    /// body is complete.
    fn body(mut framing: Framing, text: &[u8], piece: usize) -> Result<(Vec<u8>, bool), Garbled> {
        let (mut data, mut pending) = (Vec::new(), Vec::new());
        for bytes in text.chunks(piece) {
            pending.extend_from_slice(bytes);
            loop {
                let before = framing;
                let taken = framing.take(&pending)?;
                data.extend_from_slice(&pending[taken.skipped..taken.skipped + taken.data]);
                pending.drain(..taken.skipped + taken.data);
                if framing == before && taken.skipped + taken.data == 0 {
                    break;
                }
            }
        }
        Ok((data, framing == Framing::Done))
    }

    #[test]
    fn bodies_are_read_in_pieces_of_any_size() {
        let chunks = b"3\r\nabc\r\n00a;x=y\r\n0123456789\r\n0\r\nx: y\r\n\r\n";
        for piece in 1..=chunks.len() {
            let read = body(Framing::ChunkLine(true), chunks, piece);
            assert_eq!(read, Ok((b"abc0123456789".to_vec(), true)), "{piece}");
            assert_eq!(
                body(Framing::Length(4), b"abcd", piece),
                Ok((b"abcd".to_vec(), true))
            );
        }
        assert_eq!(
            body(Framing::Length(5), b"abcd", 9),
            Ok((b"abcd".to_vec(), false))
        );
    }

    #[test]
    fn invalid_chunks_are_rejected() {
        for text in [
            "x\r\n",
            "\r\n",
            "-1\r\n",
            "1234567890123456\r\n",
            "1\r\nab",
            "1\r\na\n",
        ] {
            assert_eq!(
                body(Framing::ChunkLine(true), text.as_bytes(), 99),
                Err(Garbled),
                "{text}"
            );
        }
        let endless = [b'1'; LINES_BYTES_MAX];
        assert_eq!(body(Framing::ChunkLine(true), &endless, 99), Err(Garbled));
        let trailers = ["0\r\n".to_owned(), "x: y\r\n".repeat(LINES_BYTES_MAX)].concat();
        assert_eq!(
            body(Framing::ChunkLine(true), trailers.as_bytes(), 99),
            Err(Garbled)
        );
    }

    #[test]
    fn answers_without_length_are_rejected() {
        let head = |text: &str| Head::parse(text.replace('\n', "\r\n").as_bytes()).unwrap();
        let without = head("HTTP/1.1 200 OK\nConnection: close\n\n");
        assert_eq!(Framing::new(&without, false), Err(Garbled));
        assert_eq!(Framing::new(&without, true), Ok(Framing::Done));
        let none = head("HTTP/1.1 204 No Content\n\n");
        assert_eq!(Framing::new(&none, false), Ok(Framing::Done));
    }
}
