//! What a study asks of whoever runs it, and what it tells.

use std::fmt;
use std::time::Duration;

use record::{MadeFileSystem, Record, StudyPart};
use runner::RunSpec;
use study::{Design, StudyCell};

/// What a study goes by.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The design.
    pub design: &'a Design,
    /// Its cells.
    pub cells: &'a [StudyCell],
    /// The study's identity.
    pub id: &'a str,
    /// The side that is measured by itself, in this block alone.
    pub side: Option<(&'a str, u32)>,
}

/// What a study asks of whoever runs it.
pub trait Ground {
    /// What ends it, with a reason that stands for itself.
    type Error;

    /// Brings the target of a cell into the state that each of its runs begins with; `None` if a
    /// signal came. If the cell has an age, `churn` fills and churns a pool there, unless that
    /// state was saved before.
    ///
    /// # Errors
    /// Where it cannot be had.
    fn target(&mut self, cell: usize) -> Result<Option<Ready>, Self::Error>;

    /// What a cell's runs are asked for, in a directory.
    ///
    /// # Errors
    /// Where it contradicts itself.
    fn spec(&mut self, cell: usize, directory: &std::path::Path) -> Result<RunSpec, Self::Error>;

    /// Performs a run that is not kept: the churn before a measured one.
    ///
    /// # Errors
    /// Where it was refused.
    fn churn(&mut self, spec: &RunSpec) -> Result<Record, Self::Error>;

    /// Keeps the state of a target, with its churned pool, so that the next run of the cell need
    /// not make it again. The target stays where it is. Nothing where a signal has ended that.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn keep_state(&mut self, cell: usize) -> Result<Option<Ready>, Self::Error>;

    /// Performs a measured run, and keeps its record with its part of the study.
    ///
    /// # Errors
    /// Where it was refused, or its record cannot be kept.
    fn measure(
        &mut self,
        spec: &RunSpec,
        part: StudyPart,
    ) -> Result<(Record, Option<u64>), Self::Error>;

    /// The signal that is to end the study, where one has come.
    fn signal(&self) -> Option<i32>;

    /// What is going on.
    fn tell(&mut self, event: StudyEvent<'_>);
}

/// A target that a run can begin on.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where.
    pub directory: std::path::PathBuf,
    /// What was made; nothing where it was there before.
    pub made: Option<MadeFileSystem>,
    /// Whether the pool is churned already.
    pub is_churned: bool,
}

/// What a study tells whoever watches it.
#[derive(Clone, Copy, Debug)]
pub enum StudyEvent<'a> {
    /// A run is next.
    Next(StudyProgress<'a>),
    /// A target is being made, or brought to the state that runs begin with.
    Making,
    /// The machine is not quiet yet.
    Waiting,
    /// A pool is being churned.
    Churning,
    /// A run has ended.
    Measured(StudyProgress<'a>, &'a Record),
    /// A block has an INVALID run, and is repeated.
    Repeating {
        /// Which.
        block: u32,
        /// The attempt that comes next.
        attempt: u32,
    },
}

/// How far a study is.
#[derive(Clone, Copy, Debug)]
pub struct StudyProgress<'a> {
    /// The cell.
    pub cell: &'a StudyCell,
    /// Whether it is its second run in the block.
    pub is_twin: bool,
    /// The block, from 1.
    pub block: u32,
    /// The most blocks.
    pub blocks: u32,
    /// The run's place in its block, from 1.
    pub position: u32,
    /// Runs of a block.
    pub runs: u32,
    /// How long the rest will take, as far as runs have told by now.
    pub left: Option<Duration>,
}

/// `block 2 of 10, run 1 of 3, ext4`.
impl fmt::Display for StudyProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, position, runs) = (self.block, self.position, self.runs);
        let again = if self.is_twin { " again" } else { "" };
        let of = match self.blocks {
            // As many as the time allows.
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
