//! Reads lists of runs, and single records, from an archive.

use std::collections::HashMap;

use record::{Record, RunId};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params_from_iter};
use verdict::list_row::by_word;
use verdict::{Headline, Level, ListedRun, State};

use crate::archive::Archive;
use crate::content;
use crate::crashes;
use crate::error::ArchiveError;
use crate::filter::{Filter, signed};
use crate::mark::is_alive;
use crate::schema;
use crate::work_word;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunName {
    /// The run that began last.
    Last,
    Number(u64),
    /// The run whose ID begins with these hexadecimal digits.
    Identity(String),
}

/// Maximum number of digits of a run number; a longer word is parsed as an ID.
const NUMBER_DIGITS_MAX: usize = 8;
/// Minimum number of digits by which a run's ID is abbreviated.
const IDENTITY_DIGITS_MIN: usize = 4;

impl RunName {
    /// Parses a run name: `last`, a number, or at least four hexadecimal digits of an ID. Returns
    /// `None` for other words.
    pub fn parse(word: &str) -> Option<Self> {
        let is_hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if word == "last" {
            Some(Self::Last)
        } else if word.len() <= NUMBER_DIGITS_MAX && word.bytes().all(|byte| byte.is_ascii_digit())
        {
            word.parse().ok().map(Self::Number)
        } else if (IDENTITY_DIGITS_MIN..=RunId::DIGITS).contains(&word.len())
            && word.bytes().all(is_hexadecimal)
        {
            Some(Self::Identity(word.to_owned()))
        } else {
            None
        }
    }
}

impl std::fmt::Display for RunName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Identity(digits) => f.write_str(digits),
        }
    }
}

/// The columns of a [`ListedRun`]. The tags of the run are in another table.
const COLUMNS: &str = "number, id, state, writer, begun_unix_ns, host, file_system, device_class, \
                       preset, storage, workers, transactions_per_second, p99_ns, verdict, \
                       fingerprint, note";

impl Archive {
    /// Returns the runs that meet all conditions of the filter, in the order in which they began.
    ///
    /// # Errors
    /// Returns an error if the archive cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<ListedRun>, ArchiveError> {
        let (mut sql, mut values) = filter.condition();
        if !filter.crashes && self.version()? >= schema::WITH_CRASH {
            sql.push_str(" AND crash IS NULL");
        }
        if let Some(limit) = filter.limit {
            // Limits the number of rows in a subquery, so that the columns are read only for the
            // selected runs.
            sql = format!(
                "number IN (SELECT number FROM run WHERE {sql} ORDER BY begun_unix_ns DESC, \
                 number DESC LIMIT ?)"
            );
            values.push(Box::new(signed(limit)));
        }
        let query = format!("SELECT {} FROM run WHERE {sql}", self.columns()?);
        let mut entries = self.entries(&query, &values)?;
        // The database returns the rows in nearly this order, so sorting them after the query is
        // faster than sorting them in the query.
        entries.sort_by_key(|entry| (entry.headline.begun_unix_ns, entry.number));
        Ok(entries)
    }

    /// Returns the run with the name that the user typed.
    ///
    /// # Errors
    /// Returns an error if no run or several runs have this name, or if the archive cannot be read.
    pub fn called(&self, word: &str) -> Result<ListedRun, ArchiveError> {
        let name = RunName::parse(word);
        let name = name.ok_or_else(|| {
            ArchiveError::other(format!(
                "invalid run '{word}': expected its number, at least four hexadecimal digits of \
                 its identity, or last ('postmark list' shows the numbers)"
            ))
        })?;
        self.find(&name)
    }

    /// Returns the run with this name.
    ///
    /// # Errors
    /// Returns an error if no run or several runs have this name, or if the archive cannot be read.
    pub fn find(&self, name: &RunName) -> Result<ListedRun, ArchiveError> {
        let last = "?1 ORDER BY begun_unix_ns DESC, number DESC LIMIT 1";
        // `g` sorts after all hexadecimal digits, so the range contains all IDs that begin with
        // `?1`.
        let begins = "id >= ?1 AND id < ?1 || 'g' LIMIT 2";
        let (condition, value): (&str, Box<dyn ToSql>) = match name {
            RunName::Last => (last, Box::new(1)),
            RunName::Number(number) => ("number = ?1", Box::new(signed(*number))),
            RunName::Identity(digits) => (begins, Box::new(digits.clone())),
        };
        let query = format!("SELECT {} FROM run WHERE {condition}", self.columns()?);
        let mut found = self.entries(&query, &[value])?;
        match (found.pop(), found.pop()) {
            (Some(entry), None) => Ok(entry),
            (Some(one), Some(other)) => Err(ArchiveError::other(format!(
                "'{name}' is ambiguous: it is the beginning of run {}, run {} and maybe others \
                 (write more digits, or the number)",
                other.number.unwrap_or_default(),
                one.number.unwrap_or_default()
            ))),
            (None, _) => Err(ArchiveError::no_run(name, &self.path)),
        }
    }

    fn version(&self) -> Result<u32, ArchiveError> {
        schema::version(&self.db).map_err(|cause| self.failed("read", cause))
    }

    /// Returns the columns of a [`ListedRun`]. A read-only archive of an older version lacks the
    /// columns `work` and `crash`, because the archive cannot be migrated.
    fn columns(&self) -> Result<String, ArchiveError> {
        let version = self.version()?;
        let column = |since, name| if version < since { "NULL" } else { name };
        let work = column(schema::WITH_WORK, "work");
        let crash = column(schema::WITH_CRASH, "crash");
        Ok(format!("{COLUMNS}, {work}, {crash}"))
    }

    fn entries(
        &self,
        query: &str,
        values: &[Box<dyn ToSql>],
    ) -> Result<Vec<ListedRun>, ArchiveError> {
        let read = || {
            let mut statement = self.db.prepare(query)?;
            let rows = statement.query_and_then(params_from_iter(values), entry)?;
            // The transaction makes rows and tags consistent with each other.
            let transaction = self.db.unchecked_transaction()?;
            let mut entries = rows.collect::<Result<Vec<ListedRun>, RowError>>()?;
            add_tags(&transaction, &mut entries)?;
            Ok(entries)
        };
        read().map_err(|error| match error {
            RowError::Sql(cause) => self.failed("read", cause),
            RowError::Word { number, what, word } => ArchiveError::other(format!(
                "run {number} of the archive {} has the unknown {what} '{}' (use a newer postmark)",
                self.path.display(),
                document::sanitize::sanitize(&word)
            )),
        })
    }

    /// Returns the record of a run. For an unfinished run, it includes the phases or load levels
    /// written so far.
    ///
    /// # Errors
    /// Returns an error if the run does not exist or its record cannot be read, or if the entry
    /// contains crash rounds.
    pub fn record(&self, number: u64) -> Result<Record, ArchiveError> {
        let (text, parts) = self.content(number)?;
        if text.starts_with(crashes::BEGIN) {
            return Err(ArchiveError::other(format!(
                "entry {number} of the archive {} has the result of crash rounds, not a run \
                 ('postmark show {number}' shows it)",
                self.path.display()
            )));
        }
        content::record(&text, &parts)
            .map_err(|cause| ArchiveError::unreadable(number, &self.path, &cause))
    }

    /// Returns the text of an entry, and of the parts that an unfinished run completed.
    pub(crate) fn content(&self, number: u64) -> Result<(String, Vec<String>), ArchiveError> {
        let packed = || {
            let mut statement = self
                .db
                .prepare("SELECT json FROM part WHERE run = ? ORDER BY place")?;
            // The transaction makes both queries consistent. Between two separate queries, the run
            // could end, which replaces its parts by a complete record.
            let transaction = self.db.unchecked_transaction()?;
            let query = "SELECT json FROM content WHERE run = ?";
            let content: Option<Vec<u8>> = transaction
                .query_row(query, [signed(number)], |row| row.get(0))
                .optional()?;
            let parts: rusqlite::Result<Vec<Vec<u8>>> = statement
                .query_map([signed(number)], |row| row.get(0))?
                .collect();
            Ok((content, parts?))
        };
        let (content, parts) = packed().map_err(|cause| self.failed("read", cause))?;
        let Some(content) = content else {
            return Err(ArchiveError::no_run(number, &self.path));
        };
        let unpack = |packed: &[u8]| {
            content::unpack(packed).map_err(|why| {
                ArchiveError::damaged(
                    &self.path,
                    format_args!("the record of run {number}: {why}"),
                )
            })
        };
        let parts: Result<Vec<String>, ArchiveError> =
            parts.iter().map(|part| unpack(part)).collect();
        Ok((unpack(&content)?, parts?))
    }

    pub(crate) fn failed(&self, doing: &'static str, cause: rusqlite::Error) -> ArchiveError {
        ArchiveError::of(&self.path, doing, cause)
    }
}

/// The reason why a database row cannot be converted to a [`ListedRun`].
enum RowError {
    Sql(rusqlite::Error),
    /// A column contains a word that this program does not know.
    Word {
        number: u64,
        what: &'static str,
        word: String,
    },
}

impl From<rusqlite::Error> for RowError {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Sql(cause)
    }
}

/// Adds the tags of all runs with one query. The query reads the tags of all runs with numbers
/// between the lowest and the highest of `entries`. There are few tags, because most runs have
/// none.
fn add_tags(db: &Connection, entries: &mut [ListedRun]) -> rusqlite::Result<()> {
    let numbers = || {
        entries
            .iter()
            .map(|entry| signed(entry.number.unwrap_or_default()))
    };
    let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else {
        return Ok(());
    };
    let mut tags: HashMap<u64, Vec<String>> = HashMap::new();
    let mut statement =
        db.prepare("SELECT run, word FROM tag WHERE run BETWEEN ? AND ? ORDER BY run, word")?;
    let mut rows = statement.query([first, last])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        tags.entry(number.max(0) as u64)
            .or_default()
            .push(row.get(1)?);
    }
    if !tags.is_empty() {
        for entry in entries {
            entry.tags = entry
                .number
                .and_then(|number| tags.remove(&number))
                .unwrap_or_default();
        }
    }
    Ok(())
}

fn entry(row: &Row<'_>) -> Result<ListedRun, RowError> {
    let word = |column: usize| row.get::<_, String>(column);
    let count = |column: usize| row.get::<_, i64>(column).map(|number| number.max(0) as u64);
    let number = count(0)?;
    let unknown = |what, column| match word(column) {
        Ok(word) => RowError::Word { number, what, word },
        Err(cause) => cause.into(),
    };
    let name = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
    let state = match by_word(name).ok_or_else(|| unknown("state", 2))? {
        State::Going => {
            let writer: Option<String> = row.get(3)?;
            if writer.is_some_and(|writer| is_alive(&writer)) {
                State::Going
            } else {
                State::Unfinished
            }
        }
        state => state,
    };
    let name = row.get_ref(13)?.as_str().map_err(rusqlite::Error::from)?;
    let levels = [Level::Valid, Level::Doubtful, Level::Invalid];
    let verdict = levels.into_iter().find(|level| level.name() == name);
    let verdict = verdict.ok_or_else(|| unknown("verdict", 13))?;
    let device_class: Option<String> = row.get(7)?;
    let file_system: Option<String> = row.get(6)?;
    let work: Option<String> = row.get(16)?;
    let work = work.as_deref().map(work_word::parse);
    let (work, is_sweep) = work.unwrap_or((None, false));
    Ok(ListedRun {
        number: Some(number),
        headline: Headline {
            id: word(1)?.parse().map_err(|_| unknown("identity", 1))?,
            state,
            begun_unix_ns: count(4)?,
            host: word(5)?,
            file_systems: file_system.map_or_else(Vec::new, |names| {
                names.split('+').map(str::to_owned).collect()
            }),
            device_class: device_class.as_deref().and_then(by_word),
            preset: row.get(8)?,
            work,
            engine: word(9)?,
            workers: u32::try_from(count(10)?).unwrap_or(u32::MAX),
            is_sweep,
            transactions_per_second: row.get(11)?,
            p99_ns: row.get::<_, Option<i64>>(12)?.map(|ns| ns.max(0) as u64),
            verdict,
            fingerprint: word(14)?,
            crash: row.get(17)?,
        },
        note: row.get(15)?,
        tags: Vec::new(),
    })
}
