use std::ffi::CString;
use std::path::Path;

use engine::{
    Durability, Failure, Location, Name, Operation, OperationOutcome, Session, Settings, Step,
    Steps, Submitted, Ticket,
};

pub mod make;
pub mod work;

pub const TEXT: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

pub fn settings(directory: &Path, block: usize) -> Settings {
    Settings {
        read_block_bytes: block,
        write_block_bytes: block,
        locations: vec![Location {
            directory: directory.to_owned(),
            identity: None,
            below: None,
        }],
        ..Settings::default()
    }
}

/// The full path of a file and its path relative to the location, which [`name`](Self::name)
/// returns as a [`Name`].
pub struct FilePath {
    whole: CString,
    relative: CString,
}

impl FilePath {
    pub fn new(directory: &Path, relative: &str) -> Self {
        Self {
            whole: CString::new(format!("{}/{relative}", directory.display())).unwrap(),
            relative: CString::new(relative).unwrap(),
        }
    }

    pub fn name(&self) -> Name<'_> {
        Name {
            path: &self.whole,
            location: 0,
            relative: &self.relative,
        }
    }
}

/// The ticket of every operation, because only one is in flight at a time.
pub const TICKET: Ticket = Ticket(1);

#[derive(Default)]
pub struct Seen(pub Vec<Step>);

impl Steps for Seen {
    fn of(&mut self, _: Ticket) {}

    fn ended(&mut self, step: Step) {
        self.0.push(step);
    }
}

pub fn perform(
    session: &mut Box<dyn Session>,
    operation: &Operation<'_>,
    steps: &mut Seen,
) -> OperationOutcome {
    match session.submit(TICKET, operation, steps) {
        Submitted::Done(outcome) => outcome,
        Submitted::InFlight => {
            session
                .complete(None, steps)
                .expect("an operation is in flight")
                .1
        }
    }
}

/// All policies. Batches have the minimum size, or exceed the number of operations in any test.
pub const POLICIES: [Durability; 8] = [
    Durability::None,
    Durability::Fdatasync,
    Durability::Fsync,
    Durability::FsyncDirectory,
    Durability::ODsync,
    Durability::OSync,
    Durability::Batch(1),
    Durability::Batch(1_000),
];

/// Performs an operation that must succeed; returns its `Step`s.
pub fn done(session: &mut Box<dyn Session>, operation: &Operation<'_>) -> Vec<Step> {
    let mut seen = Seen::default();
    assert_eq!(
        perform(session, operation, &mut seen),
        Ok(()),
        "{operation:?}"
    );
    seen.0
}

/// Performs an operation that must fail; returns the failure.
pub fn failed(session: &mut Box<dyn Session>, operation: &Operation<'_>) -> Failure {
    let answer = perform(session, operation, &mut Seen::default());
    answer.expect_err(&format!("{operation:?}"))
}
