//! The interface between a study and its environment.

use std::fmt;
use std::time::Duration;

use record::{MadeFileSystem, Record, StudyPart};
use runner::RunSpec;
use study::{Design, StudyCell};

/// The parameters of a study.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    pub design: &'a Design,
    /// The configurations of the design.
    pub cells: &'a [StudyCell],
    /// The study's ID.
    pub id: &'a str,
    /// The side that is measured separately, in this block only; `None` for an ordinary study.
    pub side: Option<(&'a str, u32)>,
}

/// The operations that a study requires from its environment.
pub trait Ground {
    /// An error that ends the study, with a self-contained message.
    type Error;

    /// Brings the target of a cell into the state in which each of its runs begins; `None` if a
    /// signal arrived. If the cell has an age, `churn` then fills and churns a pool there, unless
    /// that state was saved before.
    ///
    /// # Errors
    /// Returns an error if the target cannot be made.
    fn target(&mut self, cell: usize) -> Result<Option<Ready>, Self::Error>;

    /// Resolves the run spec of a cell in a directory.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other.
    fn spec(&mut self, cell: usize, directory: &std::path::Path) -> Result<RunSpec, Self::Error>;

    /// Performs a run whose record is not stored: the churn before a measured run.
    ///
    /// # Errors
    /// Returns an error if the run was refused.
    fn churn(&mut self, spec: &RunSpec) -> Result<Record, Self::Error>;

    /// Saves the state of a target with its churned pool, so that the next run of the cell can
    /// restore it. The target stays usable. `None` if a signal interrupted this.
    ///
    /// # Errors
    /// Returns an error if the state cannot be saved.
    fn keep_state(&mut self, cell: usize) -> Result<Option<Ready>, Self::Error>;

    /// Performs a measured run, and stores its record with `part`.
    ///
    /// # Errors
    /// Returns an error if the run was refused, or its record cannot be stored.
    fn measure(
        &mut self,
        spec: &RunSpec,
        part: StudyPart,
    ) -> Result<(Record, Option<u64>), Self::Error>;

    /// The signal that is to end the study, if one has arrived.
    fn signal(&self) -> Option<i32>;

    /// Reports an event of the study.
    fn tell(&mut self, event: StudyEvent<'_>);
}

/// A target that is ready for a run.
#[derive(Clone, Debug)]
pub struct Ready {
    pub directory: std::path::PathBuf,
    /// The file system that was made; `None` for an existing directory.
    pub made: Option<MadeFileSystem>,
    /// Whether the pool is already churned.
    pub is_churned: bool,
}

/// An event of a study.
#[derive(Clone, Copy, Debug)]
pub enum StudyEvent<'a> {
    /// The next run begins.
    Next(StudyProgress<'a>),
    /// A target is being made, or brought into the state in which runs begin.
    Making,
    /// The study waits until the machine is quiet.
    Waiting,
    /// A pool is being churned.
    Churning,
    /// A run has ended.
    Measured(StudyProgress<'a>, &'a Record),
    /// A block is repeated because of an INVALID run.
    Repeating {
        /// The block, from 1.
        block: u32,
        /// The number of the next attempt.
        attempt: u32,
    },
}

/// The progress of a study.
#[derive(Clone, Copy, Debug)]
pub struct StudyProgress<'a> {
    pub cell: &'a StudyCell,
    /// Whether this is the second run of the baseline in the block, as an A/A control.
    pub is_twin: bool,
    /// The block, from 1.
    pub block: u32,
    /// The maximum number of blocks.
    pub blocks: u32,
    /// The run's position in its block, from 1.
    pub position: u32,
    /// Number of runs in a block.
    pub runs: u32,
    /// The estimated remaining time, from the runs so far; `None` before the first run.
    pub left: Option<Duration>,
}

/// `block 2 of 10, run 1 of 3, ext4`.
impl fmt::Display for StudyProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, position, runs) = (self.block, self.position, self.runs);
        let again = if self.is_twin { " again" } else { "" };
        let of = match self.blocks {
            // The number of blocks is limited by the time only.
            study::statistics::BLOCKS_MAX => String::new(),
            blocks => format!(" of {blocks}"),
        };
        let label = &self.cell.label;
        write!(
            f,
            "block {block}{of}, run {position} of {runs}, {label}{again}"
        )
    }
}
