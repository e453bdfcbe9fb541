//! The histograms of documents as short texts, which is half of what their lists take when both are
//! compressed: the numbers of buckets follow from one another. What is done here to a text is
//! undone exactly.
//!
//! `"buckets":[[5,3],[6,40],[9,1]]` becomes `"buckets":"FDoBABB"`, and back. Neither can stand
//! within a string of JSON, whose quotation marks have a backslash before them.

use std::io::{self, BufRead, Error, ErrorKind, Read};

use measure::{packed, unpacked};

const LIST: &str = "\"buckets\":[[";
const TEXT: &str = "\"buckets\":\"";
const END: &str = "]]";
/// What lies between two quotation marks is no longer, in bytes: as long as any string of a record.
const BETWEEN_BYTES_MAX: u64 = 4 << 20;

/// A document with its histograms as texts; none of one that would not come back as it is.
pub(super) fn shorter(document: &str) -> Option<String> {
    if document.contains(TEXT) {
        return None;
    }
    let mut shorter = String::with_capacity(document.len() / 2);
    let mut rest = document;
    while let Some((before, after)) = rest.split_once(LIST) {
        let (list, behind) = after.split_once(END)?;
        shorter += before;
        shorter += TEXT;
        shorter += &packed(pairs(list)?)?;
        shorter.push('"');
        rest = behind;
    }
    Some(shorter + rest)
}

/// `5,3],[6,40` as it is written by us: without a space, a sign or a zero before a number.
fn pairs(list: &str) -> Option<Vec<(usize, u64)>> {
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|number| number.to_string() == text)
    };
    let pair = |pair: &str| {
        let (index, count) = pair.split_once(',')?;
        Some((usize::try_from(number(index)?).ok()?, number(count)?))
    };
    list.split("],[").map(pair).collect()
}

/// The documents as they were, of shorter ones.
pub(super) struct Longer<R> {
    source: R,
    /// What is given next, and how much of it has been.
    ready: Vec<u8>,
    given: usize,
    /// What was read is the name of buckets, and then what stands before their text.
    is_name: bool,
    is_text: bool,
}

impl<R: BufRead> Longer<R> {
    pub(super) fn of(source: R) -> Self {
        Self {
            source,
            ready: Vec::new(),
            given: 0,
            is_name: false,
            is_text: false,
        }
    }

    /// Reads up to the next quotation mark; nothing at the end.
    fn go_on(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        let mut limited = self.source.by_ref().take(BETWEEN_BYTES_MAX + 1);
        limited.read_until(b'"', &mut self.ready)?;
        if self.ready.len() as u64 > BETWEEN_BYTES_MAX {
            return Err(spoilt());
        }
        if std::mem::take(&mut self.is_text) {
            // The quotation mark before it was held back.
            let text = self
                .ready
                .strip_suffix(b"\"")
                .and_then(|text| std::str::from_utf8(text).ok());
            let buckets = text
                .and_then(unpacked)
                .filter(|buckets| !buckets.is_empty());
            let pairs = buckets.ok_or_else(spoilt)?;
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(index, count)| format!("[{index},{count}]"))
                .collect();
            self.ready = format!("[{}]", pairs.join(",")).into_bytes();
        } else if std::mem::replace(&mut self.is_name, self.ready == b"buckets\"")
            && self.ready == b":\""
        {
            self.is_text = true;
            self.ready.pop();
        }
        Ok(())
    }
}

fn spoilt() -> Error {
    Error::new(
        ErrorKind::InvalidData,
        "the histograms in the HTML file are truncated or damaged (use another copy of the file)",
    )
}

impl<R: BufRead> Read for Longer<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            self.go_on()?;
        }
        let mut rest = &self.ready[self.given..];
        let read = rest.read(into)?;
        self.given += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(shorter: &str) -> io::Result<String> {
        let mut text = String::new();
        Longer::of(shorter.as_bytes()).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn documents_come_back_as_they_were() {
        let list = concat!(
            r#"{"a":"\"buckets\":[[","buckets":[[5,3],[6,40],[9,1]],"#,
            r#""b":{"buckets":[[4351,18446744073709551615]]}}"#
        );
        let document = format!("{list}\n{{\"buckets\":[]}}\n{list}");
        let shorter = shorter(&document).unwrap();
        assert_eq!(
            shorter.matches(r#""buckets":"FDoBABB""#).count(),
            2,
            "{shorter}"
        );
        assert!(shorter.contains(r#""buckets":[]"#), "{shorter}");
        assert_eq!(back(&shorter).unwrap(), document);
        assert_eq!(back("").unwrap(), "");
    }

    #[test]
    fn what_would_not_come_back_stays() {
        for other in [
            "{\"buckets\":[[5, 3]]}",
            "{\"buckets\":[[05,3]]}",
            "{\"buckets\":[[6,3],[5,3]]}",
            "{\"buckets\":[[5,0]]}",
            "{\"buckets\":[[5,3",
            "{\"buckets\":[[5]]}",
            "{\"buckets\":\"FD\"}",
        ] {
            assert_eq!(shorter(other), None, "{other}");
        }
    }

    #[test]
    fn damaged_and_endless_texts_are_refused() {
        for text in [
            "{\"buckets\":\"F!\"}",
            "{\"buckets\":\"FD",
            "{\"buckets\":\"\"}",
        ] {
            assert!(back(text).is_err(), "{text}");
        }
        let endless = " ".repeat(BETWEEN_BYTES_MAX as usize + 2);
        assert!(back(&endless).is_err());
    }
}
