//! Performs runs so that signals end the run instead of the program.

use ranks::Ranks;
use record::Record;
use runner::{Control, Events, Refused, RunSpec, TakeControl};

use crate::ui::signals::InRun;

/// Performs a run. A signal to this process ends the run.
///
/// # Errors
/// Returns an error if the run is refused. A refused run changes nothing.
pub fn perform(spec: &RunSpec, events: &mut dyn Events) -> Result<Record, Refused> {
    campaign::perform(spec, &mut Signals::default(), events)
}

/// Signal handling for one run or for several in a row. Signal handlers are installed when the
/// first run starts.
#[derive(Default)]
pub struct Signals {
    in_run: Option<InRun>,
    ranks: Option<Ranks>,
}

impl Signals {
    /// Handles signals of one of several ranks. `ranks` is `None` for a run in a single process.
    pub fn among(ranks: Option<Ranks>) -> Self {
        Self {
            in_run: None,
            ranks,
        }
    }
}

impl TakeControl for Signals {
    fn taken(&self) -> Option<Control> {
        self.in_run
            .as_ref()
            .map(|signals| Control::stopped_by(signals.caught()))
    }

    fn take(&mut self) -> Control {
        // A run is performed even if no signal handler can be installed: a signal then ends the
        // program immediately, and `postmark clean` removes the files.
        self.in_run = self.in_run.take().or_else(|| InRun::begin().ok());
        self.taken().unwrap_or_default()
    }

    fn ranks(&self) -> Option<Ranks> {
        self.ranks.clone()
    }
}
