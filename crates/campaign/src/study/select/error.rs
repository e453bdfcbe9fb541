//! Why words do not stand for sides that can be compared.

/// More runs of one word are a mistake.
pub const RUNS_MAX: u64 = 10_000;

/// Why words do not stand for sides that can be compared. Nothing was touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SidesError {
    /// One word alone, and no study has the name.
    #[error(
        "there is no study '{0}' in the archive (use its name, its identity or last, or give two \
         sides to compare)"
    )]
    NoStudy(String),
    /// Several words, where a study is needed.
    #[error("--layout shows one study (give its name, its identity or last, and nothing else)")]
    NotOneStudy,
    /// A study of the archive has a flaw.
    #[error("cannot compare the study {id}: {flaw}")]
    Study {
        /// Its identity.
        id: String,
        /// What is wrong with it.
        flaw: study::Flaw,
    },
    /// A study has nothing that is compared.
    #[error("the study {0} has one cell: nothing to compare it with (give two sides)")]
    OneCell(String),
    /// A study has no such cell.
    #[error("there is no cell '{cell}' in the study {study} (it has {})", .cells.join(", "))]
    NoCell {
        /// The study's name.
        study: String,
        /// What was asked for.
        cell: String,
        /// The cells that it has.
        cells: Vec<String>,
    },
    /// A word is nothing that is known.
    #[error(
        "there is nothing called '{0}' in the archive: no run, no cell of the last study, no tag \
         ('postmark list' shows runs and tags)"
    )]
    Unknown(String),
    /// A range that has no runs, or too many.
    #[error("invalid runs '{0}': expected numbers like 3,5,7 or 3..9, at most {RUNS_MAX} of them")]
    Range(String),
    /// A run goes on.
    #[error("run {0} has not ended (wait for it, or leave it out)")]
    Going(u64),
    /// The same run on both sides.
    #[error("run {run} is on both sides, '{side}' and '{baseline}' (give each run to one side)")]
    OnBothSides {
        /// Its number.
        run: u64,
        /// The one.
        side: String,
        /// The other.
        baseline: String,
    },
    /// What is compared is not alike.
    #[error("'{side}' and '{baseline}' differ in {differences} (add --unlike to compare them)")]
    Unlike {
        /// The one.
        side: String,
        /// The other.
        baseline: String,
        /// In what.
        differences: String,
    },
    /// The sides did not complete unlike shares of their operations.
    #[error(
        "cannot compare '{side}' with '{baseline}': {shares}, and what is not done makes a system \
         seem fast (add --unlike to compare them)"
    )]
    UnlikeShares {
        /// The one.
        side: String,
        /// The other.
        baseline: String,
        /// How large they are.
        shares: String,
    },
}

impl From<SidesError> for crate::error::Error {
    fn from(error: SidesError) -> Self {
        Self::Refused(error.to_string())
    }
}
