//! The language of the classic prompt and of its configuration files.
//!
//! Standard output is byte for byte that of the original, except for the text of `help`. Standard
//! error gets the original's error messages, and lines that begin with `Warning: ` where the
//! original silently misinterprets its input. A [`ClassicRunner`], supplied by the caller, performs
//! the runs.
//!
//! A line comes from a [`PromptInput`], `interpreter` finds the command, `settings` takes the
//! value, and `show` and `report::classic` write the output.

mod input;
mod interpreter;
mod number;
mod settings;
mod show;
mod warning;

pub use input::{PROMPT, Plain, PromptInput};
pub use interpreter::{ClassicRunner, Interpreter, RunEnd, Streams};
pub use settings::PromptSettings;
pub use show::commands;
