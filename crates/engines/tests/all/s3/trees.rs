//! Copies and removals of trees: directories with their files.

use engine::{Cause, Errno, Name, Settings, Step, Stopping};

use super::Fixture;
use super::server::Act;
use crate::support::{FilePath, Seen, TEXT, done, failed, make, perform};

const FILES: [&str; 5] = ["1", "2", "3", "4", "5"];
/// The total size of [`filled`]'s files in bytes.
const BYTES: u64 = 36 + 35 + 34 + 33 + 32;

/// Creates the directory `p/d` with the five files of [`FILES`], and entries that a copy leaves
/// out.
fn filled(others: &[&str]) -> Fixture {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/d/", b"");
    for (number, name) in FILES.iter().enumerate() {
        fixture
            .server
            .put(&format!("p/d/{name}"), &TEXT[..TEXT.len() - number]);
    }
    for name in others {
        fixture.server.put(&format!("p/d/{name}"), b"other");
    }
    fixture
}

/// Performs `work` with the names `d` and `copy`.
fn on_names<T: Send>(
    fixture: &Fixture,
    settings: &Settings,
    work: impl FnOnce(&mut Box<dyn engine::Session>, Name<'_>, Name<'_>) -> T + Send,
) -> T {
    let [d, copy] = ["d", "copy"].map(|name| FilePath::new(&fixture.bare(), name));
    fixture.work(settings, |session| work(session, d.name(), copy.name()))
}

fn requests(parts: &[(&'static str, usize)]) -> Vec<&'static str> {
    let all = parts.iter().flat_map(|(name, count)| vec![*name; *count]);
    all.collect()
}

fn calls(names: &[&'static str]) -> Vec<Step> {
    names.iter().map(|name| Step::Call(name)).collect()
}

fn keys_of(fixture: &Fixture, directory: &str) -> Vec<String> {
    let keys = fixture.server.keys().into_iter();
    let prefix = format!("p/{directory}/");
    keys.filter_map(|key| key.strip_prefix(&prefix).map(str::to_owned))
        .collect()
}

/// The server's pages have 3 entries.
#[test]
fn trees_are_copied_and_removed_completely() {
    let fixture = filled(&["6.l", "7/x", ".h"]);
    let files = make::listing(&FILES);
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        let mut steps = Seen::default();
        let copied = make::copy_tree(d, copy, files, BYTES);
        assert_eq!(perform(session, &copied, &mut steps), Ok(()));
        // The directory has 9 entries.
        let expected = requests(&[("PutObject", 1), ("ListObjectsV2", 3), ("CopyObject", 5)]);
        assert_eq!(fixture.server.take_requests(), expected);
        assert_eq!(steps.0, calls(&expected));
        assert_eq!(keys_of(&fixture, "copy"), ["", "1", "2", "3", "4", "5"]);
        let object = |key: &str| {
            let state = fixture.server.state();
            state.objects[key.as_bytes()].bytes.clone()
        };
        assert_eq!(object("p/copy/"), b"");
        for name in FILES {
            assert_eq!(
                object(&format!("p/copy/{name}")),
                object(&format!("p/d/{name}"))
            );
        }
        // The name of the new directory exists.
        assert_eq!(failed(session, &copied).errno(), Some(libc::EEXIST));
        fixture.server.take_requests();

        let mut steps = Seen::default();
        let removed = make::remove_tree(copy, files);
        assert_eq!(perform(session, &removed, &mut steps), Ok(()));
        let expected = requests(&[("ListObjectsV2", 2), ("DeleteObject", 6)]);
        assert_eq!(fixture.server.take_requests(), expected);
        assert_eq!(steps.0, calls(&expected));
        assert_eq!(keys_of(&fixture, "copy"), [""; 0]);
        assert_eq!(keys_of(&fixture, "d").len(), 9);
        let missing = Cause::System(Errno::NOENT);
        assert_eq!(failed(session, &removed).cause, missing);
        let none = make::listing(&[]);
        for operation in [
            make::remove_tree(copy, none),
            make::copy_tree(copy, d, none, 0),
        ] {
            fixture.server.state().objects.remove(&b"p/d/"[..]);
            assert_eq!(failed(session, &operation).cause, missing, "{operation:?}");
        }
    });
}

/// The keys below the directory are listed in pages of 3, without a delimiter.
#[test]
fn trees_with_subdirectories_are_copied_and_removed() {
    let fixture = Fixture::new(1, "");
    let marks = ["", "s0/", "s1/", "s1/7.d/", "8.r/", "8.r/s0/"];
    let files = ["s0/1", "s0/2", "s0/3.l", "s1/4", "8.r/s0/1"];
    let copied = ["", "s0/", "s0/1", "s0/2", "s1/", "s1/4"];
    for mark in marks {
        fixture.server.put(&format!("p/d/{mark}"), b"");
    }
    for file in files {
        fixture.server.put(&format!("p/d/{file}"), TEXT);
    }
    let entries = make::listing(&["s0", "s1", "1", "2", "4"]);
    let bytes = 3 * TEXT.len() as u64;
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        let one = |operation| make::with_levels(operation, 1);
        done(session, &one(make::copy_tree(d, copy, entries, bytes)));
        let expected = requests(&[
            ("PutObject", 1),
            ("ListObjectsV2", 4),
            ("PutObject", 2),
            ("CopyObject", 3),
        ]);
        assert_eq!(fixture.server.take_requests(), expected);
        assert_eq!(keys_of(&fixture, "copy"), copied);
        // A file and a directory on wrong levels, and one file more.
        for (more, found) in [("s1", 6), ("s0/s1/", 6), ("s0/1/2", 6), ("s0/5", 6)] {
            fixture.server.put(&format!("p/copy/{more}"), b"");
            let failure = failed(session, &one(make::remove_tree(copy, entries)));
            let expected = entries.entries;
            assert_eq!(
                failure.cause,
                Cause::WrongFiles { found, expected },
                "{more}"
            );
            let key = format!("p/copy/{more}");
            fixture.server.state().objects.remove(key.as_bytes());
            assert_eq!(keys_of(&fixture, "copy"), copied);
        }
        fixture.server.take_requests();
        done(session, &one(make::remove_tree(copy, entries)));
        let expected = requests(&[("ListObjectsV2", 2), ("DeleteObject", 6)]);
        assert_eq!(fixture.server.take_requests(), expected);
        assert_eq!(keys_of(&fixture, "copy"), [""; 0]);
        assert_eq!(keys_of(&fixture, "d").len(), marks.len() + files.len());
    });
}

#[test]
fn empty_trees_are_copied_and_removed() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/d/", b"");
    let none = make::listing(&[]);
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        done(session, &make::copy_tree(d, copy, none, 0));
        done(session, &make::remove_tree(d, none));
        let expected = [
            "PutObject",
            "ListObjectsV2",
            "ListObjectsV2",
            "DeleteObject",
        ];
        assert_eq!(fixture.server.take_requests(), expected);
    });
    assert_eq!(fixture.server.keys(), ["p/copy/"]);
}

/// The location has no mark, and the copy is one of its entries.
#[test]
fn files_of_the_location_itself_are_copied() {
    let fixture = Fixture::new(1, "");
    let location = FilePath::new(&fixture.bare(), "");
    let files = make::listing(&["1"]);
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        let none = make::listing(&[]);
        done(session, &make::copy_tree(location.name(), d, none, 0));
        fixture.server.put("p/1", TEXT);
        done(session, &make::copy_tree(location.name(), copy, files, 36));
    });
    let keys = ["p/1", "p/copy/", "p/copy/1", "p/d/"];
    assert_eq!(fixture.server.keys(), keys);
}

#[test]
fn other_files_than_expected_change_no_file() {
    for (other, copy_fails) in [
        ("6", true),
        ("6.l", false),
        // A prefix of a key is a subdirectory.
        ("6/x", false),
        (".h", false),
    ] {
        let fixture = filled(&[other]);
        let files = make::listing(&FILES);
        on_names(&fixture, &fixture.settings(), |session, d, copy| {
            let wrong = Cause::WrongFiles {
                found: 6,
                expected: 5,
            };
            let answer = perform(
                session,
                &make::copy_tree(d, copy, files, BYTES),
                &mut Seen::default(),
            );
            match copy_fails {
                true => {
                    let failure = answer.unwrap_err();
                    let expected = (Step::Call("ListObjectsV2"), wrong);
                    assert_eq!((failure.step, failure.cause), expected, "{other}");
                    assert_eq!(keys_of(&fixture, "copy"), [""]);
                }
                false => assert_eq!(answer, Ok(()), "{other}"),
            }
            let failure = failed(session, &make::remove_tree(d, files));
            let cause = match other {
                // Names that listings do not count are not in the number of files.
                ".h" => Cause::System(Errno::NOTEMPTY),
                _ => wrong,
            };
            let expected = (Step::Call("ListObjectsV2"), cause);
            assert_eq!((failure.step, failure.cause), expected, "{other}");
        });
        assert_eq!(keys_of(&fixture, "d").len(), 7, "{other}");
    }
}

/// An object and a prefix may have the same name.
#[test]
fn subdirectory_with_the_name_of_a_file_is_not_removed() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/d/", b"");
    fixture.server.put("p/d/1/x", b"other");
    on_names(&fixture, &fixture.settings(), |session, d, _| {
        let failure = failed(session, &make::remove_tree(d, make::listing(&["1"])));
        let cause = Cause::WrongFiles {
            found: 1,
            expected: 1,
        };
        assert_eq!(failure.cause, cause);
    });
    assert_eq!(fixture.server.keys(), ["p/d/", "p/d/1/x"]);
}

#[test]
fn missing_files_and_another_size_copy_nothing() {
    let fixture = filled(&[]);
    let more = make::listing(&["1", "2", "3", "4", "5", "6"]);
    let files = make::listing(&FILES);
    for (files, bytes, cause) in [
        (
            more,
            BYTES,
            Cause::WrongFiles {
                found: 5,
                expected: 6,
            },
        ),
        (
            files,
            BYTES + 1,
            Cause::WrongSize {
                found: BYTES,
                expected: BYTES + 1,
            },
        ),
    ] {
        on_names(&fixture, &fixture.settings(), |session, d, copy| {
            let failure = failed(session, &make::copy_tree(d, copy, files, bytes));
            let expected = (Step::Call("ListObjectsV2"), cause, Some(0));
            assert_eq!((failure.step, failure.cause, failure.moved_bytes), expected);
            assert_eq!(keys_of(&fixture, "copy"), [""]);
            done(session, &make::remove_directory(copy));
        });
    }
}

#[test]
fn listing_ends_with_the_page_that_has_too_many_names() {
    let fixture = filled(&[]);
    let one = make::listing(&["1"]);
    let wrong = Cause::WrongFiles {
        found: 2,
        expected: 1,
    };
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        let copied = make::copy_tree(d, copy, one, 36);
        assert_eq!(failed(session, &copied).cause, wrong);
        let removed = make::remove_tree(d, one);
        assert_eq!(failed(session, &removed).cause, wrong);
    });
    let expected = ["PutObject", "ListObjectsV2", "ListObjectsV2"];
    assert_eq!(fixture.server.take_requests(), expected);
}

#[test]
fn failed_request_ends_a_copy_or_a_removal() {
    let remote = Cause::System(Errno::REMOTEIO);
    let files = make::listing(&FILES);
    for (act, cause, copied, removed) in [
        (Act::Status(200, "InternalError"), remote, 2, 2),
        // The server performs the request whose answer is lost.
        (Act::LoseReply, Cause::NotKnown, 3, 3),
    ] {
        let fixture = filled(&[]);
        fixture.server.on("CopyObject", 2, act.clone());
        on_names(&fixture, &fixture.settings(), |session, d, copy| {
            let failure = failed(session, &make::copy_tree(d, copy, files, BYTES));
            let expected = (Step::Call("CopyObject"), cause, Some(36 + 35));
            assert_eq!((failure.step, failure.cause, failure.moved_bytes), expected);
            let made = requests(&[("PutObject", 1), ("ListObjectsV2", 2), ("CopyObject", 3)]);
            assert_eq!(fixture.server.take_requests(), made);
            assert_eq!(keys_of(&fixture, "copy").len(), 1 + copied);
        });
        let act = match act {
            Act::Status(..) => Act::Status(500, "InternalError"),
            act => act,
        };
        fixture.server.behave().on("DeleteObject", 2, act);
        on_names(&fixture, &fixture.settings(), |session, d, _| {
            let failure = failed(session, &make::remove_tree(d, files));
            let expected = (Step::Call("DeleteObject"), cause);
            assert_eq!((failure.step, failure.cause), expected);
            let made = requests(&[("ListObjectsV2", 2), ("DeleteObject", 3)]);
            assert_eq!(fixture.server.take_requests(), made);
        });
        // The mark and the remaining files of the directory are left.
        assert_eq!(keys_of(&fixture, "d").len(), 1 + 5 - removed);
        let not_known = if cause == Cause::NotKnown { 2 } else { 0 };
        assert_eq!(fixture.traffic().count("not_known"), not_known);
    }
}

#[test]
fn lost_answers_to_the_first_and_last_request_are_not_known() {
    let fixture = filled(&[]);
    let files = make::listing(&FILES);
    fixture.server.on("PutObject", 0, Act::LoseReply);
    fixture.server.on("DeleteObject", 5, Act::LoseReply);
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        let failure = failed(session, &make::copy_tree(d, copy, files, BYTES));
        let expected = (Step::Call("PutObject"), Cause::NotKnown);
        assert_eq!((failure.step, failure.cause), expected);
        let failure = failed(session, &make::remove_tree(d, files));
        let expected = (Step::Call("DeleteObject"), Cause::NotKnown);
        assert_eq!((failure.step, failure.cause), expected);
    });
    assert_eq!(fixture.server.keys(), ["p/copy/"]);
}

#[test]
fn lost_page_of_a_listing_is_an_error_of_the_system() {
    let fixture = filled(&[]);
    fixture.server.on("ListObjectsV2", 1, Act::LoseReply);
    on_names(&fixture, &fixture.settings(), |session, d, _| {
        let failure = failed(session, &make::remove_tree(d, make::listing(&FILES)));
        let expected = (Step::Call("ListObjectsV2"), Cause::System(Errno::CONNRESET));
        assert_eq!((failure.step, failure.cause), expected);
    });
    assert_eq!(keys_of(&fixture, "d").len(), 6);
}

#[test]
fn operations_on_trees_stop_between_files_if_the_run_stops() {
    let fixture = filled(&[]);
    let settings = Settings {
        stopping: Stopping::when(|| true),
        ..fixture.settings()
    };
    let files = make::listing(&FILES);
    on_names(&fixture, &settings, |session, d, copy| {
        let failure = failed(session, &make::copy_tree(d, copy, files, BYTES));
        let expected = (Step::Call("CopyObject"), Cause::Stopped, Some(36));
        assert_eq!((failure.step, failure.cause, failure.moved_bytes), expected);
        let failure = failed(session, &make::remove_tree(d, files));
        let expected = (Step::Call("DeleteObject"), Cause::Stopped);
        assert_eq!((failure.step, failure.cause), expected);
    });
    assert_eq!(keys_of(&fixture, "copy"), ["", "1"]);
    assert_eq!(keys_of(&fixture, "d"), ["", "2", "3", "4", "5"]);
}

#[test]
fn copy_checks_with_head_on_a_server_without_if_none_match() {
    let fixture = filled(&[]);
    let files = make::listing(&FILES);
    fixture
        .server
        .on("PutObject", 0, Act::Status(501, "NotImplemented"));
    on_names(&fixture, &fixture.settings(), |session, d, copy| {
        let copied = make::copy_tree(d, copy, files, BYTES);
        done(session, &copied);
        let made = fixture.server.take_requests();
        assert_eq!(
            made[..4],
            ["PutObject", "HeadObject", "PutObject", "ListObjectsV2"]
        );
        assert_eq!(failed(session, &copied).errno(), Some(libc::EEXIST));
        assert_eq!(fixture.server.take_requests(), ["HeadObject"]);
    });
    assert_eq!(fixture.traffic().count("unconditional_creations"), 2);
}
