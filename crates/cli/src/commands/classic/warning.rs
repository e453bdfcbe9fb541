//! What the classic mode warns of: everything that the original takes silently although somebody
//! probably meant something else. The effect stays; the warning says what was understood and what
//! would be right.
//!
//! Not the original's own complaints (`Error: …`): those are `settings::Refusal` and the
//! interpreter's. Every warning is one line that begins with `Warning: `, so that the two can be
//! told apart.

use std::fmt;
use std::path::{Path, PathBuf};

use workload::quantity;

use super::number::PromptNumber;

/// Something that is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A number was understood as another.
    PromptNumber {
        /// The command with its argument, as given.
        said: String,
        /// What it is taken for.
        understood: i32,
        /// What was probably meant.
        meant: Option<u64>,
    },
    /// Bounds of sizes were understood as others.
    Sizes {
        /// The command with its argument, as given.
        said: String,
        /// The lower bound as understood.
        low: i32,
        /// The upper bound as understood.
        high: i32,
        /// What was probably meant.
        meant: Option<(u64, u64)>,
    },
    /// The character behind a command is skipped, and was no separator.
    Skipped {
        said: String,
        skipped: char,
        /// The command that it follows.
        command: &'static str,
    },
    /// A path has spaces and no weight behind it: the original cuts it.
    SpacesInPath(PathBuf),
    /// Edition 1.0 knows no weights: the number is a part of the path.
    WeightInPath(PathBuf),
    /// The file that a report or the configuration goes to is called like a number.
    NumberAsFile {
        command: &'static str,
        path: PathBuf,
    },
    /// A line ends with a carriage return, which the original takes as a part of the value.
    CarriageReturn(String),
    /// `exit` and `?` are words of the prompt; in a file the original answers `Eh?`.
    PromptWord {
        word: String,
        /// What works in a file too.
        right: &'static str,
    },
    /// A command of the other edition.
    OtherEdition(&'static str),
    /// A configuration file cannot be opened; the original goes on without a word.
    Unreadable {
        path: PathBuf,
        /// Why, in the system's words.
        error: String,
    },
    /// Reading a configuration file ended in an error; the original takes it for the file's end.
    Broken {
        path: PathBuf,
        /// Why, in the system's words.
        error: String,
    },
    /// No file is left that edition 1.0's generator can draw: the original would search for ever.
    OutOfReach,
}

impl Warning {
    /// A number that is not what stands there.
    pub fn of_number(command: &str, argument: &[u8], number: PromptNumber) -> Option<Self> {
        (!number.exact).then(|| {
            let argument = String::from_utf8_lossy(argument);
            let meant = quantity::bytes(&argument);
            Self::PromptNumber {
                said: format!("{command} {}", argument.trim_end()),
                understood: number.value,
                meant: meant.ok().filter(|meant| fits(*meant)),
            }
        })
    }

    /// A weight that is not what stands there.
    pub fn of_weight(said: &[u8], understood: i32) -> Self {
        Self::PromptNumber {
            said: format!("the weight {}", String::from_utf8_lossy(said).trim()),
            understood,
            meant: None,
        }
    }

    /// Bounds of sizes that are not what stands there.
    pub fn of_sizes(argument: &[u8], low: i32, high: i32) -> Option<Self> {
        let argument = String::from_utf8_lossy(argument);
        let words: Vec<&str> = argument.split_whitespace().collect();
        let plain: Option<Vec<i32>> = words.iter().map(|word| word.parse().ok()).collect();
        let understood = match plain.as_deref() {
            Some([both]) => *both == low && *both == high,
            Some([first, second]) => *first == low && *second == high,
            _ => false,
        };
        (!understood).then(|| Self::Sizes {
            said: format!("set size {}", argument.trim_end()),
            low,
            high,
            meant: meant_sizes(&argument, &words),
        })
    }

    /// In edition 1.0, a path that ends like one with a weight.
    pub fn of_weight_in_path(argument: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(argument);
        let (_, word) = text.rsplit_once(' ')?;
        word.parse::<i64>()
            .is_ok()
            .then(|| Self::WeightInPath(Path::new(&*text).to_path_buf()))
    }
}

/// One size or two, with units, as they were probably meant.
fn meant_sizes(argument: &str, words: &[&str]) -> Option<(u64, u64)> {
    let (low, high) = match words {
        [low, high] => (quantity::bytes(low).ok()?, quantity::bytes(high).ok()?),
        [_] => {
            // A comma between two numbers is a range here, not grouped digits.
            let range = argument.trim().replacen(',', "..", 1);
            quantity::byte_range(&range).ok()?
        }
        _ => return None,
    };
    (low > 0 && low <= high && fits(high)).then_some((low, high))
}

fn fits(value: u64) -> bool {
    i32::try_from(value).is_ok()
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Warning: ")?;
        match self {
            Self::PromptNumber {
                said,
                understood,
                meant,
            } => {
                write!(
                    f,
                    "'{said}' is understood as {understood}: units and signs behind a number are \
                     ignored, and the greatest number is {}; give a plain number",
                    i32::MAX
                )?;
                meant.map_or(Ok(()), |meant| write!(f, ", like {meant}"))
            }
            Self::Sizes {
                said,
                low,
                high,
                meant,
            } => {
                if low == high {
                    write!(f, "'{said}' is understood as sizes of {low} bytes")?;
                } else {
                    write!(
                        f,
                        "'{said}' is understood as sizes from {low} to {high} bytes"
                    )?;
                }
                match meant {
                    Some((low, high)) if low == high => {
                        write!(f, "; give plain numbers of bytes: 'set size {low}'")
                    }
                    Some((low, high)) => {
                        write!(f, "; give plain numbers of bytes: 'set size {low} {high}'")
                    }
                    None => f.write_str(
                        "; give one or two plain numbers of bytes, the lower first, as in 'set \
                         size 500 10000'",
                    ),
                }
            }
            Self::Skipped {
                said,
                skipped,
                command,
            } => {
                write!(
                    f,
                    "'{skipped}' in '{said}' is skipped: give a space behind '{command}'"
                )
            }
            Self::SpacesInPath(path) => {
                let path = path.display();
                write!(
                    f,
                    "'{path}' is understood as one path with spaces and a weight of 1; the \
                     original would cut it at its last space: give the weight too, 'set location \
                     {path} 1', and both understand it"
                )
            }
            Self::WeightInPath(path) => {
                write!(
                    f,
                    "the path is '{}': edition 1.0 has one location without a weight; give 'set \
                     location PATH'",
                    path.display()
                )
            }
            Self::NumberAsFile { command, path } => {
                let path = path.display();
                write!(
                    f,
                    "'{command} {path}' writes to a file called {path}: a run has no length in \
                     time or count here, give 'set transactions' and then 'run'"
                )
            }
            Self::CarriageReturn(said) => {
                write!(
                    f,
                    "'{said}' ends with a carriage return, which belongs to the value: give lines \
                     that end with a line feed only"
                )
            }
            Self::PromptWord { word, right } => {
                write!(
                    f,
                    "'{word}' is a word of the prompt and no command in a file: give '{right}'"
                )
            }
            Self::OtherEdition(command) => {
                write!(
                    f,
                    "'{command}' is no command of edition 1.0: start with --edition 1.5"
                )
            }
            Self::Unreadable { path, error } => {
                write!(
                    f,
                    "cannot read configuration file '{}', the defaults stay: {error}",
                    path.display()
                )
            }
            Self::Broken { path, error } => {
                write!(
                    f,
                    "reading configuration file '{}' ends here: {error}",
                    path.display()
                )
            }
            Self::OutOfReach => f.write_str(
                "the files that are left lie in slots that edition 1.0's generator cannot draw, \
                 where the original searches for ever: take fewer files or transactions",
            ),
        }
    }
}
