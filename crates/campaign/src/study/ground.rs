//! The interface between a study and its environment.

use std::fmt;
use std::time::Duration;

use record::{MadeFileSystem, Record, StudyPart};
use runner::RunSpec;
use study::{Design, StudyCell};

/// The study to perform: all configurations in every block, or only one of them in one block.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    pub design: &'a Design,
    pub cells: &'a [StudyCell],
    pub id: &'a str,
    /// Name and block of the only configuration that is measured (`--side`); `None` for an ordinary
    /// study.
    pub side: Option<(&'a str, u32)>,
}

impl Course<'_> {
    /// Whether the runs of one configuration are repeated, so that nothing is compared.
    pub fn is_repetition(&self) -> bool {
        self.side.is_none() && self.design.is_repetition(self.cells)
    }
}

/// The operations that a study requires from its environment. The tests replace the environment.
pub trait Ground {
    /// An error that ends the study. Its message is complete without further context.
    type Error;

    /// Restores the target of a configuration (`cell`) to the state in which each run of the
    /// configuration begins. Returns `None` if a signal arrived. If the configuration has an age
    /// and no saved state, the study calls `churn` next, which creates and churns a pool.
    ///
    /// # Errors
    /// Returns an error if the target cannot be made.
    fn target(&mut self, cell: usize) -> Result<Option<Ready>, Self::Error>;

    /// Resolves the run spec of a cell for runs in `directory`.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other.
    fn spec(&mut self, cell: usize, directory: &std::path::Path) -> Result<RunSpec, Self::Error>;

    /// Performs the run that churns a pool before the first measured run. The record of this run is
    /// not stored.
    ///
    /// # Errors
    /// Returns an error if the run was refused.
    fn churn(&mut self, spec: &RunSpec) -> Result<Record, Self::Error>;

    /// Saves the state of a target with its churned pool, so that the next run of the configuration
    /// can start from this state. The target is ready for a run afterwards. Returns `None` if a
    /// signal interrupted the operation.
    ///
    /// # Errors
    /// Returns an error if the state cannot be saved.
    fn keep_state(&mut self, cell: usize) -> Result<Option<Ready>, Self::Error>;

    /// Performs a measured run, and stores its record with `part`, the run's position in the study.
    ///
    /// # Errors
    /// Returns an error if the run was refused, or its record cannot be stored.
    fn measure(
        &mut self,
        spec: &RunSpec,
        part: StudyPart,
    ) -> Result<(Record, Option<u64>), Self::Error>;

    /// Returns the signal that requests the end of the study, if one has arrived.
    fn signal(&self) -> Option<i32>;

    fn tell(&mut self, event: StudyEvent<'_>);
}

#[derive(Clone, Debug)]
pub struct Ready {
    pub directory: std::path::PathBuf,
    /// The scratch file system of the target; `None` for an existing directory.
    pub made: Option<MadeFileSystem>,
    /// Whether the pool on the target is already churned.
    pub is_churned: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum StudyEvent<'a> {
    Next(StudyProgress<'a>),
    /// A target is being made or restored.
    Making,
    /// The study waits until the machine is quiet.
    Waiting,
    Churning,
    Measured(StudyProgress<'a>, &'a Record),
    /// A block is repeated because of an INVALID run.
    Repeating {
        /// Number of the block, from 1.
        block: u32,
        /// Number of the attempt that begins now.
        attempt: u32,
    },
}

/// The position of a run in its study.
#[derive(Clone, Copy, Debug)]
pub struct StudyProgress<'a> {
    pub cell: &'a StudyCell,
    /// Whether this is the second run of the baseline in its block, which is an A/A control.
    pub is_twin: bool,
    /// Number of the block, from 1.
    pub block: u32,
    /// Maximum number of blocks.
    pub blocks: u32,
    /// Position of the run in its block, from 1.
    pub position: u32,
    /// Number of runs in the block.
    pub runs: u32,
    /// Estimated remaining time of the study; `None` before the first run.
    pub left: Option<Duration>,
    /// Whether the runs of one configuration are repeated, so that each block is one run.
    pub is_repetition: bool,
}

/// Formats the position: `block 2 of 10, run 1 of 3, ext4`, or `run 2 of 10` in a repetition.
impl fmt::Display for StudyProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, position, runs) = (self.block, self.position, self.runs);
        let again = if self.is_twin { " again" } else { "" };
        let of = match self.blocks {
            // The design does not limit the number of blocks, so the total is not shown.
            study::statistics::BLOCKS_MAX => String::new(),
            blocks => format!(" of {blocks}"),
        };
        if self.is_repetition {
            return write!(f, "run {block}{of}");
        }
        let label = &self.cell.label;
        write!(
            f,
            "block {block}{of}, run {position} of {runs}, {label}{again}"
        )
    }
}
