//! What somebody adds to a run: tags and a note. An archive has them beside the record, never in
//! it.

use std::fmt;
use std::str::FromStr;

use document::sanitize;
use record::Record;
use rusqlite::{Transaction, params};
use serde::{Deserialize, Serialize};
use verdict::ListedRun;

use crate::filter::signed;

/// A word that is given to runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

/// A word is no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected 1 to {} characters without blanks, commas or control characters",
    Tag::LENGTH_MAX
)]
pub struct InvalidTag;

impl Tag {
    /// Tags are no longer, in characters.
    pub const LENGTH_MAX: usize = 100;
}

impl FromStr for Tag {
    type Err = InvalidTag;

    fn from_str(word: &str) -> Result<Self, InvalidTag> {
        let is_wrong = |character: char| {
            character.is_whitespace() || character == ',' || sanitize::is_harmful(character)
        };
        if word.is_empty() || word.chars().count() > Self::LENGTH_MAX || word.contains(is_wrong) {
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

/// A text about a run; an empty one is no note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoteText(String);

/// A text is too long for a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected at most {} bytes", NoteText::LENGTH_MAX)]
pub struct InvalidNote;

impl NoteText {
    /// Notes are no longer, in bytes.
    pub const LENGTH_MAX: usize = 1 << 16;

    /// The text; `None` where it is empty.
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

/// The tags and the note of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remarks {
    /// Words by which lists and exports find it.
    #[serde(default)]
    pub tags: Vec<Tag>,
    /// What somebody noted.
    #[serde(default)]
    pub note: Option<NoteText>,
}

/// Those of an archived run. The file may have been changed by another program: what no run can
/// have is left out.
impl From<&ListedRun> for Remarks {
    fn from(run: &ListedRun) -> Self {
        Self {
            tags: run.tags.iter().filter_map(|tag| tag.parse().ok()).collect(),
            note: run.note.as_ref().and_then(|note| note.parse().ok()),
        }
    }
}

impl Remarks {
    /// Whether there are none.
    pub fn are_empty(&self) -> bool {
        self.tags.is_empty() && self.note().is_none()
    }

    /// The note's text.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_ref().and_then(NoteText::text)
    }

    /// A record's document, with these in its member `archive`.
    pub fn document(&self, record: &Record) -> String {
        let mut text = verdict::to_json(record);
        if let (false, Some(end)) = (self.are_empty(), text.rfind('}')) {
            // Strings and lists of them: writing to memory cannot fail.
            let remarks = serde_json::to_string(self).unwrap_or_default();
            text.insert_str(end, &format!(",\"archive\":{}", sanitize::json(&remarks)));
        }
        text
    }

    /// The tags and the note that a document has beside its record.
    ///
    /// # Errors
    /// Where they are none that a run can have.
    pub fn of_document(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Document {
            #[serde(default)]
            archive: Remarks,
        }
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(document.archive)
    }

    /// Gives them to a run.
    pub(crate) fn write(&self, transaction: &Transaction<'_>, number: u64) -> rusqlite::Result<()> {
        add_tags(transaction, number, &self.tags)?;
        self.note()
            .map_or(Ok(()), |note| set_note(transaction, number, Some(note)))
    }
}

/// Gives tags to a run. One that it has already it keeps.
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

/// Puts a note in the place of the one before.
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
