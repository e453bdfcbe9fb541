//! A run from JSON.

use crate::partial_record::Completed;
use crate::read::{self, ReadError};
use crate::run::Record;

impl Record {
    /// A record from its JSON, which is not trusted: [`crate::read`] has the limits. The summary
    /// beside it is not read: it follows from the record.
    ///
    /// # Errors
    /// Where the text is no record, one that no run can have written, or one of a newer schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::from_json(text)
    }
}

impl Completed {
    /// A part from its JSON.
    ///
    /// # Errors
    /// Where the text is no part of a record, or is past the limits of one.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::part_from_json(text)
    }
}
