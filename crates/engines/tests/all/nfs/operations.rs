//! Every operation makes exactly the calls that it needs, at any queue depth and with any number of
//! connections.

use engine::server::ServerTraffic;
use engine::{
    Cause, Durability, NoSteps, Operation, OperationKind, OperationOutcome, Session, Settings,
    Step, Ticket,
};

use super::files::Whims;
use super::procedure::*;
use super::server::Act;
use super::{Fixture, location};
use crate::support::work::{MODE, Names, TIMES_NS, work};
use crate::support::{FilePath, POLICIES, TEXT, done, failed, make};
use engines::nfs::Nfs;
use testkit::nfs::PROCEDURES;

/// Returns the calls of an operation whose directories are cached.
fn calls_of(operation: OperationKind, durability: Durability) -> Vec<u32> {
    let commits = matches!(
        durability,
        Durability::Fdatasync | Durability::Fsync | Durability::FsyncDirectory
    );
    let written = if commits {
        vec![WRITE, COMMIT]
    } else {
        vec![WRITE]
    };
    let with = |before: &[u32], behind: &[u32]| [before, &written, behind].concat();
    match operation {
        OperationKind::Create => with(&[CREATE], &[]),
        OperationKind::Install => with(&[LOOKUP, MKDIR, CREATE], &[SETATTR]),
        OperationKind::InstallLink => vec![LOOKUP, MKDIR, LOOKUP, LINK],
        OperationKind::LockFile => with(&[CREATE], &[REMOVE]),
        OperationKind::Rewrite => with(&[LOOKUP, SETATTR], &[]),
        OperationKind::Append | OperationKind::Overwrite => with(&[LOOKUP], &[]),
        OperationKind::Read | OperationKind::ReadRange => vec![LOOKUP, READ],
        OperationKind::Delete => vec![REMOVE],
        OperationKind::MakeDirectory | OperationKind::MakeDirectoryExisting => vec![MKDIR],
        OperationKind::RemoveDirectory => vec![RMDIR],
        OperationKind::Truncate | OperationKind::SetAttributes => vec![LOOKUP, SETATTR],
        OperationKind::Stat | OperationKind::StatMissing | OperationKind::OpenMissing => {
            vec![LOOKUP]
        }
        OperationKind::Rename => vec![LOOKUP, RENAME],
        OperationKind::Replace => with(&[CREATE], &[RENAME]),
        OperationKind::Deliver => with(&[CREATE], &[LOOKUP, RENAME]),
        OperationKind::Link => vec![LOOKUP, LINK],
        OperationKind::SymbolicLink => vec![SYMLINK],
        OperationKind::ReadLink => vec![LOOKUP, READLINK],
        OperationKind::List => vec![READDIR],
        OperationKind::ListWithStat => vec![READDIRPLUS],
        // Two of the three entries that are looked up are files. The fourth is the new directory.
        OperationKind::CopyTree => {
            let copy = with(&[READ, CREATE], &[]);
            [&[MKDIR, READDIR], &[LOOKUP; 3][..], &copy, &copy].concat()
        }
        OperationKind::LinkTree => [&[MKDIR, READDIR], &[LOOKUP; 3][..], &[LINK, LINK]].concat(),
        OperationKind::RemoveTree => vec![READDIR, REMOVE, REMOVE, RMDIR],
        OperationKind::SetExtended
        | OperationKind::GetExtended
        | OperationKind::OpenClose
        | OperationKind::ReadMapped
        | OperationKind::Lock
        | OperationKind::Copy
        | OperationKind::Clone
        | OperationKind::InstallCopy
        | OperationKind::InstallClone
        | OperationKind::CloneTree
        | OperationKind::Evict => vec![],
    }
}

fn name_of(procedure: u32) -> &'static str {
    PROCEDURES[procedure as usize]
}

fn is_supported(operation: &Operation<'_>) -> bool {
    // The engine cannot copy files, so the operations that remove copies are left out.
    !calls_of(operation.kind(), Durability::None).is_empty()
        && !matches!(
            operation.name().relative.to_bytes(),
            b"copied" | b"d/cloned.r"
        )
}

#[test]
fn operations_make_exactly_the_required_calls() {
    for durability in POLICIES {
        if let Durability::Batch(_) = durability {
            continue;
        }
        let fixture = Fixture::new(1, "");
        let names = Names::new(&fixture.bare());
        let settings = Settings {
            durability: durability.into(),
            ..fixture.settings()
        };
        fixture.work(&settings, |session| {
            for (operation, _) in work(&names)
                .iter()
                .filter(|(operation, _)| is_supported(operation))
            {
                let steps = done(session, operation);
                let calls = fixture.server.take_calls();
                assert_eq!(
                    calls,
                    calls_of(operation.kind(), durability),
                    "{durability} {operation:?}"
                );
                let expected: Vec<_> = calls.iter().map(|call| name_of(*call)).collect();
                assert_eq!(
                    steps.into_iter().map(Step::name).collect::<Vec<_>>(),
                    expected
                );
            }
        });
        let content = |path| fixture.server.files(|files| files.content(path));
        assert_eq!(content("d/5").unwrap(), &TEXT[..7]);
        assert_eq!(content("d/6").unwrap(), &TEXT[..8]);
        assert!(content("tmp").is_none() && content("e").is_none() && content("d/3").is_none());
    }
}

#[test]
fn attributes_and_links_are_set_as_requested() {
    let fixture = Fixture::new(1, "");
    let directory = fixture.bare();
    let [file, other] = ["1", "2"].map(|name| FilePath::new(&directory, name));
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::create(file.name(), b"abc"));
        let mode = |path| fixture.server.files(|files| files.find(path).unwrap().mode);
        assert_eq!(mode("1"), 0o644);
        done(session, &make::set_attributes(file.name(), MODE, TIMES_NS));
        assert_eq!(mode("1"), MODE);
        let times = fixture.server.files(|files| files.find("1").unwrap().times);
        assert_eq!(times, [(1_234_567_890, 123_456_789); 2]);
        done(session, &make::link(file.name(), other.name()));
        assert_eq!(
            fixture.server.files(|files| files.find("2").unwrap().links),
            2
        );
        done(session, &make::truncate(file.name(), 2));
        done(session, &make::append(other.name(), b"xy"));
        assert_eq!(
            fixture.server.files(|files| files.content("1")).unwrap(),
            b"abxy"
        );
        done(session, &make::overwrite(file.name(), b"12"));
        assert_eq!(
            fixture.server.files(|files| files.content("1")).unwrap(),
            b"12xy"
        );
    });
}

#[test]
fn operations_with_unexpected_results_fail() {
    let fixture = Fixture::new(1, "");
    let directory = fixture.bare();
    let [a, b, link, dir] = ["a", "b", "l", "d"].map(|name| FilePath::new(&directory, name));
    let settings = Settings {
        keep_contents_bytes: 64,
        ..fixture.settings()
    };
    fixture.work(&settings, |session| {
        done(session, &make::create(a.name(), TEXT));
        done(session, &make::create(b.name(), b""));
        done(session, &make::symbolic_link(link.name(), c"a"));
        done(session, &make::make_directory(dir.name()));
        let bytes = TEXT.len() as u64;
        for (operation, step, cause) in [
            (
                make::create(a.name(), b"x"),
                Step::Call("CREATE"),
                errno(libc_errno::EEXIST),
            ),
            (
                make::rename(a.name(), b.name()),
                Step::Call("LOOKUP"),
                errno(libc_errno::EEXIST),
            ),
            (
                make::deliver(dir.name(), b.name(), b"x"),
                Step::Call("CREATE"),
                errno(libc_errno::EEXIST),
            ),
            (
                make::link(a.name(), b.name()),
                Step::Call("LINK"),
                errno(libc_errno::EEXIST),
            ),
            (
                make::make_directory(a.name()),
                Step::Call("MKDIR"),
                errno(libc_errno::EEXIST),
            ),
            (
                make::remove_directory(a.name()),
                Step::Call("RMDIR"),
                errno(libc_errno::ENOTDIR),
            ),
            (
                make::read(link.name(), 1),
                Step::Call("LOOKUP"),
                errno(libc_errno::ELOOP),
            ),
            (
                make::append(link.name(), b"x"),
                Step::Call("LOOKUP"),
                errno(libc_errno::ELOOP),
            ),
            (
                make::overwrite(dir.name(), b"x"),
                Step::Call("LOOKUP"),
                errno(libc_errno::EISDIR),
            ),
            (
                make::read_link(link.name(), c"b"),
                Step::Call("READLINK"),
                Cause::WrongTarget,
            ),
            (
                make::read(a.name(), bytes + 4),
                Step::Call("READ"),
                Cause::EndedEarly {
                    read: bytes,
                    expected: bytes + 4,
                },
            ),
            (
                make::read(a.name(), bytes - 1),
                Step::Call("READ"),
                Cause::WrongSize {
                    found: bytes,
                    expected: bytes - 1,
                },
            ),
            (
                make::read(a.name(), 0),
                Step::Call("LOOKUP"),
                Cause::WrongSize {
                    found: bytes,
                    expected: 0,
                },
            ),
            (
                make::stat(a.name(), Some(1)),
                Step::Call("LOOKUP"),
                Cause::WrongSize {
                    found: bytes,
                    expected: 1,
                },
            ),
        ] {
            let failure = failed(session, &operation);
            assert_eq!(
                (failure.step, failure.cause),
                (step, cause),
                "{operation:?}"
            );
        }
        done(session, &make::read(b.name(), 0));
        done(session, &make::read_range(a.name(), 1, 3));
        assert_eq!(session.content(crate::support::TICKET), Some(&TEXT[1..4]));
    });
}

mod libc_errno {
    pub const EEXIST: i32 = 17;
    pub const ENOTDIR: i32 = 20;
    pub const EISDIR: i32 = 21;
    pub const ELOOP: i32 = 40;
}

fn errno(number: i32) -> Cause {
    Cause::System(engine::Errno::from_raw_os_error(number))
}

#[test]
fn long_contents_take_several_calls_and_last_part_is_kept() {
    let fixture = Fixture::new(1, "");
    fixture.server.files(|files| files.preferred = (4096, 2048));
    let file = FilePath::new(&fixture.bare(), "1");
    let content: Vec<u8> = (0..10_001_u32).map(|number| (number % 251) as u8).collect();
    for (keep, found) in [(20_000, 0), (10_001, 0), (4_000, 8_000)] {
        let settings = Settings {
            keep_contents_bytes: keep,
            durability: Durability::Fsync.into(),
            ..fixture.settings()
        };
        fixture.work(&settings, |session| {
            done(session, &make::create(file.name(), &content));
            assert_eq!(
                fixture.server.take_calls(),
                [CREATE, WRITE, WRITE, WRITE, WRITE, WRITE, COMMIT]
            );
            done(session, &make::read(file.name(), 10_001));
            assert_eq!(fixture.server.take_calls(), [LOOKUP, READ, READ, READ]);
            assert_eq!(
                session.content(crate::support::TICKET).unwrap(),
                &content[found..]
            );
            done(session, &make::delete(file.name()));
        });
    }
}

#[test]
fn contents_longer_than_buffers_are_written_and_read_completely() {
    for (depth, parameters) in [(1, ""), (6, ""), (6, "&nconnect=2")] {
        let fixture = Fixture::new(depth, parameters);
        fixture
            .server
            .files(|files| files.preferred = (1 << 20, 1 << 20));
        let files: Vec<_> = (0..12)
            .map(|number| FilePath::new(&fixture.bare(), &number.to_string()))
            .collect();
        // `part` returns contents of different lengths, so that the encoding of some contains
        // padding.
        let content: Vec<u8> = (0..3_000_003_u32)
            .map(|number| (number * 7 % 253) as u8)
            .collect();
        let settings = Settings {
            keep_contents_bytes: content.len(),
            ..fixture.settings()
        };
        let part = |number: usize| &content[..content.len() - 200_001 * number - number % 4];
        fixture.work(&settings, |session| {
            in_flight(session, depth, files.len(), |number| {
                make::create(files[number].name(), part(number))
            });
            for (number, file) in files.iter().enumerate() {
                let read = make::read_range(file.name(), 1, part(number).len() as u64 - 1);
                session.submit(Ticket(77), &read, &mut NoSteps);
                session.complete(None, &mut NoSteps);
                assert!(session.content(Ticket(77)).unwrap() == &part(number)[1..]);
            }
        });
        for number in 0..files.len() {
            let found = fixture
                .server
                .files(|files| files.content(&number.to_string()))
                .unwrap();
            assert!(found == part(number), "{number} has {} bytes", found.len());
        }
    }
}

#[test]
fn directories_are_looked_up_once_and_forgotten_on_removal() {
    let fixture = Fixture::new(1, "");
    let directory = fixture.bare();
    let [a, b, c, inner] =
        ["a", "a/b", "a/b/c", "a/b/d"].map(|name| FilePath::new(&directory, name));
    fixture.work(&fixture.settings(), |session| {
        for name in [&a, &b] {
            done(session, &make::make_directory(name.name()));
        }
        done(session, &make::create(c.name(), b"x"));
        assert_eq!(fixture.server.take_calls(), [MKDIR, MKDIR, CREATE, WRITE]);
    });
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::stat(c.name(), Some(1)));
        assert_eq!(fixture.server.take_calls(), [LOOKUP, LOOKUP, LOOKUP]);
        done(session, &make::delete(c.name()));
        done(session, &make::remove_directory(b.name()));
        assert_eq!(fixture.server.take_calls(), [REMOVE, RMDIR]);
        let failure = failed(session, &make::create(inner.name(), b"x"));
        assert_eq!(
            (failure.step, failure.errno()),
            (Step::Call("LOOKUP"), Some(2))
        );
    });
}

#[test]
fn listings_contain_all_pages() {
    let fixture = Fixture::new(1, "");
    let directory = fixture.bare();
    let names: Vec<_> = (0..50)
        .map(|number| FilePath::new(&directory, &format!("f{number}")))
        .collect();
    let hidden = FilePath::new(&directory, ".hidden");
    let root = FilePath::new(&directory, "");
    let whims = |is_terse| Whims {
        entries_max: Some(7),
        is_terse,
        ..Whims::default()
    };
    for procedure in [READDIR, READDIRPLUS] {
        fixture.server.always(procedure, Act::As(whims(false)));
    }
    fixture.work(&fixture.settings(), |session| {
        let mut expected = engine::Listing::default();
        for name in &names {
            done(session, &make::create(name.name(), b""));
            expected.add(name.name().relative.to_bytes());
        }
        done(session, &make::create(hidden.name(), b""));
        fixture.server.take_calls();
        for (operation, procedure) in [
            (make::list(root.name()), READDIR),
            (make::list_with_stat(root.name()), READDIRPLUS),
        ] {
            done(session, &operation);
            assert_eq!(session.listing(crate::support::TICKET), Some(expected));
            // The 53 entries, including the hidden file, `.` and `..`, need 8 pages of up to 7
            // entries.
            assert_eq!(fixture.server.take_calls(), [procedure; 8]);
        }
        assert_eq!(session.names(root.name()).unwrap().len(), 51);
    });
    let fixture = Fixture::new(1, "");
    fixture.server.always(READDIRPLUS, Act::As(whims(true)));
    fixture.work(&fixture.settings(), |session| {
        for name in &names[..10] {
            done(session, &make::create(name.name(), b""));
        }
        fixture.server.take_calls();
        done(session, &make::list_with_stat(root.name()));
        // Entries without attributes are looked up. The first page has 7 entries: `.` and `..`,
        // which are skipped, and 5 files. The second page has the other 5 of the 10 files.
        let calls = [
            &[READDIRPLUS][..],
            &[LOOKUP; 5],
            &[READDIRPLUS],
            &[LOOKUP; 5],
        ]
        .concat();
        assert_eq!(fixture.server.take_calls(), calls);
        assert_eq!(session.listing(crate::support::TICKET).unwrap().entries, 10);
    });
}

/// The server omits all optional results, so the client requests the missing attributes and
/// handles.
#[test]
fn missing_attributes_and_handles_are_requested() {
    let fixture = Fixture::new(1, "");
    let terse = Whims {
        is_terse: true,
        ..Whims::default()
    };
    for procedure in [
        LOOKUP, CREATE, MKDIR, SYMLINK, READ, WRITE, REMOVE, RENAME, LINK, SETATTR, COMMIT,
    ] {
        fixture.server.always(procedure, Act::As(terse));
    }
    let directory = fixture.bare();
    let [file, other] = ["1", "2"].map(|name| FilePath::new(&directory, name));
    let settings = Settings {
        keep_contents_bytes: 64,
        ..fixture.settings()
    };
    fixture.work(&settings, |session| {
        for (operation, calls) in [
            (
                make::create(file.name(), b"abc"),
                &[CREATE, LOOKUP, WRITE][..],
            ),
            (make::append(file.name(), b"de"), &[LOOKUP, GETATTR, WRITE]),
            (make::stat(file.name(), Some(5)), &[LOOKUP, GETATTR]),
            (make::read(file.name(), 5), &[LOOKUP, READ]),
            (make::rename(file.name(), other.name()), &[LOOKUP, RENAME]),
            (make::delete(other.name()), &[REMOVE]),
        ] {
            done(session, &operation);
            assert_eq!(fixture.server.take_calls(), calls, "{operation:?}");
        }
    });
}

#[test]
fn client_counters_equal_calls_received_by_server() {
    for (depth, parameters) in [(1, ""), (8, ""), (8, "&nconnect=4"), (3, "&nconnect=2")] {
        let fixture = Fixture::new(depth, parameters);
        let directory = fixture.bare();
        let files: Vec<_> = (0..200)
            .map(|number| FilePath::new(&directory, &number.to_string()))
            .collect();
        let settings = Settings {
            keep_contents_bytes: 64,
            ..fixture.settings()
        };
        let (before, seen) = fixture.work(&settings, |session| {
            let before = fixture.traffic();
            for kind in 0..3 {
                in_flight(session, depth, files.len(), |number| {
                    let name = files[number].name();
                    match kind {
                        0 => make::create(name, &TEXT[..1 + number % 30]),
                        1 => make::read(name, 1 + number as u64 % 30),
                        _ => make::delete(name),
                    }
                });
            }
            (before, fixture.server.take_calls())
        });
        let after = fixture.traffic();
        for call in [CREATE, WRITE, LOOKUP, READ, REMOVE] {
            let count = |traffic: &ServerTraffic| {
                let mut lines = traffic.calls.iter();
                lines
                    .find(|line| line.procedure == name_of(call))
                    .map_or(0, |line| line.calls)
            };
            let expected = seen.iter().filter(|seen| **seen == call).count();
            assert_eq!(
                count(&after) - count(&before),
                expected as u64,
                "{}",
                name_of(call)
            );
            assert_eq!(expected, 200);
        }
        let bytes: u64 = (0..200).map(|number| 1 + number % 30).sum();
        for (name, count) in [
            ("read_bytes", bytes),
            ("written_bytes", bytes),
            ("reconnections", 0),
            ("stray_replies", 0),
            ("not_known", 0),
        ] {
            assert_eq!(after.count(name), count, "{name}");
        }
        assert!(after.calls.iter().all(|line| line.repetitions == 0));
    }
}

/// Performs operations at this queue depth; checks that all succeed and that reads return the
/// correct contents.
pub fn in_flight<'a>(
    session: &mut Box<dyn Session>,
    depth: usize,
    count: usize,
    operation: impl Fn(usize) -> Operation<'a>,
) {
    let outcomes = outcomes(session, depth, count, operation);
    assert_eq!(outcomes, vec![Ok(()); count]);
}

/// Performs operations as `in_flight` does, but returns the outcomes in the order of the
/// operations.
pub fn outcomes<'a>(
    session: &mut Box<dyn Session>,
    depth: usize,
    count: usize,
    operation: impl Fn(usize) -> Operation<'a>,
) -> Vec<OperationOutcome> {
    let mut outcomes: Vec<Option<OperationOutcome>> = vec![None; count];
    let mut flying = 0;
    let complete_one = |session: &mut Box<dyn Session>,
                        outcomes: &mut Vec<Option<OperationOutcome>>| {
        let (ticket, outcome) = session
            .complete(None, &mut NoSteps)
            .expect("some are in flight");
        if let (Operation::Read { bytes, .. }, Ok(())) = (operation(ticket.0 as usize), outcome) {
            assert_eq!(session.content(ticket).unwrap(), &TEXT[..bytes as usize]);
        }
        assert!(outcomes[ticket.0 as usize].replace(outcome).is_none());
    };
    for number in 0..count {
        if flying == depth {
            complete_one(session, &mut outcomes);
            flying -= 1;
        }
        match session.submit(Ticket(number as u64), &operation(number), &mut NoSteps) {
            engine::Submitted::Done(outcome) => outcomes[number] = Some(outcome),
            engine::Submitted::InFlight => flying += 1,
        }
    }
    (0..flying).for_each(|_| complete_one(session, &mut outcomes));
    assert!(session.complete(None, &mut NoSteps).is_none());
    outcomes
        .into_iter()
        .map(|outcome| outcome.expect("each has completed"))
        .collect()
}

#[test]
fn rename_works_within_one_server_only() {
    let mut one = Fixture::new(2, "");
    let other = Fixture::new(2, "");
    one.engine = Nfs::new(2, &[one.url.clone(), other.url.clone()]);
    let settings = Settings {
        locations: vec![
            location(&one.bare()),
            location(&one.bare()),
            location(&other.bare()),
        ],
        ..Settings::default()
    };
    let at = |location: usize, relative: &'static std::ffi::CStr| engine::Name {
        path: relative,
        location,
        relative,
    };
    one.work(&settings, |session| {
        in_flight(session, 1, 1, |_| make::create(at(0, c"1"), b"x"));
        in_flight(session, 1, 1, |_| make::rename(at(0, c"1"), at(1, c"2")));
        let outcome = outcomes(session, 1, 1, |_| make::rename(at(0, c"2"), at(2, c"3")));
        // The second rename, to another server, fails with EXDEV (18) without any call.
        assert_eq!(outcome[0].unwrap_err().errno(), Some(18));
        assert_eq!(one.server.take_calls(), [CREATE, WRITE, LOOKUP, RENAME]);
    });
}

#[test]
fn session_waits_for_completions_no_longer_than_time_limit() {
    let fixture = Fixture::new(2, "");
    let file = FilePath::new(&fixture.bare(), "1");
    fixture
        .server
        .on(CREATE, 0, Act::Late(std::time::Duration::from_millis(200)));
    fixture.work(&fixture.settings(), |session| {
        let began = std::time::Instant::now();
        let limit = std::time::Duration::from_millis(20);
        assert!(session.complete(Some(limit), &mut NoSteps).is_none());
        assert!(began.elapsed() < limit, "nothing is in flight");
        session.submit(Ticket(1), &make::create(file.name(), b""), &mut NoSteps);
        let mut waits = 0;
        while session.complete(Some(limit), &mut NoSteps).is_none() {
            waits += 1;
            assert!(
                began.elapsed() >= limit * waits,
                "the limit was not waited for"
            );
        }
        assert!(waits >= 5, "{waits}");
        assert!(began.elapsed() >= std::time::Duration::from_millis(190));
    });
}
