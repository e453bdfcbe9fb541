//! Where a worker's intents come from: the stream of a private pool, or a pool that several workers
//! share.

use engine::Listing;
use record::Histogram;
use workload::names::NameKind;
use workload::prepared::Prepared;
use workload::{Action, ClassicStream, End, Intent, Kept, MixStream, Phase, PoolState, Stream};

use crate::entries::{Entries, Seen};
use crate::path_builder::Naming;

/// What a listing may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Exactly this.
    Exactly(Listing),
    /// So many entries at least and at most: others are at work in the directory.
    Between(u64, u64),
    /// It is not known.
    Unknown,
}

/// See the module's text. An intent is given to a flight, and its end is told before that flight
/// gets another.
pub(crate) trait Source: Send {
    /// Whether the intents are a function of the workload alone.
    fn is_pure(&self) -> bool;

    /// What is thought, in nanoseconds, before the next intent of a phase can be asked for. Asked
    /// again it gives 0.
    fn think_ns(&mut self, phase: Phase) -> u64;

    /// The next intent of a phase, for the flight of this number; nothing at its end, where the run
    /// stops while a file is waited for, and where one [is not to be waited
    /// for](Source::wants_one_landed). Others' files are waited for only where none of the
    /// worker's own operations is in flight.
    fn next(&mut self, phase: Phase, flight: usize, may_wait: bool) -> Option<Intent>;

    /// Whether the last answer was nothing because a file is somebody's: one of the worker's own
    /// operations in flight must complete before it is asked for again.
    fn wants_one_landed(&self) -> bool;

    /// The intent of a flight has been performed, well or not.
    fn completed(&mut self, flight: usize, intent: &Intent, well: bool);

    /// How many files or transactions this worker still has in a phase.
    fn remaining(&self, phase: Phase) -> u64;

    /// Why the transactions ended.
    fn end(&self) -> End;

    /// Whether any operation that may come could be performed on this pool: one of this worker, or
    /// one of another worker that changes the pool.
    fn can_perform_any(&self, pool: &PoolState) -> bool;

    /// Transactions that have begun.
    fn transactions_begun(&self) -> u64;

    /// This worker's share of what the pool holds, or all of it. Nobody is at work then.
    fn pool(&self, all: bool, each: &mut dyn FnMut(Kept));

    /// Whether it is this worker that lists the pool's directories when the names are checked.
    fn lists(&self) -> bool;

    /// A listing of a place is about to be issued, on a flight.
    fn listing_begins(&mut self, flight: usize, place: u32);

    /// What the listing of a place that has just ended, on a flight, may show.
    fn listing(&self, flight: usize, place: u32) -> Expected;

    /// Waits for claimed files since the last time this was asked.
    fn take_waits(&mut self) -> Option<Histogram>;
}

/// What the directories of a private pool hold: kept where a workload lists them.
#[derive(Debug)]
pub(crate) struct Listings {
    naming: Naming,
    places: Vec<Option<Listing>>,
    name: Vec<u8>,
    /// By place, what is in flight, and by flight what was known when a listing began; empty where
    /// one operation is done after the other.
    entries: Vec<Entries>,
    seen: Vec<Seen>,
}

impl Listings {
    /// So many empty directories.
    pub(crate) fn new(naming: Naming, places: u64, depth: usize) -> Self {
        let may_meet = depth > 1;
        Self {
            naming,
            places: vec![Some(Listing::default()); places as usize],
            name: Vec::with_capacity(256),
            entries: (0..if may_meet { places } else { 0 })
                .map(|_| Entries::default())
                .collect(),
            seen: vec![Seen::default(); if may_meet { depth } else { 0 }],
        }
    }

    fn change(&mut self, place: u32, kind: NameKind, number: u64, change: fn(&mut Listing, &[u8])) {
        self.name.clear();
        self.naming.write_name(kind, number, &mut self.name);
        if let Some(listing) = &mut self.places[place as usize] {
            change(listing, &self.name);
        }
    }

    fn begins(&self, intent: &Intent) {
        if let Some(entries) = self.entries.get(intent.place as usize) {
            entries.begins(intent.action);
        }
    }

    fn listing_begins(&mut self, flight: usize, place: u32) {
        if let Some(entries) = self.entries.get(place as usize) {
            self.seen[flight] = entries.seen();
        }
    }

    /// What a listing that has just ended may show of a place.
    fn expected(&self, flight: usize, place: u32) -> Expected {
        let Some(known) = self.places[place as usize] else {
            return Expected::Unknown;
        };
        let since = |entries: &Entries| entries.since(self.seen[flight]);
        match self.entries.get(place as usize).map(since) {
            Some((least, most)) if least < most => Expected::Between(least, most),
            _ => Expected::Exactly(known),
        }
    }

    #[inline]
    fn completed(&mut self, intent: &Intent, well: bool) {
        let Intent { place, number, .. } = *intent;
        if let (true, Some(entries)) = (well, self.entries.get(place as usize)) {
            entries.done(intent.action);
        }
        if !well {
            // Whether the name is there now is not known.
            if !intent.action.reads() {
                self.places[place as usize] = None;
            }
            return;
        }
        match intent.action {
            Action::Create | Action::Deliver => {
                self.change(place, NameKind::File, number, Listing::add)
            }
            Action::MakeDirectory => self.change(place, NameKind::Directory, number, Listing::add),
            Action::Delete
            | Action::RemoveLink
            | Action::RemoveSymbolicLink
            | Action::RemoveDirectory => {
                self.change(place, intent.action.named(), number, Listing::remove);
            }
            Action::Rename => {
                self.change(place, NameKind::File, number, Listing::remove);
                self.change(place, NameKind::File, intent.other, Listing::add);
            }
            Action::Link => self.change(place, NameKind::Link, intent.other, Listing::add),
            Action::SymbolicLink => {
                self.change(place, NameKind::SymbolicLink, intent.other, Listing::add)
            }
            _ => {}
        }
    }
}

/// The streams of private pools. One type, so that the loop is compiled once for all of them:
/// choosing between them is a branch that always goes the same way.
#[derive(Debug)]
pub(crate) enum PrivateStream {
    Classic(Box<ClassicStream>),
    Mix(Box<MixStream>),
    Prepared(Box<Prepared>),
}

/// Calls a method of whichever stream it is.
macro_rules! of_each {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self {
            PrivateStream::Classic($stream) => $call,
            PrivateStream::Mix($stream) => $call,
            PrivateStream::Prepared($stream) => $call,
        }
    };
}

impl Stream for PrivateStream {
    #[inline]
    fn next(&mut self, phase: Phase) -> Option<Intent> {
        of_each!(self, stream => stream.next(phase))
    }

    fn remaining(&self, phase: Phase) -> u64 {
        of_each!(self, stream => stream.remaining(phase))
    }

    fn end(&self) -> End {
        of_each!(self, stream => stream.end())
    }

    fn transactions_begun(&self) -> u64 {
        of_each!(self, stream => stream.transactions_begun())
    }

    fn can_perform_any(&self, pool: &PoolState) -> bool {
        of_each!(self, stream => stream.can_perform_any(pool))
    }

    fn pool(&self, each: &mut dyn FnMut(Kept)) {
        of_each!(self, stream => stream.pool(each));
    }
}

/// A private pool.
#[derive(Debug)]
pub(crate) struct Private {
    pub(crate) stream: PrivateStream,
    pub(crate) listings: Option<Listings>,
}

impl Source for Private {
    fn is_pure(&self) -> bool {
        true
    }

    #[inline]
    fn think_ns(&mut self, _: Phase) -> u64 {
        0
    }

    #[inline]
    fn next(&mut self, phase: Phase, _: usize, _: bool) -> Option<Intent> {
        let intent = self.stream.next(phase);
        if let (Some(listings), Some(intent)) = (&self.listings, &intent) {
            listings.begins(intent);
        }
        intent
    }

    #[inline]
    fn wants_one_landed(&self) -> bool {
        false
    }

    #[inline]
    fn completed(&mut self, _: usize, intent: &Intent, well: bool) {
        if let Some(listings) = &mut self.listings {
            listings.completed(intent, well);
        }
    }

    fn remaining(&self, phase: Phase) -> u64 {
        self.stream.remaining(phase)
    }

    fn end(&self) -> End {
        self.stream.end()
    }

    fn can_perform_any(&self, pool: &PoolState) -> bool {
        self.stream.can_perform_any(pool)
    }

    fn transactions_begun(&self) -> u64 {
        self.stream.transactions_begun()
    }

    fn pool(&self, _: bool, each: &mut dyn FnMut(Kept)) {
        self.stream.pool(each);
    }

    fn lists(&self) -> bool {
        true
    }

    fn listing_begins(&mut self, flight: usize, place: u32) {
        if let Some(listings) = &mut self.listings {
            listings.listing_begins(flight, place);
        }
    }

    fn listing(&self, flight: usize, place: u32) -> Expected {
        let listings = self.listings.as_ref();
        listings.map_or(Expected::Unknown, |listings| {
            listings.expected(flight, place)
        })
    }

    fn take_waits(&mut self) -> Option<Histogram> {
        None
    }
}
