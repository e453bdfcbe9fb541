//! The papers in whose tables the results of a study can be shown.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaperLayout {
    /// Tables 1 to 6 of the 1997 paper on PostMark (TR-3022): rates by system, in one table for
    /// each configuration.
    Tr3022,
    /// The VERITAS File Server Edition Performance Brief: rates by series and number of processes,
    /// the average rate of a process, and the improvements in percent.
    Veritas,
    /// The output of two sessions of the original PostMark side by side, with the ratio of their
    /// figures.
    Sessions,
    /// The mail administrator's page: many systems with their descriptions.
    Submissions,
    /// The study of NFS and iSCSI: completion time, messages and processor time for each size of
    /// the pool.
    Completion,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown layout '{}' (use {})", .0, PaperLayout::ROWS.map(|(_, name)| name).join(", "))]
pub struct UnknownLayout(String);

impl PaperLayout {
    /// All layouts in the order in which they are listed, each with its name.
    pub const ROWS: [(Self, &'static str); 5] = [
        (Self::Tr3022, "tr3022"),
        (Self::Veritas, "veritas"),
        (Self::Sessions, "sessions"),
        (Self::Submissions, "submissions"),
        (Self::Completion, "completion"),
    ];

    pub const fn name(self) -> &'static str {
        Self::ROWS[self as usize].1
    }
}

impl fmt::Display for PaperLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PaperLayout {
    type Err = UnknownLayout;

    fn from_str(word: &str) -> Result<Self, UnknownLayout> {
        let found = Self::ROWS.into_iter().find(|(_, name)| *name == word);
        let found = found.map(|(layout, _)| layout);
        found.ok_or_else(|| UnknownLayout(word.to_owned()))
    }
}
