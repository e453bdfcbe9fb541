//! Silent corruptions, which verification of contents and names must detect.

/// A corruption of contents or names by a call that succeeds. "The nth" counts events from 0, and
/// ignores calls that move no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corruption {
    /// The nth read call returns one wrong byte. The file keeps the correct byte.
    FlipByte,
    /// The nth write at a file's end is lost.
    LoseAppend,
    /// The nth write at a file's end writes zeros.
    ZeroAppend,
    /// The nth read of a file from its start returns the contents before the last overwrite or
    /// replacement. Has no effect if the file never had other contents.
    OldVersion,
    /// The nth created file loses its name at its creation.
    LoseName,
    /// The nth rename keeps the old name as well.
    DoubleName,
}

/// The events by which corruptions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Read,
    Append,
    ReadFromStart,
    Creation,
    Renaming,
}

impl Corruption {
    fn event(self) -> Event {
        match self {
            Self::FlipByte => Event::Read,
            Self::LoseAppend | Self::ZeroAppend => Event::Append,
            Self::OldVersion => Event::ReadFromStart,
            Self::LoseName => Event::Creation,
            Self::DoubleName => Event::Renaming,
        }
    }
}

/// The requested corruptions, and those that took effect.
#[derive(Debug, Default)]
pub(super) struct Corruptions {
    pub(super) asked: Vec<(u64, Corruption)>,
    /// Corruptions that took effect, each with the path of its file.
    pub(super) struck: Vec<((u64, Corruption), Vec<u8>)>,
    /// Number of events up to now, by `Event`.
    events: [u64; 5],
}

impl Corruptions {
    /// Counts an event; returns the corruption requested for this event.
    pub(super) fn of(&mut self, event: Event) -> Option<(u64, Corruption)> {
        let count = &mut self.events[event as usize];
        let nth = *count;
        *count += 1;
        let asked = self.asked.iter();
        asked
            .copied()
            .find(|(at, corruption)| *at == nth && corruption.event() == event)
    }

    /// Records that a corruption took effect on the file with this path.
    pub(super) fn strike(&mut self, corruption: (u64, Corruption), path: Vec<u8>) {
        self.struck.push((corruption, path));
    }
}
