//! Erroneous, late, truncated, fragmented, repeated, reordered and invalid replies on an intact
//! connection. The tests check the errors of operations and the client's counters, and that no
//! operation waits forever.

use std::time::{Duration, Instant};

use engine::{
    Cause, Durability, Engine, Errno, Failure, Operation, OperationOutcome, Session, Settings, Step,
};

use super::files::Whims;
use super::operations::outcomes;
use super::procedure::*;
use super::server::Act;
use super::{Fixture, TIMEOUT};
use crate::support::{FilePath, TEXT, done, make};

/// More time than any operation in these tests needs.
const LIMIT: Duration = Duration::from_secs(10);

fn system(step: Step, errno: i32) -> OperationOutcome {
    Err(Failure::system(step, Errno::from_raw_os_error(errno)))
}

/// Performs one operation and checks that the operation ends in time.
fn outcome(session: &mut Box<dyn Session>, operation: &Operation<'_>) -> OperationOutcome {
    let began = Instant::now();
    let outcome = outcomes(session, 1, 1, |_| *operation)[0];
    assert!(
        began.elapsed() < LIMIT,
        "{operation:?} took {:?}",
        began.elapsed()
    );
    outcome
}

/// Creates a file and reads it twice. The server treats the first read according to `act`, and the
/// second read must succeed. Returns the outcome of the first read.
fn reads_under(act: Act) -> (OperationOutcome, Fixture) {
    let fixture = Fixture::new(1, "");
    fixture.server.on(READ, 0, act);
    let file = FilePath::new(&fixture.bare(), "1");
    let settings = Settings {
        keep_contents_bytes: 64,
        ..fixture.settings()
    };
    let found = fixture.work(&settings, |session| {
        done(session, &make::create(file.name(), TEXT));
        let found = outcome(session, &make::read(file.name(), TEXT.len() as u64));
        assert_eq!(
            outcome(session, &make::read(file.name(), TEXT.len() as u64)),
            Ok(())
        );
        found
    });
    (found, fixture)
}

#[test]
fn error_of_server_names_failed_call() {
    for (status, errno) in [
        (1, 1),
        (5, 5),
        (13, 13),
        (28, 28),
        (30, 30),
        (69, 122),
        (70, 116),
        (10_001, 116),
        (10_006, 121),
    ] {
        let (found, fixture) = reads_under(Act::Status(status));
        assert_eq!(found, system(Step::Call("READ"), errno), "status {status}");
        assert_eq!(
            (
                fixture.count("READ").calls,
                fixture.count("READ").repetitions
            ),
            (2, 0)
        );
    }
    let (found, _) = reads_under(Act::Status(12_345));
    assert_eq!(found.unwrap_err().cause, Cause::Garbled);
}

#[test]
fn rpc_rejection_fails_the_operation() {
    for (words, errno) in [
        (&[1, 1, 5][..], 13),
        (&[0, 0, 0, 1], 93),
        (&[0, 0, 0, 2, 4, 4], 93),
        (&[0, 0, 0, 3], 95),
        (&[0, 0, 0, 4], 22),
        (&[0, 0, 0, 5], 121),
    ] {
        let (found, _) = reads_under(Act::Refused(words.to_vec()));
        assert_eq!(found, system(Step::Call("READ"), errno), "{words:?}");
    }
}

#[test]
fn write_without_free_space_fails() {
    let fixture = Fixture::new(1, "");
    fixture
        .server
        .files(|files| (files.room_bytes, files.preferred) = (1_100, (512, 512)));
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        let found = outcome(session, &make::create(file.name(), &[7; 2_000])).unwrap_err();
        assert_eq!(
            (found.step, found.errno(), found.moved_bytes),
            (Step::Call("WRITE"), Some(28), Some(1_024))
        );
    });
}

#[test]
fn short_reads_and_writes_are_continued() {
    let fixture = Fixture::new(1, "");
    let short = |short| {
        Act::As(Whims {
            short: Some(short),
            ..Whims::default()
        })
    };
    for procedure in [READ, WRITE] {
        (0..4).for_each(|nth| {
            fixture.server.on(procedure, nth, short(5));
        });
        fixture.server.on(procedure, 6, short(0));
    }
    let file = FilePath::new(&fixture.bare(), "1");
    let other = FilePath::new(&fixture.bare(), "2");
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::create(file.name(), TEXT));
        done(session, &make::read(file.name(), 36));
        assert_eq!(fixture.count("WRITE").calls, 5);
        assert_eq!(fixture.count("READ").calls, 5);
        assert_eq!(
            fixture.server.files(|files| files.content("1")).unwrap(),
            TEXT
        );
        done(session, &make::create(other.name(), TEXT));
        done(session, &make::read(other.name(), 36));
        let nothing = outcome(session, &make::append(file.name(), b"x")).unwrap_err();
        assert_eq!(
            (nothing.step, nothing.cause),
            (Step::Call("WRITE"), Cause::NothingWritten)
        );
        // The reply contains no bytes and does not mark the end of the file.
        let nothing = outcome(session, &make::read(file.name(), 36)).unwrap_err();
        assert_eq!(
            (nothing.step, nothing.cause),
            (Step::Call("READ"), Cause::Garbled)
        );
    });
}

#[test]
fn calls_answered_with_jukebox_are_repeated_after_delay() {
    const JUKEBOX: u32 = 10_008;
    let fixture = Fixture::new(2, "");
    for nth in [0, 1] {
        fixture.server.on(CREATE, nth, Act::Status(JUKEBOX));
    }
    fixture.server.always(REMOVE, Act::Status(JUKEBOX));
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        let began = Instant::now();
        assert_eq!(outcome(session, &make::create(file.name(), b"x")), Ok(()));
        assert!(
            began.elapsed() >= Duration::from_millis(15),
            "5 and 10 ms are waited"
        );
        assert_eq!(fixture.server.take_calls(), [CREATE, CREATE, CREATE, WRITE]);
        assert_eq!(
            (
                fixture.count("CREATE").calls,
                fixture.count("CREATE").repetitions
            ),
            (3, 0)
        );
        assert_eq!(fixture.traffic().count("delayed"), 2);
        let began = Instant::now();
        assert_eq!(
            outcome(session, &make::delete(file.name())),
            system(Step::Call("REMOVE"), 110)
        );
        assert!(began.elapsed() >= TIMEOUT / 2, "{:?}", began.elapsed());
        assert!(fixture.traffic().count("delayed") > 5);
    });
}

#[test]
fn missing_reply_times_out() {
    for act in [Act::Silence, Act::OtherNumber] {
        let began = Instant::now();
        let (found, fixture) = reads_under(act.clone());
        assert_eq!(found, system(Step::Call("READ"), 110));
        assert!(began.elapsed() >= TIMEOUT);
        let strays = u64::from(matches!(act, Act::OtherNumber));
        assert_eq!(fixture.traffic().count("stray_replies"), strays);
        assert_eq!(
            (
                fixture.count("READ").repetitions,
                fixture.traffic().count("reconnections")
            ),
            (0, 0)
        );
    }
}

#[test]
fn late_reply_is_counted_as_stray_reply() {
    let (found, fixture) = reads_under(Act::Late(TIMEOUT + Duration::from_millis(600)));
    assert_eq!(found, system(Step::Call("READ"), 110));
    assert_eq!(
        (
            fixture.traffic().count("stray_replies"),
            fixture.count("READ").repetitions
        ),
        (1, 0)
    );
}

#[test]
fn truncated_replies_are_rejected() {
    // A reply to READ consists of 164 bytes: 24 of RPC, 4 of the status, 88 of attributes, 12 of
    // count, end and length, and 36 of data. At least the first 24 bytes remain.
    for bytes in (4..=140).step_by(4) {
        let (found, fixture) = reads_under(Act::CutRecord(bytes));
        let failure = found.unwrap_err();
        assert_eq!(
            (failure.step, failure.cause),
            (Step::Call("READ"), Cause::Garbled),
            "{bytes}"
        );
        assert_eq!(
            (
                fixture.count("READ").calls,
                fixture.count("READ").repetitions
            ),
            (2, 0)
        );
    }
}

#[test]
fn fragmented_duplicate_and_reordered_replies_are_accepted() {
    for size in [1, 3, 4, 20, 100, 1_000] {
        let (found, fixture) = reads_under(Act::Fragments(size));
        assert_eq!(
            (found, fixture.traffic().count("stray_replies")),
            (Ok(()), 0),
            "{size}"
        );
    }
    let (found, fixture) = reads_under(Act::Twice);
    assert_eq!(
        (found, fixture.traffic().count("stray_replies")),
        (Ok(()), 1)
    );
    let fixture = Fixture::new(4, "");
    for nth in [0, 1, 3, 5] {
        fixture.server.on(CREATE, nth, Act::AfterNext);
    }
    let files: Vec<_> = (0..8)
        .map(|number| FilePath::new(&fixture.bare(), &number.to_string()))
        .collect();
    fixture.work(&fixture.settings(), |session| {
        let all = outcomes(session, 4, 8, |number| {
            make::create(files[number].name(), TEXT)
        });
        assert_eq!(all, [Ok(()); 8]);
    });
    assert_eq!(
        (
            fixture.traffic().count("stray_replies"),
            fixture.count("CREATE").calls
        ),
        (0, 8)
    );
}

#[test]
fn invalid_bytes_end_connection_but_not_session() {
    for garbage in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        // The next four entries are a record that is too long, a record that is too short, a call,
        // and a reply that is neither accepted nor denied.
        vec![0x81, 0, 0, 0],
        vec![0x80, 0, 0, 2, 0, 0],
        vec![0x80, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0],
        [&[0x80, 0, 0, 8, 0, 0, 0, 1][..], &[0xff; 4]].concat(),
        vec![0xff; 10_000],
    ] {
        let (found, fixture) = reads_under(Act::Bytes(garbage.clone()));
        let failure = found.unwrap_err();
        assert_eq!(
            (failure.step, failure.cause),
            (Step::Call("READ"), Cause::Garbled),
            "{garbage:?}"
        );
        let traffic = fixture.traffic();
        assert_eq!(
            (
                traffic.count("reconnections"),
                fixture.count("READ").repetitions
            ),
            (1, 0)
        );
    }
}

#[test]
fn writes_reach_requested_durability_or_fail() {
    let stable = |stable| {
        Act::As(Whims {
            stable: Some(stable),
            ..Whims::default()
        })
    };
    for (durability, answer, commits, is_done, stronger) in [
        (Durability::None, 2, false, true, 1),
        (Durability::Fsync, 2, false, true, 1),
        (Durability::Fsync, 1, true, true, 1),
        (Durability::Fdatasync, 1, false, true, 1),
        (Durability::Fdatasync, 0, true, true, 0),
        (Durability::ODsync, 2, false, true, 1),
        (Durability::ODsync, 1, false, true, 0),
        (Durability::ODsync, 0, false, false, 0),
        (Durability::OSync, 2, false, true, 0),
        (Durability::OSync, 1, false, false, 0),
    ] {
        let fixture = Fixture::new(1, "");
        fixture.server.always(WRITE, stable(answer));
        let file = FilePath::new(&fixture.bare(), "1");
        let settings = Settings {
            durability: durability.into(),
            ..fixture.settings()
        };
        fixture.work(&settings, |session| {
            let found = outcome(session, &make::create(file.name(), TEXT));
            let expected = if is_done {
                Ok(())
            } else {
                system(Step::Call("WRITE"), 5)
            };
            assert_eq!(found, expected, "{durability} {answer}");
            assert_eq!(
                fixture.server.take_calls().contains(&COMMIT),
                commits,
                "{durability} {answer}"
            );
            assert_eq!(fixture.traffic().count("stronger_answers"), stronger);
        });
    }
}

#[test]
fn writes_lost_by_server_restart_are_repeated() {
    let fixture = Fixture::new(1, "");
    fixture.server.files(|files| files.preferred = (4_096, 512));
    fixture.server.on(COMMIT, 0, Act::RestartBefore);
    let [file, other] = ["1", "2"].map(|name| FilePath::new(&fixture.bare(), name));
    let settings = Settings {
        durability: Durability::Fsync.into(),
        ..fixture.settings()
    };
    let content = [7; 1_500];
    fixture.work(&settings, |session| {
        assert_eq!(
            outcome(session, &make::create(file.name(), &content)),
            Ok(())
        );
        let three = [WRITE; 3];
        let expected = [&[CREATE][..], &three, &[COMMIT], &three, &[COMMIT]].concat();
        assert_eq!(fixture.server.take_calls(), expected);
        assert_eq!(
            fixture.server.files(|files| files.content("1")).unwrap(),
            content
        );
        let traffic = fixture.traffic();
        assert_eq!(
            (
                traffic.count("verifier_changes"),
                traffic.count("rewritten_bytes")
            ),
            (1, 1_500)
        );
        // The server restarts between two writes. The verifier in the second reply reveals the
        // restart.
        fixture.server.behave().on(WRITE, 1, Act::RestartBefore);
        assert_eq!(
            outcome(session, &make::create(other.name(), &content)),
            Ok(())
        );
        assert_eq!(
            fixture.server.take_calls(),
            [&[CREATE, WRITE, WRITE][..], &three, &[COMMIT]].concat()
        );
        assert_eq!(
            fixture.server.files(|files| files.content("2")).unwrap(),
            content
        );
        let traffic = fixture.traffic();
        assert_eq!(
            (
                traffic.count("verifier_changes"),
                traffic.count("rewritten_bytes")
            ),
            (2, 1_500 + 1_024)
        );
        // The server loses uncommitted data before every COMMIT, so the operation fails.
        fixture.server.always(COMMIT, Act::RestartBefore);
        let found = outcome(session, &make::overwrite(file.name(), b"x"));
        assert_eq!(found.unwrap_err().errno(), Some(5));
    });
}

#[test]
fn listings_without_progress_fail() {
    let fixture = Fixture::new(1, "");
    let nothing = Whims {
        entries_max: Some(0),
        ..Whims::default()
    };
    let few = Whims {
        entries_max: Some(3),
        ..Whims::default()
    };
    fixture
        .server
        .on(READDIR, 0, Act::As(nothing))
        .on(READDIR, 1, Act::As(few))
        .on(READDIR, 2, Act::Status(10_003));
    let root = FilePath::new(&fixture.bare(), "");
    let files: Vec<_> = (0..8)
        .map(|number| FilePath::new(&fixture.bare(), &number.to_string()))
        .collect();
    fixture.work(&fixture.settings(), |session| {
        files
            .iter()
            .for_each(|file| drop(done(session, &make::create(file.name(), b""))));
        let found = outcome(session, &make::list(root.name())).unwrap_err();
        assert_eq!(
            (found.step, found.cause),
            (Step::Call("READDIR"), Cause::Garbled)
        );
        // The server rejects the cookie, so the listing fails instead of starting again.
        let found = outcome(session, &make::list(root.name())).unwrap_err();
        assert_eq!(
            (found.step, found.errno()),
            (Step::Call("READDIR"), Some(52))
        );
        assert_eq!(fixture.count("READDIR").calls, 3);
        assert_eq!(outcome(session, &make::list(root.name())), Ok(()));
    });
}

/// The server repeats the same pages in a circle, or sends new names without end. Each listing must
/// fail after a limited number of calls.
#[test]
fn endless_listings_fail() {
    for (cookies, entries, errno, pages_max) in [
        (12, 3, libc::EBADMSG, 20),
        (2_000, 200, libc::EBADMSG, 60),
        (u64::MAX, 1, libc::EOVERFLOW, 10_001),
    ] {
        let fixture = Fixture::new(1, "");
        let endless = Whims {
            cookies: Some(cookies),
            entries_max: Some(entries),
            ..Whims::default()
        };
        let namespace = fixture.engine.namespace().unwrap();
        let directory = namespace.open(&fixture.bare()).unwrap();
        for procedure in [READDIR, READDIRPLUS] {
            fixture.server.always(procedure, Act::As(endless));
        }
        fixture.server.take_calls();
        let mut names = 0;
        let listed = directory.list(&mut |_| {
            names += 1;
            Ok(())
        });
        assert_eq!(listed, Err(Errno::from_raw_os_error(errno)));
        let pages = fixture.server.take_calls().len();
        assert!(
            pages <= pages_max && names == pages * entries,
            "{pages} pages, {names} names"
        );
        let root = FilePath::new(&fixture.bare(), "");
        fixture.work(&fixture.settings(), |session| {
            for operation in [make::list(root.name()), make::list_with_stat(root.name())] {
                let found = outcome(session, &operation).unwrap_err();
                let is_same = match errno {
                    libc::EBADMSG => found.cause == Cause::Garbled,
                    errno => found.errno() == Some(errno),
                };
                assert!(is_same, "{found:?}");
                let pages = fixture.server.take_calls().len();
                assert!(pages <= pages_max, "{pages} pages");
            }
        });
    }
}

/// NFS-Ganesha returns status 2 (NFS3ERR_NOENT) if an entry of a page is removed while the server
/// reads the page.
#[test]
fn page_with_removed_entry_is_requested_again() {
    let fixture = Fixture::new(1, "");
    fixture
        .server
        .on(READDIRPLUS, 0, Act::Status(2))
        .on(READDIRPLUS, 1, Act::Status(2));
    let root = FilePath::new(&fixture.bare(), "");
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::create(file.name(), b""));
        assert_eq!(outcome(session, &make::list_with_stat(root.name())), Ok(()));
        let count = fixture.count("READDIRPLUS");
        assert_eq!(
            (
                count.calls,
                count.repetitions,
                fixture.traffic().count("delayed")
            ),
            (3, 0, 2)
        );
        fixture.server.always(READDIRPLUS, Act::Status(2));
        assert_eq!(
            outcome(session, &make::list_with_stat(root.name())),
            system(Step::Call("READDIRPLUS"), 2)
        );
    });
}

#[test]
fn stale_directory_handle_is_replaced_by_next_operation() {
    let fixture = Fixture::new(1, "");
    fixture.server.on(CREATE, 0, Act::Status(70));
    let directory = FilePath::new(&fixture.bare(), "d");
    let file = FilePath::new(&fixture.bare(), "d/1");
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::make_directory(directory.name()));
        assert_eq!(
            outcome(session, &make::create(file.name(), b"x")),
            system(Step::Call("CREATE"), 116)
        );
        assert_eq!(outcome(session, &make::create(file.name(), b"x")), Ok(()));
        assert_eq!(
            fixture.server.take_calls(),
            [MKDIR, CREATE, LOOKUP, CREATE, WRITE]
        );
    });
}
