//! Reads records from JSON.

use crate::partial_record::Completed;
use crate::read::{self, ReadError};
use crate::run::Record;

impl Record {
    /// Reads a record from its JSON, which is not trusted: [`crate::read`] defines the limits. The
    /// summary beside it is ignored, because it follows from the record.
    ///
    /// # Errors
    /// Returns an error if the text is not a record, is inconsistent, exceeds the limits, or has a
    /// newer schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::from_json(text)
    }
}

impl Completed {
    /// Reads a completed part from its JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not a part of a record, or exceeds the limits.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::part_from_json(text)
    }
}
