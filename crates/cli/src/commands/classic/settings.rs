//! What the prompt's `set` commands have set, with the original's meaning: 32-bit `int`s, taken as
//! `atoi` takes them, and refused in the original's words.
//!
//! Not the workload: [`PromptSettings::workload`] makes one, or says why there is none. What a
//! value means that the original takes silently, although somebody probably meant another, is a
//! [`Warning`].

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use document::Format;
use record::Edition;
use workload::{Bias, Classic, InvalidWorkload};

use super::number::{self, atoi};
use super::warning::Warning;

/// A directory that files lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptLocation {
    /// As it was given.
    pub path: PathBuf,
    /// Its share of the files, at least 1.
    pub weight: i32,
}

/// The prompt's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSettings {
    /// Whose rules and words hold.
    pub edition: Edition,
    /// Files of the initial pool.
    pub files: i32,
    pub transactions: i32,
    /// Least size of a new file, in bytes.
    pub size_low: i32,
    /// Upper bound of sizes, in bytes.
    pub size_high: i32,
    /// Where the generator's sequence starts.
    pub seed: i32,
    /// In the order given. None: the working directory.
    pub locations: Vec<PromptLocation>,
    /// Subdirectories of every location; 0 where none were asked for, which makes as many as 1.
    pub subdirectories: i32,
    /// Bytes of a read call.
    pub read_block: i32,
    /// Bytes of a write call.
    pub write_block: i32,
    /// The chance of reading over appending, in tenths; -1 disables both.
    pub bias_read: i32,
    /// The chance of creating over deleting, in tenths; -1 disables both.
    pub bias_create: i32,
    /// Whether the C library's stdio is used, instead of system calls.
    pub buffered: bool,
    /// How the report is laid out.
    pub format: Format,
}

/// A value that is not taken; the original's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `set size`.
    #[error("no file size low or high bounds specified")]
    Sizes,
    /// `set number`.
    #[error("invalid number of files")]
    Files,
    /// `set seed`.
    #[error("invalid seed for random numbers")]
    Seed,
    /// `set transactions`.
    #[error("no transactions specified")]
    Transactions,
    /// `set location` without a path.
    #[error("no directory name specified")]
    NoLocation,
    /// `set location -PATH` with a path that was not set.
    #[error("cannot find location '{}'", .0.display())]
    UnknownLocation(PathBuf),
    /// `set location +PATH` and `-PATH` in an edition of one location. Our words.
    #[error("edition 1.0 has one location: give 'set location PATH'")]
    OneLocation,
    /// `set subdirectories`.
    #[error("invalid number of subdirectories")]
    Subdirectories,
    /// `set read`.
    #[error("invalid read block size")]
    ReadBlock,
    /// `set write`.
    #[error("invalid write block size")]
    WriteBlock,
    /// `set buffering`.
    #[error("no buffering mode (true/false) specified")]
    Buffering,
    /// `set bias read` and `set bias create`.
    #[error("no bias specified (0-10 for greater chance,-1 to disable)")]
    Bias,
    /// `set report`.
    #[error("either 'verbose' or 'terse' required")]
    Report,
}

/// What keeps settings from being run. Our words: the original tries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrunnable {
    /// The original works in `/` then.
    #[error(
        "the location is empty (one space stands before a path): give 'set location PATH', or \
         'set location /' if the root directory is meant"
    )]
    EmptyLocation,
    /// A path that no system call takes.
    #[error("the location '{}' holds a NUL character", .0.display())]
    NulInLocation(PathBuf),
    /// The workload itself.
    #[error(transparent)]
    Workload(#[from] InvalidWorkload),
}

/// What a `set` command comes to: what there is to warn of, or why it is refused.
pub type Effect = Result<Option<Warning>, Refusal>;

impl PromptSettings {
    /// The original's defaults.
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

    /// The workload that these settings ask for.
    ///
    /// # Errors
    /// Where the original would do what nobody can want, or where it would overflow.
    pub fn workload(&self) -> Result<Classic, Unrunnable> {
        for location in &self.locations {
            let path = location.path.as_os_str().as_bytes();
            if path.is_empty() {
                return Err(Unrunnable::EmptyLocation);
            }
            if path.contains(&0) {
                return Err(Unrunnable::NulInLocation(location.path.clone()));
            }
        }
        let bias = |value: i32| Bias::new(value.into()).ok_or(InvalidWorkload::Bias(value.into()));
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
        workload.validate()?;
        Ok(workload)
    }

    /// The locations with their weights. An empty path is the working directory, where none was
    /// set: the original's names have no directory before them then.
    pub fn paths(&self) -> Vec<(PathBuf, u32)> {
        if self.locations.is_empty() {
            return vec![(PathBuf::new(), 1)];
        }
        let pair =
            |location: &PromptLocation| (location.path.clone(), location.weight.unsigned_abs());
        self.locations.iter().map(pair).collect()
    }

    /// `set size LOW [HIGH]`. The upper bound stands behind the argument's first space, wherever
    /// that is.
    ///
    /// # Errors
    /// Without a lower bound above 0.
    pub fn set_sizes(&mut self, argument: Option<&[u8]>) -> Effect {
        let argument = argument.ok_or(Refusal::Sizes)?;
        let low = atoi(argument).value;
        if low <= 0 {
            return Err(Refusal::Sizes);
        }
        let space = argument.iter().position(|byte| *byte == b' ');
        let high = space
            .map_or(0, |space| atoi(&argument[space + 1..]).value)
            .max(low);
        (self.size_low, self.size_high) = (low, high);
        Ok(Warning::of_sizes(argument, low, high))
    }

    /// `set number COUNT`.
    ///
    /// # Errors
    /// Without a number above 0.
    pub fn set_files(&mut self, argument: Option<&[u8]>) -> Effect {
        positive(&mut self.files, argument, "set number", Refusal::Files)
    }

    /// `set seed NUMBER`.
    ///
    /// # Errors
    /// Without a number above 0.
    pub fn set_seed(&mut self, argument: Option<&[u8]>) -> Effect {
        positive(&mut self.seed, argument, "set seed", Refusal::Seed)
    }

    /// `set transactions COUNT`.
    ///
    /// # Errors
    /// Without a number above 0.
    pub fn set_transactions(&mut self, argument: Option<&[u8]>) -> Effect {
        positive(
            &mut self.transactions,
            argument,
            "set transactions",
            Refusal::Transactions,
        )
    }

    /// `set subdirectories COUNT`.
    ///
    /// # Errors
    /// Without a number above 0.
    pub fn set_subdirectories(&mut self, argument: Option<&[u8]>) -> Effect {
        positive(
            &mut self.subdirectories,
            argument,
            "set subdirectories",
            Refusal::Subdirectories,
        )
    }

    /// `set read BYTES`.
    ///
    /// # Errors
    /// Without a number above 0.
    pub fn set_read_block(&mut self, argument: Option<&[u8]>) -> Effect {
        positive(
            &mut self.read_block,
            argument,
            "set read",
            Refusal::ReadBlock,
        )
    }

    /// `set write BYTES`.
    ///
    /// # Errors
    /// Without a number above 0.
    pub fn set_write_block(&mut self, argument: Option<&[u8]>) -> Effect {
        positive(
            &mut self.write_block,
            argument,
            "set write",
            Refusal::WriteBlock,
        )
    }

    /// `set bias read TENTHS`. Unlike elsewhere, what is no number is 0 here.
    ///
    /// # Errors
    /// Outside -1 to 10.
    pub fn set_bias_read(&mut self, argument: Option<&[u8]>) -> Effect {
        bias(&mut self.bias_read, argument, "set bias read")
    }

    /// `set bias create TENTHS`. Unlike elsewhere, what is no number is 0 here.
    ///
    /// # Errors
    /// Outside -1 to 10.
    pub fn set_bias_create(&mut self, argument: Option<&[u8]>) -> Effect {
        bias(&mut self.bias_create, argument, "set bias create")
    }

    /// `set buffering true|false`, exactly.
    ///
    /// # Errors
    /// Any other word.
    pub fn set_buffering(&mut self, argument: Option<&[u8]>) -> Effect {
        self.buffered = match argument {
            Some(b"true") => true,
            Some(b"false") => false,
            _ => return Err(Refusal::Buffering),
        };
        Ok(None)
    }

    /// `set report verbose|terse`, exactly.
    ///
    /// # Errors
    /// Any other word.
    pub fn set_report(&mut self, argument: Option<&[u8]>) -> Effect {
        self.format = match argument {
            Some(b"verbose") => Format::Classic,
            Some(b"terse") => Format::Terse,
            _ => return Err(Refusal::Report),
        };
        Ok(None)
    }

    /// `set location PATH [WEIGHT]`, `+PATH [WEIGHT]`, `-PATH`. Gives besides the effect the weight
    /// that was not taken, which the original complains of while it takes the location.
    ///
    /// # Errors
    /// Without a path, or where the path to remove is none of the locations.
    pub fn set_location(
        &mut self,
        argument: Option<&[u8]>,
    ) -> Result<(Option<Warning>, Option<BadWeight>), Refusal> {
        let argument = argument.ok_or(Refusal::NoLocation)?;
        if self.edition == Edition::V1_0 {
            return self
                .set_only_location(argument)
                .map(|warning| (warning, None));
        }
        match argument {
            [b'-', path @ ..] => {
                // Letter for letter: equal paths (`a` and `a/`) are not the same here.
                let is_it =
                    |location: &PromptLocation| location.path.as_os_str().as_bytes() == path;
                let found = self.locations.iter().position(is_it);
                let unknown = || Refusal::UnknownLocation(to_path(path));
                self.locations.remove(found.ok_or_else(unknown)?);
                Ok((None, None))
            }
            [b'+', rest @ ..] => Ok(self.add_location(rest)),
            rest => {
                self.locations.clear();
                Ok(self.add_location(rest))
            }
        }
    }

    /// In edition 1.0 there is one location, without a weight, and its path is all of the argument.
    fn set_only_location(&mut self, argument: &[u8]) -> Effect {
        if let [b'+' | b'-', ..] = argument {
            return Err(Refusal::OneLocation);
        }
        let path = to_path(argument);
        let warning = Warning::of_weight_in_path(argument);
        self.locations = vec![PromptLocation { path, weight: 1 }];
        Ok(warning)
    }

    fn add_location(&mut self, rest: &[u8]) -> (Option<Warning>, Option<BadWeight>) {
        let (path, said) = split_weight(rest);
        let mut warning = None;
        let mut bad = None;
        let mut weight = 1;
        if let Some(said) = said {
            let number = atoi(said);
            if number.value > 0 {
                weight = number.value;
                if !number.exact {
                    warning = Some(Warning::of_weight(said, weight));
                }
            } else {
                bad = Some(BadWeight(said.to_vec()));
            }
        } else if path.contains(&b' ') {
            warning = Some(Warning::SpacesInPath(to_path(path)));
        }
        self.locations.push(PromptLocation {
            path: to_path(path),
            weight,
        });
        (warning, bad)
    }
}

/// A weight that is none, after which the location is taken with a weight of 1; the original's
/// words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ignoring invalid weight '{}'", String::from_utf8_lossy(.0))]
pub struct BadWeight(Vec<u8>);

/// The weight stands behind the argument's last space. The original takes whatever stands there for
/// it, which cuts paths with spaces; here a last word that does not begin like a number belongs to
/// the path, unless there is a directory without it and none with it. After a space at the path's
/// begin or end it remains a bad weight, since nobody means a path like that.
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

fn positive(
    value: &mut i32,
    argument: Option<&[u8]>,
    command: &'static str,
    refusal: Refusal,
) -> Effect {
    let Some(argument) = argument else {
        return Err(refusal);
    };
    let number = atoi(argument);
    if number.value <= 0 {
        return Err(refusal);
    }
    *value = number.value;
    Ok(Warning::of_number(command, argument, number))
}

fn bias(value: &mut i32, argument: Option<&[u8]>, command: &'static str) -> Effect {
    let argument = argument.ok_or(Refusal::Bias)?;
    let number = atoi(argument);
    if Bias::new(number.value.into()).is_none() {
        return Err(Refusal::Bias);
    }
    *value = number.value;
    Ok(Warning::of_number(command, argument, number))
}

/// A value that its setter has kept above 0.
fn count(value: i32) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(&OsString::from_vec(bytes.to_vec())).to_path_buf()
}

#[cfg(test)]
mod tests;
