//! The records within a page: packed once, in an element that no browser executes or shows, and read back as they were.

use std::io::{Cursor, Read, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// No page that is read is longer, in bytes.
pub const PAGE_BYTES_MAX: usize = 64 << 20;
const BEGIN: &str = "<script type=\"application/vnd.postmark.records+gzip\" id=\"records\">";
const END: &str = "</script>";

/// Why a page has no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// Nothing in it says that there are some.
    #[error("the HTML file holds no records (use a file that 'postmark report' wrote)")]
    None,
    /// They are not as they were written.
    #[error("the records in the HTML file are truncated or damaged (use another copy of the file)")]
    Damaged,
}

/// The element with these documents, one after another.
pub(super) fn element(documents: &[&str]) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    for document in documents {
        // Writing to memory cannot fail.
        let _ = packer.write_all(document.as_bytes());
    }
    let packed = packer.finish().unwrap_or_default();
    format!("{BEGIN}{}{END}\n", BASE64_STANDARD.encode(packed))
}

/// Whether a text that begins so is a page, and no JSON.
pub fn is_page(beginning: &[u8]) -> bool {
    beginning.trim_ascii_start().first() == Some(&b'<')
}

/// The documents within a page, as they were given: they are unpacked while they are read, so that whoever reads sets the limit.
///
/// # Errors
/// Where there are none, or they are damaged. What is damaged further on is an error of reading.
pub fn records(page: &[u8]) -> Result<impl Read + use<>, PageError> {
    // Behind everything that is shown, in which nobody can write this element: its brackets are escaped there.
    let at = memory_find(page, BEGIN.as_bytes()).ok_or(PageError::None)? + BEGIN.len();
    let length = memory_find(&page[at..], END.as_bytes()).ok_or(PageError::Damaged)?;
    let packed = BASE64_STANDARD.decode(&page[at..at + length]);
    Ok(GzDecoder::new(Cursor::new(packed.map_err(|_| PageError::Damaged)?)))
}

fn memory_find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
