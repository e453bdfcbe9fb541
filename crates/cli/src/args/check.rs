//! The arguments of `check`.

use std::path::PathBuf;

use clap::Args;
use document::Format;

use super::format;

#[derive(Debug, Args)]
#[command(
    after_help = "A record agrees if its summary and its verdict follow from its data. That does \
                  not show that
the data were measured, or that a DOUBTFUL number may be quoted: 'postmark show FILE' has the \
                  reasons.

Exit status: 0 all records agree and break no rule; 1 one differs, breaks a \
                  rule or is
INVALID; 2 a file cannot be read, or has something that is not a record."
)]
pub struct CheckArguments {
    /// Files with records; - is standard input.
    ///
    /// 'run --format json' and 'export' write them.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Format of the answer. JSON has one line for each record.
    #[arg(long, value_parser = format::one_of(format::ANSWER), default_value = "text")]
    pub format: Format,
}
