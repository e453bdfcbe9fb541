//! Words of commands.

use std::borrow::Cow;

/// Quotes a word for POSIX shells.
pub(crate) fn for_shells(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/%+@".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}
