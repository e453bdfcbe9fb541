//! Writes runs during and after their execution, and the remarks that users add to runs.

use std::borrow::Borrow;

use record::{Completed, Outcome, Record};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, named_params, params};
use verdict::list_row::class_name;
use verdict::{Headline, State};

use crate::archive::Archive;
use crate::content;
use crate::error::{ArchiveError, ArchiveErrorKind};
use crate::filter::signed;
use crate::mark::is_alive;
use crate::open;
use crate::remarks::{self, Remarks, Tag};
use crate::work_word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// The record was added under this number.
    New(u64),
    /// The record, or a later state of the same run, already existed under this number.
    There(u64),
    /// An unfinished record of the run existed under this number. The complete record replaced it;
    /// the tags and the note were kept.
    Completed(u64),
    /// A run with the same ID but another record exists under this number; nothing was changed.
    Conflict(u64),
    /// A run with the same ID exists under this number, but its record cannot be read; nothing was
    /// changed.
    Unreadable(u64),
}

impl Archive {
    /// Adds a run that is about to begin, with its initial record and remarks, and returns its
    /// number. `writer` is the text of `own_mark`, which identifies this process. Other processes
    /// use this text to check whether this process is alive.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn begin(
        &mut self,
        head: &Record,
        writer: &str,
        remarks: &Remarks,
    ) -> Result<u64, ArchiveError> {
        let headline = going(head);
        let packed = content::pack(&content::text(head));
        self.change("add a run to", |transaction| {
            let number = insert(transaction, &headline, Some(writer), &packed)?;
            remarks.write(transaction, number)?;
            Ok(number)
        })
    }

    /// Adds a part (a phase or a load level) that a run has completed. `so_far` is the run's record
    /// including this part.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written, or the run was deleted.
    pub fn complete(
        &mut self,
        number: u64,
        completed: &Completed,
        so_far: &Record,
    ) -> Result<(), ArchiveError> {
        let packed = content::pack(&content::part(completed));
        self.change_run("write a phase to", number, &going(so_far), |transaction| {
            let insert = "INSERT INTO part (run, place, json) VALUES (?1, (SELECT count(*) FROM \
                          part WHERE run = ?1), ?2)";
            let values = params![signed(number), packed];
            transaction.execute(insert, values).map(drop)
        })
    }

    /// Replaces the initial record and the parts of a run by its complete record.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written, or the run was deleted.
    pub fn finish(&mut self, number: u64, record: &Record) -> Result<(), ArchiveError> {
        let packed = content::pack(&content::text(record));
        let headline = Headline::of(record);
        self.change_run("write a run to", number, &headline, |transaction| {
            replace(transaction, number, &packed)
        })
    }

    /// Imports the records that do not exist yet, in one transaction. The record of a run that has
    /// ended replaces an unfinished record of this run. Remarks are imported for new runs only.
    /// Returns the result for each record.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn import_all(
        &mut self,
        runs: &[(impl Borrow<Record>, impl Borrow<Remarks>)],
    ) -> Result<Vec<Imported>, ArchiveError> {
        let packed = runs.iter().map(|(record, remarks)| {
            let record = record.borrow();
            let packed = content::pack(&content::text(record));
            (Headline::of(record), packed, remarks.borrow())
        });
        let packed: Vec<(Headline, Vec<u8>, &Remarks)> = packed.collect();
        let mut all = Vec::with_capacity(runs.len());
        self.change("import runs to", |transaction| {
            for (headline, packed, remarks) in &packed {
                let imported = import(transaction, headline, packed)?;
                if let Imported::New(number) = imported {
                    remarks.write(transaction, number)?;
                }
                all.push(imported);
            }
            Ok(())
        })?;
        for (imported, (record, _)) in all.iter_mut().zip(runs) {
            if let Imported::There(number) = imported {
                *imported = self.compare(*number, record.borrow())?;
            }
        }
        Ok(all)
    }

    /// Compares a record with the record in the archive that has the same ID.
    fn compare(&self, number: u64, record: &Record) -> Result<Imported, ArchiveError> {
        let there = match self.record(number) {
            Ok(there) => there,
            Err(error) if error.kind == ArchiveErrorKind::Damaged => {
                return Ok(Imported::Unreadable(number));
            }
            Err(error) => return Err(error),
        };
        let is_same = content::text(&there) == content::text(record);
        // Whether the record in the archive is complete, and `record` is an earlier, unfinished
        // state of the same run.
        let is_before = record.actual.outcome == Outcome::Unfinished
            && there.actual.outcome != Outcome::Unfinished
            && beginning(&Headline::of(&there)) == beginning(&Headline::of(record));
        Ok(if is_same || is_before {
            Imported::There(number)
        } else {
            Imported::Conflict(number)
        })
    }

    /// Adds tags to a run. Tags that the run already has are ignored.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn add_tags(&mut self, number: u64, tags: &[Tag]) -> Result<(), ArchiveError> {
        self.change("tag a run in", |transaction| {
            remarks::add_tags(transaction, number, tags)
        })
    }

    /// Removes tags from a run, and returns the tags that the run did not have.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn remove_tags(&mut self, number: u64, tags: &[Tag]) -> Result<Vec<Tag>, ArchiveError> {
        self.change("remove tags of a run in", |transaction| {
            let mut missing = Vec::new();
            for tag in tags {
                let delete = "DELETE FROM tag WHERE run = ? AND word = ?";
                if transaction.execute(delete, params![signed(number), tag.to_string()])? == 0 {
                    missing.push(tag.clone());
                }
            }
            Ok(missing)
        })
    }

    /// Replaces the note of a run; `None` removes it.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be written.
    pub fn set_note(&mut self, number: u64, note: Option<&str>) -> Result<(), ArchiveError> {
        self.change("write a note in", |transaction| {
            remarks::set_note(transaction, number, note)
        })
    }

    /// Removes runs with their records, tags and notes: either all of the runs or none.
    ///
    /// # Errors
    /// Returns an error if one of the runs is still active, or the archive cannot be written.
    pub fn delete(&mut self, numbers: &[u64]) -> Result<(), ArchiveError> {
        let going = self.change("delete runs in", |transaction| {
            for number in numbers {
                let query = "SELECT writer FROM run WHERE number = ? AND state = ?";
                let writer: Option<Option<String>> = transaction
                    .query_row(
                        query,
                        params![signed(*number), State::Going.name()],
                        |row| row.get(0),
                    )
                    .optional()?;
                if writer.flatten().is_some_and(|writer| is_alive(&writer)) {
                    return Ok(Some(*number));
                }
            }
            for number in numbers {
                transaction.execute("DELETE FROM run WHERE number = ?", [signed(*number)])?;
            }
            Ok(None)
        })?;
        going.map_or(Ok(()), |number| {
            let text = format!("run {number} is still running (wait until it ends)");
            Err(ArchiveError::other(text))
        })
    }

    /// Executes one transaction. The transaction has the write lock from the beginning, so that no
    /// other process changes data between the first read and the last write.
    pub(crate) fn change<A>(
        &mut self,
        doing: &'static str,
        act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<A>,
    ) -> Result<A, ArchiveError> {
        self.writable()?;
        let changed = || {
            let transaction = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = act(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        };
        let answer = changed().map_err(|cause| self.failed(doing, cause))?;
        // Writing to a file that was removed while it was open succeeds, so the path is checked
        // after the transaction.
        if open::file(&self.path).ok() == Some(self.file) {
            Ok(answer)
        } else {
            Err(ArchiveError::other(format!(
                "the archive {} was moved, replaced or removed while it was open: the changes are \
                 lost",
                self.path.display()
            )))
        }
    }

    /// Executes one transaction on a run, and updates the run's columns. Fails if the run does not
    /// exist.
    fn change_run(
        &mut self,
        doing: &'static str,
        number: u64,
        headline: &Headline,
        act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), ArchiveError> {
        let is_there = self.change(doing, |transaction| {
            let is_there = update(transaction, number, headline)?;
            if is_there {
                act(transaction)?;
            }
            Ok(is_there)
        })?;
        match is_there {
            true => Ok(()),
            false => Err(ArchiveError::no_run(number, &self.path)),
        }
    }
}

/// Returns the columns of an active run.
fn going(so_far: &Record) -> Headline {
    Headline {
        state: State::Going,
        ..Headline::of(so_far)
    }
}

/// Returns the columns that do not change during a run.
fn beginning(headline: &Headline) -> (u64, &str, &str) {
    (
        headline.begun_unix_ns,
        &headline.host,
        &headline.fingerprint,
    )
}

/// Adds a record. An unfinished record of the same run in the archive is replaced by the record of
/// the ended run. If any other record has the same ID, nothing is changed, and the records are not
/// compared.
fn import(
    transaction: &Transaction<'_>,
    headline: &Headline,
    packed: &[u8],
) -> rusqlite::Result<Imported> {
    let query = "SELECT number, state IN (?2, ?3) AND begun_unix_ns = ?4 AND host = ?5 AND \
                 fingerprint = ?6 FROM run WHERE id = ?1";
    let (begun_unix_ns, host, fingerprint) = beginning(headline);
    let values = params![
        headline.id.to_string(),
        State::Going.name(),
        State::Unfinished.name(),
        signed(begun_unix_ns),
        host,
        fingerprint
    ];
    let there: Option<(i64, bool)> = transaction
        .query_row(query, values, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match there.map(|(number, is_partial)| (number.max(0) as u64, is_partial)) {
        None => insert(transaction, headline, None, packed).map(Imported::New),
        Some((number, true)) if headline.state != State::Unfinished => {
            update(transaction, number, headline)?;
            replace(transaction, number, packed)?;
            Ok(Imported::Completed(number))
        }
        Some((number, _)) => Ok(Imported::There(number)),
    }
}

/// Replaces the initial record and the parts of a run by its complete record.
pub(crate) fn replace(
    transaction: &Transaction<'_>,
    number: u64,
    packed: &[u8],
) -> rusqlite::Result<()> {
    let row = signed(number);
    transaction.execute("UPDATE run SET writer = NULL WHERE number = ?", [row])?;
    transaction.execute(
        "UPDATE content SET json = ?2 WHERE run = ?1",
        params![row, packed],
    )?;
    transaction.execute("DELETE FROM part WHERE run = ?", [row])?;
    Ok(())
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    headline: &Headline,
    writer: Option<&str>,
    packed: &[u8],
) -> rusqlite::Result<u64> {
    let insert = "INSERT INTO run (id, state, begun_unix_ns, host, storage, workers, verdict, \
                  fingerprint, writer) VALUES (?, '', 0, '', '', 0, '', '', ?)";
    transaction.execute(insert, params![headline.id.to_string(), writer])?;
    let number = transaction.last_insert_rowid();
    update(transaction, number.max(0) as u64, headline)?;
    for name in &headline.file_systems {
        let insert = "INSERT OR IGNORE INTO run_file_system (run, name) VALUES (?, ?)";
        transaction.execute(insert, params![number, name])?;
    }
    let insert = "INSERT INTO content (run, json) VALUES (?, ?)";
    transaction.execute(insert, params![number, packed])?;
    Ok(number.max(0) as u64)
}

/// Writes the columns of a run, except for its file systems, which do not change during a run.
/// Returns `false` if the run does not exist.
pub(crate) fn update(
    transaction: &Transaction<'_>,
    number: u64,
    headline: &Headline,
) -> rusqlite::Result<bool> {
    let update = "UPDATE run SET state = :state, begun_unix_ns = :begun_unix_ns, host = :host, \
                  file_system = :file_system, device_class = :device_class, preset = :preset, \
                  work = :work, storage = :storage, workers = :workers, transactions_per_second = \
                  :transactions_per_second, p99_ns = :p99_ns, verdict = :verdict, fingerprint = \
                  :fingerprint, crash = :crash WHERE number = :number";
    let changed = transaction.execute(
        update,
        named_params! {
            ":number": signed(number),
            ":state": headline.state.name(),
            ":begun_unix_ns": signed(headline.begun_unix_ns),
            ":host": headline.host,
            ":file_system": headline.file_system(),
            ":device_class": headline.device_class.map(class_name),
            ":preset": headline.preset,
            ":work": headline.work.map(|work| work_word::to_word(work, headline.is_sweep)),
            ":storage": headline.engine,
            ":workers": headline.workers,
            ":transactions_per_second": headline.transactions_per_second,
            ":p99_ns": headline.p99_ns.map(signed),
            ":verdict": headline.verdict.name(),
            ":fingerprint": headline.fingerprint,
            ":crash": headline.crash,
        },
    )?;
    Ok(changed == 1)
}
