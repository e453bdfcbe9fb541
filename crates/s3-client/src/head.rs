//! Heads of HTTP answers: the status line and the headers that the client uses.

use crate::date;

/// The answer violates the protocol or a limit of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's answer could not be understood")]
pub struct Garbled;

/// Maximum size in bytes of a head; a longer one is [`Garbled`].
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// The entity tag of an object, up to a length that no known server exceeds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    length: u8,
    bytes: [u8; Tag::BYTES_MAX],
}

impl Tag {
    const BYTES_MAX: usize = 128;

    /// Copies a tag with its quotes; `None` if it is empty or too long.
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::BYTES_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let length = text.len() as u8;
        (length > 0).then_some(Self { length, bytes })
    }

    /// The tag as the server sent it, including quotes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl std::fmt::Debug for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tag({})", self.bytes().escape_ascii())
    }
}

/// The head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The HTTP status, from 100 to 599.
    pub status: u16,
    /// `Content-Length`, in bytes.
    pub length: Option<u64>,
    /// Whether the body is sent in chunks.
    pub is_chunked: bool,
    /// Whether the connection can be used for another request.
    pub keeps_alive: bool,
    /// `ETag`, with its quotes.
    pub tag: Option<Tag>,
    /// `Last-Modified`, in seconds since the epoch.
    pub modified_s: Option<i64>,
}

/// Returns the length in bytes of the head at the start of `bytes`, including the empty line at its
/// end. `None` if the head is not complete.
///
/// # Errors
/// Returns an error if the head exceeds [`HEAD_BYTES_MAX`].
pub fn head_length(bytes: &[u8]) -> Result<Option<usize>, Garbled> {
    let within = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let end = within.windows(4).position(|four| four == b"\r\n\r\n");
    match end {
        Some(at) => Ok(Some(at + 4)),
        None if bytes.len() >= HEAD_BYTES_MAX => Err(Garbled),
        None => Ok(None),
    }
}

/// Parses a decimal number, without a sign.
fn number(text: &[u8]) -> Option<u64> {
    let digit = |sum: u64, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    (!text.is_empty())
        .then(|| text.iter().try_fold(0, digit))
        .flatten()
}

impl Head {
    /// Parses a complete head.
    ///
    /// # Errors
    /// Returns an error if the status line or a header that the client uses is invalid, or if
    /// headers contradict each other.
    pub fn parse(bytes: &[u8]) -> Result<Self, Garbled> {
        let text = bytes.strip_suffix(b"\r\n\r\n").ok_or(Garbled)?;
        let mut lines = text.split(|byte| *byte == b'\n');
        let line = lines.next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let rest = line.strip_prefix(b"HTTP/1.").ok_or(Garbled)?;
        let (minor, rest) = rest.split_first().ok_or(Garbled)?;
        let status = rest.strip_prefix(b" ").and_then(|rest| rest.get(..3));
        let status = status.and_then(number).ok_or(Garbled)?;
        if !(100..=599).contains(&status) || !matches!(rest.get(4), None | Some(b' ')) {
            return Err(Garbled);
        }
        let mut head = Self {
            status: status as u16,
            length: None,
            is_chunked: false,
            keeps_alive: *minor != b'0',
            tag: None,
            modified_s: None,
        };
        for line in lines {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            head.take(line)?;
        }
        match head.is_chunked && head.length.is_some() {
            true => Err(Garbled),
            false => Ok(head),
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Garbled> {
        let colon = line.iter().position(|byte| *byte == b':').ok_or(Garbled)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return Err(Garbled);
        }
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        if is(b"content-length") {
            let length = number(value).ok_or(Garbled)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(Garbled);
            }
            self.length = Some(length);
        } else if is(b"transfer-encoding") {
            // The client supports only the transfer coding `chunked`.
            if !value.eq_ignore_ascii_case(b"chunked") || self.is_chunked {
                return Err(Garbled);
            }
            self.is_chunked = true;
        } else if is(b"connection") {
            if value.eq_ignore_ascii_case(b"close") {
                self.keeps_alive = false;
            } else if value.eq_ignore_ascii_case(b"keep-alive") {
                self.keeps_alive = true;
            }
        } else if is(b"etag") {
            self.tag = Tag::new(value);
        } else if is(b"last-modified") {
            self.modified_s = date::of_http(value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Head, Garbled> {
        Head::parse(text.replace('\n', "\r\n").as_bytes())
    }

    #[test]
    fn used_headers_are_parsed() {
        let head = parse(
            "HTTP/1.1 200 OK\ncontent-LENGTH: 12\nETag: \"abc\"\nx-other: \n\
             Last-Modified: Thu, 26 Nov 2026 20:43:00 GMT\n\n",
        )
        .unwrap();
        assert_eq!(
            (head.status, head.length, head.keeps_alive),
            (200, Some(12), true)
        );
        assert_eq!(head.tag.unwrap().bytes(), b"\"abc\"");
        assert_eq!(head.modified_s, Some(1_795_725_780));
        let chunked =
            parse("HTTP/1.1 503\nTransfer-Encoding: Chunked\nConnection: close\n\n").unwrap();
        assert!(chunked.is_chunked && !chunked.keeps_alive);
        assert!(!parse("HTTP/1.0 200 OK\n\n").unwrap().keeps_alive);
    }

    #[test]
    fn invalid_heads_are_rejected() {
        for text in [
            "\n\n",
            "HTTP/2 200 OK\n\n",
            "HTTP/1.1 20 OK\n\n",
            "HTTP/1.1 2000\n\n",
            "HTTP/1.1 999 No\n\n",
            "HTTP/1.1 200 OK\nno colon\n\n",
            "HTTP/1.1 200 OK\n : x\n\n",
            "HTTP/1.1 200 OK\nContent-Length: -1\n\n",
            "HTTP/1.1 200 OK\nContent-Length: 99999999999999999999999\n\n",
            "HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2\n\n",
            "HTTP/1.1 200 OK\nContent-Length: 1\nTransfer-Encoding: chunked\n\n",
            "HTTP/1.1 200 OK\nTransfer-Encoding: gzip\n\n",
        ] {
            assert_eq!(parse(text), Err(Garbled), "{text:?}");
        }
    }

    #[test]
    fn endless_head_is_rejected_at_the_limit() {
        let endless = vec![b'x'; HEAD_BYTES_MAX];
        assert_eq!(head_length(&endless[..HEAD_BYTES_MAX - 1]), Ok(None));
        assert_eq!(head_length(&endless), Err(Garbled));
        assert_eq!(head_length(b"HTTP/1.1 200 OK\r\n\r\nbody"), Ok(Some(19)));
    }
}
