//! The formats in which what was published is shown.

use std::str::FromStr;

use document::{Document, Table, WIDTH};
use serde::Serialize;

/// How something published is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublishedFormat {
    /// Tables for people.
    #[default]
    Text,
    /// A line for each number, for spreadsheets.
    Csv,
    /// Everything, for programs.
    Json,
    /// Tables for pages.
    Markdown,
}

/// The word given for a format is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected text, csv, json or markdown")]
pub struct UnknownFormat;

impl FromStr for PublishedFormat {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        match word {
            "text" => Ok(Self::Text),
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "markdown" => Ok(Self::Markdown),
            _ => Err(UnknownFormat),
        }
    }
}

impl std::fmt::Display for PublishedFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Markdown => "markdown",
        })
    }
}

impl PublishedFormat {
    /// The same for programs, for spreadsheets, or for people.
    pub(crate) fn show(
        self,
        value: &impl Serialize,
        flat: impl FnOnce() -> Table,
        document: impl FnOnce() -> Document,
    ) -> String {
        match self {
            Self::Json => document::json(value),
            Self::Csv => document::csv(&flat(), "\n"),
            Self::Text => document::text(&document(), WIDTH),
            Self::Markdown => document::markdown(&document()),
        }
    }
}
