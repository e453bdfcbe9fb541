//! The classic workload: the numbers that decide, with the edition, every operation of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::edition::Edition;
use crate::error::{check_blocks, check_files, check_weights};

/// The chance of an operation against its counterpart.
///
/// From 0 (never) to 10 (always), or disabled (-1), which leaves out both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(extend("minimum" = -1, "maximum" = 10))]
pub struct Bias(Option<u8>);

impl Bias {
    /// Neither operation is performed.
    pub const DISABLED: Self = Self(None);
    /// Both are equally likely.
    pub const EVEN: Self = Self(Some(5));

    /// The bias as the original takes it: -1 disables, 0 to 10 are chances in tenths.
    pub fn new(value: i64) -> Result<Self, WorkloadError> {
        match value {
            -1 => Ok(Self::DISABLED),
            0..=10 => Ok(Self(u8::try_from(value).ok())),
            _ => Err(invalid!(
                "invalid bias {value}: expected 0 to 10 (the chance in tenths), or -1 to disable \
                 both operations"
            )),
        }
    }

    /// Chances in tenths, or `None` where both operations are left out.
    pub const fn tenths(self) -> Option<u8> {
        self.0
    }
}

impl From<Bias> for i64 {
    fn from(bias: Bias) -> Self {
        bias.0.map_or(-1, Self::from)
    }
}

impl TryFrom<i64> for Bias {
    type Error = WorkloadError;

    fn try_from(value: i64) -> Result<Self, WorkloadError> {
        Self::new(value)
    }
}

/// A complete classic workload. Paths and the way of doing input and output are no part of it: the
/// same workload on another target is the same work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Classic {
    /// Whose rules hold.
    pub edition: Edition,
    /// Files of the initial pool.
    pub files: u64,
    /// Transactions of each worker; null, nothing, where the run ends by something else.
    #[serde(with = "crate::endless")]
    #[schemars(with = "Option<u64>")]
    pub transactions: u64,
    /// Least size of a new file, in bytes.
    pub size_low_bytes: u64,
    /// Upper bound of sizes, in bytes: a new file stays below it (unless both bounds are equal),
    /// appends end at it.
    pub size_high_bytes: u64,
    /// Bytes of one read call; a file's last one is shorter.
    pub read_block_bytes: u64,
    /// Bytes of one write call; an operation's last one is shorter.
    pub write_block_bytes: u64,
    /// Subdirectories in every location; with one, the files lie in the location itself.
    pub subdirectories: u32,
    /// How many shares of the files each location owns, in the order of the locations.
    pub weights: Vec<u32>,
    /// The chance of reading over appending.
    pub bias_read: Bias,
    /// The chance of creating over deleting.
    pub bias_create: Bias,
    /// Where the generator's sequence starts.
    pub seed: u32,
}

impl Default for Classic {
    /// The original's default configuration.
    fn default() -> Self {
        Self {
            edition: Edition::default(),
            files: 500,
            transactions: 500,
            size_low_bytes: 500,
            size_high_bytes: 10_000,
            read_block_bytes: 512,
            write_block_bytes: 512,
            subdirectories: 1,
            weights: vec![1],
            bias_read: Bias::EVEN,
            bias_create: Bias::EVEN,
            seed: 42,
        }
    }
}

impl Classic {
    /// The greatest size of a file and of a block, in bytes: the original's `int`.
    pub const SIZE_MAX_BYTES: u64 = i32::MAX as u64;
    /// The greatest sum of weights: the original's `int`.
    pub const WEIGHTS_MAX: u64 = i32::MAX as u64;
    /// The greatest pool: more would not fit any machine's memory.
    pub const FILES_MAX: u64 = 1 << 35;

    /// Checks that the workload can be performed.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        check_files(self.files, Self::FILES_MAX)?;
        let (low, high) = (self.size_low_bytes, self.size_high_bytes);
        ensure!(
            (1..=high).contains(&low),
            "invalid sizes {low}..{high}: expected a lower bound of at least 1 byte and at most \
             the upper bound"
        );
        let max = Self::SIZE_MAX_BYTES;
        ensure!(
            high <= max,
            "invalid size of {high} bytes: expected at most {max} bytes for the classic workload"
        );
        check_blocks(self.read_block_bytes, self.write_block_bytes, max)?;
        ensure!(
            self.subdirectories > 0,
            "invalid number of subdirectories 0: expected at least 1 (with 1, files lie in the \
             target itself)"
        );
        let (given, edition) = (self.weights.len(), self.edition);
        let takes = match edition.rules().several_locations {
            true => "one or more",
            false => "exactly one",
        };
        ensure!(
            given == 1 || (given > 1 && edition.rules().several_locations),
            "invalid number of targets {given}: edition {edition} takes {takes}"
        );
        check_weights(&self.weights)?;
        let sum: u64 = self.weights.iter().map(|weight| u64::from(*weight)).sum();
        ensure!(
            sum <= Self::WEIGHTS_MAX,
            "the weights of the targets are too large: their sum is {sum} (at most {})",
            Self::WEIGHTS_MAX
        );
        ensure!(
            given as u64 * u64::from(self.subdirectories) <= u64::from(u32::MAX),
            "{} subdirectories in {given} targets are too many (at most 4294967295 in all)",
            self.subdirectories
        );
        Ok(())
    }

    /// Slots of the table of files: twice the pool.
    pub fn slots(&self) -> u64 {
        self.files * 2
    }

    /// Which location a place lies in.
    pub fn location_of(&self, place: u32) -> usize {
        (place / self.subdirectories) as usize
    }

    /// Every field with its value, in a fixed form: what the fingerprint is made of.
    pub fn canonical(&self) -> String {
        let weights: Vec<String> = self.weights.iter().map(u32::to_string).collect();
        format!(
            "classic edition={} files={} transactions={} size={}..{} read-block={} write-block={} \
             subdirectories={} weights={} bias-read={} bias-create={} seed={}",
            self.edition,
            self.files,
            self.transactions,
            self.size_low_bytes,
            self.size_high_bytes,
            self.read_block_bytes,
            self.write_block_bytes,
            self.subdirectories,
            weights.join(","),
            i64::from(self.bias_read),
            i64::from(self.bias_create),
            self.seed,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_wrong_value_is_refused() {
        let good = Classic::default();
        assert_eq!(good.validate(), Ok(()));
        let wrong: [fn(&mut Classic); 10] = [
            |w| w.weights = vec![i32::MAX as u32, 1],
            |w| w.files = 0,
            |w| w.files = u64::MAX,
            |w| w.size_low_bytes = 0,
            |w| w.size_high_bytes = 499,
            |w| w.size_high_bytes = 1 << 31,
            |w| w.read_block_bytes = 0,
            |w| w.subdirectories = 0,
            |w| w.weights = vec![1, 0],
            |w| (w.edition, w.weights) = (Edition::V1_0, vec![1, 1]),
        ];
        for (index, change) in wrong.iter().enumerate() {
            let mut workload = good.clone();
            change(&mut workload);
            assert!(workload.validate().is_err(), "change {index} was accepted");
        }
    }

    #[test]
    fn a_bias_is_minus_one_to_ten() {
        for value in -3..=12 {
            assert_eq!(
                Bias::new(value).is_ok(),
                (-1..=10).contains(&value),
                "{value}"
            );
        }
        assert_eq!(i64::from(Bias::DISABLED), -1);
    }
}
