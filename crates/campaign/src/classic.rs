//! The language of the classic prompt and of its configuration files.
//!
//! Byte for byte the original's standard output, but for the wording of `help`; on standard error
//! the original's complaints, and lines that begin with `Warning: ` where the original is silently
//! wrong. Runs are performed by a [`ClassicRunner`], which this module does not know.
//!
//! The way of a line: a [`PromptInput`] gives it, `interpreter` finds the command, `settings` takes
//! the value, `show` and `report::classic` say what there is to say.

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
