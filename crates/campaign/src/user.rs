//! How a campaign shows messages to its user, and how the user can interrupt it.

#[derive(Clone, Copy, Debug)]
pub struct User {
    pub show: fn(&str),
    /// Whether a signal has requested the end of the campaign.
    pub is_interrupted: fn() -> bool,
}

impl User {
    pub fn tell(self, what: impl std::fmt::Display) {
        (self.show)(&what.to_string());
    }
}
