//! The list of all output formats. Each format has a name, and formats that can represent every
//! document also have a renderer. A new format needs a row in this list and a file in the folder
//! `format`.

mod csv;
mod html;
mod json;
mod markdown;
mod text;

use std::str::FromStr;

use crate::Document;

pub use csv::{csv, csv_rows};
pub use html::html;
pub use json::{json, json_line};
pub use markdown::markdown;
pub use text::{Terminal, WIDTH, on_terminal, text};

/// A function that renders a document. The second argument is the maximum length of a line in
/// characters, for formats that wrap lines.
type Renderer = fn(&Document, usize) -> String;

/// Declares [`Format`] and its table of names and renderers.
macro_rules! formats {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal
        $(shows $about:literal by $renderer:expr)?;)+) => {
        /// The format that the option `--format` selects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Format {
            /// The formats that can represent every document, with their help texts.
            pub const DOCUMENTS: &[(Self, &str)] = &[$($((Self::$variant, $about),)?)+];

            /// The name of the format in options.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the renderer of documents. Formats without a renderer use the renderer of
            /// text.
            fn renderer(self) -> Renderer {
                match self {
                    $($(Self::$variant => $renderer,)?)+
                    _ => text,
                }
            }
        }

        impl FromStr for Format {
            type Err = UnknownFormat;

            fn from_str(name: &str) -> Result<Self, UnknownFormat> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(UnknownFormat),
                }
            }
        }
    };
}

formats! {
    /// Tables for terminals.
    Text = "text" shows "Tables to read" by text;
    /// The tables of `Text`, as Markdown.
    Markdown = "markdown" shows "The same tables, as Markdown" by |document, _| markdown(document);
    /// A table for spreadsheets.
    Csv = "csv";
    /// All data, for programs.
    Json = "json";
    /// One file with charts, for a browser.
    Html = "html";
    /// A table that Apache Otava reads.
    Otava = "otava";
    /// Bencher Metric Format.
    Bencher = "bencher";
    /// A configuration file.
    Toml = "toml";
    /// The verbose report of the original PostMark.
    Classic = "classic";
    /// The terse report of the original PostMark: one line of 13 numbers.
    Terse = "terse";
}

/// The error for a name that no format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no format has this name")
    }
}

impl std::error::Error for UnknownFormat {}

impl Format {
    /// Returns whether the format is a report of the original PostMark.
    pub const fn is_classic(self) -> bool {
        matches!(self, Self::Classic | Self::Terse)
    }

    /// Renders a document, with lines of at most `width` characters if the format wraps lines.
    pub fn document(self, document: &Document, width: usize) -> String {
        self.renderer()(document, width)
    }

    /// Renders an answer of a command. The format determines which of the three functions is
    /// called.
    pub fn answer(
        self,
        document: impl FnOnce() -> Document,
        csv: impl FnOnce() -> String,
        json: impl FnOnce() -> String,
    ) -> String {
        match self {
            Self::Csv => csv(),
            Self::Json => json(),
            format => format.document(&document(), WIDTH),
        }
    }
}
