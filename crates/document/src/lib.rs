//! What is shown, as blocks, and the renderers that make text, Markdown, HTML and CSV of them.
//!
//! Whoever reports pushes [`Block`]s and typed [`Cell`]s, and knows of no format. Escaping of
//! strings of others ([`sanitize`](mod@sanitize)), units and digits ([`units`], [`Number`]),
//! wrapping and tables stand here, each once. Nothing of ours is imported, and nothing is read or
//! written.
//!
//! Lines are broken between words; a no-break space (U+00A0, [`kept`]) holds words together, and is
//! shown as a blank.

mod block;
mod dots;
mod format;
pub mod sanitize;
mod table;
pub mod units;

pub use block::{Block, Document, Picture, Tone, kept};
pub use dots::{DotRow, DotValue, Dots};
pub use format::{
    Format, SCREEN_WIDTH, Terminal, UnknownFormat, WIDTH, csv, csv_rows, html, json, json_line,
    markdown, on_terminal, text,
};
pub use table::{Cell, Column, Number, Table};
