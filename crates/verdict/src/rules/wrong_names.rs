//! **`wrong-names`** (INVALID). The check after the transactions found a name or directory that
//! differs from the state that the operations should have left. An operation that reported success
//! counts as performed, even if it did nothing. A failed operation does not. *Threshold*: one name.
//! *Evidence*: `actual.check`. *What to do*: find out which other program changes the directory, or
//! what the file system loses.

use record::run::Check;

use super::rule::*;

/// Names in the directory differ from the names that the operations should have left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct WrongNames {
    /// Number of names and directories that were wrong.
    pub wrong: u64,
    /// Number of checked names.
    pub names: u64,
}

impl Rule for WrongNames {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str =
        "check for another program in the directory, or a file system that loses operations";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let own = record.actual.check.known().into_iter();
        let checks = own.chain(&record.actual.check_across).copied();
        let Check { wrong, names, .. } = checks.reduce(Check::beside)?;
        (wrong > 0).then_some(Self { wrong, names })
    }

    fn sentence(&self) -> String {
        let it = match self.wrong {
            1 => "it",
            _ => "them",
        };
        format!(
            "{} of {} not as the operations left {it}",
            grouped(self.wrong),
            counted(self.names, "name"),
        )
    }
}
