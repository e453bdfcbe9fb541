//! Position of a run in a study.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;

/// Name of the dimension whose values are given with `--side`. Configurations with different values
/// are measured at different times.
pub const SIDE: &str = "side";

/// The study that a run belongs to, the run's position in the study, and the state in which the run
/// began. Each run contains the complete design of its study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyPart {
    /// Identity of the study, drawn at its start.
    pub study: String,
    /// Name of the study, as stated in `design`.
    pub name: String,
    /// The complete design, as the text of a study file.
    pub design: String,
    /// The configuration, as a text of its coordinates that is unique in the study.
    pub cell: String,
    /// The coordinates of the configuration: one value for each dimension that has several values.
    pub coordinates: Vec<Coordinate>,
    /// Whether this is the second run of a baseline configuration in its block (A/A control). The
    /// ratios of second to first runs measure the A/A noise.
    pub is_twin: bool,
    /// Number of the block, from 1.
    pub block: u32,
    /// Number of the attempt at this block, from 1: a block with an INVALID run is repeated.
    pub attempt: u32,
    /// Position of the run in the order of its block, from 1.
    pub position: u32,
    /// Value of `--side`, such as a name of the old or the new kernel. Null if all configurations
    /// of a block were run together.
    pub side: Option<String>,
    /// The wait for a quiet machine before the run; null if none was requested.
    pub quiet: Option<QuietTime>,
    /// The scratch file system that the study created for the run; null if the target existed
    /// before.
    pub made: Option<MadeFileSystem>,
    /// Age of the pool: before the measured run, another run created this many times the pool's
    /// number of files. Null if the pool was not aged.
    pub age: Option<u64>,
}

/// A value of a dimension of a study.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Coordinate {
    /// The dimension: `workload`, `target`, `side`, or the name of an axis.
    pub dimension: String,
    /// The value as text, for example `xfs`.
    pub value: String,
}

/// The wait for a quiet machine before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietTime {
    /// Duration of the wait, in nanoseconds, also if the machine did not become quiet.
    pub waited_ns: u64,
    /// Whether the machine was quiet at the end of the wait. A value that is not available counts
    /// as quiet.
    pub is_quiet: bool,
    /// Bytes on the whole machine that were dirty or under write-back at the end of the wait.
    pub unwritten_bytes: Fact<u64>,
    /// Share of all processors' time that was used in the last observation of the wait (at most
    /// half a second long), from 0 to 1.
    pub busy: Fact<f64>,
}

/// A scratch file system that a study created for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MadeFileSystem {
    /// The requested file system, as `make:KIND?…`.
    pub asked: String,
    /// The commands that created and mounted the file system, in order.
    pub commands: Vec<String>,
    /// Name and version of each program that created the file system, as `NAME: VERSION`.
    pub tools: Vec<String>,
    /// The kernel driver that mounted the file system. Its name can differ from the requested type:
    /// the driver of ext4 also mounts ext2 and ext3.
    pub driver: Fact<String>,
    /// The file system that contains the image file of the scratch file system.
    pub image_file_system: Fact<String>,
    /// Fill level that was reached before the pool was created, in percent; null if none was
    /// requested.
    pub fullness_percent: Option<f64>,
}
