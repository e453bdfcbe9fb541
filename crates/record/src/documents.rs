//! Reads a text of several JSON documents, such as an export of runs. Only one document at a time
//! is in memory.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use crate::read::BYTES_MAX;

/// Iterates over the JSON objects of a text, which may be longer than memory. The first error ends
/// the iteration.
///
/// The end of an object is determined by its brackets only. The code that parses the object detects
/// invalid JSON.
pub struct Documents<R> {
    source: BufReader<R>,
    bytes_max: usize,
    /// True as soon as `next` has returned an object or an error. A text that ends earlier contains
    /// only white space, which is an error.
    has_any: bool,
    /// Whether an error has ended the iteration.
    is_over: bool,
}

/// The error that ends the iteration over documents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The source returned this error while the text was read.
    #[error("cannot read it: {0}")]
    Read(std::io::Error),
    /// The text contains only white space.
    #[error("it is empty")]
    Nothing,
    /// The next document is not an object.
    #[error("expected a JSON object")]
    NoObject,
    /// The text ends within an object.
    #[error("it is truncated: the last bracket is missing")]
    CutOff,
    /// The object has more bytes than the iterator accepts. The value is this limit.
    #[error("it is too long for a record (more than {0} bytes)")]
    TooLong(usize),
    /// The object is not UTF-8.
    #[error("it is not UTF-8")]
    NoText,
}

impl<R: Read> Documents<R> {
    /// Creates an iterator over the documents of a source. Each may have at most [`BYTES_MAX`]
    /// bytes.
    pub fn of(source: R) -> Self {
        Self::up_to(source, BYTES_MAX)
    }

    /// Creates an iterator over the documents of a source. Each may have at most `bytes_max` bytes.
    pub fn up_to(source: R, bytes_max: usize) -> Self {
        Self {
            source: BufReader::with_capacity(1 << 16, source),
            bytes_max,
            has_any: false,
            is_over: false,
        }
    }

    /// Skips white space, and returns whether the text continues after it.
    fn begins(&mut self) -> Result<bool, DocumentError> {
        loop {
            let some = filled(&mut self.source)?;
            let blanks = some
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            let (is_end, is_all) = (some.is_empty(), blanks == some.len());
            self.source.consume(blanks);
            if is_end {
                return Ok(false);
            }
            if !is_all {
                return Ok(true);
            }
        }
    }

    fn document(&mut self) -> Result<String, DocumentError> {
        let mut bytes = Vec::new();
        let mut brackets = Brackets::default();
        loop {
            let some = filled(&mut self.source)?;
            if some.is_empty() {
                return Err(DocumentError::CutOff);
            }
            if bytes.is_empty() && some[0] != b'{' {
                return Err(DocumentError::NoObject);
            }
            let ends_at = some.iter().position(|byte| brackets.close_with(*byte));
            let length = ends_at.map_or(some.len(), |place| place + 1);
            if bytes.len() + length > self.bytes_max {
                return Err(DocumentError::TooLong(self.bytes_max));
            }
            bytes.extend_from_slice(&some[..length]);
            self.source.consume(length);
            if ends_at.is_some() {
                return String::from_utf8(bytes).map_err(|_| DocumentError::NoText);
            }
        }
    }
}

/// Returns the unused bytes in the buffer. An empty buffer is refilled, except at the end of the
/// source.
fn filled<R: Read>(source: &mut BufReader<R>) -> Result<&[u8], DocumentError> {
    loop {
        match source.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(DocumentError::Read(error)),
            Ok(_) => break,
        }
    }
    Ok(source.buffer())
}

impl<R: Read> Iterator for Documents<R> {
    type Item = Result<String, DocumentError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let found = match self.begins() {
            Ok(true) => self.document(),
            Ok(false) if self.has_any => return None,
            Ok(false) => Err(DocumentError::Nothing),
            Err(error) => Err(error),
        };
        self.has_any = true;
        self.is_over = found.is_err();
        Some(found)
    }
}

/// The brackets that are open at the current position in a document.
#[derive(Default)]
struct Brackets {
    open: u64,
    in_string: bool,
    is_escaped: bool,
}

impl Brackets {
    /// Processes a byte, and returns whether it closes the document's first bracket.
    fn close_with(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.open += 1,
            b'}' | b']' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that returns one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    fn all(text: &str) -> Vec<Result<String, String>> {
        let of = |documents: &mut dyn Iterator<Item = Result<String, DocumentError>>| -> Vec<_> {
            documents
                .map(|found| found.map_err(|error| error.to_string()))
                .collect()
        };
        let at_once = of(&mut Documents::up_to(text.as_bytes(), 40));
        assert_eq!(
            at_once,
            of(&mut Documents::up_to(Slow(text.as_bytes()), 40))
        );
        at_once
    }

    #[test]
    fn document_ends_with_its_last_bracket() {
        let text = " {\"a\":[{}, \"}\\\"]{\\\\\"]}{}\n\n{\"b\":1} \n";
        let found: Vec<String> = all(text).into_iter().map(Result::unwrap).collect();
        assert_eq!(found, ["{\"a\":[{}, \"}\\\"]{\\\\\"]}", "{}", "{\"b\":1}"]);
    }

    #[test]
    fn first_invalid_document_ends_the_iteration() {
        for (text, whole, told) in [
            ("", 0, "empty"),
            (" \n", 0, "empty"),
            ("{}x{}", 1, "expected a JSON object"),
            ("[{}]", 0, "expected a JSON object"),
            ("{} {\"a\":\"}", 1, "truncated"),
            (
                "{\"a\":\"0123456789012345678901234567890123456789\"}{}",
                0,
                "too long",
            ),
        ] {
            let found = all(text);
            assert_eq!(found.len(), whole + 1, "{text}");
            assert!(found[..whole].iter().all(Result::is_ok), "{text}");
            let error = found[whole].as_ref().unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
        let mut broken = Documents::of(&b"{\"\xff\"} {}"[..]);
        assert!(matches!(broken.next(), Some(Err(DocumentError::NoText))));
        assert!(broken.next().is_none());
    }
}
