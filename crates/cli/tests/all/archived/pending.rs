//! Runs whose archive cannot be used. If `--archive` names the archive, the run is refused.
//! Otherwise the run prints a warning, and its record is kept in another file.

use std::fs;
use std::path::{Path, PathBuf};

use faultfs::{Options, Passthrough};
use record::{Outcome, Record};
use rustix::process::Signal;
use verdict::State;

use super::{Home, LITTLE, text};
use crate::support::{Running, Volume, is_met, is_root};

/// The record files beside an archive. A later command that can open the archive adds their records
/// to it.
fn waiting(archive: &Path) -> Vec<PathBuf> {
    let names = archive::waiting(archive);
    names.into_iter().map(|waiting| waiting.path).collect()
}

#[test]
fn run_is_performed_if_the_default_archive_is_locked() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    let other = home.held();
    let ended = home.shows(&format!("{LITTLE} --format json --tag ssd --note locked"));
    ended.ends("0 | warning: the archive | is locked by another process | its record is in");
    let record = Record::from_json(&ended.output).unwrap();
    let waits = waiting(&home.archive());
    assert_eq!(waits.len(), 1, "{ended}");
    ended.shows(text(&waits[0]));
    assert_eq!(fs::read_dir(&home.target).unwrap().count(), 0);
    // While the archive is locked, commands that only read it still work, but do not add the
    // waiting records to it.
    let listed = home.shows("list");
    listed.code(0).shows("1 record of earlier runs still waits");
    assert_eq!(waiting(&home.archive()).len(), 1);
    drop(other);
    home.shows("list").code(0).shows("added to the archive");
    let entries = home.entries();
    assert_eq!((entries.len(), waiting(&home.archive()).len()), (2, 0));
    assert_eq!(home.record(&entries[1]), record, "every field of it");
    assert_eq!(entries[1].tags, ["ssd"]);
    assert_eq!(entries[1].note.as_deref(), Some("locked"));
    home.shows("list")
        .code(0)
        .does_not_show("added to the archive");
}

#[test]
fn run_is_refused_if_the_requested_archive_is_locked() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    let other = home.held();
    home.shows(&format!("{LITTLE} --archive {}", text(&home.archive())))
        .code(2)
        .shows("is locked by another process");
    let mut command = home.command(LITTLE);
    command.env("POSTMARK_ARCHIVE", home.archive());
    home.end(command)
        .code(2)
        .shows("is locked by another process");
    drop(other);
    assert_eq!(
        (home.entries().len(), waiting(&home.archive()).len()),
        (1, 0)
    );
}

/// If the archive is locked during the run, the record is kept in a file beside the archive. If
/// `--archive` named the archive, the exit status is 1.
#[test]
fn record_waits_beside_an_archive_locked_during_the_run() {
    let home = Home::new();
    let words = format!(
        "run --no-overhead --no-sync-phases --engine posix --files 100 --mix read=1 --think 1ms \
         --for 3s --format json --archive {}",
        text(&home.archive())
    );
    let mut running = Running::start(home.command(&words), home.test_dir.path());
    home.until_its_row_is_there(&mut running);
    let other = home.held();
    running.until("its report", |running| !running.output().is_empty());
    // Without this signal, the run would wait for the lock.
    running.send(Signal::TERM);
    let ended = running.finish();
    ended.ends("1 | not in the archive yet | its record is in");
    assert_eq!(waiting(&home.archive()).len(), 1);
    drop(other);
    home.shows(&format!("list --archive {}", text(&home.archive())))
        .code(0);
    let entries = home.entries();
    assert_eq!(
        (entries.len(), entries[0].headline.state),
        (1, State::Complete)
    );
    let record = home.record(&entries[0]);
    assert_eq!(record, Record::from_json(&ended.output).unwrap());
    assert_eq!(record.actual.outcome, Outcome::Complete);
}

#[test]
fn run_is_performed_if_the_default_archive_is_invalid() {
    for (what, bytes) in [
        (
            "is not an archive of postmark",
            &b"Dear Sir or Madam,\n"[..],
        ),
        ("is damaged", b"SQLite format 3\0cut off"),
    ] {
        let home = Home::new();
        fs::create_dir_all(home.archive().parent().unwrap()).unwrap();
        fs::write(home.archive(), bytes).unwrap();
        let ended = home.shows(&format!("{LITTLE} --format json"));
        ended
            .code(0)
            .shows("warning: ")
            .shows(what)
            .shows("its record is in");
        assert_eq!(fs::read(home.archive()).unwrap(), bytes);
        let waits = waiting(&home.archive());
        assert_eq!(waits.len(), 1, "{ended}");
        home.shows(&format!("show {}", text(&waits[0]))).code(0);
        // When the invalid file has been moved away, the next command creates an archive and adds
        // the waiting records.
        fs::rename(home.archive(), home.test_dir.path().join("away")).unwrap();
        home.shows("list").code(0).shows("added to the archive");
        assert_eq!(
            home.record(&home.entries()[0]),
            Record::from_json(&ended.output).unwrap()
        );
    }
}

#[test]
fn run_is_performed_if_the_default_archive_is_of_a_newer_version() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    let newer = rusqlite::Connection::open(home.archive()).unwrap();
    newer
        .pragma_update(None, "user_version", archive::VERSION + 1)
        .unwrap();
    drop(newer);
    home.shows(LITTLE)
        .code(0)
        .shows("warning: ")
        .shows("newer")
        .shows("its record is in");
    assert_eq!(waiting(&home.archive()).len(), 1);
    home.shows(&format!("{LITTLE} --archive {}", text(&home.archive())))
        .code(2)
        .shows("newer");
    assert_eq!(waiting(&home.archive()).len(), 1);
}

/// If neither the archive nor a file beside it can be written, a warning before the run reports
/// that the run is not archived.
#[test]
fn run_is_performed_if_the_data_directory_is_unwritable() {
    if !is_root() {
        return;
    }
    for (options, answer) in [
        ("ro", "Read-only file system"),
        ("size=4k", "No space left on device"),
    ] {
        let home = Home::new();
        let data = home.test_dir.directory("data");
        let volume = Volume::in_memory(&data, options);
        if options != "ro" {
            fs::create_dir(data.join("postmark")).unwrap();
            fs::write(data.join("full"), [1; 4096]).unwrap();
            fs::write(home.archive(), "Dear Sir or Madam,\n").unwrap_err();
            fs::remove_file(home.archive()).unwrap();
            fs::create_dir(home.archive()).unwrap();
        }
        let ended = home.shows(LITTLE);
        ended
            .code(0)
            .shows("warning: ")
            .shows(answer)
            .shows("this run is not archived")
            .shows("--output FILE");
        assert_eq!(fs::read_dir(&home.target).unwrap().count(), 0);
        drop(volume);
    }
}

/// If the file system of the data directory does not answer, a run is performed without an archive.
/// If `--archive` names an archive there, the run is refused.
#[test]
fn run_is_performed_if_the_data_directory_hangs() {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    let home = Home::new();
    let (backing, data) = (
        home.test_dir.directory("backing"),
        home.test_dir.directory("data"),
    );
    let mounted = Passthrough::mount(&backing, &data, Options::default()).unwrap();
    home.shows(LITTLE).code(0);
    mounted.stall();
    home.shows(LITTLE)
        .code(0)
        .shows("warning: cannot look at the archive")
        .shows("the file system did not answer for 5 s")
        .shows("this run is not archived")
        .shows("--output FILE");
    home.shows(&format!("{LITTLE} --archive {}", text(&home.archive())))
        .code(2)
        .shows("the file system did not answer for 5 s")
        .shows("--archive none");
    assert_eq!(fs::read_dir(&home.target).unwrap().count(), 0);
    mounted.resume();
    assert_eq!(home.entries().len(), 1);
}

/// An archive on a read-only file system can be listed. A message states the number of waiting
/// records.
#[test]
fn records_waiting_beside_a_read_only_archive_are_counted() {
    if !is_root() {
        return;
    }
    let home = Home::new();
    let data = home.test_dir.directory("data");
    let volume = Volume::in_memory(&data, "size=16m");
    home.shows(LITTLE).code(0);
    let other = home.held();
    home.shows(LITTLE).code(0);
    drop(other);
    volume.make_read_only();
    let listed = home.shows("list --format csv");
    listed.code(0).shows("1 record of earlier runs still waits");
    assert_eq!(listed.output.lines().count(), 2, "{listed}");
    volume.make_writable();
    assert_eq!(home.answer("list --format csv").lines().count(), 3);
}
