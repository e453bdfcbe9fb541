//! The mix workload: weighted operations on a pool of files, with distributions of sizes,
//! popularity, directories and names.

mod weights;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::weights::Weights;
use crate::WorkloadError;
use crate::compute::Compute;
use crate::error::{check_blocks, check_files, check_weights};
use crate::intent::Action;
use crate::layout::{Layout, Shape};
use crate::names::Names;
use crate::phases::{self, PhaseWork};
use crate::popularity::Popularity;
use crate::replay::Replay;
use crate::sizes::{SIZE_MAX_BYTES, Sizes};

/// The think time: the time between an operation's completion and the issue of the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// Workers issue the next operation at once.
    #[default]
    None,
    /// A constant think time, in nanoseconds.
    Fixed(u64),
    /// An exponentially distributed think time with this mean, in nanoseconds.
    Exponential(u64),
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Fixed(ns) => write!(f, "{ns}ns"),
            Self::Exponential(ns) => write!(f, "exponential:{ns}ns"),
        }
    }
}

/// All parameters of a mix workload, as serialised in records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Mix {
    /// The number of files in the initial pool. With private pools, each pool contains this number.
    pub files: u64,
    /// Operations of each worker; null if something else ends the run, such as a duration.
    #[serde(with = "crate::endless")]
    #[schemars(with = "Option<u64>")]
    pub transactions: u64,
    /// The relative frequency of each operation; with phases, the sum over the phases.
    pub weights: Weights,
    /// The phases, which are performed one after the other; absent if the workload has a single
    /// mix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseWork>,
    /// The trace whose operations are performed, instead of operations that are drawn; absent
    /// without a trace. The weights are then the numbers of the trace's operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Box<Replay>>,
    /// Sizes of new files.
    pub sizes: Sizes,
    /// The number of bytes that an append adds.
    pub append_sizes: Sizes,
    /// The number of bytes that a range read requests.
    pub range_sizes: Sizes,
    /// The largest size in bytes that appends may produce.
    pub size_max_bytes: u64,
    /// How uses are distributed over the files.
    pub popularity: Popularity,
    /// The directories of each target.
    pub layout: Layout,
    /// The number of levels of subdirectories in trees that are copied and removed; absent if a
    /// tree is a directory with its files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tree_levels: u32,
    /// The format of file names.
    pub names: Names,
    /// Time that a worker waits between the completion of an operation and the issue of the next
    /// one.
    pub think: Think,
    /// Processor time that a worker spends before each operation of an action, such as
    /// `deliver=120us`; absent without processor time.
    #[serde(default, skip_serializing_if = "Compute::is_none")]
    pub compute: Compute,
    /// Bytes of one read call; the last call of an operation may be shorter.
    pub read_block_bytes: u64,
    /// Bytes of one write call; the last call of an operation may be shorter.
    pub write_block_bytes: u64,
    /// All sizes are multiples of this number of bytes.
    pub align_bytes: u64,
    /// The relative shares of the files on each target, in the order of the targets.
    pub location_weights: Vec<u32>,
    /// The seed of the random numbers, from which `worker_seeds` derives each worker's seed.
    pub seed: u64,
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            files: 500,
            transactions: 500,
            weights: Self::classic_pairs(5, 5),
            phases: Vec::new(),
            replay: None,
            sizes: Sizes::Uniform {
                low: 500,
                high: 10_000,
            },
            append_sizes: Sizes::Uniform {
                low: 1,
                high: 10_000,
            },
            range_sizes: Sizes::Fixed(4096),
            size_max_bytes: 10_000,
            popularity: Popularity::Uniform,
            layout: Layout {
                shape: Shape::Flat,
                entries_max: None,
                maildir: false,
            },
            tree_levels: 0,
            names: Names::default(),
            think: Think::None,
            compute: Compute::default(),
            read_block_bytes: 1 << 16,
            write_block_bytes: 1 << 16,
            align_bytes: 1,
            location_weights: vec![1],
            seed: 42,
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Mix {
    pub const FILES_MAX: u64 = 1 << 35;
    pub const ALIGN_MAX_BYTES: u64 = 1 << 20;

    /// Returns the weights of the pairs of operations in the classic workload. `read` and `create`
    /// are chances in tenths: of reading rather than appending, and of creating rather than
    /// deleting.
    pub fn classic_pairs(read: u32, create: u32) -> Weights {
        Weights::default()
            .with(Action::Read, read)
            .with(Action::Append, 10_u32.saturating_sub(read))
            .with(Action::Create, create)
            .with(Action::Delete, 10_u32.saturating_sub(create))
    }

    /// Checks that all values are in range, and that the directories' limits of entries allow the
    /// initial pool.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        if self.weights.sum() == 0 {
            return Err(weights::none());
        }
        if self.replay.is_none() {
            check_files(self.files, Self::FILES_MAX)?;
        }
        let part = |what: &str, valid: Result<(), WorkloadError>| {
            valid.map_err(|why| invalid!("{what}: {why}"))
        };
        part("size", self.sizes.validate())?;
        part("append-size", self.append_sizes.validate())?;
        part("range-size", self.range_sizes.validate())?;
        part("popularity", self.popularity.validate())?;
        part("dirs", self.layout.validate())?;
        part("names", self.names.validate())?;
        let (levels, depth) = (self.tree_levels, self.layout.shape.depth());
        ensure!(
            levels <= depth,
            "invalid value '{levels}' for --tree-levels: expected at most {depth}, the levels of \
             directories of --dirs {}",
            self.layout.shape
        );
        phases::validate(&self.phases)?;
        self.compute.validate(&self.weights)?;
        check_blocks(
            self.read_block_bytes,
            self.write_block_bytes,
            SIZE_MAX_BYTES,
        )?;
        ensure!(
            (1..=Self::ALIGN_MAX_BYTES).contains(&self.align_bytes),
            "align: expected 1 to {} bytes",
            Self::ALIGN_MAX_BYTES
        );
        let (size_max, high) = (self.size_max_bytes, self.sizes.high());
        ensure!(
            size_max <= SIZE_MAX_BYTES,
            "size-max: expected at most {SIZE_MAX_BYTES} bytes"
        );
        ensure!(
            size_max >= high,
            "invalid value '{size_max}' for --size-max: expected at least {high}, the largest new \
             file"
        );
        check_weights(&self.location_weights)?;
        let locations = self.location_weights.len();
        let each = u64::from(self.layout.places());
        let places = each * locations as u64;
        ensure!(
            places <= 1 << 24,
            "{each} directories in {locations} targets are too many (at most 16777216 in all)"
        );
        let entries_max = self.layout.entries_max.unwrap_or(u64::MAX);
        let room = entries_max.saturating_mul(places);
        ensure!(
            room >= self.files,
            "the directories are too few for the pool: {places} directories with at most \
             {entries_max} entries hold {room}, and the pool has {} files (use more directories, \
             or a higher --entries-max)",
            self.files
        );
        Ok(())
    }

    /// Returns the number of directories in a tree that is copied.
    pub fn tree_directories(&self) -> u64 {
        1 + self.layout.names_below(self.tree_levels).entries
    }

    /// Returns the index of the target that contains the directory `place`.
    pub fn location_of(&self, place: u32) -> usize {
        (place / self.layout.places()) as usize
    }

    /// Returns the maximum number of hard links that may exist in a pool at one time. The same
    /// limit applies to symbolic links, and to directories that the mix creates.
    pub fn extras_max(&self) -> u64 {
        self.files.clamp(16, 1 << 20)
    }

    /// Returns the largest number of bytes that one operation reads or writes.
    pub fn content_bytes_max(&self) -> u64 {
        let aligned = |bytes: u64| bytes.next_multiple_of(self.align_bytes.max(1));
        aligned(self.size_max_bytes).max(aligned(self.append_sizes.high()))
    }

    /// Returns all fields and their values in a fixed format, from which the fingerprint is
    /// computed.
    pub fn canonical(&self) -> String {
        let locations: Vec<String> = self.location_weights.iter().map(u32::to_string).collect();
        let mut text = format!(
            "mix files={} transactions={} weights={} size={} append-size={} range-size={} \
             size-max={} popularity={} dirs={} entries-max={} maildir={} names={} think={} \
             read-block={} write-block={} align={} locations={} seed={}",
            self.files,
            self.transactions,
            self.weights,
            self.sizes,
            self.append_sizes,
            self.range_sizes,
            self.size_max_bytes,
            self.popularity,
            self.layout.shape,
            self.layout.entries_max.unwrap_or(0),
            self.layout.maildir,
            self.names,
            self.think,
            self.read_block_bytes,
            self.write_block_bytes,
            self.align_bytes,
            locations.join(","),
            self.seed,
        );
        if !self.compute.is_none() {
            text += &format!(" compute={}", self.compute);
        }
        if self.tree_levels > 0 {
            text += &format!(" tree-levels={}", self.tree_levels);
        }
        for phase in &self.phases {
            text += &format!(" phase={phase}");
        }
        if let Some(replay) = &self.replay {
            text += &format!(" {}", replay.canonical());
        }
        text
    }
}
