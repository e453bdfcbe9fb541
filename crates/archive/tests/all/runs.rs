//! Tests how an archive stores, lists, changes and deletes runs.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use archive::{Archive, Filter, Imported, JournalMode, Remarks, RunName, Tag, own_mark};
use record::{Fact, Outcome, Record};
use testkit::{Assert, Shows};
use verdict::{Headline, Level, ListedRun, State};

use crate::support::processes::{ARCHIVE, WITH, another, journal};
use crate::support::{ImportOne, directory, file, head, kept, open, open_with, parts, run};

fn numbers(archive: &Archive, filter: &Filter) -> Vec<u64> {
    let entries = archive.list(filter).unwrap();
    entries.iter().map(|entry| entry.number.unwrap()).collect()
}

fn only(archive: &Archive) -> ListedRun {
    archive.find(&RunName::Last).unwrap()
}

#[test]
fn active_run_is_readable_and_contains_its_completed_phases() {
    let directory = directory();
    let path = file(&directory);
    let mut archive = open(&path);
    // A second connection in the same process reads the run. One process is sufficient, because
    // locks do not matter in this test.
    let watcher = open(&path);
    let whole = kept();
    let mut so_far = head(&whole);
    let number = archive.begin(&so_far, "me", &Remarks::default()).unwrap();
    assert_eq!(watcher.record(number).unwrap(), so_far);
    assert_eq!(
        only(&watcher).headline.state,
        State::Unfinished,
        "no process"
    );
    for completed in parts(&whole) {
        so_far.add(completed.clone());
        archive.complete(number, &completed, &so_far).unwrap();
        assert_eq!(watcher.record(number).unwrap(), so_far);
        let seen = only(&watcher).headline;
        assert_eq!(seen, Headline::of(&so_far));
    }
    assert_eq!(so_far.actual.phases, whole.actual.phases);
    assert_eq!(
        only(&watcher).headline.verdict,
        Level::Invalid,
        "it is partial"
    );
    assert!(only(&watcher).headline.transactions_per_second.is_some());
    archive.finish(number, &whole).unwrap();
    assert_eq!(watcher.record(number).unwrap(), whole);
    assert_eq!(only(&watcher).headline, Headline::of(&whole));
    assert_eq!(only(&watcher).headline.state, State::Complete);
    watcher.check().unwrap();
}

#[test]
fn deletion_of_an_active_run_is_reported() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    let (alive, none) = (own_mark().unwrap(), Remarks::default());
    let number = archive.begin(&head(&run(1)), &alive, &none).unwrap();
    assert_eq!(only(&archive).headline.state, State::Going);
    let going = archive.delete(&[number]).unwrap_err();
    going.assert(going.to_string().contains("run 1 is still running"));
    let number = archive.begin(&head(&kept()), "me", &none).unwrap();
    archive.delete(&[number]).unwrap();
    let error = archive
        .complete(number, &parts(&kept())[0], &kept())
        .unwrap_err();
    assert!(error.to_string().contains("there is no run"), "{error}");
    assert!(
        archive
            .finish(number, &kept())
            .unwrap_err()
            .to_string()
            .contains("there is no run")
    );
    assert_eq!(numbers(&archive, &Filter::default()), [1]);
}

fn on(record: &mut Record, file_system: &str) {
    for location in &mut record.locations {
        if let Fact::Known(target) = &mut location.target
            && let Fact::Known(mount) = &mut target.mount
        {
            mount.file_system_type = file_system.to_owned();
        }
    }
}

/// Adds ten runs to the archive, which began 1 to 10 seconds after the epoch.
fn ten(archive: &mut Archive) {
    for number in 1..=10 {
        let mut record = run(number);
        record.host.hostname = if number % 2 == 0 { "even" } else { "odd" }.to_owned();
        record.spec.preset = (number % 3 == 0).then(|| "mail-1".to_owned());
        on(&mut record, if number < 4 { "xfs" } else { "ext4" });
        if number == 5 {
            record.actual.outcome = Outcome::Interrupted { signal: 2 };
        }
        if number == 6 {
            let mut second = record.locations[0].clone();
            second.directory.push_str("/other");
            record.locations.push(second);
            on(&mut record, "ext4");
            let Fact::Known(target) = &mut record.locations[1].target else {
                unreachable!("the kept record knows it")
            };
            let Fact::Known(mount) = &mut target.mount else {
                unreachable!("the kept record knows it")
            };
            mount.file_system_type = "btrfs".to_owned();
        }
        assert_eq!(archive.import(&record).unwrap(), Imported::New(number));
    }
}

#[test]
fn filters_select_runs_that_meet_all_conditions() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    ten(&mut archive);
    let fast: Tag = "fast".parse().unwrap();
    let new: Tag = "new".parse().unwrap();
    for number in [2, 4, 8] {
        archive
            .add_tags(number, std::slice::from_ref(&fast))
            .unwrap();
    }
    archive.add_tags(4, &[new.clone(), fast.clone()]).unwrap();
    let none = Filter::default;
    let text = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (none(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10][..]),
        (
            Filter {
                since_unix_ns: Some(9_000_000_000),
                ..none()
            },
            &[9, 10],
        ),
        (
            Filter {
                until_unix_ns: Some(3_000_000_000),
                ..none()
            },
            &[1, 2],
        ),
        (
            Filter {
                since_unix_ns: Some(u64::MAX),
                ..none()
            },
            &[],
        ),
        (
            Filter {
                host: text("odd"),
                ..none()
            },
            &[1, 3, 5, 7, 9],
        ),
        (
            Filter {
                fingerprint: text("no such workload"),
                ..none()
            },
            &[],
        ),
        (
            Filter {
                host: text("' OR 1 = 1 --"),
                ..none()
            },
            &[],
        ),
        (
            Filter {
                file_system: text("xfs"),
                ..none()
            },
            &[1, 2, 3],
        ),
        (
            Filter {
                file_system: text("btrfs"),
                ..none()
            },
            &[6],
        ),
        (
            Filter {
                file_system: text("ext4"),
                host: text("even"),
                ..none()
            },
            &[4, 6, 8, 10],
        ),
        (
            Filter {
                preset: text("mail"),
                ..none()
            },
            &[3, 6, 9],
        ),
        (
            Filter {
                tags: vec!["fast".to_owned()],
                ..none()
            },
            &[2, 4, 8],
        ),
        (
            Filter {
                tags: vec!["fast".to_owned(), "new".to_owned()],
                ..none()
            },
            &[4],
        ),
        (
            Filter {
                verdict: Some(Level::Invalid),
                ..none()
            },
            &invalid(&archive),
        ),
        (
            Filter {
                limit: Some(3),
                ..none()
            },
            &[8, 9, 10],
        ),
        (
            Filter {
                limit: Some(1),
                host: text("odd"),
                ..none()
            },
            &[9],
        ),
        (
            Filter {
                limit: Some(0),
                ..none()
            },
            &[],
        ),
    ] {
        assert_eq!(numbers(&archive, &filter), expected, "{filter:?}");
    }
    assert!(invalid(&archive).contains(&5), "it is partial");
    let six = archive.find(&RunName::Number(6)).unwrap();
    assert_eq!(six.headline.file_systems, ["ext4", "btrfs"]);
}

fn invalid(archive: &Archive) -> Vec<u64> {
    let entries = archive.list(&Filter::default()).unwrap();
    let invalid = entries
        .iter()
        .filter(|entry| entry.headline.verdict == Level::Invalid);
    invalid.map(|entry| entry.number.unwrap()).collect()
}

#[test]
fn runs_are_found_by_number_or_id_or_as_last() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    // `last` is the run that began last, even if another run was imported later.
    for number in [3, 7, 5] {
        archive.import(&run(number)).unwrap();
    }
    let began = |name: &str| {
        let entry = archive.find(&RunName::parse(name).unwrap());
        entry.map(|entry| entry.headline.begun_unix_ns / 1_000_000_000)
    };
    assert_eq!(began("last").unwrap(), 7);
    assert_eq!(began("1").unwrap(), 3);
    assert_eq!(began("003").unwrap(), 5);
    assert_eq!(began(&run(5).id.to_string()).unwrap(), 5);
    assert_eq!(began(&run(5).id.to_string()[..16]).unwrap(), 5);
    assert!(
        began("000000000")
            .unwrap_err()
            .to_string()
            .contains("is ambiguous")
    );
    assert!(
        began("4")
            .unwrap_err()
            .to_string()
            .contains("there is no run")
    );
    assert!(
        began("ffff")
            .unwrap_err()
            .to_string()
            .contains("there is no run")
    );
    for word in ["", "abc", "ABCD", "file.json", "-1", "12 ", &"a".repeat(33)] {
        assert_eq!(RunName::parse(word), None, "{word}");
    }
}

/// The remarks are stored at the beginning, so that they remain if the process is killed.
#[test]
fn remarks_are_stored_at_the_beginning_of_a_run() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    let remarks = Remarks {
        tags: vec!["ssd".parse().unwrap()],
        note: Some("before the update".parse().unwrap()),
    };
    let begun = archive.begin(&head(&run(1)), "me", &remarks).unwrap();
    let imported = archive.import_all(&[(&run(2), &remarks)]).unwrap();
    assert_eq!(imported, [Imported::New(begun + 1)]);
    for number in [begun, begun + 1] {
        let entry = archive.find(&RunName::Number(number)).unwrap();
        assert_eq!(entry.tags, ["ssd"]);
        assert_eq!(entry.note.as_deref(), Some("before the update"));
    }
    let other = Remarks {
        tags: vec!["other".parse().unwrap()],
        note: None,
    };
    archive.import_all(&[(&run(2), &other)]).unwrap();
    let entry = archive.find(&RunName::Number(begun + 1)).unwrap();
    assert_eq!(entry.tags, ["ssd"], "a run that is there keeps its own");
}

#[test]
fn tags_and_notes_are_added_and_removed() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    archive.import(&run(1)).unwrap();
    archive.import(&run(2)).unwrap();
    let tag = |word: &str| word.parse::<Tag>().unwrap();
    archive
        .add_tags(1, &[tag("z"), tag("größer"), tag("a"), tag("z")])
        .unwrap();
    archive.add_tags(1, &[tag("a")]).unwrap();
    let first = || archive.find(&RunName::Number(1)).unwrap();
    assert_eq!(first().tags, ["a", "größer", "z"]);
    let missing = archive.remove_tags(1, &[tag("a"), tag("b")]).unwrap();
    assert_eq!(missing, [tag("b")]);
    archive
        .set_note(1, Some("two\nlines, and 'quotes'"))
        .unwrap();
    let entry = archive.find(&RunName::Number(1)).unwrap();
    assert_eq!(entry.tags, ["größer", "z"]);
    assert_eq!(entry.note.as_deref(), Some("two\nlines, and 'quotes'"));
    archive.set_note(1, None).unwrap();
    let entry = archive.find(&RunName::Number(1)).unwrap();
    assert_eq!(entry.note, None);
    assert_eq!(
        archive.record(1).unwrap(),
        run(1),
        "the record is as it was"
    );
    assert!(archive.find(&RunName::Number(2)).unwrap().tags.is_empty());
    for word in [
        "",
        "7",
        "last",
        "two words",
        "a,b",
        "tab\t",
        "\u{1b}[31m",
        "\u{202e}",
        &"x".repeat(101),
    ] {
        assert!(word.parse::<Tag>().is_err(), "{word:?}");
    }
}

#[test]
fn number_of_a_deleted_run_is_not_reused() {
    let directory = directory();
    let path = file(&directory);
    let mut archive = open(&path);
    for number in 1..=3 {
        archive.import(&run(number)).unwrap();
        archive.add_tags(number, &["tag".parse().unwrap()]).unwrap();
    }
    archive.delete(&[2, 3]).unwrap();
    assert_eq!(numbers(&archive, &Filter::default()), [1]);
    assert!(
        archive
            .record(3)
            .unwrap_err()
            .to_string()
            .contains("there is no run")
    );
    assert_eq!(archive.import(&run(3)).unwrap(), Imported::New(4));
    assert!(archive.find(&RunName::Number(4)).unwrap().tags.is_empty());
    drop(archive);
    let tables = rusqlite::Connection::open(&path).unwrap();
    for table in ["run", "content", "run_file_system"] {
        let rows: i64 = tables
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(rows, 2, "{table}");
    }
}

#[test]
fn importing_a_run_twice_adds_it_once() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    assert_eq!(archive.import(&kept()).unwrap(), Imported::New(1));
    archive.add_tags(1, &["mine".parse().unwrap()]).unwrap();
    let again = Record::from_json(&verdict::to_json(&archive.record(1).unwrap())).unwrap();
    assert_eq!(archive.import(&again).unwrap(), Imported::There(1));
    let mut other = kept();
    other.hints.push(record::Note::NoAckLog);
    assert_eq!(archive.import(&other).unwrap(), Imported::Conflict(1));
    assert_eq!(archive.record(1).unwrap(), kept(), "compare them");
    assert_eq!(numbers(&archive, &Filter::default()), [1]);
    assert_eq!(only(&archive).tags, ["mine"]);
}

/// The run was exported while it was active, and once more after its end.
#[test]
fn completed_run_replaces_its_unfinished_record() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    let whole = run(1);
    let mut so_far = head(&whole);
    so_far.add(parts(&whole).swap_remove(0));
    assert_eq!(archive.import(&so_far).unwrap(), Imported::New(1));
    archive.add_tags(1, &["mine".parse().unwrap()]).unwrap();
    archive.set_note(1, Some("a note")).unwrap();
    // A different run with the same ID does not replace the unfinished record.
    let mut other = whole.clone();
    other.host.hostname.push_str("-2");
    assert_eq!(archive.import(&other).unwrap(), Imported::Conflict(1));
    assert_eq!(archive.record(1).unwrap(), so_far);
    assert_eq!(archive.import(&whole).unwrap(), Imported::Completed(1));
    assert_eq!(archive.record(1).unwrap(), whole);
    let entry = only(&archive);
    assert_eq!(entry.headline, Headline::of(&whole));
    assert_eq!(
        (entry.tags, entry.note.as_deref()),
        (vec!["mine".to_owned()], Some("a note"))
    );
    for again in [&whole, &so_far] {
        assert_eq!(archive.import(again).unwrap(), Imported::There(1));
    }
    assert_eq!(archive.record(1).unwrap(), whole);
    // This machine could write only the beginning of the run to the archive.
    let number = archive
        .begin(&head(&run(2)), "me", &Remarks::default())
        .unwrap();
    archive
        .complete(number, &parts(&run(2))[0], &head(&run(2)))
        .unwrap();
    assert_eq!(
        archive.import(&run(2)).unwrap(),
        Imported::Completed(number)
    );
    assert_eq!(archive.record(number).unwrap(), run(2));
}

#[test]
fn unreadable_run_does_not_prevent_other_imports() {
    let directory = directory();
    let path = file(&directory);
    let none = Remarks::default();
    let mut archive = open(&path);
    archive
        .import_all(&[(&run(1), &none), (&run(2), &none)])
        .unwrap();
    drop(archive);
    alter(&path, "UPDATE content SET json = x'00' WHERE run = 1");
    let mut archive = open(&path);
    let imported = archive
        .import_all(&[(&run(1), &none), (&run(2), &none), (&run(3), &none)])
        .unwrap();
    assert_eq!(
        imported,
        [
            Imported::Unreadable(1),
            Imported::There(2),
            Imported::New(3)
        ]
    );
}

/// A newer program may write a word that this program does not know, without a new archive version.
#[test]
fn unknown_state_or_verdict_is_reported_with_the_run_number() {
    for column in ["state", "verdict"] {
        let directory = directory();
        let path = file(&directory);
        let none = Remarks::default();
        let mut archive = open(&path);
        archive
            .import_all(&[(&run(1), &none), (&run(2), &none)])
            .unwrap();
        drop(archive);
        alter(
            &path,
            &format!("UPDATE run SET {column} = 'splendid\u{1b}' WHERE number = 2"),
        );
        let archive = open(&path);
        let error = archive.list(&Filter::default()).unwrap_err().to_string();
        error
            .shows("run 2 of ")
            .shows(&format!("has the unknown {column} 'splendid"));
        error.shows("newer postmark");
        assert!(!error.contains('\u{1b}'), "{error}");
        assert_eq!(archive.find(&RunName::Number(1)).unwrap().number, Some(1));
    }
}

/// Changes an archive by SQL statements that this crate never executes.
fn alter(path: &Path, sql: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}

#[test]
fn exported_unfinished_run_is_unfinished_after_its_import() {
    let directory = directory();
    let mut archive = open(&file(&directory));
    let whole = run(1);
    let mut so_far = head(&whole);
    let number = archive.begin(&so_far, "me", &Remarks::default()).unwrap();
    let completed = parts(&whole).swap_remove(0);
    so_far.add(completed.clone());
    archive.complete(number, &completed, &so_far).unwrap();
    let other = crate::support::directory();
    let mut other = open(&file(&other));
    other.import(&archive.record(number).unwrap()).unwrap();
    assert_eq!(other.record(1).unwrap(), so_far);
    assert_eq!(only(&other).headline.state, State::Unfinished);
}

/// Tests both journal modes. Either process may be the one that creates the archive.
#[test]
fn archive_contains_all_runs_of_two_concurrent_writers() {
    for journal in [JournalMode::WriteAhead, JournalMode::Rollback] {
        let directory = directory();
        let path = file(&directory);
        let writers = [0, 1_000].map(|first| {
            let with = format!("{journal:?} {first} {EACH}");
            another(&path, "runs::writes")
                .env(WITH, with)
                .spawn()
                .unwrap()
        });
        for writer in writers {
            let ended = writer.wait_with_output().unwrap();
            assert!(
                ended.status.success(),
                "{journal:?}: {}",
                told(&ended.stdout).join("\n")
            );
        }
        let archive = open_with(&path, journal, false).unwrap();
        archive.check().unwrap();
        let entries = archive.list(&Filter::default()).unwrap();
        assert!(
            entries
                .iter()
                .all(|entry| entry.headline.state == State::Complete)
        );
        assert_eq!(entries.len() as u64, 2 * EACH, "{journal:?}");
    }
}

/// Number of runs that each of two processes writes.
const EACH: u64 = 40;

/// Every phase that the killed process had reported as written is in the archive, with either
/// journal mode.
#[test]
fn written_phases_survive_a_kill() {
    for journal in [JournalMode::WriteAhead, JournalMode::Rollback] {
        let directory = directory();
        let path = file(&directory);
        open_with(&path, journal, true).unwrap();
        let mut written = 0;
        let mut in_parts = 0;
        for case in 0..20_u32 {
            let first = u64::from(case) * 1_000;
            let with = format!("{journal:?} {first} 1000");
            let mut writer = another(&path, "runs::writes")
                .env(WITH, with)
                .spawn()
                .unwrap();
            let mut said = BufReader::new(writer.stdout.take().unwrap());
            let mut line = String::new();
            // Kills the process after it has reported one or several written phases, and after a
            // pause. At least one phase is therefore written, even on a slow disk.
            let mut seen = 0;
            while seen <= case % 8 {
                let length = line.len();
                assert!(said.read_line(&mut line).unwrap() > 0, "it has ended");
                seen += u32::from(line[length..].contains(WRITTEN));
            }
            std::thread::sleep(Duration::from_micros(u64::from(case) * 1_300));
            writer.kill().unwrap();
            writer.wait().unwrap();
            let mut rest = line.into_bytes();
            said.read_to_end(&mut rest).unwrap();
            let archive = open_with(&path, journal, false).unwrap();
            archive.check().unwrap();
            for words in told(&rest) {
                let words: Vec<u64> = words.split(' ').map(|word| word.parse().unwrap()).collect();
                let [number, second, phases] = words[..] else {
                    panic!("{words:?}")
                };
                let there = archive.record(number).unwrap();
                assert_eq!(there.id, run(second).id);
                let whole = run(second).actual.phases;
                assert!(
                    there.actual.phases.len() as u64 >= phases,
                    "{journal:?}: phases of {second} are lost"
                );
                assert!(whole.starts_with(&there.actual.phases));
                written += 1;
                in_parts += u64::from(there.actual.outcome == Outcome::Unfinished);
            }
        }
        assert!(
            written > 20 && in_parts > 0,
            "{journal:?}: {written} written, {in_parts} in parts"
        );
    }
}

/// Prefix of an output line that reports a written phase. The line contains the run's number, the
/// second in which the run began, and the number of its phases written so far.
const WRITTEN: &str = "written: ";

/// Returns the reports in the output of a writing process. An incomplete last line is ignored.
fn told(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output).into_owned();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().filter_map(|line| line.split_once(WRITTEN));
    lines.map(|(_, words)| words.to_owned()).collect()
}

/// Helper process of other tests, not a test: writes runs phase by phase.
#[test]
fn writes() {
    let (Some(path), Ok(with)) = (std::env::var_os(ARCHIVE), std::env::var(WITH)) else {
        return;
    };
    let words: Vec<&str> = with.split(' ').collect();
    let (first, each): (u64, u64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let mut archive = open_with(Path::new(&path), journal(words[0]), true).unwrap();
    for second in first + 1..=first + each {
        let whole = run(second);
        let mut so_far = head(&whole);
        let number = archive.begin(&so_far, "me", &Remarks::default()).unwrap();
        for completed in parts(&whole) {
            so_far.add(completed.clone());
            archive.complete(number, &completed, &so_far).unwrap();
            println!("{WRITTEN}{number} {second} {}", so_far.actual.phases.len());
        }
        archive.finish(number, &whole).unwrap();
        assert_eq!(archive.record(number).unwrap(), whole);
    }
}
