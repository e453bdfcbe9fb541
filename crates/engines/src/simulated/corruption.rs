//! Silent corruptions: what a checker of contents and names has to find.

/// How contents or names are spoilt while every call answers well. Calls that move no bytes are not
/// counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corruption {
    /// One byte of what the nth read call gives is another one. The file keeps the right one.
    FlipByte,
    /// Nothing comes of the nth write behind a file's end.
    LoseAppend,
    /// The nth write behind a file's end makes it longer by zeros.
    ZeroAppend,
    /// The nth read of a file from its start gives what it held before it was last written over or
    /// replaced. Strikes only where it held something else.
    OldVersion,
    /// The name of the nth file that is made is not there afterwards.
    LoseName,
    /// The nth renaming leaves the old name, too.
    DoubleName,
}

/// What corruptions are counted by.
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

/// What is asked for, and what became of it.
#[derive(Debug, Default)]
pub(super) struct Corruptions {
    pub(super) asked: Vec<(u64, Corruption)>,
    /// What has struck, each with the path of the file.
    pub(super) struck: Vec<((u64, Corruption), Vec<u8>)>,
    /// By event, how many there were.
    events: [u64; 5],
}

impl Corruptions {
    /// Counts an event. Gives what is to strike it.
    pub(super) fn of(&mut self, event: Event) -> Option<(u64, Corruption)> {
        let count = &mut self.events[event as usize];
        let nth = *count;
        *count += 1;
        let asked = self.asked.iter();
        asked
            .copied()
            .find(|(at, corruption)| *at == nth && corruption.event() == event)
    }

    /// One has really struck the file of this path.
    pub(super) fn strike(&mut self, corruption: (u64, Corruption), path: Vec<u8>) {
        self.struck.push((corruption, path));
    }
}
