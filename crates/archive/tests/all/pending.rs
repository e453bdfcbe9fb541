//! Records that wait in files beside an archive are written completely, imported once, never lost,
//! and not confused with other users' files.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::PathBuf;
use std::time::Duration;

use archive::{
    Archive, ArchiveErrorKind, Filter, JournalMode, Owner, Pending, Remarks, RunName, leave_beside,
    may_leave_beside, waiting,
};
use record::RunId;
use testkit::Shows;
use verdict::State;

use crate::support::{ImportOne, directory, file, head, open, open_within, parts, run};

fn count(archive: &Archive) -> usize {
    archive.list(&Filter::default()).unwrap().len()
}

/// Returns the numbers of the imported records, and the reasons why other files were left.
fn take(archive: &mut Archive) -> (Vec<u64>, Vec<String>) {
    let mut numbers = Vec::new();
    let mut left = Vec::new();
    let mut tell = |pending| match pending {
        Pending::Imported(number) => numbers.push(number),
        Pending::Left { path, why } => {
            assert!(fs::symlink_metadata(path).is_ok(), "it is gone: {why}");
            left.push(why);
        }
        _ => unreachable!("all kinds are known"),
    };
    archive.take_waiting(&mut tell).unwrap();
    (numbers, left)
}

/// Returns the names beside the archive, except those of the archive's own files.
fn others(directory: &tempfile::TempDir) -> Vec<String> {
    let names = fs::read_dir(directory.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| !["archive.db", "archive.db-wal", "archive.db-shm"].contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

#[test]
fn waiting_records_are_imported_once_and_removed() {
    let directory = directory();
    let path = file(&directory);
    // Records can be left beside the archive even before the archive exists.
    let left = leave_beside(&path, None, &run(1), &Remarks::default()).unwrap();
    let name = left.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, format!("archive.db.pending-{}.json", run(1).id));
    let remarks = Remarks {
        tags: vec!["ssd".parse().unwrap()],
        note: Some("a \u{1b} in it".parse().unwrap()),
    };
    leave_beside(&path, None, &run(2), &remarks).unwrap();
    assert_eq!(waiting(&path).len(), 2);
    assert_eq!(
        others(&directory).len(),
        2,
        "no draft is left: {:?}",
        others(&directory)
    );
    let mut archive = open(&path);
    assert_eq!(take(&mut archive), (vec![1, 2], vec![]));
    assert_eq!(
        (archive.record(1).unwrap(), archive.record(2).unwrap()),
        (run(1), run(2))
    );
    let second = archive.find(&RunName::Number(2)).unwrap();
    assert_eq!(second.tags, ["ssd"]);
    assert_eq!(second.note.as_deref(), Some("a \u{1b} in it"));
    assert_eq!(others(&directory), [""; 0]);
    assert_eq!(take(&mut archive), (vec![], vec![]));
}

/// A process was killed after it had imported a waiting record and before it removed the file. The
/// file is removed, and the record is not imported a second time.
#[test]
fn waiting_file_of_an_archived_run_is_removed_without_an_import() {
    let directory = directory();
    let path = file(&directory);
    let mut archive = open(&path);
    archive.import(&run(1)).unwrap();
    leave_beside(&path, None, &run(1), &Remarks::default()).unwrap();
    assert_eq!(take(&mut archive), (vec![1], vec![]));
    assert_eq!((count(&archive), waiting(&path).len()), (1, 0));
}

/// The beginning of the run is in the archive, but its end could not be written to the archive.
#[test]
fn waiting_record_completes_an_unfinished_run() {
    let directory = directory();
    let path = file(&directory);
    let mut archive = open(&path);
    let number = archive
        .begin(
            &head(&run(1)),
            "a process that has ended",
            &Remarks::default(),
        )
        .unwrap();
    let part = parts(&run(1)).swap_remove(0);
    archive.complete(number, &part, &head(&run(1))).unwrap();
    leave_beside(&path, None, &run(1), &Remarks::default()).unwrap();
    assert_eq!(take(&mut archive), (vec![number], vec![]));
    assert_eq!(archive.record(number).unwrap(), run(1));
    let entries = archive.list(&Filter::default()).unwrap();
    assert_eq!(entries[0].headline.state, State::Complete);
}

#[test]
fn foreign_or_damaged_files_do_not_prevent_the_import_of_others() {
    let directory = directory();
    let path = file(&directory);
    let beside = |end: &str| -> PathBuf {
        let mut name = path.clone().into_os_string();
        name.push(end);
        name.into()
    };
    let text = verdict::to_json(&run(7));
    // Files whose names have another form are not read.
    for name in [
        ".pending-.json",
        ".pending-xyz.json",
        ".pending-00000000000000000000000000000007.json.1.part",
        ".pending-00000000000000000000000000000007.txt",
        ".pending-0000000000000000000000000000000G.json",
    ] {
        fs::write(beside(name), &text).unwrap();
    }
    let of = |number: u8| beside(&format!(".pending-{number:032x}.json"));
    fs::write(of(1), &text[..text.len() / 2]).unwrap();
    fs::write(of(2), "").unwrap();
    fs::write(of(3), [0xff, 0xfe]).unwrap();
    fs::create_dir(of(4)).unwrap();
    let elsewhere = directory.path().join("elsewhere.json");
    fs::write(&elsewhere, &text).unwrap();
    symlink(&elsewhere, of(5)).unwrap();
    // The file contains the record of a run whose ID differs from the ID in the file's name.
    fs::write(of(6), &text).unwrap();
    let big = fs::File::create(of(8)).unwrap();
    big.set_len(record::read::BYTES_MAX as u64 + 1).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        of(9),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let mut expected = 8;
    if is_root {
        fs::write(of(10), &text).unwrap();
        chown(of(10), Some(12_345), None).unwrap();
        expected += 1;
    }
    // The archive gets another record with the ID of run 20, whose own record waits in a file.
    let mut archive = open(&path);
    let mut other = run(20);
    other.host.hostname.push_str("-of-another");
    archive.import(&other).unwrap();
    leave_beside(&path, None, &run(20), &Remarks::default()).unwrap();
    expected += 1;
    leave_beside(&path, None, &run(30), &Remarks::default()).unwrap();
    let names = others(&directory);
    let (numbers, left) = take(&mut archive);
    assert_eq!(numbers, [2], "{left:?}");
    assert_eq!(archive.record(2).unwrap(), run(30));
    assert_eq!(left.len(), expected, "{left:?}");
    for why in [
        "its record cannot be read",
        "not UTF-8",
        "not a regular file",
        "a symbolic link",
        "the record of another run",
        "larger than a record",
        "another record",
    ] {
        assert!(
            left.iter().any(|left| left.contains(why)),
            "{why}: {left:?}"
        );
    }
    assert_eq!(
        is_root,
        left.iter().any(|left| left.contains("user 12345 owns it")),
        "{left:?}"
    );
    assert_eq!(others(&directory).len() + 1, names.len());
}

/// Another process has locked the archive, so the record of a run waits beside it until the lock is
/// released.
#[test]
fn waiting_record_survives_a_locked_archive() {
    let directory = directory();
    let path = file(&directory);
    drop(open(&path));
    leave_beside(&path, None, &run(1), &Remarks::default()).unwrap();
    let mut archive = open_within(
        &path,
        JournalMode::WriteAhead,
        true,
        Duration::from_millis(50),
    )
    .unwrap();
    archive.wait_up_to(Duration::from_millis(50)).unwrap();
    // The other process is represented by a second connection: SQLite keeps the locks of two
    // connections apart, even in one process.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = archive.take_waiting(&mut |_| ()).unwrap_err();
    assert!(error.kind == ArchiveErrorKind::Busy, "{error}");
    assert_eq!(waiting(&path).len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(take(&mut archive), (vec![1], vec![]));
}

/// The first transaction succeeds, and the second fails because the archive is locked. The imports
/// of the first transaction must be reported, because their files are already removed.
#[test]
fn imports_before_an_error_are_reported() {
    let directory = directory();
    let path = file(&directory);
    drop(open(&path));
    // More records than one transaction imports, so that a second transaction is needed.
    for number in 1..=70 {
        leave_beside(&path, None, &run(number), &Remarks::default()).unwrap();
    }
    let mut archive = open_within(
        &path,
        JournalMode::WriteAhead,
        true,
        Duration::from_millis(50),
    )
    .unwrap();
    archive.wait_up_to(Duration::from_millis(50)).unwrap();
    let mut numbers = Vec::new();
    let mut other = None;
    let error = archive.take_waiting(&mut |pending| {
        let Pending::Imported(number) = pending else {
            unreachable!("{pending:?}")
        };
        numbers.push(number);
        other.get_or_insert_with(|| {
            let other = rusqlite::Connection::open(&path).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            other
        });
    });
    let kind = error.err().map(|error| error.kind);
    assert!(kind == Some(ArchiveErrorKind::Busy));
    assert_eq!((numbers.len(), waiting(&path).len()), (64, 6));
    drop(other);
    assert_eq!(take(&mut archive).0.len(), 6);
}

#[test]
fn waiting_record_never_replaces_a_file() {
    let directory = directory();
    let path = file(&directory);
    let left = leave_beside(&path, None, &run(1), &Remarks::default()).unwrap();
    fs::write(&left, "somebody's").unwrap();
    let error = leave_beside(&path, None, &run(1), &Remarks::default())
        .unwrap_err()
        .to_string();
    error.shows("cannot write").shows("File exists");
    assert_eq!(fs::read_to_string(&left).unwrap(), "somebody's");
    assert_eq!(others(&directory).len(), 1);
}

#[test]
fn check_of_writing_beside_the_archive_leaves_no_file() {
    let directory = directory();
    let path = file(&directory);
    may_leave_beside(&path).unwrap();
    assert_eq!(others(&directory), [""; 0]);
    // Another process with the same ID was killed after it created the test file and before it
    // removed the file. The file of the killed process does not prevent the check.
    let number = std::process::id();
    let left = format!(
        "archive.db.pending-{}.json.{number}.part",
        RunId::new(u128::from(number))
    );
    fs::write(directory.path().join(&left), "").unwrap();
    may_leave_beside(&path).unwrap();
    assert_eq!(others(&directory), [left]);
    let nowhere = directory.path().join("no/directory/archive.db");
    let error = may_leave_beside(&nowhere).unwrap_err().to_string();
    error.shows("cannot write a file in").shows("No such file");
    assert!(leave_beside(&nowhere, None, &run(1), &Remarks::default()).is_err());
    assert_eq!(waiting(&nowhere), []);
}

#[test]
fn waiting_record_belongs_to_the_archives_owner() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let directory = directory();
    let path = file(&directory);
    let owner = Owner {
        user: 12_345,
        group: 54_321,
    };
    let owns = |number: u64| {
        let left = leave_beside(&path, Some(owner), &run(number), &Remarks::default()).unwrap();
        let facts = fs::metadata(left).unwrap();
        (facts.uid(), facts.gid())
    };
    assert_eq!(owns(1), (12_345, 54_321));
    drop(open(&path));
    chown(&path, Some(777), Some(778)).unwrap();
    assert_eq!(owns(2), (777, 778));
}
