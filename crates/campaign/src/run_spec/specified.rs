//! A run as it was said, resolved.

use record::Sizing;
use runner::Refused;
use spec::{Note, RunSpec};

use crate::Error;
use crate::input::Input;

/// What is meant.
#[derive(Clone, Debug)]
pub struct Specified {
    /// The complete description.
    pub spec: RunSpec,
    /// Whether a storage was said; else it is what goes with the work.
    pub engine_is_given: bool,
    /// How the number of files was chosen, where it was not said.
    pub sizing: Option<Sizing>,
    /// What was made of the words that might surprise.
    pub notes: Vec<Note>,
    /// The files that they were read from.
    pub inputs: Vec<Input>,
}

impl Specified {
    /// A refusal in words for whoever has said nothing of a storage.
    pub fn explain(&self, refused: Refused) -> Error {
        match refused {
            Refused::Unsupported(lack)
                if !self.engine_is_given && !self.spec.engine.calls_server() =>
            {
                let default = self.spec.engine.name();
                Error::refused(format_args!(
                    "{lack}; {default} is the default of this workload"
                ))
            }
            Refused::NoRoom(lack) => Refused::NoRoom(self.with_sizing(lack)).into(),
            Refused::NoMemory(lack) => Refused::NoMemory(self.with_sizing(lack)).into(),
            other => other.into(),
        }
    }

    /// What is lacking, with the number of files that was chosen, where one was.
    fn with_sizing(&self, lack: String) -> String {
        match &self.sizing {
            Some(sizing) => format!(
                "{lack}. {} A --working-set smaller than {} may fit.",
                report::sizing::sentence(sizing, &self.spec.workload, &self.spec.drive),
                sizing.working_set
            ),
            None => lack,
        }
    }
}
