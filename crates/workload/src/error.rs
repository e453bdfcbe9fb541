//! Why a workload cannot be performed.

/// A value or combination of values that no workload can have, or memory that the machine lacks for
/// it. The message says what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadError(String);

impl WorkloadError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

/// The error with a message as of `format!`.
macro_rules! invalid {
    ($($message:tt)*) => {
        $crate::WorkloadError::new(format!($($message)*))
    };
}

/// Returns the error with a message as of `format!` where a condition does not hold.
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(invalid!($($message)*));
        }
    };
}

/// Refuses a number of files that no pool can have.
pub(crate) fn check_files(files: u64, max: u64) -> Result<(), WorkloadError> {
    ensure!(files > 0, "invalid number of files 0: expected at least 1");
    ensure!(
        files <= max,
        "invalid number of files {files}: expected at most {max}"
    );
    Ok(())
}

/// Refuses sizes of the blocks in which files are read and written.
pub(crate) fn check_blocks(read: u64, write: u64, max: u64) -> Result<(), WorkloadError> {
    for (what, bytes) in [("read", read), ("write", write)] {
        ensure!(
            (1..=max).contains(&bytes),
            "invalid {what} block of {bytes} bytes: expected 1 to {max} bytes"
        );
    }
    Ok(())
}

/// Refuses weights of targets if there are none, or if one is 0.
pub(crate) fn check_weights(weights: &[u32]) -> Result<(), WorkloadError> {
    ensure!(
        !weights.is_empty() && !weights.contains(&0),
        "invalid weight 0 of a target: expected at least 1"
    );
    Ok(())
}
