//! Messages to the user of a campaign, and interruption by the user.

#[derive(Clone, Copy, Debug)]
pub struct User {
    pub show: fn(&str),
    /// Whether a signal requests the end.
    pub is_interrupted: fn() -> bool,
}

impl User {
    pub fn tell(self, what: impl std::fmt::Display) {
        (self.show)(&what.to_string());
    }
}
