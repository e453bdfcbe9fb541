//! Which runs are meant: conditions that all hold.

use rusqlite::ToSql;
use verdict::Level;

/// Conditions; one that is left out holds for all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Begun at this moment or later, in nanoseconds of the epoch.
    pub since_unix_ns: Option<u64>,
    /// Begun before this moment.
    pub until_unix_ns: Option<u64>,
    /// On the machine with this name.
    pub host: Option<String>,
    /// One of its locations lies on a file system of this type.
    pub file_system: Option<String>,
    /// Begun with this preset.
    pub preset: Option<String>,
    /// Every one of these tags was given to it.
    pub tags: Vec<String>,
    /// Its verdict.
    pub verdict: Option<Level>,
    /// Of those that are left, no more than so many, which began last.
    pub limit: Option<u64>,
}

impl Filter {
    /// The condition of a query, with what stands for its parameters, in order.
    pub(crate) fn condition(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut parts = Vec::new();
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        let mut add = |part: &'static str, value: Option<Box<dyn ToSql>>| {
            if let Some(value) = value {
                parts.push(part);
                values.push(value);
            }
        };
        let moment = |ns: Option<u64>| ns.map(|ns| Box::new(signed(ns)) as Box<dyn ToSql>);
        let text = |word: &str| Box::new(word.to_owned()) as Box<dyn ToSql>;
        let word = |word: &Option<String>| word.as_deref().map(text);
        add("begun_unix_ns >= ?", moment(self.since_unix_ns));
        add("begun_unix_ns < ?", moment(self.until_unix_ns));
        add("host = ?", word(&self.host));
        add("preset = ?", word(&self.preset));
        for tag in &self.tags {
            let tagged = "number IN (SELECT run FROM tag WHERE word = ?)";
            add(tagged, Some(text(tag)));
        }
        add("verdict = ?", self.verdict.map(|level| text(level.name())));
        if let Some(name) = &self.file_system {
            // Most runs have one: their rows tell. A way from the name to the rows would meet them
            // in no order, a third of them more slowly than all of them in theirs.
            parts.push(
                "(file_system = ? OR instr(file_system, '+') > 0 AND number IN (SELECT run FROM \
                 run_file_system WHERE name = ?))",
            );
            values.extend([text(name), text(name)]);
        }
        let mut sql = parts.join(" AND ");
        if sql.is_empty() {
            sql.push_str("TRUE");
        }
        (sql, values)
    }
}

/// A count as SQLite has it; beyond its range, the end of it.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
