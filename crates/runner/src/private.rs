//! Operations on a private pool, which belongs to one worker.

use record::Histogram;
use workload::prepared::Prepared;
use workload::{ClassicStream, End, Intent, Kept, MixStream, Pause, Phase, PoolState, Stream};

use crate::listings::{Expected, Listings};

/// The stream of a private pool. This type is an enum, so that the operation loop is compiled once
/// for all kinds of streams. The branch that selects the stream is well predicted, because a worker
/// has only one stream.
#[derive(Debug)]
pub(crate) enum PrivateStream {
    Classic(Box<ClassicStream>),
    Mix(Box<MixStream>),
    Prepared(Box<Prepared>),
}

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
    #[inline(always)]
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool {
        of_each!(self, stream => stream.draw(phase, intent))
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

#[derive(Debug)]
pub(crate) struct Private {
    pub(crate) stream: PrivateStream,
    pub(crate) listings: Option<Listings>,
}

impl Private {
    #[inline]
    pub(crate) fn pause(&mut self, _: Phase) -> Pause {
        Pause::NONE
    }

    #[inline(always)]
    pub(crate) fn draw(&mut self, phase: Phase, intent: &mut Intent, _: usize, _: bool) -> bool {
        let is_one = self.stream.draw(phase, intent);
        if let (true, Some(listings)) = (is_one, &self.listings) {
            listings.begins(intent);
        }
        is_one
    }

    #[inline]
    pub(crate) fn wants_one_landed(&self) -> bool {
        false
    }

    #[inline]
    pub(crate) fn completed(&mut self, _: usize, intent: &Intent, well: bool) {
        if let Some(listings) = &mut self.listings {
            listings.completed(intent, well);
        }
    }

    pub(crate) fn remaining(&self, phase: Phase) -> u64 {
        self.stream.remaining(phase)
    }

    pub(crate) fn next_phase(&mut self) {
        if let PrivateStream::Mix(stream) = &mut self.stream {
            stream.next_phase();
        }
    }

    pub(crate) fn end(&self) -> End {
        self.stream.end()
    }

    pub(crate) fn can_perform_any(&self, pool: &PoolState) -> bool {
        self.stream.can_perform_any(pool)
    }

    pub(crate) fn transactions_begun(&self) -> u64 {
        self.stream.transactions_begun()
    }

    pub(crate) fn pool(&self, _: bool, each: &mut dyn FnMut(Kept)) {
        self.stream.pool(each);
    }

    pub(crate) fn is_drawn_before(&self) -> bool {
        matches!(self.stream, PrivateStream::Prepared(_))
    }

    pub(crate) fn lists(&self) -> bool {
        true
    }

    pub(crate) fn listing_begins(&mut self, flight: usize, place: u32) {
        if let Some(listings) = &mut self.listings {
            listings.listing_begins(flight, place);
        }
    }

    pub(crate) fn listing(&self, flight: usize, place: u32) -> Expected {
        let listings = self.listings.as_ref();
        listings.map_or(Expected::Unknown, |listings| {
            listings.expected(flight, place)
        })
    }

    pub(crate) fn take_waits(&mut self) -> Option<Histogram> {
        None
    }
}
