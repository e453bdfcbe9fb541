use crate::partial_record::Completed;
use crate::read::{self, ReadError};
use crate::run::Record;

impl Record {
    /// Reads a record from its JSON, which is not trusted: [`crate::read`] defines the limits. A
    /// summary in the same JSON document is ignored, because it can be computed from the record.
    ///
    /// # Errors
    /// Returns an error if the text is not a record, is inconsistent, exceeds the limits, or has a
    /// newer schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::from_json(text)
    }
}

impl Completed {
    /// Reads a completed part of a record from JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not a part of a record, or exceeds the limits.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        read::part_from_json(text)
    }
}
