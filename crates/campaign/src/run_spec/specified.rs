//! The result of resolving the options of a user: a run spec, and how it was determined.

use record::Sizing;
use runner::Refused;
use spec::{Note, RunSpec};

use crate::Error;
use crate::input::Input;

/// A run spec, with details of how it was resolved.
#[derive(Clone, Debug)]
pub struct Specified {
    pub spec: RunSpec,
    /// Whether the user chose the I/O engine; otherwise it is the default of the workload.
    pub engine_is_given: bool,
    /// How the number of files was chosen; `None` if the user gave the number.
    pub sizing: Option<Sizing>,
    /// Notes about choices that may surprise the user.
    pub notes: Vec<Note>,
    /// The files from which options were read.
    pub inputs: Vec<Input>,
}

impl Specified {
    /// Converts a refusal into an error. Adds an explanation if the refused I/O engine is the
    /// default, or if the number of files was chosen for a working set.
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

    /// Adds a sentence about the chosen number of files to a message about missing space or memory.
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
