//! Where a worker's intents come from: the stream of a private pool, or a pool that several workers share.

use contract::Listing;
use record::Histogram;
use workload::names::NameKind;
use workload::prepared::Prepared;
use workload::{Action, ClassicStream, End, Intent, Kept, MixStream, Phase, Stream};

use crate::naming::Naming;

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

/// See the module's text. An intent that is given is performed before the next one is asked for, and its end told.
pub(crate) trait Source {
    /// Whether the intents are a function of the workload alone.
    const IS_PURE: bool;

    /// The next intent of a phase; nothing at its end, or where the run stops while a file is waited for.
    fn next(&mut self, phase: Phase) -> Option<Intent>;

    /// The intent that was given last has been performed, well or not.
    fn completed(&mut self, intent: &Intent, well: bool);

    /// How many files or transactions this worker still has in a phase.
    fn remaining(&self, phase: Phase) -> u64;

    /// Why the transactions ended.
    fn end(&self) -> End;

    /// Transactions that have begun.
    fn transactions_begun(&self) -> u64;

    /// This worker's share of what the pool holds, or all of it. Nobody is at work then.
    fn pool(&self, all: bool, each: &mut dyn FnMut(Kept));

    /// Whether it is this worker that lists the pool's directories when the names are checked.
    fn lists(&self) -> bool;

    /// A listing of a place is about to be issued.
    fn listing_begins(&mut self, place: u32);

    /// What the listing of a place that has just ended may show.
    fn listing(&self, place: u32) -> Expected;

    /// Waits for claimed files since the last time this was asked.
    fn take_waits(&mut self) -> Option<Histogram>;
}

/// What the directories of a private pool hold: kept where a workload lists them.
#[derive(Clone, Debug)]
pub(crate) struct Listings {
    naming: Naming,
    places: Vec<Option<Listing>>,
    name: Vec<u8>,
}

impl Listings {
    /// So many empty directories.
    pub(crate) fn new(naming: Naming, places: u64) -> Self {
        Self {
            naming,
            places: vec![Some(Listing::default()); places as usize],
            name: Vec::with_capacity(256),
        }
    }

    fn change(&mut self, place: u32, kind: NameKind, number: u64, change: fn(&mut Listing, &[u8])) {
        self.name.clear();
        self.naming.write_name(kind, number, &mut self.name);
        if let Some(listing) = &mut self.places[place as usize] {
            change(listing, &self.name);
        }
    }

    /// What a place holds, where that is known.
    pub(crate) fn get(&self, place: u32) -> Option<Listing> {
        self.places[place as usize]
    }

    #[inline]
    fn completed(&mut self, intent: &Intent, well: bool) {
        let Intent { place, number, .. } = *intent;
        if !well {
            // Whether the name is there now is not known.
            if !intent.action.reads() {
                self.places[place as usize] = None;
            }
            return;
        }
        match intent.action {
            Action::Create | Action::Deliver => self.change(place, NameKind::File, number, Listing::add),
            Action::MakeDirectory => self.change(place, NameKind::Directory, number, Listing::add),
            Action::Delete | Action::RemoveLink | Action::RemoveSymbolicLink | Action::RemoveDirectory => {
                self.change(place, intent.action.named(), number, Listing::remove);
            }
            Action::Rename => {
                self.change(place, NameKind::File, number, Listing::remove);
                self.change(place, NameKind::File, intent.other, Listing::add);
            }
            Action::Link => self.change(place, NameKind::Link, intent.other, Listing::add),
            Action::SymbolicLink => self.change(place, NameKind::SymbolicLink, intent.other, Listing::add),
            _ => {}
        }
    }
}

/// The streams of private pools. One type, so that the loop is compiled once for all of them: choosing between
/// them is a branch that always goes the same way.
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
    const IS_PURE: bool = true;

    #[inline]
    fn next(&mut self, phase: Phase) -> Option<Intent> {
        self.stream.next(phase)
    }

    #[inline]
    fn completed(&mut self, intent: &Intent, well: bool) {
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

    fn transactions_begun(&self) -> u64 {
        self.stream.transactions_begun()
    }

    fn pool(&self, _: bool, each: &mut dyn FnMut(Kept)) {
        self.stream.pool(each);
    }

    fn lists(&self) -> bool {
        true
    }

    fn listing_begins(&mut self, _: u32) {}

    fn listing(&self, place: u32) -> Expected {
        let known = self.listings.as_ref().and_then(|listings| listings.get(place));
        known.map_or(Expected::Unknown, Expected::Exactly)
    }

    fn take_waits(&mut self) -> Option<Histogram> {
        None
    }
}
