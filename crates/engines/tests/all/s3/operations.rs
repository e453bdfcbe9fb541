//! Each operation with its requests, and sequences of operations compared with the simulated
//! engine.

use std::path::Path;

use engine::{Cause, Engine, Errno, Operation, OperationOutcome, Session, Step};
use engines::simulated::{Code, Simulated};
use proptest::prelude::*;

use super::Fixture;
use crate::support::{FilePath, Seen, TEXT, make, perform, settings};

fn calls(names: &[&'static str]) -> Vec<Step> {
    names.iter().map(|name| Step::Call(name)).collect()
}

#[test]
fn operations_make_only_needed_requests() {
    let fixture = Fixture::new(1, "");
    let directory = fixture.bare();
    let path = |relative: &str| FilePath::new(&directory, relative);
    let [d, one, two, three] = ["d", "d/1", "d/2", "d/3"].map(path);
    let [d, one, two, three] = [&d, &one, &two, &three].map(FilePath::name);
    let get = ["GetObject first byte", "GetObject body"];
    let work = [
        (make::make_directory(d), vec!["PutObject"]),
        (make::make_existing(d), vec!["PutObject"]),
        (make::create(one, &TEXT[..10]), vec!["PutObject"]),
        (make::read(one, 10), get.to_vec()),
        (make::read_range(one, 2, 5), get.to_vec()),
        (make::read_range(one, 10, 0), vec!["HeadObject"]),
        (make::overwrite(one, &TEXT[..7]), vec!["PutObject"]),
        (make::replace(one, three, &TEXT[..8]), vec!["PutObject"]),
        (make::stat(one, Some(8)), vec!["HeadObject"]),
        (make::stat(one, None), vec!["HeadObject"]),
        (make::stat_missing(two), vec!["HeadObject"]),
        (make::open_missing(two), vec!["GetObject"]),
        (
            make::rename(one, two),
            vec!["HeadObject", "CopyObject", "DeleteObject"],
        ),
        (make::deliver(three, one, b""), vec!["PutObject"]),
        (make::read(one, 0), get.to_vec()),
        (make::list(d), vec!["ListObjectsV2"]),
        (make::list_with_stat(d), vec!["ListObjectsV2"]),
        (make::delete(one), vec!["DeleteObject"]),
        (make::delete(two), vec!["DeleteObject"]),
        (
            make::remove_directory(d),
            vec!["ListObjectsV2", "DeleteObject"],
        ),
    ];
    fixture.work(&fixture.settings(), |session| {
        for (operation, expected) in &work {
            let mut steps = Seen::default();
            assert_eq!(
                perform(session, operation, &mut steps),
                Ok(()),
                "{operation:?}"
            );
            assert_eq!(steps.0, calls(expected), "{operation:?}");
        }
    });
    assert_eq!(fixture.server.keys(), [""; 0]);
}

#[test]
fn traffic_equals_the_servers_counts() {
    let fixture = Fixture::new(1, "");
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        for operation in [
            make::create(file.name(), TEXT),
            make::read(file.name(), TEXT.len() as u64),
            make::delete(file.name()),
        ] {
            assert_eq!(perform(session, &operation, &mut Seen::default()), Ok(()));
        }
    });
    let traffic = fixture.traffic();
    let state = fixture.server.state();
    let sum = |of: fn(&engine::server::CallCount) -> u64| traffic.calls.iter().map(of).sum::<u64>();
    assert_eq!(sum(|count| count.sent_bytes), state.received);
    assert_eq!(sum(|count| count.received_bytes), state.sent);
    // Three operations with one request each, and one request for the directory when the session
    // was opened.
    assert_eq!(sum(|count| count.calls), 4);
    assert_eq!(traffic.count("connections"), state.connections);
    assert_eq!(traffic.count("read_bytes"), TEXT.len() as u64);
    assert_eq!(traffic.count("written_bytes"), TEXT.len() as u64);
}

#[test]
fn operations_that_contradict_the_stored_objects_fail() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    fixture.server.put("p/d/", b"");
    fixture.server.put("p/d/x", b"");
    let directory = fixture.bare();
    let path = |relative: &str| FilePath::new(&directory, relative);
    let [one, two, d, new] = ["1", "2", "d", "e"].map(path);
    let [one, two, d, new] = [&one, &two, &d, &new].map(FilePath::name);
    let all = TEXT.len() as u64;
    let ended = |read, expected| Cause::EndedEarly { read, expected };
    let size = |found, expected| Cause::WrongSize { found, expected };
    let system = Cause::System;
    fixture.work(&fixture.settings(), |session| {
        for (operation, cause) in [
            (make::create(one, b"x"), system(Errno::EXIST)),
            (make::deliver(two, one, b"x"), system(Errno::EXIST)),
            (make::make_directory(d), system(Errno::EXIST)),
            (make::make_existing(new), system(Errno::NOENT)),
            (make::read(two, 1), system(Errno::NOENT)),
            (make::read(one, all + 1), ended(all, all + 1)),
            (make::read(one, all - 1), size(all, all - 1)),
            (make::read_range(one, all - 2, 3), ended(2, 3)),
            (make::read_range(one, all, 3), ended(0, 3)),
            (make::stat(one, Some(1)), size(all, 1)),
            (make::stat(two, None), system(Errno::NOENT)),
            (make::stat_missing(one), system(Errno::EXIST)),
            (make::open_missing(one), system(Errno::EXIST)),
            (make::rename(two, new), system(Errno::NOENT)),
            (make::rename(one, one), system(Errno::EXIST)),
            (make::remove_directory(d), system(Errno::NOTEMPTY)),
            (make::remove_directory(two), system(Errno::NOENT)),
        ] {
            let answer = perform(session, &operation, &mut Seen::default());
            assert_eq!(answer.unwrap_err().cause, cause, "{operation:?}");
        }
    });
}

#[test]
fn large_objects_are_uploaded_in_parts() {
    let fixture = Fixture::new(1, "&part=5");
    let content: Vec<u8> = (0..11 << 20)
        .map(|byte: u32| byte.to_le_bytes()[1])
        .collect();
    let file = FilePath::new(&fixture.bare(), "1");
    let create = make::create(file.name(), &content);
    fixture.work(&fixture.settings(), |session| {
        let mut steps = Seen::default();
        assert_eq!(perform(session, &create, &mut steps), Ok(()));
        let part = "UploadPart";
        let expected = [
            "CreateMultipartUpload",
            part,
            part,
            part,
            "CompleteMultipartUpload",
        ];
        assert_eq!(steps.0, calls(&expected));
        let read = make::read(file.name(), content.len() as u64);
        assert_eq!(perform(session, &read, &mut Seen::default()), Ok(()));
        // The server checks the condition `If-None-Match: *` when the upload is completed.
        let again = perform(session, &create, &mut Seen::default()).unwrap_err();
        assert_eq!(again.cause, Cause::System(Errno::EXIST));
    });
    let state = fixture.server.state();
    assert_eq!(state.objects[&b"p/1"[..]].bytes, content);
    assert!(state.uploads.is_empty());
}

#[test]
fn operations_in_flight_complete_on_their_own_connections() {
    const DEPTH: usize = 8;
    let fixture = Fixture::new(DEPTH, "");
    let directory = fixture.bare();
    let files: Vec<FilePath> = (0..100)
        .map(|number| FilePath::new(&directory, &number.to_string()))
        .collect();
    fixture.work(&fixture.settings(), |session| {
        let mut in_flight = 0;
        let mut done = 0;
        let mut completes = |session: &mut Box<dyn Session>, in_flight: &mut usize| {
            let (_, outcome) = session.complete(None, &mut Seen::default()).unwrap();
            assert_eq!(outcome, Ok(()));
            (*in_flight, done) = (*in_flight - 1, done + 1);
        };
        for (number, file) in files.iter().enumerate() {
            if in_flight == DEPTH {
                completes(session, &mut in_flight);
            }
            let ticket = engine::Ticket::new(number as u64, number % DEPTH);
            let create = make::create(file.name(), TEXT);
            session.submit(ticket, &create, &mut Seen::default());
            in_flight += 1;
        }
        while in_flight > 0 {
            completes(session, &mut in_flight);
        }
        assert!(session.complete(None, &mut Seen::default()).is_none());
        assert_eq!(done, 100);
    });
    assert_eq!(fixture.server.keys().len(), 100);
    // One connection for each operation in flight, and one to check the directory.
    assert_eq!(fixture.server.state().connections, DEPTH as u64 + 1);
}

/// Creates an operation of this kind on the first name. `size` is the size in bytes of its file.
/// `None` for an operation that mixes do not perform in this state.
fn operation<'a>(
    (kind, content): (u8, &'a [u8]),
    names: [engine::Name<'a>; 3],
    size: Option<u64>,
) -> Option<Operation<'a>> {
    let [one, other, temporary] = names;
    let bytes = content.len() as u64;
    Some(match (kind, size) {
        (0, _) => make::create(one, content),
        // Only complete overwrites are tested, because mixes overwrite all bytes of a file.
        (1, Some(size)) if size == bytes => make::overwrite(one, content),
        (2, Some(_)) => make::replace(one, temporary, content),
        (3, Some(_)) => make::delete(one),
        (4, _) => make::read(one, size.unwrap_or(1)),
        (5, Some(size)) if size > 0 => make::read_range(one, bytes % size, 1 + bytes % 7),
        (6, _) => make::stat(one, None),
        (7, _) => make::stat_missing(one),
        (8, Some(_)) => make::rename(one, other),
        // Only to a new name: on a file system, a failed delivery leaves its temporary file.
        (9, None) => make::deliver(temporary, one, content),
        _ => return None,
    })
}

/// Reduces a failure to its error number, because other details differ between engines.
fn told(outcome: OperationOutcome) -> Result<(), Option<i32>> {
    outcome.map_err(|failure| failure.errno())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sequences_have_the_same_results_as_on_the_simulated_engine(
        work in prop::collection::vec((0_u8..10, 0_usize..4, 0_usize..4, 0_usize..36), 1..40),
    ) {
        let fixture = Fixture::new(1, "");
        let simulated = Simulated::new(Code::Posix, 1);
        let directories = [fixture.bare(), Path::new("/sim").to_owned()];
        let paths = directories.each_ref().map(|directory| {
            ["a", "b", "c", "e", "t"].map(|name| FilePath::new(directory, name))
        });
        let settings = |at: usize| engine::Settings {
            keep_contents_bytes: 1 << 16,
            ..settings(&directories[at], 4096)
        };
        fixture.work(&settings(0), |session| {
            let mut expected = simulated.open(&settings(1)).unwrap();
            for (kind, one, other, length) in work {
                let path = format!("/sim/{}", ["a", "b", "c", "e"][one]);
                let size = {
                    let files = simulated.files();
                    files.get(&path).map(|size| *size as u64)
                };
                let of = |at: usize| {
                    let names = [one, other, 4].map(|number| paths[at][number].name());
                    operation((kind, &TEXT[..length]), names, size)
                };
                let (Some(ours), Some(theirs)) = (of(0), of(1)) else {
                    continue;
                };
                let outcome = perform(session, &ours, &mut Seen::default());
                let wanted = perform(&mut expected, &theirs, &mut Seen::default());
                assert_eq!(told(outcome), told(wanted), "{ours:?}");
                if outcome.is_ok() && matches!(kind, 4 | 5) {
                    let ticket = crate::support::TICKET;
                    assert_eq!(session.content(ticket), expected.content(ticket), "{ours:?}");
                }
                let list = |at: usize| {
                    FilePath::new(&directories[at], "")
                };
                let (ours, theirs) = (list(0), list(1));
                let outcome = perform(session, &make::list(ours.name()), &mut Seen::default());
                assert_eq!(outcome, Ok(()));
                let ticket = crate::support::TICKET;
                let listing = session.listing(ticket);
                perform(&mut expected, &make::list(theirs.name()), &mut Seen::default()).unwrap();
                assert_eq!(listing, expected.listing(ticket));
            }
        });
    }
}
