//! Who watches a campaign.

/// The way to the user of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct User {
    /// Shows a message.
    pub show: fn(&str),
    /// Whether a signal asks for the end.
    pub is_interrupted: fn() -> bool,
}

impl User {
    /// Shows a message.
    pub fn tell(self, what: impl std::fmt::Display) {
        (self.show)(&what.to_string());
    }
}
