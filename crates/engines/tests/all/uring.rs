//! Tests of `uring` with several operations in flight: results equal those of the simulated engine,
//! and a kernel that refuses rings is reported.

mod refused;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use engine::{
    Cause, Engine, Listing, Name, NoSteps, Operation, OperationKind, OperationOutcome, Session,
    Settings, Step, Stopping, Submitted, Ticket,
};
use engines::simulated::{Code, Simulated};
use engines::uring::Uring;
use proptest::prelude::*;

use crate::support::{FilePath, TEXT, TICKET, done, failed, make, settings};

/// Number of files that a test uses; they are spread over [`DIRECTORIES`] directories.
const FILES: usize = 12;
const DIRECTORIES: usize = 2;

struct Names {
    directories: Vec<FilePath>,
    files: Vec<FilePath>,
}

impl Names {
    fn new(root: &Path) -> Self {
        let directories = (0..DIRECTORIES).map(|number| FilePath::new(root, &format!("d{number}")));
        let files = (0..FILES)
            .map(|number| FilePath::new(root, &format!("d{}/{number}", number % DIRECTORIES)));
        Self {
            directories: directories.collect(),
            files: files.collect(),
        }
    }
}

/// A randomly drawn operation: its kind, the indices of two different files, and a number of bytes.
#[derive(Clone, Debug)]
struct Drawn {
    kind: usize,
    first: usize,
    second: usize,
    bytes: usize,
}

/// Number of values of `kind`. [`Drawn::operation`] maps several values to the same operation if
/// the operation should be drawn more often.
const KINDS: usize = 21;

impl Drawn {
    fn strategy() -> impl Strategy<Value = Self> {
        (0..KINDS, 0..FILES, 1..FILES, 0_usize..TEXT.len()).prop_map(
            |(kind, first, distance, bytes)| Self {
                kind,
                first,
                second: (first + distance) % FILES,
                bytes,
            },
        )
    }

    fn operation<'a>(&self, names: &'a Names) -> Operation<'a> {
        let name = names.files[self.first].name();
        let other = names.files[self.second].name();
        let content = &TEXT[..self.bytes];
        let bytes = self.bytes as u64;
        match self.kind {
            0..=2 => make::create(name, content),
            3 => make::append(name, content),
            4 => make::overwrite(name, content),
            5 | 6 => make::read(name, bytes),
            7 => make::read_range(name, bytes / 2, bytes - bytes / 2),
            8 => make::truncate(name, bytes),
            9 => make::delete(name),
            10 => make::stat(name, Some(bytes)),
            11 => make::stat(name, None),
            12 => make::rename(name, other),
            13 => make::replace(name, other, content),
            14 => make::deliver(other, name, content),
            15 => make::stat_missing(name),
            16 => make::open_missing(name),
            17 => make::open_close(name),
            18 => make::set_extended(name, c"user.key", content),
            19 => make::get_extended(name, c"user.key", content),
            _ => make::symbolic_link(name, c"target"),
        }
    }
}

type Answer = (OperationOutcome, Option<Vec<u8>>);
/// The answers of operations, and the listings of the directories at the end.
type Results = (Vec<Answer>, Vec<Option<Listing>>);

/// Performs operations, up to `depth` at a time, but never two on one file. Returns the outcome and
/// the contents read for each operation, in the order of `operations`.
fn perform_all(
    session: &mut dyn Session,
    operations: &[Operation<'_>],
    depth: usize,
) -> Vec<Answer> {
    let mut answers: Vec<Option<Answer>> = vec![None; operations.len()];
    let mut in_flight: Vec<usize> = Vec::new();
    let mut free: Vec<usize> = (0..depth).collect();
    let mut flights = BTreeMap::new();
    let keep = |session: &dyn Session, at: usize, ticket, outcome: OperationOutcome| {
        let reads = matches!(
            operations[at].kind(),
            OperationKind::Read | OperationKind::ReadRange
        );
        let content = session.content(ticket).filter(|_| reads && outcome.is_ok());
        (outcome, content.map(<[u8]>::to_vec))
    };
    for (at, operation) in operations.iter().enumerate() {
        while free.is_empty()
            || in_flight
                .iter()
                .any(|other| meet(&operations[*other], operation))
        {
            let (ticket, outcome) = session.complete(None, &mut NoSteps).unwrap();
            let ended: usize = flights.remove(&ticket.0).unwrap();
            in_flight.retain(|other| *other != ended);
            free.push(ticket.flight());
            answers[ended] = Some(keep(session, ended, ticket, outcome));
        }
        let ticket = Ticket::new(at as u64, free.pop().unwrap());
        match session.submit(ticket, operation, &mut NoSteps) {
            Submitted::Done(outcome) => {
                free.push(ticket.flight());
                answers[at] = Some(keep(session, at, ticket, outcome));
            }
            Submitted::InFlight => {
                in_flight.push(at);
                flights.insert(ticket.0, at);
            }
        }
    }
    while let Some((ticket, outcome)) = session.complete(None, &mut NoSteps) {
        let ended = flights.remove(&ticket.0).unwrap();
        answers[ended] = Some(keep(session, ended, ticket, outcome));
    }
    answers.into_iter().map(Option::unwrap).collect()
}

fn meet(one: &Operation<'_>, other: &Operation<'_>) -> bool {
    let names = |operation: &Operation<'_>| {
        let (first, second) = operation.names();
        [Some(first), second].map(|name| name.map(|name: Name<'_>| name.relative.to_owned()))
    };
    let others = names(other);
    let mut mine = names(one).into_iter().flatten();
    mine.any(|name| others.contains(&Some(name)))
}

/// Performs the drawn operations on an engine, and lists the directories afterwards.
fn results(engine: &dyn Engine, root: &Path, drawn: &[Drawn], block: usize) -> Results {
    let names = Names::new(root);
    let settings = Settings {
        keep_contents_bytes: 4096,
        ..settings(root, block)
    };
    let mut session = engine.open(&settings).unwrap();
    for directory in &names.directories {
        done(&mut session, &make::make_directory(directory.name()));
    }
    let operations: Vec<_> = drawn.iter().map(|drawn| drawn.operation(&names)).collect();
    let answers = perform_all(&mut *session, &operations, engine.depth());
    let listings: Vec<Option<Listing>> = names
        .directories
        .iter()
        .map(|directory| {
            done(&mut session, &make::list(directory.name()));
            session.listing(TICKET)
        })
        .collect();
    (answers, listings)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn operations_in_flight_equal_the_simulated_engine(
        drawn in prop::collection::vec(Drawn::strategy(), 1..200),
        block in prop::sample::select(vec![1_usize, 3, 16, 4096]),
    ) {
        let simulated = Simulated::new(Code::Posix, 1);
        let expected = results(&simulated, Path::new("/sim"), &drawn, block);
        let engines = [1, 8, 64].map(Uring::new);
        for engine in engines.into_iter().chain([Uring::new(8).without_chains()]) {
            let temporary = tempfile::tempdir().unwrap();
            let found = results(&engine, temporary.path(), &drawn, block);
            prop_assert_eq!(&found, &expected, "{:?}", engine);
        }
    }
}

/// The blocks of a file do not fit into one chain, and the chains of all files do not fit into the
/// ring's queue.
#[test]
fn files_of_many_blocks_are_written_and_read_in_several_chains() {
    const BYTES: usize = 1000;
    let temporary = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..16)
        .map(|number| FilePath::new(temporary.path(), &number.to_string()))
        .collect();
    let content: Vec<u8> = (0..BYTES).map(|at| (at * 7) as u8).collect();
    let settings = Settings {
        keep_contents_bytes: BYTES,
        ..settings(temporary.path(), 3)
    };
    let mut session = Uring::new(16).open(&settings).unwrap();
    let creates: Vec<_> = files
        .iter()
        .map(|file| make::create(file.name(), &content))
        .collect();
    let reads: Vec<_> = files
        .iter()
        .map(|file| make::read(file.name(), BYTES as u64))
        .collect();
    for (outcome, _) in perform_all(&mut *session, &creates, 16) {
        assert_eq!(outcome, Ok(()));
    }
    for (outcome, read) in perform_all(&mut *session, &reads, 16) {
        assert_eq!((outcome, read.as_deref()), (Ok(()), Some(&content[..])));
    }
}

/// The worker reuses its buffers after `submit`, so `submit` must have copied their contents.
#[test]
fn names_and_contents_are_copied_when_an_operation_is_submitted() {
    let temporary = tempfile::tempdir().unwrap();
    let mut session = Uring::new(4)
        .open(&settings(temporary.path(), 512))
        .unwrap();
    for number in 0..4_u8 {
        let file = FilePath::new(temporary.path(), &number.to_string());
        let content = vec![number; 1000];
        let ticket = Ticket::new(number.into(), number.into());
        let submitted = session.submit(ticket, &make::create(file.name(), &content), &mut NoSteps);
        assert_eq!(submitted, Submitted::InFlight);
    }
    while let Some((_, outcome)) = session.complete(None, &mut NoSteps) {
        assert_eq!(outcome, Ok(()));
    }
    for number in 0..4_u8 {
        let found = std::fs::read(temporary.path().join(number.to_string())).unwrap();
        assert_eq!(found, vec![number; 1000]);
    }
}

#[test]
fn session_that_is_dropped_completes_operations_in_flight() {
    let temporary = tempfile::tempdir().unwrap();
    let mut session = Uring::new(8).open(&settings(temporary.path(), 16)).unwrap();
    for number in 0..8 {
        let file = FilePath::new(temporary.path(), &number.to_string());
        let ticket = Ticket::new(number, number as usize);
        session.submit(ticket, &make::create(file.name(), TEXT), &mut NoSteps);
    }
    drop(session);
    for number in 0..8 {
        let found = std::fs::read(temporary.path().join(number.to_string())).unwrap();
        assert_eq!(found, TEXT);
    }
}

/// A read from an empty FIFO blocks until a writer sends data.
#[test]
fn wait_for_a_completion_ends_at_its_limit() {
    let temporary = tempfile::tempdir().unwrap();
    let fifo = FilePath::new(temporary.path(), "fifo");
    let path = temporary.path().join("fifo");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
    let mut session = Uring::new(2).open(&settings(temporary.path(), 16)).unwrap();
    // The FIFO is opened after the session, which closes files that its thread opened before.
    let mut both = File::options().read(true).write(true).open(&path).unwrap();
    let limit = Some(Duration::from_millis(1));
    assert_eq!(session.complete(limit, &mut NoSteps), None);
    let read = make::read(fifo.name(), 3);
    assert_eq!(
        session.submit(TICKET, &read, &mut NoSteps),
        Submitted::InFlight
    );
    assert_eq!(session.complete(limit, &mut NoSteps), None);
    assert_eq!(session.complete(limit, &mut NoSteps), None);
    both.write_all(b"123").unwrap();
    assert_eq!(session.complete(None, &mut NoSteps), Some((TICKET, Ok(()))));
}

/// A chain is completed even if the run stops meanwhile; the next chain is not begun.
#[test]
fn stop_of_run_ends_an_operation_between_chains() {
    let temporary = tempfile::tempdir().unwrap();
    let file = FilePath::new(temporary.path(), "1");
    let content = vec![b'x'; 1000];
    for depth in [1, 4] {
        let settings = Settings {
            stopping: Stopping::when(|| true),
            ..settings(temporary.path(), 1)
        };
        let mut session = Uring::new(depth).open(&settings).unwrap();
        let failure = failed(&mut session, &make::create(file.name(), &content));
        assert_eq!((failure.step, failure.cause), (Step::Write, Cause::Stopped));
        let length = std::fs::metadata(temporary.path().join("1")).unwrap().len();
        assert!((1..1000).contains(&length));
        assert_eq!(failure.moved_bytes, Some(length));
        done(&mut session, &make::delete(file.name()));
    }
}

#[test]
fn operations_without_io_uring_requests_are_listed() {
    use OperationKind as Kind;
    let plain = Uring::new(1).plain_operations();
    for kind in [
        Kind::List,
        Kind::SetAttributes,
        Kind::Copy,
        Kind::Lock,
        Kind::ReadMapped,
    ] {
        assert!(plain.contains(&kind), "{kind}");
    }
    for kind in [
        Kind::Create,
        Kind::Read,
        Kind::Delete,
        Kind::Stat,
        Kind::Replace,
    ] {
        assert!(!plain.contains(&kind), "{kind}");
    }
}
