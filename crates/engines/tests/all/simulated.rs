//! Tests of the simulated engine: faults at every call of every operation, silent corruptions,
//! batches, and several sessions.

use std::path::Path;
use std::time::Duration;

use crate::support::{
    FilePath, POLICIES, Seen, TEXT, TICKET, done, failed, make, perform, settings,
};
use engine::{
    Durability, Engine, Listing, Location, Name, Operation, Session, Settings, Step, Submitted,
    Ticket,
};
use engines::simulated::{Code, Corruption, Fault, Simulated};

const ROOT: &str = "/sim";
const EIO: i32 = 5;

fn file(relative: &str) -> FilePath {
    FilePath::new(Path::new(ROOT), relative)
}

fn with(durability: Durability) -> Settings {
    Settings {
        durability: durability.into(),
        keep_contents_bytes: 100,
        ..settings(Path::new(ROOT), 4)
    }
}

fn open(engine: &Simulated) -> Box<dyn Session> {
    engine.open(&with(Durability::None)).unwrap()
}

/// Returns a sequence of all operations. Later operations use the files that earlier operations
/// leave.
fn every_operation<'a>(
    a: Name<'a>,
    b: Name<'a>,
    c: Name<'a>,
    d: Name<'a>,
    whole: Name<'a>,
) -> Vec<Operation<'a>> {
    let (content, key, value) = (&TEXT[..10], c"user.key", &b"value"[..]);
    vec![
        make::create(a, content),
        make::append(a, content),
        make::read(a, 20),
        make::read_range(a, 3, 9),
        make::overwrite(a, b"over it"),
        make::truncate(a, 11),
        make::stat(a, Some(11)),
        make::set_attributes(a, 0o600, -1),
        make::set_extended(a, key, value),
        make::get_extended(a, key, value),
        make::link(a, b),
        make::rename(a, c),
        make::replace(c, a, content),
        make::deliver(a, d, content),
        make::symbolic_link(a, c"c"),
        make::read_link(a, c"c"),
        make::list(whole),
        make::list_with_stat(whole),
        make::evict(b),
        make::delete(a),
        make::make_directory(a),
        make::remove_directory(a),
    ]
}

/// If a call returns an error, the operation that makes the call must fail with this error, name
/// the call, and leave no file open. This includes a failed close(2).
#[test]
fn error_at_any_call_of_any_operation_is_reported() {
    let names = ["a", "b", "c", "d", ""].map(file);
    let [a, b, c, d, whole] = names.each_ref().map(FilePath::name);
    for code in [Code::Raw, Code::Posix] {
        for durability in POLICIES {
            let clean = Simulated::new(code, 1);
            let mut session = clean.open(&with(durability)).unwrap();
            for operation in every_operation(a, b, c, d, whole) {
                done(&mut session, &operation);
            }
            let calls = clean.calls();
            assert!(calls > 60, "{calls} calls are few");
            for call in 0..calls {
                let engine = Simulated::new(code, 1).fault_at(call, Fault::Error(EIO));
                let mut session = engine.open(&with(durability)).unwrap();
                let answer = every_operation(a, b, c, d, whole)
                    .into_iter()
                    .find_map(|operation| {
                        perform(&mut session, &operation, &mut Seen::default()).err()
                    });
                let failure = answer
                    .unwrap_or_else(|| panic!("{code:?} {durability}: call {call} failed unseen"));
                let struck = engine.struck()[0];
                assert_eq!(
                    (failure.step, failure.errno()),
                    (struck.step, Some(EIO)),
                    "{code:?} {durability}"
                );
                assert_eq!(
                    engine.open_files(),
                    0,
                    "{code:?} {durability}: call {call} left a file open"
                );
            }
        }
    }
}

/// Short and interrupted calls are continued: contents and names are the same as without faults.
#[test]
fn short_and_interrupted_calls_are_continued() {
    const EINTR: i32 = 4;
    let names = ["a", "b", "c", "d", ""].map(file);
    let [a, b, c, d, whole] = names.each_ref().map(FilePath::name);
    for fault in [Fault::Short, Fault::Error(EINTR)] {
        let mut survived = 0;
        for call in 0..200 {
            let engine = Simulated::new(Code::Posix, 1).fault_at(call, fault);
            let mut session = engine.open(&with(Durability::FsyncDirectory)).unwrap();
            let operations = every_operation(a, b, c, d, whole);
            let answer = operations
                .iter()
                .find_map(|operation| perform(&mut session, operation, &mut Seen::default()).err());
            match answer {
                // An interrupted close(2) is not repeated.
                Some(failure) => {
                    assert_eq!((failure.step, fault), (Step::Close, Fault::Error(EINTR)))
                }
                None => {
                    assert_eq!(engine.content_of("/sim/c").unwrap(), &TEXT[..10]);
                    assert_eq!(engine.content_of("/sim/b").unwrap(), b"over it7890");
                    survived += engine.struck().len();
                }
            }
        }
        assert!(survived > 40, "{fault:?}: {survived}");
    }
}

/// A file system without `RENAME_NOREPLACE`, such as NFS: from the first failure on, the engine
/// checks instead whether the new name exists.
#[test]
fn rename_without_noreplace_checks_new_name() {
    const EINVAL: i32 = 22;
    const EEXIST: i32 = 17;
    let names = ["a", "b", "c", "d"].map(file);
    let [a, b, c, d] = names.each_ref().map(FilePath::name);
    // The fault strikes the rename. Before the rename, creating `a` takes three calls (open, write,
    // close). A delivery takes the same three calls for its temporary file.
    for begins in [make::rename(a, b), make::deliver(c, b, TEXT)] {
        let made = Simulated::new(Code::Posix, 1);
        done(&mut open(&made), &make::create(a, TEXT));
        let before = made.calls();
        let delivers = matches!(begins, Operation::Deliver { .. });
        let call = before + if delivers { before } else { 0 };
        let engine = Simulated::new(Code::Posix, 1).fault_at(call, Fault::Error(EINVAL));
        let mut session = open(&engine);
        done(&mut session, &make::create(a, TEXT));
        done(&mut session, &begins);
        assert_eq!(engine.struck()[0].step, Step::Rename);
        // An existing file is never overwritten.
        done(&mut session, &make::create(d, b"two"));
        for refused in [make::rename(d, b), make::deliver(c, b, TEXT)] {
            let failure = failed(&mut session, &refused);
            assert_eq!(
                (failure.step, failure.errno()),
                (Step::Rename, Some(EEXIST))
            );
        }
        assert_eq!(engine.content_of("/sim/b").unwrap(), TEXT);
        assert_eq!(engine.content_of("/sim/d").unwrap(), b"two");
    }
}

/// If contents are kept, a complete read detects a file that is too long.
#[test]
fn read_detects_too_long_file() {
    let a = file("a");
    let engine = Simulated::new(Code::Posix, 1);
    let mut session = open(&engine);
    done(&mut session, &make::create(a.name(), &TEXT[..10]));
    done(&mut session, &make::read(a.name(), 10));
    let failure = failed(&mut session, &make::read(a.name(), 9));
    assert_eq!(
        failure.cause.to_string(),
        "the file has 10 bytes instead of 9"
    );
    done(&mut session, &make::read_range(a.name(), 0, 9));
}

#[test]
fn batch_of_operations_ends_with_file_system_sync() {
    let engine = Simulated::new(Code::Posix, 1);
    let locations = ["/one", "/two"].map(|directory| Location {
        directory: directory.into(),
        identity: None,
        below: None,
    });
    let mut session = engine
        .open(&Settings {
            durability: Durability::Batch(3).into(),
            locations: locations.to_vec(),
            ..Settings::default()
        })
        .unwrap();
    let mut syncs = Vec::new();
    for number in 0..12 {
        let mut path =
            engines::PathBuffer::new(number % 2, ["/one/", "/two/"][number % 2].into()).unwrap();
        let name = path.with(|to| to.extend(number.to_string().as_bytes()));
        if done(&mut session, &make::create(name, b"1")).last() == Some(&Step::SyncFileSystem) {
            syncs.push(number);
        }
        // Operations that change nothing are not counted.
        assert_eq!(done(&mut session, &make::stat(name, Some(1))), [Step::Stat]);
    }
    assert_eq!(syncs, [4, 5, 10, 11], "three changes of each location");
    assert_eq!(engine.truth().file_systems_synced, 4);
    session.sync_file_system(1).unwrap();
    assert_eq!(engine.truth().file_systems_synced, 5);
}

#[test]
fn every_durability_policy_makes_the_expected_syncs() {
    let names = ["a", "b", "c", "d", ""].map(file);
    let [a, b, c, d, whole] = names.each_ref().map(FilePath::name);
    let truth = |durability| {
        let engine = Simulated::new(Code::Posix, 1);
        let mut session = engine.open(&with(durability)).unwrap();
        for operation in every_operation(a, b, c, d, whole) {
            done(&mut session, &operation);
        }
        engine.truth()
    };
    let syncs = |durability| {
        let truth = truth(durability);
        let files = (truth.contents_synced, truth.files_synced);
        (files, truth.directories_synced, truth.file_systems_synced)
    };
    // Eight operations sync a file: create, append, overwrite, truncate, set attributes, set
    // extended attribute, replace, deliver.
    assert_eq!(syncs(Durability::None), ((0, 0), 0, 0));
    assert_eq!(syncs(Durability::Fdatasync), ((8, 0), 0, 0));
    assert_eq!(syncs(Durability::Fsync), ((0, 8), 0, 0));
    // Nine syncs of directories: create, link, rename, replace, deliver, symbolic link, delete,
    // make and remove a directory.
    assert_eq!(syncs(Durability::FsyncDirectory), ((0, 8), 9, 0));
    assert_eq!(syncs(Durability::Batch(7)), ((0, 0), 0, 2));
    assert_eq!(truth(Durability::None).synchronous_writes, 0);
    // In blocks of 4 bytes, 10 bytes need 3 writes: create, append, replace and deliver. Overwrite
    // needs 2 writes for its 7 bytes.
    assert_eq!(truth(Durability::ODsync).synchronous_writes, 4 * 3 + 2);
    assert_eq!(truth(Durability::OSync).synchronous_writes, 4 * 3 + 2);
}

#[test]
fn flipped_byte_corrupts_a_single_read() {
    let engine = Simulated::new(Code::Posix, 1).corrupt_at(1, Corruption::FlipByte);
    let (mut session, file) = (open(&engine), file("1"));
    let name = file.name();
    done(&mut session, &make::create(name, &TEXT[..10]));
    assert_eq!(engine.corruptions_struck(), []);
    done(&mut session, &make::read(name, 10));
    let differing = |found: &[u8]| {
        found
            .iter()
            .zip(TEXT)
            .filter(|(found, meant)| found != meant)
            .count()
    };
    assert_eq!(differing(session.content(TICKET).unwrap()), 1);
    assert_eq!(engine.corruptions_struck(), [(1, Corruption::FlipByte)]);
    done(&mut session, &make::read(name, 10));
    assert_eq!(differing(session.content(TICKET).unwrap()), 0);
    let engine = Simulated::new(Code::Raw, 1).corrupt_at(0, Corruption::FlipByte);
    let mut session = open(&engine);
    done(&mut session, &make::create(name, &TEXT[..10]));
    done(&mut session, &make::read_range(name, 0, 10));
    assert_eq!(differing(session.content(TICKET).unwrap()), 1);
}

#[test]
fn corrupted_appends_are_lost_or_zero() {
    for (corruption, expected) in [
        (Corruption::LoseAppend, &b"0123cd"[..]),
        (Corruption::ZeroAppend, &b"0123\0\0cd"[..]),
    ] {
        let engine = Simulated::new(Code::Raw, 1).corrupt_at(0, corruption);
        let (mut session, file) = (open(&engine), file("1"));
        let name = file.name();
        done(&mut session, &make::create(name, &TEXT[..4]));
        for content in [b"ab", b"cd"] {
            done(&mut session, &make::append(name, content));
        }
        assert_eq!(
            engine.content_of("/sim/1").unwrap(),
            expected,
            "{corruption:?}"
        );
        assert_eq!(engine.corruptions_struck(), [(0, corruption)]);
    }
}

#[test]
fn corrupted_read_returns_old_version_once() {
    let (name, temporary) = (file("1"), file("2"));
    let (name, temporary) = (name.name(), temporary.name());
    let changes = [
        make::overwrite(name, b"changed"),
        make::replace(name, temporary, b"changed"),
    ];
    for change in changes {
        let engine = Simulated::new(Code::Posix, 1)
            .corrupt_at(0, Corruption::OldVersion)
            .corrupt_at(2, Corruption::OldVersion);
        let mut session = open(&engine);
        done(&mut session, &make::create(name, b"earlier"));
        done(&mut session, &make::read(name, 7));
        assert_eq!(
            engine.corruptions_struck(),
            [],
            "there is no earlier version yet"
        );
        done(&mut session, &change);
        for expected in [b"changed", b"earlier", b"changed"] {
            done(&mut session, &make::read(name, 7));
            assert_eq!(session.content(TICKET).unwrap(), expected, "{change:?}");
        }
        assert_eq!(engine.corruptions_struck(), [(2, Corruption::OldVersion)]);
    }
}

#[test]
fn corruptions_lose_or_duplicate_names() {
    let engine = Simulated::new(Code::Posix, 1)
        .corrupt_at(1, Corruption::LoseName)
        .corrupt_at(0, Corruption::DoubleName);
    let mut session = open(&engine);
    let names = ["1", "2", "3", ""].map(file);
    let [one, two, three, whole] = names.each_ref().map(FilePath::name);
    done(&mut session, &make::create(one, b"1"));
    done(&mut session, &make::create(two, b"2"));
    assert_eq!(failed(&mut session, &make::read(two, 1)).errno(), Some(2));
    done(&mut session, &make::rename(one, three));
    done(&mut session, &make::list_with_stat(whole));
    let mut both = Listing::default();
    both.add(b"1");
    both.add(b"3");
    assert_eq!(session.listing(TICKET), Some(both));
    assert_eq!(engine.files().len(), 2);
    assert_eq!(engine.attributes_of("/sim/1").unwrap().names, 2);
    let struck = [(1, Corruption::LoseName), (0, Corruption::DoubleName)];
    assert_eq!(engine.corruptions_struck(), struck);
}

#[test]
fn hard_links_share_the_content_of_the_file() {
    let engine = Simulated::new(Code::Posix, 1);
    let mut session = open(&engine);
    let names = ["1", "2", "3"].map(file);
    let [one, two, three] = names.each_ref().map(FilePath::name);
    done(&mut session, &make::create(one, b"one"));
    done(&mut session, &make::link(one, two));
    done(&mut session, &make::append(two, b" more"));
    done(&mut session, &make::read(one, 8));
    assert_eq!(session.content(TICKET), Some(&b"one more"[..]));
    done(&mut session, &make::delete(one));
    assert_eq!(engine.attributes_of("/sim/2").unwrap().names, 1);
    done(&mut session, &make::symbolic_link(three, c"2"));
    done(&mut session, &make::stat(three, Some(1)));
    // No file is opened through a symbolic link.
    assert_eq!(
        failed(&mut session, &make::read(three, 8)).errno(),
        Some(40)
    );
}

#[test]
fn sessions_of_several_threads_share_files_and_clock() {
    const THREADS: usize = 8;
    const FILES: u64 = 50;
    const COST_NS: u64 = 7;
    let engine = Simulated::new(Code::Posix, COST_NS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let engine = &engine;
            scope.spawn(move || {
                let mut session = open(engine);
                let mut path = engines::PathBuffer::new(0, format!("{ROOT}/").into()).unwrap();
                let directory = thread as u32;
                done(
                    &mut session,
                    &make::make_directory(
                        path.with(|to| to.extend(format!("s{directory}").as_bytes())),
                    ),
                );
                for number in 0..FILES {
                    let name =
                        path.with(|to| to.extend(format!("s{directory}/{number}").as_bytes()));
                    let content = &TEXT[..thread + 5];
                    done(&mut session, &make::create(name, content));
                    done(&mut session, &make::read(name, content.len() as u64));
                    assert_eq!(session.content(TICKET), Some(content));
                }
                done(
                    &mut session,
                    &make::list(path.with(|to| to.extend(format!("s{directory}").as_bytes()))),
                );
                assert_eq!(session.listing(TICKET).unwrap().entries, FILES);
            });
        }
    });
    assert_eq!(engine.files().len(), THREADS * FILES as usize);
    assert_eq!(engine.now_ns(), engine.calls() * COST_NS);
    assert_eq!(engine.open_files(), 0);
}

/// The worker loop reuses the buffers of names and contents as soon as an operation is submitted,
/// so the session must copy them.
#[test]
fn operations_in_flight_own_their_parameters_and_complete_by_ticket() {
    for seed in 0..50 {
        let engine = Simulated::new(Code::Posix, 7).with_depth(4, seed);
        let mut session = open(&engine);
        let mut steps = Seen::default();
        assert_eq!(engine.depth(), 4);
        let mut order = Vec::new();
        let complete = |session: &mut Box<dyn Session>| {
            let (ticket, outcome) = session.complete(None, &mut Seen::default()).unwrap();
            assert_eq!(outcome, Ok(()));
            ticket
        };
        let mut content = [0; 8];
        for number in 0..4 {
            let name = file(&number.to_string());
            content.fill(number as u8);
            let submitted = session.submit(
                Ticket::new(9, number),
                &make::create(name.name(), &content),
                &mut steps,
            );
            assert_eq!(submitted, Submitted::InFlight);
        }
        for _ in 0..4 {
            order.push(complete(&mut session).flight());
        }
        assert_eq!(session.complete(None, &mut steps), None);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3], "each once");
        for number in 0..4 {
            let name = file(&number.to_string());
            session.submit(
                Ticket::new(10, number),
                &make::read(name.name(), 8),
                &mut steps,
            );
        }
        for _ in 0..4 {
            let ticket = complete(&mut session);
            assert_eq!(
                session.content(ticket),
                Some(&[ticket.flight() as u8; 8][..])
            );
        }
        assert_eq!(engine.meetings(), Vec::<String>::new());
        // A wait with a limit advances the clock by at most this limit, in addition to the time of
        // calls.
        let (a, b, c) = (file("0"), file("4"), file("5"));
        session.submit(
            Ticket::new(11, 0),
            &make::rename(a.name(), b.name()),
            &mut steps,
        );
        let before_ns = engine.now_ns();
        let answer = session.complete(Some(Duration::from_nanos(100)), &mut steps);
        let calls_ns = 7 * 2;
        assert!(engine.now_ns() <= before_ns + 100 + calls_ns);
        if answer.is_none() {
            assert!(engine.now_ns() >= before_ns + 100);
            session.submit(
                Ticket::new(12, 1),
                &make::link(c.name(), b.name()),
                &mut steps,
            );
            assert_eq!(engine.meetings().len(), 1, "both give one name");
        }
    }
}
