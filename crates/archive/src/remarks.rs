//! The tags and the note that a user adds to a run. An archive stores them beside the record, not
//! in it.

use std::fmt;
use std::str::FromStr;

use document::sanitize;
use record::Record;
use rusqlite::{Transaction, params};
use serde::{Deserialize, Serialize};
use verdict::ListedRun;

use crate::filter::signed;

/// A word by which lists, exports and comparisons select runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected 1 to {} characters without blanks, commas or control characters, and neither a \
     number nor 'last', which are names of runs",
    Tag::LENGTH_MAX
)]
pub struct InvalidTag;

impl Tag {
    /// Maximum length of a tag, in characters.
    pub const LENGTH_MAX: usize = 100;
}

impl FromStr for Tag {
    type Err = InvalidTag;

    /// Rejects an empty tag like a number: it has no character that is not a digit.
    fn from_str(word: &str) -> Result<Self, InvalidTag> {
        let is_wrong = |character: char| {
            character.is_whitespace() || character == ',' || sanitize::is_harmful(character)
        };
        let names_run = word == "last" || word.bytes().all(|byte| byte.is_ascii_digit());
        if names_run || word.chars().count() > Self::LENGTH_MAX || word.contains(is_wrong) {
            return Err(InvalidTag);
        }
        Ok(Self(word.to_owned()))
    }
}

impl TryFrom<String> for Tag {
    type Error = InvalidTag;

    fn try_from(word: String) -> Result<Self, InvalidTag> {
        word.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A user's note on a run; an empty text counts as no note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoteText(String);

/// A text that is too long for a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected at most {} bytes", NoteText::LENGTH_MAX)]
pub struct InvalidNote;

impl NoteText {
    /// Maximum length of a note, in bytes.
    pub const LENGTH_MAX: usize = 1 << 16;

    /// Returns the text of the note; `None` if the text is empty.
    pub fn text(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|text| !text.is_empty())
    }
}

impl FromStr for NoteText {
    type Err = InvalidNote;

    fn from_str(text: &str) -> Result<Self, InvalidNote> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for NoteText {
    type Error = InvalidNote;

    fn try_from(text: String) -> Result<Self, InvalidNote> {
        if text.len() > Self::LENGTH_MAX {
            return Err(InvalidNote);
        }
        Ok(Self(text))
    }
}

impl From<NoteText> for String {
    fn from(note: NoteText) -> Self {
        note.0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remarks {
    #[serde(default)]
    pub tags: Vec<Tag>,
    #[serde(default)]
    pub note: Option<NoteText>,
}

/// The remarks of an archived run. Invalid tags and notes are left out, because another program may
/// have changed the archive.
impl From<&ListedRun> for Remarks {
    fn from(run: &ListedRun) -> Self {
        Self {
            tags: run.tags.iter().filter_map(|tag| tag.parse().ok()).collect(),
            note: run.note.as_ref().and_then(|note| note.parse().ok()),
        }
    }
}

impl Remarks {
    pub fn are_empty(&self) -> bool {
        self.tags.is_empty() && self.note().is_none()
    }

    /// Returns the text of the note; `None` if the run has no note.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_ref().and_then(NoteText::text)
    }

    /// Returns the JSON document of a record, with these remarks in the member `archive`.
    pub fn document(&self, record: &Record) -> String {
        self.added_to(verdict::to_json(record))
    }

    /// Adds these remarks to a JSON document, in the member `archive`.
    pub fn added_to(&self, mut text: String) -> String {
        if let (false, Some(end)) = (self.are_empty(), text.rfind('}')) {
            // Writing cannot fail: the remarks are strings and lists of strings, and the
            // destination is memory.
            let remarks = serde_json::to_string(self).unwrap_or_default();
            text.insert_str(end, &format!(",\"archive\":{}", sanitize::json(&remarks)));
        }
        text
    }

    /// Reads the remarks from the JSON document of a record.
    ///
    /// # Errors
    /// Returns an error if the remarks in the document are not valid.
    pub fn of_document(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Document {
            #[serde(default)]
            archive: Remarks,
        }
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(document.archive)
    }

    /// Adds these remarks to the run with this number.
    pub(crate) fn write(&self, transaction: &Transaction<'_>, number: u64) -> rusqlite::Result<()> {
        add_tags(transaction, number, &self.tags)?;
        self.note()
            .map_or(Ok(()), |note| set_note(transaction, number, Some(note)))
    }
}

/// Adds tags to a run. Tags that the run already has are ignored.
pub(crate) fn add_tags(
    transaction: &Transaction<'_>,
    number: u64,
    tags: &[Tag],
) -> rusqlite::Result<()> {
    for tag in tags {
        let insert = "INSERT OR IGNORE INTO tag (run, word) VALUES (?, ?)";
        transaction.execute(insert, params![signed(number), tag.0])?;
    }
    Ok(())
}

/// Replaces the note of a run; `None` removes it.
pub(crate) fn set_note(
    transaction: &Transaction<'_>,
    number: u64,
    note: Option<&str>,
) -> rusqlite::Result<()> {
    let update = "UPDATE run SET note = ?2 WHERE number = ?1";
    transaction
        .execute(update, params![signed(number), note])
        .map(drop)
}
