//! Tests which files are opened as archives, and that other files are not changed.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use archive::{
    Archive, ArchiveError, ArchiveErrorKind, Filter, JournalMode, Opening, Owner, Remarks, RunName,
};
use testkit::{Assert, Shows};
use verdict::State;

use crate::support::processes::{ARCHIVE, WITH, another, journal, of_program};
use crate::support::{
    ImportOne, PATIENCE, directory, file, head, open, open_with, open_within, parts, run,
};

/// Asserts that opening the file fails with this message and changes neither the file nor its
/// directory. Returns the error.
fn is_refused(path: &Path, expected: &str) -> ArchiveError {
    let before = fs::read(path).unwrap();
    let names = |path: &Path| -> Vec<_> {
        let entries = fs::read_dir(path.parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let names_before = names(path);
    let error = open_with(path, JournalMode::WriteAhead, true).unwrap_err();
    let told = error.to_string();
    told.shows(expected);
    told.shows(path.to_str().unwrap()).shows("--archive");
    assert!(
        fs::read(path).unwrap() == before,
        "the file was changed: {told}"
    );
    assert_eq!(names(path), names_before, "{told}");
    error
}

#[test]
fn missing_directories_in_the_path_of_an_archive_are_created() {
    let directory = directory();
    let path = directory.path().join("a/b/archive.db");
    let missing = open_with(&path, JournalMode::WriteAhead, false).unwrap_err();
    assert!(missing.kind == ArchiveErrorKind::Missing, "{missing}");
    assert!(!directory.path().join("a").exists());
    let archive = open(&path);
    assert_eq!(archive.list(&Filter::default()).unwrap(), []);
    archive.check().unwrap();
    let mode = fs::metadata(directory.path().join("a/b"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// The path of the archive, or a directory of the path, is a dangling link. Opening reports the
/// link and creates nothing through it.
#[test]
fn dangling_link_in_the_path_of_an_archive_is_reported() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    symlink("unmounted/archive.db", at("file")).unwrap();
    symlink("unmounted", at("folder")).unwrap();
    for (path, link, to) in [
        (at("file"), at("file"), "unmounted/archive.db"),
        (at("folder/archive.db"), at("folder"), "unmounted"),
        (at("folder/deeper/archive.db"), at("folder"), "unmounted"),
    ] {
        for make in [true, false] {
            let error = open_with(&path, JournalMode::WriteAhead, make)
                .unwrap_err()
                .to_string();
            let expected = format!(
                "the symbolic link {} points to {to}, which does not exist",
                link.display()
            );
            error.shows(&expected).shows("--archive FILE");
        }
    }
    assert!(!at("unmounted").exists());
    fs::create_dir(at("unmounted")).unwrap();
    open(&at("folder/deeper/archive.db"));
    assert!(at("unmounted/deeper/archive.db").exists());
}

#[test]
fn created_files_belong_to_the_requested_owner() {
    let directory = directory();
    let path = directory.path().join("a/b/archive.db");
    let facts = fs::metadata(directory.path()).unwrap();
    let is_root = facts.uid() == 0;
    let (user, group) = match is_root {
        true => (12_345, 54_321),
        false => (facts.uid(), facts.gid()),
    };
    let owner = Owner { user, group };
    let opening = Opening {
        path: &path,
        journal: JournalMode::WriteAhead,
        owner: Some(owner),
        make: true,
        patience: PATIENCE,
    };
    let mut archive = Archive::open(&opening).unwrap();
    archive.import(&run(1)).unwrap();
    let mut seen = 0;
    for name in [
        "a",
        "a/b",
        "a/b/archive.db",
        "a/b/archive.db-wal",
        "a/b/archive.db-shm",
    ] {
        let facts = fs::metadata(directory.path().join(name)).unwrap();
        assert_eq!(
            (facts.uid(), facts.gid()),
            (owner.user, owner.group),
            "{name}"
        );
        seen += 1;
    }
    assert_eq!(seen, 5);
    assert_eq!(fs::metadata(directory.path()).unwrap().uid(), facts.uid());
}

#[test]
fn files_of_other_programs_are_refused_and_not_changed() {
    let directory = directory();
    let path = file(&directory);
    for (bytes, expected) in [
        (
            &b"some text, and not a short one\n".repeat(20)[..],
            "not an SQLite database",
        ),
        (b"x", "not an SQLite database"),
        (b"SQLite format 4\0", "not an SQLite database"),
        (&[0; 4096], "not an SQLite database"),
    ] {
        fs::write(&path, bytes).unwrap();
        is_refused(&path, expected);
    }
    fs::remove_file(&path).unwrap();
    // Creates an SQLite database of another program.
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE run (number INTEGER); PRAGMA user_version = 1")
        .unwrap();
    drop(other);
    is_refused(&path, "another program");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = open_with(&path, JournalMode::WriteAhead, true).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn archive_of_a_newer_version_is_refused_and_not_changed() {
    let directory = directory();
    let path = file(&directory);
    open(&path).import(&run(1)).unwrap();
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "journal_mode", "delete").unwrap();
    newer
        .pragma_update(None, "user_version", archive::VERSION + 1)
        .unwrap();
    drop(newer);
    let error = is_refused(&path, "use a newer postmark");
    assert!(
        error
            .to_string()
            .contains(&format!("has version {}", archive::VERSION + 1))
    );
}

#[test]
fn truncated_archive_is_refused_and_not_changed() {
    let directory = directory();
    let whole = file(&directory);
    let mut archive = open(&whole);
    for number in 1..=20 {
        archive.import(&run(number)).unwrap();
    }
    drop(archive);
    let bytes = fs::read(&whole).unwrap();
    let path = directory.path().join("cut.db");
    for length in [
        50,
        99,
        100,
        4_096,
        bytes.len() / 2,
        bytes.len() - 4_096,
        bytes.len() - 1,
    ] {
        fs::write(&path, &bytes[..length]).unwrap();
        let error = is_refused(&path, "damaged");
        assert!(error.kind == ArchiveErrorKind::Damaged, "{length}: {error}");
    }
}

/// After any flipped bit, reading returns an error or the unchanged archive. Reading never panics
/// and never changes the file.
#[test]
fn flipped_bit_never_causes_a_panic_or_a_change() {
    let directory = directory();
    let whole = file(&directory);
    let mut archive = open(&whole);
    let number = archive
        .begin(&head(&run(1)), "me", &Remarks::default())
        .unwrap();
    archive
        .complete(number, &parts(&run(1))[0], &head(&run(1)))
        .unwrap();
    archive.import(&run(2)).unwrap();
    drop(archive);
    let bytes = fs::read(&whole).unwrap();
    let path = directory.path().join("flipped.db");
    let (mut told, mut unseen) = (0, 0);
    // With this stride, bits in all parts of a page are flipped.
    for at in (0..bytes.len()).step_by(97) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        let read = || -> Result<(), ArchiveError> {
            let archive = open_with(&path, JournalMode::WriteAhead, false)?;
            for entry in archive.list(&Filter::default())? {
                archive.record(entry.number.unwrap())?;
            }
            Ok(())
        };
        match read() {
            Ok(()) => unseen += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                told += 1;
            }
        }
        assert!(
            fs::read(&path).unwrap() == flipped,
            "byte {at}: reading has changed the file"
        );
    }
    assert!(told > 20, "{told} of {} were told", told + unseen);
}

#[test]
fn damaged_record_does_not_prevent_reading_other_runs() {
    let directory = directory();
    let path = file(&directory);
    let mut archive = open(&path);
    archive.import(&run(1)).unwrap();
    archive.import(&run(2)).unwrap();
    drop(archive);
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute("UPDATE content SET json = x'00' WHERE run = 1", [])
        .unwrap();
    drop(other);
    let archive = open(&path);
    let error = archive.record(1).unwrap_err();
    assert!(error.to_string().contains("the record of run 1"), "{error}");
    assert_eq!(archive.record(2).unwrap(), run(2));
    assert_eq!(archive.list(&Filter::default()).unwrap().len(), 2);
}

/// Whether the file uses a write-ahead log: bytes 18 and 19 of its header are then 2.
fn has_log(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes[18], bytes[19]);
    bytes[18] == 2
}

#[test]
fn new_archive_has_the_requested_journal() {
    for (journal, expected) in [
        (JournalMode::Rollback, false),
        (JournalMode::WriteAhead, true),
    ] {
        let directory = directory();
        let path = file(&directory);
        let mut archive = open_with(&path, journal, true).unwrap();
        archive.import(&run(1)).unwrap();
        assert_eq!(beside(&path, "-wal").exists(), expected);
        drop(archive);
        assert_eq!(has_log(&path), expected);
    }
}

/// Another machine that has opened the file cannot access the shared memory that a write-ahead log
/// needs.
#[test]
fn rollback_journal_is_never_replaced_by_a_write_ahead_log() {
    let directory = directory();
    let path = file(&directory);
    begin_with(&path, JournalMode::Rollback, 1);
    let mut archive = open_with(&path, JournalMode::WriteAhead, true).unwrap();
    archive.import(&run(2)).unwrap();
    assert!(!beside(&path, "-wal").exists());
    drop(archive);
    assert!(!has_log(&path));
}

/// A process was killed, and the archive was then copied to a network file system together with its
/// write-ahead log.
#[test]
fn write_ahead_log_that_cannot_be_shared_is_replaced_by_a_rollback_journal() {
    let there = directory();
    let source = file(&there);
    let mut archive = open(&source);
    archive.import(&run(1)).unwrap();
    let directory = directory();
    let path = file(&directory);
    fs::copy(&source, &path).unwrap();
    fs::copy(beside(&source, "-wal"), beside(&path, "-wal")).unwrap();
    // Makes the creation of the log's shared memory fail.
    symlink("nowhere", beside(&path, "-shm")).unwrap();
    let error = open_with(&path, JournalMode::WriteAhead, true).unwrap_err();
    assert!(error.kind == ArchiveErrorKind::NotWritable, "{error}");
    let mut archive = open_with(&path, JournalMode::Rollback, true).unwrap();
    assert_eq!(archive.record(1).unwrap(), run(1));
    archive.import(&run(2)).unwrap();
    assert!(!has_log(&path) && !beside(&path, "-wal").exists());
    assert_eq!(archive.list(&Filter::default()).unwrap().len(), 2);
}

/// If another process has the write-ahead log open, the log can be used only through memory that is
/// shared with that process (file `-shm`).
#[test]
fn write_ahead_log_of_another_process_is_not_used_without_shared_memory() {
    let directory = directory();
    let path = file(&directory);
    open(&path).import(&run(1)).unwrap();
    let (mut other, _said) = begun(&path, "opening::holds", "holds it");
    let error = open_within(
        &path,
        JournalMode::Rollback,
        true,
        Duration::from_millis(300),
    )
    .unwrap_err();
    assert!(error.kind == ArchiveErrorKind::Busy, "{error}");
    assert!(has_log(&path));
    other.kill().unwrap();
    other.wait().unwrap();
    open_with(&path, JournalMode::Rollback, true).unwrap();
    assert!(!has_log(&path));
}

/// Starts another process that executes a test function, and waits for a line that ends with
/// `words`. Returns the process and its further lines of output.
fn begun(path: &Path, test: &str, words: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = another(path, test).stdin(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    said.find(|line| line.as_ref().unwrap().ends_with(words));
    (child, said)
}

/// Helper process of other tests, not a test: keeps an archive open until the process is killed.
#[test]
fn holds() {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        return;
    };
    let archive = open(Path::new(&path));
    archive.check().unwrap();
    println!("\nholds it");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn begin_with(path: &Path, journal: JournalMode, number: u64) {
    open_with(path, journal, true)
        .unwrap()
        .import(&run(number))
        .unwrap();
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[test]
fn special_database_names_of_sqlite_are_treated_as_file_names() {
    let directory = directory();
    let foreign = directory.path().join("foreign.db");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other
        .execute_batch("CREATE TABLE theirs (number INTEGER)")
        .unwrap();
    drop(other);
    let before = fs::read(&foreign).unwrap();
    for name in [
        ":memory:",
        "file:foreign.db",
        "file:foreign.db?mode=memory",
        "50%41?#.db",
    ] {
        let status = another(Path::new(name), "opening::writes_to_a_name")
            .current_dir(directory.path())
            .status()
            .unwrap();
        assert!(status.success(), "{name}");
        let archive =
            open_with(&directory.path().join(name), JournalMode::WriteAhead, false).unwrap();
        assert_eq!(archive.record(1).unwrap(), run(1), "{name}");
        assert!(archive.path().ends_with(name));
    }
    assert!(
        fs::read(&foreign).unwrap() == before,
        "somebody else's file was changed"
    );
}

/// Helper process of another test, not a test: writes to an archive whose path is relative.
#[test]
fn writes_to_a_name() {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        return;
    };
    open(Path::new(&path)).import(&run(1)).unwrap();
}

/// The journal of a killed process is beside the file, so it must be found even if the archive is
/// opened through a link.
#[test]
fn journal_beside_the_linked_file_is_applied() {
    let directory = directory();
    let there = directory.path().join("there");
    fs::create_dir(&there).unwrap();
    let source = file(&directory);
    let mut archive = open(&source);
    let whole = fs::metadata(&source).unwrap().len();
    for number in 1..=3 {
        archive.import(&run(number)).unwrap();
    }
    // State of the file during a checkpoint: only its first page was written, which contains the
    // new length. The log contains all pages.
    let path = there.join("archive.db");
    fs::copy(beside(&source, "-wal"), beside(&path, "-wal")).unwrap();
    drop(archive);
    let bytes = fs::read(&source).unwrap();
    assert!(bytes.len() as u64 > whole, "it has not grown");
    fs::write(&path, &bytes[..whole as usize]).unwrap();
    let link = directory.path().join("link.db");
    symlink(&path, &link).unwrap();
    let archive = open_with(&link, JournalMode::WriteAhead, false).unwrap();
    archive.check().unwrap();
    assert_eq!(archive.record(3).unwrap(), run(3));
    assert!(!beside(&link, "-wal").exists());
    drop(archive);
    // Without the log, the file counts as truncated.
    fs::write(&path, &bytes[..whole as usize]).unwrap();
    is_refused(&path, "truncated");
}

/// A change writes pages, and removes its journal afterwards. A file that is read in between must
/// not be reported as damaged.
#[test]
fn growing_archive_is_not_reported_as_damaged() {
    let directory = directory();
    let path = file(&directory);
    begin_with(&path, JournalMode::Rollback, 0);
    let (mut other, _said) = begun(&path, "opening::grows", "grows");
    for _ in 0..100 {
        open_with(&path, JournalMode::Rollback, false).unwrap();
    }
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    let archive = open_with(&path, JournalMode::Rollback, false).unwrap();
    assert!(archive.list(&Filter::default()).unwrap().len() > 1);
}

/// If a process holds the lock for longer than the time limit, opening the archive fails at the
/// limit.
#[test]
fn opening_waits_for_a_locked_archive_up_to_the_limit() {
    for journal in [JournalMode::WriteAhead, JournalMode::Rollback] {
        let directory = directory();
        let path = file(&directory);
        begin_with(&path, journal, 1);
        let (mut other, _said) = begun(&path, "opening::keeps", "keeps it");
        let error = open_within(&path, journal, true, Duration::from_millis(100)).unwrap_err();
        assert!(error.kind == ArchiveErrorKind::Busy, "{journal:?}: {error}");
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || open_with(&path, journal, true).map(drop)
        });
        assert!(!waiting.is_finished());
        drop(other.stdin.take());
        waiting.join().unwrap().unwrap();
        assert!(other.wait().unwrap().success());
    }
}

/// Helper process of other tests, not a test: holds a change of an archive open until its standard
/// input ends.
#[test]
fn keeps() {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        return;
    };
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    println!("\nkeeps it");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    other.execute_batch("ROLLBACK").unwrap();
}

/// Helper process of another test, not a test: adds runs to an archive with a rollback journal
/// until its standard input ends.
#[test]
fn grows() {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        return;
    };
    let mut archive = open_with(Path::new(&path), JournalMode::Rollback, false).unwrap();
    println!("\ngrows");
    let reading = std::thread::spawn(|| std::io::stdin().read_line(&mut String::new()).unwrap());
    let mut number = 0;
    while !reading.is_finished() {
        number += 1;
        archive.import(&run(number)).unwrap();
    }
}

/// The files of a write-ahead log cannot be created, as on a full or read-only file system.
#[test]
fn archive_is_readable_if_no_write_ahead_log_can_be_created() {
    let directory = directory();
    let path = directory.path().join("a 100% readable?.db");
    open(&path).import(&run(1)).unwrap();
    let before = fs::read(&path).unwrap();
    symlink("nowhere", beside(&path, "-shm")).unwrap();
    let mut archive = open_with(&path, JournalMode::WriteAhead, false).unwrap();
    assert_eq!(archive.record(1).unwrap(), run(1));
    assert_eq!(archive.list(&Filter::default()).unwrap().len(), 1);
    for error in [
        archive.writable().unwrap_err(),
        archive.set_note(1, Some("a note")).unwrap_err(),
        archive.delete(&[1]).unwrap_err(),
        archive.import(&run(2)).unwrap_err(),
        open_with(&path, JournalMode::WriteAhead, true).unwrap_err(),
    ] {
        assert!(error.kind == ArchiveErrorKind::NotWritable, "{error}");
        assert!(error.to_string().contains("copy it"), "{error}");
    }
    assert!(fs::read(&path).unwrap() == before);
    // An existing log may contain a part of the archive, so the archive is not read without the
    // log.
    fs::write(beside(&path, "-wal"), [1]).unwrap();
    let error = open_with(&path, JournalMode::WriteAhead, false).unwrap_err();
    error.assert(error.to_string().contains("copy it, with its -wal"));
}

/// Opening the archive fails, so a run whose record would be stored in it is refused before the run
/// begins.
#[test]
fn read_only_archive_is_not_opened_for_writing() {
    // With mode 0o666 the file is writable, but its directory is not, so no journal can be created.
    for (journal, mode) in [
        (JournalMode::WriteAhead, 0o444),
        (JournalMode::Rollback, 0o444),
        (JournalMode::WriteAhead, 0o666),
        (JournalMode::Rollback, 0o666),
    ] {
        let directory = directory();
        let path = file(&directory);
        begin_with(&path, journal, 1);
        let with = format!("{journal:?}");
        read_only(&directory, &path, mode, "opening::reads_only", &with);
    }
}

/// Executes a test function in a process that cannot write to the archive and does not run as root.
fn read_only(directory: &tempfile::TempDir, path: &Path, mode: u32, test: &str, with: &str) {
    let mut reads = another(path, test);
    if fs::metadata(directory.path()).unwrap().uid() == 0 {
        // Root may write despite the modes, so the process runs as another user.
        let program = directory.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        reads = of_program(&program, path, test);
        reads.uid(65_534).gid(65_534);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
    reads.env(WITH, with);
    let began = Instant::now();
    let ended = loop {
        match reads.output() {
            // A process that another test has just started may still have the copied program open
            // for writing, because it inherits the descriptor. Until it closes the descriptor, the
            // program cannot be executed.
            Err(error)
                if error.kind() == std::io::ErrorKind::ExecutableFileBusy
                    && began.elapsed() < Duration::from_secs(20) =>
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            ended => break ended.unwrap(),
        }
    };
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{with}, mode {mode:o}: {told}");
    let tests = String::from_utf8_lossy(&ended.stdout);
    tests.shows("1 passed");
}

#[test]
fn older_read_only_archive_is_read_without_migration() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/v1.db");
    let before = fs::read(&kept).unwrap();
    for mode in [0o444, 0o666] {
        let directory = directory();
        let path = file(&directory);
        fs::write(&path, &before).unwrap();
        let test = "opening::reads_an_older_one_only";
        read_only(&directory, &path, mode, test, "");
        assert!(
            fs::read(&path).unwrap() == before,
            "the file was changed, mode {mode:o}"
        );
    }
}

/// Helper process of another test, not a test: reads an archive of the first version to which it
/// cannot write.
#[test]
fn reads_an_older_one_only() {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        return;
    };
    let path = Path::new(&path);
    for journal in [JournalMode::WriteAhead, JournalMode::Rollback] {
        let mut archive = open_with(path, journal, false).unwrap();
        let entries = archive.list(&Filter::default()).unwrap();
        assert_eq!(entries.len(), 2);
        assert!(
            entries[0].headline.work.is_none(),
            "the first version has no kind of work"
        );
        assert_eq!(archive.record(1).unwrap().actual.phases.len(), 3);
        let error = archive.set_note(1, Some("a note")).unwrap_err();
        assert!(error.kind == ArchiveErrorKind::NotWritable, "{error}");
    }
}

/// Helper process of another test, not a test: reads an archive to which it cannot write.
#[test]
fn reads_only() {
    let (Some(path), Ok(with)) = (std::env::var_os(ARCHIVE), std::env::var(WITH)) else {
        return;
    };
    let (path, journal) = (Path::new(&path), journal(&with));
    let error = open_with(path, journal, true).unwrap_err();
    assert!(error.kind == ArchiveErrorKind::NotWritable, "{error}");
    // With the journal mode `Rollback`, a file with a write-ahead log is also readable, although no
    // log can be created in the directory.
    let archive = open_with(path, JournalMode::Rollback, false).unwrap();
    assert_eq!(archive.record(1).unwrap(), run(1));
    drop(archive);
    let mut archive = open_with(path, journal, false).unwrap();
    assert_eq!(archive.record(1).unwrap(), run(1));
    let error = archive.set_note(1, Some("a note")).unwrap_err();
    assert!(error.kind == ArchiveErrorKind::NotWritable, "{error}");
}

#[test]
fn empty_file_becomes_an_archive_only_if_creation_is_requested() {
    let directory = directory();
    let path = file(&directory);
    fs::write(&path, b"").unwrap();
    let error = open_with(&path, JournalMode::WriteAhead, false).unwrap_err();
    assert!(error.kind == ArchiveErrorKind::Missing, "{error}");
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    open(&path).import(&run(1)).unwrap();
    assert_eq!(open(&path).list(&Filter::default()).unwrap().len(), 1);
}

/// The repository contains an archive file of every released version.
#[test]
fn archives_of_every_released_version_are_readable() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    for version in 1..=archive::VERSION {
        let directory = directory();
        let path = file(&directory);
        fs::copy(kept.join(format!("v{version}.db")), &path).unwrap();
        let archive = open(&path);
        archive.check().unwrap();
        let entries = archive.list(&Filter::default()).unwrap();
        let states: Vec<State> = entries.iter().map(|entry| entry.headline.state).collect();
        assert_eq!(
            states,
            [State::Complete, State::Unfinished],
            "version {version}"
        );
        assert_eq!(
            entries[0].headline.work.is_some(),
            version >= 2,
            "version {version}"
        );
        assert_eq!(entries[0].tags, ["baseline", "ssd"]);
        assert_eq!(entries[0].note.as_deref(), Some("before the new firmware"));
        let first = archive.record(1).unwrap();
        assert_eq!(first.actual.phases.len(), 3);
        let second = archive.find(&RunName::Last).unwrap();
        let second = archive.record(second.number.unwrap()).unwrap();
        assert_eq!(second.actual.phases, first.actual.phases[..2]);
    }
}

/// Asserts that the repository contains an archive file of the newest version. With the variable
/// `POSTMARK_WRITE_GOLDEN`, a missing file is created first.
#[test]
fn repository_contains_an_archive_of_the_newest_version() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kept/v{}.db", archive::VERSION));
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() && !path.exists() {
        let mut archive = open_with(&path, JournalMode::Rollback, true).unwrap();
        archive.import(&run(1)).unwrap();
        let tags = ["ssd", "baseline"].map(|tag| tag.parse().unwrap());
        archive.add_tags(1, &tags).unwrap();
        archive
            .set_note(1, Some("before the new firmware"))
            .unwrap();
        let mut so_far = head(&run(2));
        let number = archive
            .begin(&so_far, "a process that has ended", &Remarks::default())
            .unwrap();
        for completed in &parts(&run(2))[..2] {
            so_far.add(completed.clone());
            archive.complete(number, completed, &so_far).unwrap();
        }
    }
    assert!(path.exists(), "write it with POSTMARK_WRITE_GOLDEN=1");
}
