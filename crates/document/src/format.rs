//! All formats in one list: their names, and the renderer of those that show any document. A new
//! one is a row here and a file below.

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
pub use text::{SCREEN_WIDTH, Terminal, WIDTH, on_terminal, text};

/// Renders a document, in lines of so many characters where the format has such lines.
type Renderer = fn(&Document, usize) -> String;

/// Declares [`Format`].
macro_rules! formats {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal
        $(shows $about:literal by $renderer:expr)?;)+) => {
        /// A format of what a command shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Format {
            /// The formats that show any document, with their help.
            pub const DOCUMENTS: &[(Self, &str)] = &[$($((Self::$variant, $about),)?)+];

            /// The name that options take.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Its renderer; that of text for a format that shows no document.
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
    /// Tables to read.
    Text = "text" shows "Tables to read" by text;
    /// The same tables for pages.
    Markdown = "markdown" shows "The same tables, as Markdown" by |document, _| markdown(document);
    /// A table for spreadsheets.
    Csv = "csv";
    /// Everything, for programs.
    Json = "json";
    /// A configuration file.
    Toml = "toml";
    /// The original's verbose report.
    Classic = "classic";
    /// The original's terse report: one line of 13 numbers.
    Terse = "terse";
}

/// No format has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no format has this name")
    }
}

impl std::error::Error for UnknownFormat {}

impl Format {
    /// Whether it is one of the original's reports.
    pub const fn is_classic(self) -> bool {
        matches!(self, Self::Classic | Self::Terse)
    }

    /// Renders a document, in lines of at most `width` characters where the format has such lines.
    pub fn document(self, document: &Document, width: usize) -> String {
        self.renderer()(document, width)
    }

    /// Renders an answer by the one of its views that the format shows.
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
