//! The classic workload. Its parameters and the rules of the chosen PostMark edition (1.0 or 1.5)
//! determine every operation of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::edition::Edition;
use crate::error::{check_blocks, check_files, check_weights};

/// The bias between two opposite operations: reading or appending, creating or deleting.
///
/// The value is the chance of reading or of creating in tenths, from 0 (never) to 10 (always). -1
/// disables both operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(extend("minimum" = -1, "maximum" = 10))]
pub struct Bias(Option<u8>);

impl Bias {
    pub const DISABLED: Self = Self(None);
    pub const EVEN: Self = Self(Some(5));

    /// Converts the number of the original PostMark: -1 disables both operations, and 0 to 10 are
    /// tenths.
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

    /// Returns the chance of reading or creating in tenths, or `None` if both operations are
    /// disabled.
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

/// A complete classic workload, without paths and I/O engine, so that runs on different targets can
/// perform the same work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Classic {
    /// The edition of the original PostMark whose rules apply: `1.0` or `1.5`.
    pub edition: Edition,
    /// The number of files in the initial pool.
    pub files: u64,
    /// Transactions of each worker; null if something else ends the run, such as a duration.
    #[serde(with = "crate::endless")]
    #[schemars(with = "Option<u64>")]
    pub transactions: u64,
    /// The smallest size of a new file, in bytes.
    pub size_low_bytes: u64,
    /// The upper bound of file sizes, in bytes. A new file is smaller, unless both bounds are
    /// equal; appends may reach the bound.
    pub size_high_bytes: u64,
    /// Bytes of one read call; the last call of a file may be shorter.
    pub read_block_bytes: u64,
    /// Bytes of one write call; the last call of an operation may be shorter.
    pub write_block_bytes: u64,
    /// Subdirectories in every target; with 1, files are created in the target itself.
    pub subdirectories: u32,
    /// Relative shares of the pool's files on each target, in the order of the targets.
    pub weights: Vec<u32>,
    /// The chance that a transaction reads rather than appends.
    pub bias_read: Bias,
    /// The chance that a transaction creates rather than deletes.
    pub bias_create: Bias,
    /// The seed of the random number generator, from which `worker_seeds` derives each worker's
    /// seed.
    pub seed: u32,
}

impl Default for Classic {
    /// The default configuration of the original PostMark.
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
    /// The largest size of a file and of a block in bytes, because the original PostMark stores
    /// sizes in an `int`.
    pub const SIZE_MAX_BYTES: u64 = i32::MAX as u64;
    /// The largest sum of weights, because the original PostMark stores the sum in an `int`.
    pub const WEIGHTS_MAX: u64 = i32::MAX as u64;
    /// The largest number of files in a pool. With more files, the table of files would not fit
    /// into the memory of any machine.
    pub const FILES_MAX: u64 = 1 << 35;

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

    /// Returns the number of slots in the table of files: twice the number of files in the pool.
    pub fn slots(&self) -> u64 {
        self.files * 2
    }

    /// Returns the index of the target that contains the directory `place`.
    pub fn location_of(&self, place: u32) -> usize {
        (place / self.subdirectories) as usize
    }

    /// Returns all fields and their values in a fixed format, from which the fingerprint is
    /// computed.
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
    fn each_invalid_field_is_refused() {
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
    fn bias_ranges_from_minus_one_to_ten() {
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
