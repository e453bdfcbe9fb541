//! Errors of invalid workloads.

/// An invalid value or combination of values, or too little memory for the workload. The message
/// names the invalid value and the accepted values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadError(String);

impl WorkloadError {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

/// Creates a [`WorkloadError`] from the arguments of `format!`.
macro_rules! invalid {
    ($($message:tt)*) => {
        $crate::WorkloadError::new(format!($($message)*))
    };
}

/// Returns an error with a message, formatted by `format!`, unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(invalid!($($message)*));
        }
    };
}

/// Checks that a number of files is from 1 to `max`.
pub(crate) fn check_files(files: u64, max: u64) -> Result<(), WorkloadError> {
    ensure!(files > 0, "invalid number of files 0: expected at least 1");
    ensure!(
        files <= max,
        "invalid number of files {files}: expected at most {max}"
    );
    Ok(())
}

/// Checks that the block sizes of read and write calls are from 1 to `max` bytes.
pub(crate) fn check_blocks(read: u64, write: u64, max: u64) -> Result<(), WorkloadError> {
    for (what, bytes) in [("read", read), ("write", write)] {
        ensure!(
            (1..=max).contains(&bytes),
            "invalid {what} block of {bytes} bytes: expected 1 to {max} bytes"
        );
    }
    Ok(())
}

/// Checks that no weight of a target is 0 and that at least one weight exists.
pub(crate) fn check_weights(weights: &[u32]) -> Result<(), WorkloadError> {
    ensure!(
        !weights.is_empty() && !weights.contains(&0),
        "invalid weight 0 of a target: expected at least 1"
    );
    Ok(())
}
