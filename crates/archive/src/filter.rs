//! Selects runs of an archive by conditions, all of which a run must meet.

use rusqlite::ToSql;
use verdict::Level;

/// Conditions on a run. A condition that is `None` or empty is met by all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Earliest time at which the run began, in nanoseconds since the epoch.
    pub since_unix_ns: Option<u64>,
    /// The run began before this time, in nanoseconds since the epoch.
    pub until_unix_ns: Option<u64>,
    pub host: Option<String>,
    /// File system type that at least one of the run's locations must have.
    pub file_system: Option<String>,
    pub preset: Option<String>,
    pub fingerprint: Option<String>,
    /// Tags, all of which the run must have.
    pub tags: Vec<String>,
    pub verdict: Option<Level>,
    /// Maximum number of selected runs. If more runs meet the conditions, those that began last are
    /// selected.
    pub limit: Option<u64>,
    /// Whether results of crash rounds may be selected, which have no record of a run.
    pub crashes: bool,
}

impl Filter {
    /// Returns the condition of an SQL query, and the values of its parameters in order.
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
        add("fingerprint = ?", word(&self.fingerprint));
        for tag in &self.tags {
            let tagged = "number IN (SELECT run FROM tag WHERE word = ?)";
            add(tagged, Some(text(tag)));
        }
        add("verdict = ?", self.verdict.map(|level| text(level.name())));
        if let Some(name) = &self.preset {
            // Without a version, the name selects the runs of all versions of the preset.
            parts.push(
                "(preset = ? OR preset GLOB ? || '-[0-9]' OR preset GLOB ? || '-[0-9][0-9]')",
            );
            values.extend([text(name), text(name), text(name)]);
        }
        if let Some(name) = &self.file_system {
            // The column contains the names of all file systems of a run, joined by `+`. Most runs
            // have only one. An index on the column would return rows in random order. If a third
            // of all rows match, reading these in random order takes longer than reading all rows
            // in order.
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

/// Converts a number to SQLite's integer type; a number that is too large becomes the type's
/// maximum.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
