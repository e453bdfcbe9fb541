//! Documents as data: blocks, and renderers that convert them to text, Markdown, HTML and CSV.
//!
//! Reports consist of [`Block`]s and typed [`Cell`]s and do not depend on a format. This crate
//! escapes untrusted strings ([`sanitize`](mod@sanitize)), formats units and digits ([`units`],
//! [`Number`]), wraps lines and aligns tables. This crate imports no other crate of the project,
//! and does no input and output.
//!
//! Lines are wrapped between words. A no-break space (U+00A0, [`kept`]) prevents a break and is
//! rendered as a space.

mod block;
mod dots;
mod format;
pub mod sanitize;
mod table;
pub mod units;

pub use block::{Block, Document, Picture, Tone, kept};
pub use dots::{DotRow, DotValue, Dots};
pub use format::{
    Format, Terminal, UnknownFormat, WIDTH, csv, csv_rows, html, json, json_line, markdown,
    on_terminal, text,
};
pub use table::{Cell, Column, Number, Table};
