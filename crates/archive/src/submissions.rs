//! Stores other users' submissions. Each text is stored once and not interpreted.

use rusqlite::OptionalExtension;

use crate::archive::Archive;
use crate::error::ArchiveError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionOutcome {
    New,
    /// The archive already contained the same text.
    There,
    /// The submission replaced an earlier submission of the same run.
    Replaced,
}

impl Archive {
    /// Adds a submission, unless the archive contains the same text. The submission replaces an
    /// earlier one for which `is_of_same_run` returns true.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn add_submission(
        &mut self,
        text: &str,
        is_of_same_run: &dyn Fn(&str) -> bool,
    ) -> Result<SubmissionOutcome, ArchiveError> {
        self.change("import a submission to", |transaction| {
            let mut statement =
                transaction.prepare("SELECT number, text FROM submission ORDER BY number")?;
            let mut rows = statement.query([])?;
            let mut former: Option<i64> = None;
            while let Some(row) = rows.next()? {
                let other = row.get_ref(1)?.as_str()?;
                if other == text {
                    return Ok(SubmissionOutcome::There);
                }
                if is_of_same_run(other) {
                    former = Some(row.get(0)?);
                }
            }
            match former {
                Some(number) => {
                    transaction.execute(
                        "UPDATE submission SET text = ? WHERE number = ?",
                        (text, number),
                    )?;
                    Ok(SubmissionOutcome::Replaced)
                }
                None => {
                    transaction.execute("INSERT INTO submission (text) VALUES (?)", [text])?;
                    Ok(SubmissionOutcome::New)
                }
            }
        })
    }

    /// Returns all submissions with their numbers, in the order in which they were added.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be read.
    pub fn submissions(&self) -> Result<Vec<(u64, String)>, ArchiveError> {
        let read = || {
            let mut statement = self
                .db
                .prepare("SELECT number, text FROM submission ORDER BY number")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?.max(0) as u64, row.get(1)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(u64, String)>>>()
        };
        read().map_err(|cause| self.failed("read", cause))
    }

    /// Removes the submission with this number and returns its text. Returns `None` if no
    /// submission has the number.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn delete_submission(&mut self, number: u64) -> Result<Option<String>, ArchiveError> {
        // A number beyond the range of the column belongs to no row. Such a number is replaced by
        // -1, which also belongs to no row.
        let number = i64::try_from(number).unwrap_or(-1);
        self.change("remove a submission from", |transaction| {
            let remove = "DELETE FROM submission WHERE number = ? RETURNING text";
            transaction
                .query_row(remove, [number], |row| row.get(0))
                .optional()
        })
    }
}
