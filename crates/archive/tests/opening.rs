//! Which files are opened, and what becomes of those that are not.

#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use archive::{Archive, ArchiveError, Filter, Journal, Name, Opening, Owner};
use record::State;

use support::{directory, file, head, nobody, open, open_with, parts, run};

/// Opening fails, says this, and changes not a byte.
fn is_refused(path: &Path, expected: &str) -> ArchiveError {
    let before = fs::read(path).unwrap();
    let names = |path: &Path| -> Vec<_> {
        let entries = fs::read_dir(path.parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let names_before = names(path);
    let error = open_with(path, Journal::WriteAhead, true).unwrap_err();
    let told = error.to_string();
    assert!(told.contains(expected), "{told}\nlacks: {expected}");
    assert!(
        told.contains(path.to_str().unwrap()) && told.contains("--archive"),
        "{told}"
    );
    assert!(fs::read(path).unwrap() == before, "the file was changed: {told}");
    assert_eq!(names(path), names_before, "{told}");
    error
}

#[test]
fn an_archive_is_made_with_its_directories() {
    let directory = directory();
    let path = directory.path().join("a/b/archive.db");
    let missing = open_with(&path, Journal::WriteAhead, false).unwrap_err();
    assert!(matches!(missing, ArchiveError::Missing { .. }), "{missing}");
    assert!(!directory.path().join("a").exists());
    let archive = open(&path);
    assert_eq!(archive.list(&Filter::default(), &nobody).unwrap(), []);
    archive.check().unwrap();
    let mode = fs::metadata(directory.path().join("a/b")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_is_made_is_its_owners() {
    let directory = directory();
    let path = directory.path().join("a/b/archive.db");
    let facts = fs::metadata(directory.path()).unwrap();
    let is_root = facts.uid() == 0;
    let owner = if is_root {
        Owner {
            user: 12_345,
            group: 54_321,
        }
    } else {
        Owner {
            user: facts.uid(),
            group: facts.gid(),
        }
    };
    let opening = Opening {
        path: &path,
        journal: Journal::WriteAhead,
        owner: Some(owner),
        make: true,
    };
    let mut archive = Archive::open(&opening).unwrap();
    archive.import(&run(1)).unwrap();
    let mut seen = 0;
    for name in ["a", "a/b", "a/b/archive.db", "a/b/archive.db-wal", "a/b/archive.db-shm"] {
        let facts = fs::metadata(directory.path().join(name)).unwrap();
        assert_eq!((facts.uid(), facts.gid()), (owner.user, owner.group), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 5);
    assert_eq!(fs::metadata(directory.path()).unwrap().uid(), facts.uid());
}

#[test]
fn foreign_files_are_left_as_they_are() {
    let directory = directory();
    let path = file(&directory);
    for (bytes, expected) in [
        (
            &b"some text, and not a short one\n".repeat(20)[..],
            "no database of SQLite",
        ),
        (b"x", "no database of SQLite"),
        (b"SQLite format 4\0", "no database of SQLite"),
        (&[0; 4096], "no database of SQLite"),
    ] {
        fs::write(&path, bytes).unwrap();
        is_refused(&path, expected);
    }
    fs::remove_file(&path).unwrap();
    // A database of somebody else's.
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE run (number INTEGER); PRAGMA user_version = 1")
        .unwrap();
    drop(other);
    is_refused(&path, "another program");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = open_with(&path, Journal::WriteAhead, true).unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
    // A link to nowhere is not followed to make something there.
    fs::remove_dir(&path).unwrap();
    let elsewhere = directory.path().join("elsewhere");
    symlink(&elsewhere, &path).unwrap();
    let error = open_with(&path, Journal::WriteAhead, true).unwrap_err();
    assert!(matches!(error, ArchiveError::File { .. }), "{error}");
    assert!(!elsewhere.exists());
}

#[test]
fn a_newer_archive_is_left_as_it_is() {
    let directory = directory();
    let path = file(&directory);
    open(&path).import(&run(1)).unwrap();
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "journal_mode", "delete").unwrap();
    newer.pragma_update(None, "user_version", archive::VERSION + 1).unwrap();
    drop(newer);
    let error = is_refused(&path, "use a newer postmark");
    assert!(matches!(error, ArchiveError::Newer { found, .. } if found == archive::VERSION + 1));
}

#[test]
fn a_truncated_archive_is_left_as_it_is() {
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
        assert!(matches!(error, ArchiveError::Damaged { .. }), "{length}: {error}");
    }
}

/// Whatever bit has changed: an error that says so, or an archive as before; never a panic, and never a change to the file.
#[test]
fn flipped_bits_are_told_and_nothing_is_changed() {
    let directory = directory();
    let whole = file(&directory);
    let mut archive = open(&whole);
    let number = archive.begin(&head(&run(1)), "me").unwrap();
    archive.complete(number, &parts(&run(1))[0], &head(&run(1))).unwrap();
    archive.import(&run(2)).unwrap();
    drop(archive);
    let bytes = fs::read(&whole).unwrap();
    let path = directory.path().join("flipped.db");
    let (mut told, mut unseen) = (0, 0);
    // A stride that meets all parts of pages.
    for at in (0..bytes.len()).step_by(97) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        let read = || -> Result<(), ArchiveError> {
            let archive = open_with(&path, Journal::WriteAhead, false)?;
            for entry in archive.list(&Filter::default(), &nobody)? {
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
fn a_damaged_record_is_told_and_the_others_are_read() {
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
    assert_eq!(archive.list(&Filter::default(), &nobody).unwrap().len(), 2);
}

#[test]
fn the_journal_is_the_one_that_was_asked_for() {
    let directory = directory();
    let path = file(&directory);
    // Bytes 18 and 19 of the header: 2 with a write-ahead log.
    let says = |expected: u8| {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes[18..20], [expected; 2]);
    };
    for (journal, expected) in [
        (Journal::Rollback, 1),
        (Journal::WriteAhead, 2),
        (Journal::Rollback, 1),
        (Journal::WriteAhead, 2),
    ] {
        let mut archive = open_with(&path, journal, true).unwrap();
        archive.import(&run(u64::from(expected))).unwrap();
        let log = directory.path().join("archive.db-wal");
        assert_eq!(log.exists(), journal == Journal::WriteAhead);
        drop(archive);
        says(expected);
    }
}

#[test]
fn an_empty_file_becomes_an_archive() {
    let directory = directory();
    let path = file(&directory);
    fs::write(&path, b"").unwrap();
    open(&path).import(&run(1)).unwrap();
    assert_eq!(open(&path).list(&Filter::default(), &nobody).unwrap().len(), 1);
}

/// Every version that was ever written is kept as a file, and read.
#[test]
fn kept_archives_of_every_version_are_read() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    for version in 1..=archive::VERSION {
        let directory = directory();
        let path = file(&directory);
        fs::copy(kept.join(format!("v{version}.db")), &path).unwrap();
        let archive = open(&path);
        archive.check().unwrap();
        let entries = archive.list(&Filter::default(), &nobody).unwrap();
        let states: Vec<State> = entries.iter().map(|entry| entry.headline.state).collect();
        assert_eq!(states, [State::Complete, State::Unfinished], "version {version}");
        assert_eq!(entries[0].tags, ["baseline", "ssd"]);
        assert_eq!(entries[0].note.as_deref(), Some("before the new firmware"));
        let first = archive.record(1).unwrap();
        assert_eq!(first.actual.phases.len(), 3);
        let second = archive.find(&Name::Last, &nobody).unwrap();
        let second = archive.record(second.number.unwrap()).unwrap();
        assert_eq!(second.actual.phases, first.actual.phases[..2]);
    }
}

/// Makes the file that is kept of the newest version. It is made once, with `POSTMARK_WRITE_GOLDEN=1`, and never again.
#[test]
fn the_newest_version_is_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kept/v{}.db", archive::VERSION));
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() && !path.exists() {
        let mut archive = open_with(&path, Journal::Rollback, true).unwrap();
        archive.import(&run(1)).unwrap();
        let tags = ["ssd", "baseline"].map(|tag| tag.parse().unwrap());
        archive.add_tags(1, &tags).unwrap();
        archive.set_note(1, Some("before the new firmware")).unwrap();
        let mut so_far = head(&run(2));
        let number = archive.begin(&so_far, "a process that has ended").unwrap();
        for completed in &parts(&run(2))[..2] {
            so_far.add(completed.clone());
            archive.complete(number, completed, &so_far).unwrap();
        }
    }
    assert!(path.exists(), "write it with POSTMARK_WRITE_GOLDEN=1");
}
