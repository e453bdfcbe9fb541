//! The hardware and software of a system, as a record describes them.

use document::Document;
use document::html as rendered;
use record::Record;

use crate::environment;

/// Maximum size of the facts about a system, in bytes of HTML. A record may contain thousands of
/// devices.
const FACTS_BYTES_MAX: usize = 32 << 10;

/// The hardware and software that a record describes, as HTML.
pub(super) fn facts(record: &Record) -> String {
    let mut document = Document::default();
    environment::machine(&mut document, record);
    let text = rendered(&document);
    match text.len() <= FACTS_BYTES_MAX {
        true => text,
        false => "<p>The description is too long for this page: see the record.</p>\n".to_owned(),
    }
}
