//! The settings that the prompt's `set` commands change. As in the original PostMark, they are
//! 32-bit `int`s, are parsed by the rules of `atoi`, and are rejected with the original's messages.
//!
//! [`PromptSettings::workload`] converts the settings to a workload, or returns the reason why they
//! cannot run. A value that the original silently misinterprets causes a warning.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use document::Format;
use record::Edition;
use workload::{Bias, Classic};

use super::number::{self, atoi};
use super::warning;

/// A directory for the pool's files, with its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptLocation {
    /// The path in the `set location` command.
    pub path: PathBuf,
    /// Weight of the location in the distribution of files, at least 1.
    pub weight: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSettings {
    /// The version of the original PostMark whose rules and texts apply.
    pub edition: Edition,
    /// Number of files in the initial pool.
    pub files: i32,
    pub transactions: i32,
    /// Minimum size of a new file, in bytes.
    pub size_low: i32,
    /// Maximum size of a file, in bytes.
    pub size_high: i32,
    pub seed: i32,
    /// The locations in the order of the `set location` commands. If empty, the working directory
    /// is used.
    pub locations: Vec<PromptLocation>,
    /// Number of subdirectories in each location; 0 if not set, which has the same effect as 1.
    pub subdirectories: i32,
    /// Number of bytes that a read call requests.
    pub read_block: i32,
    /// Number of bytes that a write call writes.
    pub write_block: i32,
    /// Probability of a read instead of an append, in tenths; -1 disables both operations.
    pub bias_read: i32,
    /// Probability of a creation instead of a deletion, in tenths; -1 disables both operations.
    pub bias_create: i32,
    /// Whether files are accessed with the C library's stdio instead of system calls.
    pub buffered: bool,
    /// Whether the report is verbose or terse (`set report`).
    pub format: Format,
}

/// The result of a `set` command: an optional warning, or the original's error message if the value
/// is rejected.
pub type Effect = Result<Option<String>, String>;

impl PromptSettings {
    pub fn new(edition: Edition) -> Self {
        Self {
            edition,
            files: 500,
            transactions: 500,
            size_low: 500,
            size_high: 10_000,
            seed: 42,
            locations: Vec::new(),
            subdirectories: 0,
            read_block: 512,
            write_block: 512,
            bias_read: 5,
            bias_create: 5,
            buffered: true,
            format: Format::Classic,
        }
    }

    /// Converts the settings to a workload.
    ///
    /// # Errors
    /// Returns an error if the original would do something that no user intends, such as using `/`
    /// for an empty path. Also returns an error if a number would overflow.
    pub fn workload(&self) -> Result<Classic, String> {
        for location in &self.locations {
            let path = location.path.as_os_str().as_bytes();
            if path.is_empty() {
                return Err(
                    "the location is empty (one space stands before a path): give 'set location \
                     PATH', or 'set location /' if the root directory is meant"
                        .to_owned(),
                );
            }
            if path.contains(&0) {
                let path = location.path.display();
                return Err(format!("the location '{path}' holds a NUL character"));
            }
        }
        let bias = |value: i32| Bias::new(value.into()).map_err(|wrong| wrong.to_string());
        let workload = Classic {
            edition: self.edition,
            files: count(self.files),
            transactions: count(self.transactions),
            size_low_bytes: count(self.size_low),
            size_high_bytes: count(self.size_high),
            read_block_bytes: count(self.read_block),
            write_block_bytes: count(self.write_block),
            subdirectories: self.subdirectories.max(1).unsigned_abs(),
            weights: self.paths().into_iter().map(|(_, weight)| weight).collect(),
            bias_read: bias(self.bias_read)?,
            bias_create: bias(self.bias_create)?,
            seed: self.seed as u32,
        };
        workload.validate().map_err(|invalid| invalid.to_string())?;
        Ok(workload)
    }

    /// Returns the locations with their weights. If no location was set, an empty path represents
    /// the working directory, because the original then uses file names without a directory.
    pub fn paths(&self) -> Vec<(PathBuf, u32)> {
        if self.locations.is_empty() {
            return vec![(PathBuf::new(), 1)];
        }
        let pair =
            |location: &PromptLocation| (location.path.clone(), location.weight.unsigned_abs());
        self.locations.iter().map(pair).collect()
    }

    /// Executes a `set` command.
    ///
    /// # Errors
    /// Returns the error message if the value is rejected; the settings are then unchanged.
    pub fn set(&mut self, command: &str, argument: Option<&[u8]>) -> Effect {
        let mut number = |value: fn(&mut Self) -> &mut i32, refusal: &str| {
            let is_taken = |number: i32| number > 0;
            set_number(value(self), command, argument, is_taken, refusal)
        };
        match command {
            "set size" => self.set_sizes(argument),
            "set number" => number(|own| &mut own.files, "invalid number of files"),
            "set seed" => number(|own| &mut own.seed, "invalid seed for random numbers"),
            "set transactions" => number(|own| &mut own.transactions, "no transactions specified"),
            "set subdirectories" => number(
                |own| &mut own.subdirectories,
                "invalid number of subdirectories",
            ),
            "set read" => number(|own| &mut own.read_block, "invalid read block size"),
            "set write" => number(|own| &mut own.write_block, "invalid write block size"),
            "set bias read" => set_bias(&mut self.bias_read, command, argument),
            "set bias create" => set_bias(&mut self.bias_create, command, argument),
            "set buffering" => {
                self.buffered = match argument {
                    Some(b"true") => true,
                    Some(b"false") => false,
                    _ => return refuse("no buffering mode (true/false) specified"),
                };
                Ok(None)
            }
            "set report" => {
                self.format = match argument {
                    Some(b"verbose") => Format::Classic,
                    Some(b"terse") => Format::Terse,
                    _ => return refuse("either 'verbose' or 'terse' required"),
                };
                Ok(None)
            }
            "set location" => self.set_location(argument),
            _ => unreachable!("'{command}' is listed and has no meaning"),
        }
    }

    /// Executes `set size LOW [HIGH]`. The upper bound is the number after the argument's first
    /// space, even if that space is the argument's first character.
    fn set_sizes(&mut self, argument: Option<&[u8]>) -> Effect {
        let low = argument.map_or(0, |argument| atoi(argument).value);
        let Some(argument) = argument.filter(|_| low > 0) else {
            return refuse("no file size low or high bounds specified");
        };
        let space = argument.iter().position(|byte| *byte == b' ');
        let high = space
            .map_or(0, |space| atoi(&argument[space + 1..]).value)
            .max(low);
        (self.size_low, self.size_high) = (low, high);
        Ok(warning::of_sizes(argument, low, high))
    }

    /// Executes `set location PATH [WEIGHT]`, `+PATH [WEIGHT]` or `-PATH`.
    fn set_location(&mut self, argument: Option<&[u8]>) -> Effect {
        let Some(argument) = argument else {
            return refuse("no directory name specified");
        };
        if self.edition == Edition::V1_0 {
            return self.set_only_location(argument);
        }
        match argument {
            [b'-', path @ ..] => {
                // Paths are compared byte by byte, so `a` and `a/` are different locations.
                let is_it =
                    |location: &PromptLocation| location.path.as_os_str().as_bytes() == path;
                let found = self.locations.iter().position(is_it);
                let unknown = || format!("cannot find location '{}'", to_path(path).display());
                self.locations.remove(found.ok_or_else(unknown)?);
                Ok(None)
            }
            [b'+', rest @ ..] => Ok(self.add_location(rest)),
            rest => {
                self.locations.clear();
                Ok(self.add_location(rest))
            }
        }
    }

    /// Executes `set location` of version 1.0, which has a single location without a weight. The
    /// whole argument is the path.
    fn set_only_location(&mut self, argument: &[u8]) -> Effect {
        if let [b'+' | b'-', ..] = argument {
            // This message is not in the original.
            return refuse("edition 1.0 has one location: give 'set location PATH'");
        }
        let path = to_path(argument);
        self.locations = vec![PromptLocation { path, weight: 1 }];
        Ok(warning::of_weight_in_path(argument))
    }

    /// Adds a location. If the weight is invalid, the location gets the weight 1, and the
    /// original's message is returned.
    fn add_location(&mut self, rest: &[u8]) -> Option<String> {
        let (path, said) = split_weight(rest);
        let number = said.map(atoi);
        let line = match said.zip(number) {
            Some((said, number)) if number.value <= 0 => Some(format!(
                "Error: ignoring invalid weight '{}'",
                String::from_utf8_lossy(said)
            )),
            Some((said, number)) => (!number.exact).then(|| warning::of_weight(said, number.value)),
            None => path
                .contains(&b' ')
                .then(|| warning::of_spaces(&to_path(path))),
        };
        self.locations.push(PromptLocation {
            path: to_path(path),
            weight: number.map_or(1, |number| number.value.max(1)),
        });
        line
    }
}

/// Splits the argument at its last space into a path and a weight. The original treats any last
/// word as a weight, and so cuts off a part of a path with spaces. If the last word does not begin
/// like a number, this program treats it as a part of the path, with two exceptions:
/// - The text before the last space is the path of an existing directory, and the whole argument is
///   not.
/// - The text before the last space is empty or begins with a space.
fn split_weight(rest: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(space) = rest.iter().rposition(|byte| *byte == b' ') else {
        return (rest, None);
    };
    let (path, word) = (&rest[..space], &rest[space + 1..]);
    let digits = word
        .strip_prefix(b"-")
        .or(word.strip_prefix(b"+"))
        .unwrap_or(word);
    let word_of_path = digits
        .first()
        .is_some_and(|byte| !byte.is_ascii_digit() && !number::is_blank(*byte));
    let is_directory = |bytes| to_path(bytes).is_dir();
    let is_cut = !is_directory(rest) && is_directory(path);
    if word_of_path && !path.is_empty() && path[0] != b' ' && !is_cut {
        return (rest, None);
    }
    (path, Some(word))
}

fn refuse(why: &str) -> Effect {
    Err(why.to_owned())
}

/// Sets a probability in tenths. A text that is not a number sets the probability to 0, whereas
/// other settings reject such a text.
fn set_bias(value: &mut i32, command: &str, argument: Option<&[u8]>) -> Effect {
    let is_taken = |number: i32| Bias::new(number.into()).is_ok();
    let refusal = "no bias specified (0-10 for greater chance,-1 to disable)";
    set_number(value, command, argument, is_taken, refusal)
}

fn set_number(
    value: &mut i32,
    command: &str,
    argument: Option<&[u8]>,
    is_taken: impl Fn(i32) -> bool,
    refusal: &str,
) -> Effect {
    let number = argument.map(|argument| (argument, atoi(argument)));
    let Some((argument, number)) = number.filter(|(_, number)| is_taken(number.value)) else {
        return refuse(refusal);
    };
    *value = number.value;
    Ok(warning::of_number(command, argument, number))
}

/// Converts a value that is always above 0, because the `set` command rejects other values.
fn count(value: i32) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(&OsString::from_vec(bytes.to_vec())).to_path_buf()
}

#[cfg(test)]
mod tests;
