//! Assertions whose failure messages contain the value or text.

use std::fmt::Debug;

/// Asserts a condition about a value; the failure message contains the value.
pub trait Assert {
    fn assert(&self, holds: bool);
}

impl<T: Debug + ?Sized> Assert for T {
    #[track_caller]
    fn assert(&self, holds: bool) {
        assert!(holds, "{self:?}");
    }
}

/// Asserts the contents of a text; the failure message contains the text.
pub trait Shows {
    fn shows(&self, words: &str) -> &Self;

    /// Asserts that the text contains each of the phrases in `words`, which are separated by `|`.
    fn shows_all(&self, words: &str) -> &Self;

    fn does_not_show(&self, words: &str) -> &Self;

    fn begins_with(&self, words: &str) -> &Self;
}

impl Shows for str {
    #[track_caller]
    fn shows(&self, words: &str) -> &Self {
        assert!(self.contains(words), "'{words}' is not in\n{self}");
        self
    }

    #[track_caller]
    fn shows_all(&self, words: &str) -> &Self {
        words.split('|').for_each(|words| {
            self.shows(words.trim());
        });
        self
    }

    #[track_caller]
    fn does_not_show(&self, words: &str) -> &Self {
        assert!(!self.contains(words), "'{words}' is in\n{self}");
        self
    }

    #[track_caller]
    fn begins_with(&self, words: &str) -> &Self {
        assert!(self.starts_with(words), "'{words}' does not begin\n{self}");
        self
    }
}
