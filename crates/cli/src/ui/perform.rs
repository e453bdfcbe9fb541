//! The process's signals for runs.

use ranks::Ranks;
use record::Record;
use runner::{Control, Events, Refused, RunSpec, TakeControl};

use crate::ui::signals::InRun;

/// Performs what a description asks for on its engine, with the process's signals for it.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn perform(spec: &RunSpec, events: &mut dyn Events) -> Result<Record, Refused> {
    campaign::perform(spec, &mut Signals::default(), events)
}

/// The process's signals for one run or for several in a row, taken when the first of them begins.
#[derive(Default)]
pub struct Signals {
    in_run: Option<InRun>,
    ranks: Option<Ranks>,
}

impl Signals {
    /// Those of a process that performs runs together with others.
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
        // Without handlers a signal ends the program at once, and `clean` does the rest: no reason
        // not to run.
        self.in_run = self.in_run.take().or_else(|| InRun::begin().ok());
        self.taken().unwrap_or_default()
    }

    fn ranks(&self) -> Option<Ranks> {
        self.ranks.clone()
    }
}
