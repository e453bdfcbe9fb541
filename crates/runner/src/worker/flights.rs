//! A worker's operations in flight. Each operation uses a flight, which is a number below the
//! engine's depth, and no two operations in flight conflict. A synchronous session has no
//! operations in flight.

use engine::{NameKind, Ticket};
use measure::Histogram;
use rundir::Entered;
use workload::{Action, Intent};

pub(super) struct Flights {
    /// Operations in flight, indexed by flight; `None` for free flights.
    in_flight: Vec<Option<Flight>>,
    /// The files and names of the operations in flight, indexed by flight. They form a separate
    /// list, because each new intent is compared with all of them.
    reaches: Vec<Option<Reach>>,
    free: Vec<usize>,
    /// How long intents have waited for operations in flight on the same file.
    waits: Histogram,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) intent: Intent,
    pub(super) issued: Issued,
}

/// Details of an issued operation that are needed when it completes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub(super) ticket: Ticket,
    /// Position of the operation's transaction in the stream.
    pub(super) transaction: u64,
    pub(super) due_ns: Option<u64>,
    pub(super) issued_ns: u64,
    /// The entry of the operation in the acknowledgement log; `None` without a log.
    pub(super) logged: Option<Entered>,
}

/// The file and the names that an intent uses, creates or removes. An operation with a single name
/// has this name twice.
#[derive(Clone, Copy, Debug)]
struct Reach {
    file: u64,
    names: [(NameKind, u64); 2],
}

impl Reach {
    /// Returns `None` for a listing, which affects no file.
    fn of(intent: &Intent) -> Option<Self> {
        let name = (intent.action.named(), intent.number);
        let second = match intent.action {
            Action::List | Action::ListWithStat => return None,
            Action::Rename
            | Action::ReadLink
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::Copy
            | Action::Clone
            | Action::InstallCopy
            | Action::InstallClone => (NameKind::File, intent.other),
            Action::Link | Action::InstallLink => (NameKind::Link, intent.other),
            Action::SymbolicLink => (NameKind::SymbolicLink, intent.other),
            _ => name,
        };
        Some(Self {
            file: intent.file,
            names: [name, second],
        })
    }

    fn meets(&self, other: &Self) -> bool {
        // Entries other than files have the file number 0.
        (self.file == other.file && self.file != 0)
            || self.names.iter().any(|name| other.names.contains(name))
    }
}

impl Flights {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            in_flight: vec![None; depth],
            reaches: vec![None; depth],
            free: (0..depth).rev().collect(),
            waits: Histogram::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.in_flight.len()
    }

    /// Returns a free flight; `None` if all are in use. [`Self::begins`] later marks the flight as
    /// used.
    pub(super) fn room(&self) -> Option<usize> {
        self.free.last().copied()
    }

    /// Stores an issued operation under the flight of its ticket.
    pub(super) fn begins(&mut self, flight: Flight) {
        let number = flight.issued.ticket.flight();
        // Operations may have completed since `room` was called, so the flight need not be the last
        // entry of `free`.
        match self.free.last() == Some(&number) {
            true => drop(self.free.pop()),
            false => self.free.retain(|free| *free != number),
        }
        self.reaches[number] = Reach::of(&flight.intent);
        self.in_flight[number] = Some(flight);
    }

    /// Removes a completed operation and returns it.
    ///
    /// # Panics
    /// Panics if the operation was not in flight, because an engine must return each ticket once.
    pub(super) fn ends(&mut self, ticket: Ticket) -> Flight {
        let number = ticket.flight();
        self.reaches[number] = None;
        let flight = self.in_flight[number]
            .take()
            .filter(|flight| flight.issued.ticket == ticket);
        self.free.push(number);
        flight.expect("what completes was in flight")
    }

    /// Whether an operation in flight affects the file or a name of the intent. An operation on a
    /// tree affects all files of a directory, and therefore waits for all operations in flight.
    pub(super) fn meet(&self, intent: &Intent) -> bool {
        if intent.action.is_on_tree() {
            return !self.is_empty();
        }
        let Some(reach) = Reach::of(intent) else {
            return false;
        };
        let mut others = self.reaches.iter().flatten();
        others.any(|other| other.meets(&reach))
    }

    /// Whether an operation of this transaction is in flight.
    pub(super) fn has(&self, transaction: u64) -> bool {
        let mut flights = self.in_flight.iter().flatten();
        flights.any(|flight| flight.issued.transaction == transaction)
    }

    pub(super) fn waited(&mut self, ns: u64) {
        self.waits.record(ns);
    }

    pub(super) fn take_waits(&mut self) -> Histogram {
        std::mem::take(&mut self.waits)
    }
}
