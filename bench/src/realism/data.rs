//! The two data sets of each application.

/// Which of the two data sets an application uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Data {
    /// The data with which the presets were chosen.
    Tuned,
    /// Another project's tree, or other mail, news and web traffic.
    Other,
}

impl Data {
    pub const ALL: [Self; 2] = [Self::Tuned, Self::Other];

    /// Selects the value for this data set.
    pub fn choose<A>(self, tuned: A, other: A) -> A {
        match self {
            Self::Tuned => tuned,
            Self::Other => other,
        }
    }

    pub fn name(self) -> &'static str {
        self.choose("tuned", "other")
    }
}
