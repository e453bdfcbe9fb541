//! The database tables of each archive version, and the migration from one version to the next.

use rusqlite::{Connection, TransactionBehavior};

/// The archive version that this program writes, and the newest version that it reads.
pub const VERSION: u32 = 3;

/// The SQLite `application_id` that identifies a file as an archive: "PoMk".
pub(crate) const APPLICATION: u32 = 0x506f_4d6b;

/// SQL statements that migrate an archive from each version to the next; the statements of the
/// first version create the archive.
const STEPS: [&str; VERSION as usize] = [V1, V2, V3];

/// The first version. Table `run` contains the columns for searches and lists, and never reuses a
/// number. Its column `writer` identifies the process that performs an active run. Table `content`
/// contains records, `part` contains the phases and load levels that active runs have completed,
/// and `submission` contains submissions.
const V1: &str = "
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    writer TEXT,
    begun_unix_ns INTEGER NOT NULL,
    host TEXT NOT NULL,
    file_system TEXT,
    device_class TEXT,
    preset TEXT,
    storage TEXT NOT NULL,
    workers INTEGER NOT NULL,
    transactions_per_second REAL,
    p99_ns INTEGER,
    verdict TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    note TEXT
) STRICT;
CREATE INDEX run_begun ON run (begun_unix_ns);
CREATE INDEX run_host ON run (host, begun_unix_ns);
CREATE INDEX run_preset ON run (preset, begun_unix_ns);
CREATE INDEX run_verdict ON run (verdict, begun_unix_ns);
CREATE TABLE run_file_system (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (name, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_file_system_run ON run_file_system (run);
CREATE TABLE tag (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    word TEXT NOT NULL,
    PRIMARY KEY (word, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_run ON tag (run);
CREATE TABLE content (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    json BLOB NOT NULL
) STRICT;
CREATE TABLE part (
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    json BLOB NOT NULL,
    PRIMARY KEY (run, place)
) STRICT;
CREATE TABLE submission (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL UNIQUE
) STRICT;
";

/// Adds the column for the kind of work, which is NULL for runs of an earlier version.
const V2: &str = "ALTER TABLE run ADD COLUMN work TEXT;";

/// Adds the column for the result of crash rounds, which is NULL for runs.
const V3: &str = "ALTER TABLE run ADD COLUMN crash TEXT;";

/// The first version with the column for the kind of work.
pub(crate) const WITH_WORK: u32 = 2;

/// The first version with the column for the result of crash rounds.
pub(crate) const WITH_CRASH: u32 = 3;

/// Returns the version of an open archive; 0 if the file is empty.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Migrates an archive to the newest version in one transaction. Changes nothing if another process
/// has migrated it in the meantime.
pub(crate) fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = version(&transaction)?;
    for step in STEPS.iter().skip(from as usize) {
        transaction.execute_batch(step)?;
    }
    if from < VERSION {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}
