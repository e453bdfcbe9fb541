//! Converts the histograms in a document from lists to short texts, and exactly back. The
//! compressed texts are half as long as the compressed lists, because the texts contain differences
//! of bucket indices.
//!
//! `"buckets":[[5,3],[6,40],[9,1]]` becomes `"buckets":"FDoBABB"`, from which the list is restored.
//! Neither form can occur within a JSON string, because quotation marks in a string are preceded by
//! a backslash.

use std::io::{self, BufRead, Error, ErrorKind, Read};

use measure::{packed, unpacked};

const LIST: &str = "\"buckets\":[[";
const TEXT: &str = "\"buckets\":\"";
const END: &str = "]]";
/// Maximum number of bytes between two quotation marks: the maximum length of a string in a record.
const BETWEEN_BYTES_MAX: u64 = 4 << 20;

/// Converts the histograms of a document to texts; `None` if the conversion could not be reversed
/// exactly.
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

/// Parses pairs such as `5,3],[6,40`. Fails if a number contains a space, a sign or a leading zero,
/// which the conversion back would not restore.
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

/// A reader that restores the original documents from shortened ones.
pub(super) struct Longer<R> {
    source: R,
    /// Bytes for the caller, of which the first `given` have been returned.
    ready: Vec<u8>,
    given: usize,
    /// Whether the text before the last quotation mark was the key `buckets`.
    is_name: bool,
    /// Whether the next bytes are the value of the key `buckets`: a histogram as a short text.
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

    /// Reads up to the next quotation mark. `ready` is empty at the end of the source.
    fn go_on(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        let mut limited = self.source.by_ref().take(BETWEEN_BYTES_MAX + 1);
        limited.read_until(b'"', &mut self.ready)?;
        if self.ready.len() as u64 > BETWEEN_BYTES_MAX {
            return Err(spoilt());
        }
        if std::mem::take(&mut self.is_text) {
            // The text ends with its closing quotation mark. The list that replaces the text has
            // none.
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
    fn shortened_documents_are_restored_exactly() {
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
    fn documents_that_cannot_be_restored_are_not_shortened() {
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
    fn damaged_and_endless_histogram_texts_are_refused() {
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
