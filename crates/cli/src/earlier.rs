//! Earlier runs: from what a user calls one by to its record.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use record::Record;

use crate::meant::MeaningError;

/// No record is longer: one that is was never a run's.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// The record of the run that is called so: the path of the file that it wrote with `--format json`, or `-` for standard input.
///
/// # Errors
/// Where it cannot be read, or is no record.
pub fn find(run: &Path) -> Result<Record, MeaningError> {
    let cannot = |cause| MeaningError::CannotReadRun {
        run: Called(run).to_string(),
        cause,
    };
    let mut text = String::new();
    let mut source: Box<dyn Read> = if run == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(run).map_err(cannot)?)
    };
    // A byte more shows that there are more.
    let mut some = source.by_ref().take(RECORD_BYTES_MAX + 1);
    let read = some.read_to_string(&mut text).map_err(cannot)?;
    if read as u64 > RECORD_BYTES_MAX {
        return Err(wrong(run, format_args!("it has more than {RECORD_BYTES_MAX} bytes")));
    }
    Record::from_json(&text).map_err(|error| wrong(run, error))
}

/// The run that is called so cannot be used. What is wrong may quote it: nothing of that gets at a terminal.
pub fn wrong(run: &Path, problem: impl fmt::Display) -> MeaningError {
    let mut plain = String::new();
    for character in problem.to_string().chars() {
        if character.is_control() {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    MeaningError::Run {
        run: Called(run).to_string(),
        problem: plain,
    }
}

/// A run as it is spoken of.
pub struct Called<'a>(pub &'a Path);

impl fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Path::new("-") {
            f.write_str("standard input")
        } else {
            self.0.display().fmt(f)
        }
    }
}
