//! Results of crash rounds. They are entries like runs: with a number, tags and a note, and a JSON
//! document that the caller reads and writes.

use rusqlite::{OptionalExtension, params};
use verdict::Headline;

use crate::archive::Archive;
use crate::content;
use crate::error::ArchiveError;
use crate::filter::signed;
use crate::remarks::Remarks;
use crate::write::{insert, replace, update};

/// The beginning of every document, which no record has.
pub(crate) const BEGIN: &str = "{\"crash_schema\":";

impl Archive {
    /// Adds the result of crash rounds as a compact JSON document, and returns its number. A result
    /// of the same rounds is replaced and keeps its tags and note, because the rounds may have been
    /// continued.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn put_crash(
        &mut self,
        headline: &Headline,
        json: &str,
        remarks: &Remarks,
    ) -> Result<u64, ArchiveError> {
        let packed = content::pack(json);
        self.change("add crash rounds to", |transaction| {
            let query = "SELECT number FROM run WHERE id = ? AND crash IS NOT NULL";
            let values = params![headline.id.to_string()];
            let found: Option<i64> = transaction
                .query_row(query, values, |row| row.get(0))
                .optional()?;
            let Some(number) = found.map(|number| number.max(0) as u64) else {
                let number = insert(transaction, headline, None, &packed)?;
                remarks.write(transaction, number)?;
                return Ok(number);
            };
            update(transaction, number, headline)?;
            replace(transaction, number, &packed)?;
            Ok(number)
        })
    }

    /// Returns the JSON document of crash rounds.
    ///
    /// # Errors
    /// Returns an error if the entry does not exist or cannot be read, or if it is a run.
    pub fn crash(&self, number: u64) -> Result<String, ArchiveError> {
        let (text, _) = self.content(number)?;
        match text.starts_with(BEGIN) {
            true => Ok(text),
            false => Err(ArchiveError::other(format!(
                "entry {} of the archive {} is a run, not the result of crash rounds",
                signed(number),
                self.path.display()
            ))),
        }
    }
}
