//! What others have submitted: texts that somebody else knows the meaning of, each kept once.

use crate::Archive;
use crate::error::ArchiveError;

impl Archive {
    /// Adds a submission, unless the same text is there. Says whether it is new.
    ///
    /// # Errors
    /// Where nothing could be written.
    pub fn add_submission(&mut self, text: &str) -> Result<bool, ArchiveError> {
        self.change("import a submission to", |transaction| {
            let added = transaction.execute("INSERT OR IGNORE INTO submission (text) VALUES (?)", [text])?;
            Ok(added > 0)
        })
    }

    /// All submissions, in the order in which they came.
    ///
    /// # Errors
    /// Where the archive cannot be read.
    pub fn submissions(&self) -> Result<Vec<String>, ArchiveError> {
        let read = || {
            let mut statement = self.db.prepare("SELECT text FROM submission ORDER BY number")?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|cause| self.failed("read", cause))
    }
}
