//! Embeds records in a page: compressed, in an element that browsers neither execute nor show.
//! Reading restores the records exactly.

mod histograms;

use std::io::{self, BufReader, Cursor, Read, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use self::histograms::{Longer, shorter};

/// Maximum size of a page in bytes, for writing and for reading.
pub const PAGE_BYTES_MAX: usize = 64 << 20;
/// Maximum size of the uncompressed records in a page, in bytes. The largest page contains 48 MiB
/// of compressed records, because Base64 adds a third. Uncompressed records are usually ten times
/// as large, about 480 MiB.
pub const RECORDS_BYTES_MAX: u64 = 2 << 30;
/// Records of up to this size, in bytes, are compressed with the best compression level. For larger
/// records, the best level would take seconds.
const THOROUGH_BYTES_MAX: usize = 24 << 20;
const BEGIN: &str = "<script type=\"application/vnd.postmark.records+gzip\" id=\"records\">";
/// The beginning of the element if the histograms in the records are converted to short texts.
const BEGIN_SHORTER: &str = "<script type=\"application/vnd.postmark.records+gzip\" \
                             data-histograms=\"packed\" id=\"records\">";
const END: &str = "</script>";

/// Why the records of a page cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    #[error("the HTML file holds no records (use a file that 'postmark report' wrote)")]
    None,
    #[error("the records in the HTML file are truncated or damaged (use another copy of the file)")]
    Damaged,
    #[error("the HTML file has more than {} MiB (name fewer runs)", PAGE_BYTES_MAX >> 20)]
    TooLong,
}

/// Checks that a page is not too large to be read back.
///
/// # Errors
/// Returns an error if the page is too large.
pub fn fits(page: &str) -> Result<(), PageError> {
    match page.len() <= PAGE_BYTES_MAX {
        true => Ok(()),
        false => Err(PageError::TooLong),
    }
}

/// The HTML element that contains the documents (records as JSON), one after another.
pub(super) fn element(documents: &[&str]) -> String {
    let short: Option<Vec<String>> = documents.iter().map(|document| shorter(document)).collect();
    match short {
        Some(short) => packed(BEGIN_SHORTER, short.iter().map(String::as_str)),
        None => packed(BEGIN, documents.iter().copied()),
    }
}

fn packed<'a>(begin: &str, documents: impl Iterator<Item = &'a str> + Clone) -> String {
    let all: usize = documents.clone().map(str::len).sum();
    let level = match all <= THOROUGH_BYTES_MAX {
        true => Compression::best(),
        false => Compression::fast(),
    };
    let mut packer = GzEncoder::new(Vec::new(), level);
    for document in documents {
        // Writing to memory cannot fail.
        let _ = packer.write_all(document.as_bytes());
    }
    let packed = packer.finish().unwrap_or_default();
    format!("{begin}{}{END}\n", BASE64_STANDARD.encode(packed))
}

/// Whether a text with this beginning is a page and not JSON.
pub fn is_page(beginning: &[u8]) -> bool {
    beginning.trim_ascii_start().first() == Some(&b'<')
}

/// Returns a reader of the documents in a page, exactly as they were embedded. The reader
/// decompresses while the caller reads, so the caller can limit the size.
///
/// # Errors
/// Returns an error if the page is too large or contains no documents, or if the encoding is
/// damaged. Damage of the compressed data becomes an error of the returned reader.
pub fn records(page: &[u8]) -> Result<Box<dyn Read>, PageError> {
    if page.len() > PAGE_BYTES_MAX {
        return Err(PageError::TooLong);
    }
    // The first match is the element: the content before it cannot contain these texts, because
    // brackets in the content are escaped.
    let found = [(BEGIN_SHORTER, true), (BEGIN, false)]
        .into_iter()
        .find_map(|(begin, is_shorter)| {
            Some((
                memory_find(page, begin.as_bytes())? + begin.len(),
                is_shorter,
            ))
        });
    let (at, is_shorter) = found.ok_or(PageError::None)?;
    let length = memory_find(&page[at..], END.as_bytes()).ok_or(PageError::Damaged)?;
    let packed = BASE64_STANDARD.decode(&page[at..at + length]);
    let documents = GzDecoder::new(Cursor::new(packed.map_err(|_| PageError::Damaged)?));
    Ok(match is_shorter {
        true => Box::new(Limited::of(Longer::of(BufReader::new(documents)))),
        false => Box::new(Limited::of(documents)),
    })
}

/// A reader that returns an error if the records exceed the maximum size, instead of truncating
/// them.
struct Limited<R> {
    source: R,
    left: u64,
}

impl<R> Limited<R> {
    fn of(source: R) -> Self {
        let left = RECORDS_BYTES_MAX;
        Self { source, left }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let why = format!(
                "the records in the HTML file have more than {} GiB",
                RECORDS_BYTES_MAX >> 30
            );
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        Ok(read)
    }
}

fn memory_find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_above_the_maximum_size_are_refused() {
        let mut limited = Limited {
            source: io::repeat(b' '),
            left: 1_000,
        };
        let mut read = Vec::new();
        let error = limited.read_to_end(&mut read).unwrap_err();
        assert!(error.to_string().contains("more than 2 GiB"), "{error}");
        let mut short = Limited {
            source: io::repeat(b' ').take(1_000),
            left: 1_000,
        };
        assert_eq!(short.read_to_end(&mut Vec::new()).unwrap(), 1_000);
    }

    /// An element begins with `BEGIN_SHORTER` if the histograms of its documents can be converted
    /// to short texts, and otherwise with `BEGIN`. Reading either element restores the documents.
    #[test]
    fn documents_without_usual_histograms_stay_unchanged() {
        for (document, begin) in [
            ("{\"buckets\":[[5,3]]}", BEGIN_SHORTER),
            ("{\"buckets\": \"x\"}", BEGIN_SHORTER),
            ("{\"buckets\":\"x\"}", BEGIN),
        ] {
            let element = element(&[document, document]);
            assert!(element.starts_with(begin), "{element}");
            let mut read = String::new();
            records(element.as_bytes())
                .unwrap()
                .read_to_string(&mut read)
                .unwrap();
            assert_eq!(read, document.repeat(2));
        }
    }
}
