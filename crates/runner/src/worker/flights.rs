//! A worker's operations in flight: each has a number below the storage's depth, a flight, and
//! keeps off what the others are on. A synchronous session never has any.

use engine::{NameKind, Ticket};
use measure::Histogram;
use rundir::Entered;
use workload::{Action, Intent};

/// See the module's text.
pub(super) struct Flights {
    /// By number.
    in_flight: Vec<Option<Flight>>,
    /// The numbers that are free.
    free: Vec<usize>,
    /// How long intents waited for those that were on the same file.
    waits: Histogram,
}

/// An operation that is in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) intent: Intent,
    pub(super) issued: Issued,
}

/// What is known of an operation from its issue on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub(super) ticket: Ticket,
    /// The transaction that it belongs to, by its place in the stream.
    pub(super) transaction: u64,
    pub(super) due_ns: Option<u64>,
    pub(super) issued_ns: u64,
    /// Where an acknowledgement log is kept.
    pub(super) logged: Option<Entered>,
}

/// The names that an intent has to do with: those that it gives and takes, and that of the file
/// that a link names.
#[derive(Clone, Copy)]
struct Reach {
    file: u64,
    names: [(NameKind, u64); 2],
}

impl Reach {
    /// `None` of a listing: it is no file's.
    fn of(intent: &Intent) -> Option<Self> {
        let name = (intent.action.named(), intent.number);
        let second = match intent.action {
            Action::List | Action::ListWithStat => return None,
            Action::Rename | Action::ReadLink | Action::RemoveLink | Action::RemoveSymbolicLink => {
                (NameKind::File, intent.other)
            }
            Action::Link => (NameKind::Link, intent.other),
            Action::SymbolicLink => (NameKind::SymbolicLink, intent.other),
            _ => name,
        };
        Some(Self {
            file: intent.file,
            names: [name, second],
        })
    }

    fn meets(&self, other: &Self) -> bool {
        // What is no file has the number 0.
        (self.file == other.file && self.file != 0)
            || self.names.iter().any(|name| other.names.contains(name))
    }
}

impl Flights {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            in_flight: vec![None; depth],
            free: (0..depth).rev().collect(),
            waits: Histogram::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.in_flight.len()
    }

    /// A number that is free, until it is begun with; `None` where there is no room for one more.
    pub(super) fn room(&self) -> Option<usize> {
        self.free.last().copied()
    }

    /// It is in flight from now on, under the number that its ticket has.
    pub(super) fn begins(&mut self, flight: Flight) {
        let number = flight.issued.ticket.flight();
        // Others may have become free since this one was asked for.
        self.free.retain(|free| *free != number);
        self.in_flight[number] = Some(flight);
    }

    /// The operation of a ticket is not in flight any more.
    ///
    /// # Panics
    /// Where it was not: the storage has broken the contract.
    pub(super) fn ends(&mut self, ticket: Ticket) -> Flight {
        let number = ticket.flight();
        let flight = self.in_flight[number]
            .take()
            .filter(|flight| flight.issued.ticket == ticket);
        self.free.push(number);
        flight.expect("what completes was in flight")
    }

    /// Whether one of them is on a file of an intent's, or on one of its names.
    pub(super) fn meet(&self, intent: &Intent) -> bool {
        let Some(reach) = Reach::of(intent) else {
            return false;
        };
        let mut others = self.in_flight.iter().flatten();
        others.any(|flight| Reach::of(&flight.intent).is_some_and(|other| other.meets(&reach)))
    }

    /// Whether an operation of a transaction is in flight.
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
