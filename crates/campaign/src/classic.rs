//! The commands of the classic prompt and of its configuration files.
//!
//! Standard output is byte for byte that of the original PostMark, except for the text of `help`.
//! Standard error contains the original's error messages. It also contains lines that begin with
//! `Warning: ` if the original would silently misinterpret the input. The caller supplies a
//! [`ClassicRunner`], which performs the runs.
//!
//! A [`PromptInput`] reads a line, `interpreter` recognizes the command, `settings` stores its
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
