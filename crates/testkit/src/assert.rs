//! Assertions whose failures show what they are about.

use std::fmt::Debug;

/// Asserts something of a value; a failure shows the value.
pub trait Assert {
    /// # Panics
    /// Where it does not hold.
    fn assert(&self, holds: bool);
}

impl<T: Debug + ?Sized> Assert for T {
    #[track_caller]
    fn assert(&self, holds: bool) {
        assert!(holds, "{self:?}");
    }
}

/// Asserts what a text says; a failure shows the text.
pub trait Shows {
    /// # Panics
    /// Where the text does not have these words.
    fn shows(&self, words: &str) -> &Self;

    /// The same of several words, between bars.
    ///
    /// # Panics
    /// Where one of them is missing.
    fn shows_all(&self, words: &str) -> &Self;

    /// # Panics
    /// Where the text has these words.
    fn does_not_show(&self, words: &str) -> &Self;

    /// # Panics
    /// Where the text begins otherwise.
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
