//! The arguments of the commands about archived runs.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use archive::{NoteText, Remarks, Tag};
use clap::{Args, ValueEnum};
use document::Format;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use verdict::Level;
use workload::quantity;

use super::format;

#[derive(Debug, Args)]
pub struct ArchiveArgument {
    /// Archive of runs.
    ///
    /// The default is $POSTMARK_ARCHIVE, or postmark/archive.db in the user's data directory.
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
}

/// The tags and the note of a run that is going to be archived.
#[derive(Debug, Args)]
pub struct RemarkArguments {
    /// Tag the archived run with this word.
    ///
    /// 'postmark tag' does the same later. Repeat the option for more tags.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<Tag>,
    /// Set the note of the archived run.
    ///
    /// 'postmark note' does the same later.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<NoteText>,
}

impl RemarkArguments {
    pub fn remarks(&self) -> Remarks {
        Remarks {
            tags: self.tag.clone(),
            note: self.note.clone(),
        }
    }
}

/// Conditions; a run must meet all of them.
#[derive(Debug, Args)]
pub struct Filters {
    /// Only runs that began at this time or later.
    ///
    /// The time is a date (2026-11-21), a time in UTC (2026-11-21T14:30), or an age (7d, 12h).
    #[arg(long, value_name = "TIME")]
    pub since: Option<Moment>,
    /// Only runs that began before this time.
    ///
    /// The forms are those of --since.
    #[arg(long, value_name = "TIME")]
    pub until: Option<Moment>,
    /// Only runs on the machine with this name.
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Only runs on this type of file system, like ext4.
    #[arg(long, value_name = "TYPE")]
    pub file_system: Option<String>,
    /// Only runs of this preset.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Only runs with this tag.
    ///
    /// study:NAME selects the runs of a study. If the option is repeated, runs must have all the
    /// tags.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<Tag>,
    /// Only runs with this verdict.
    #[arg(long, value_enum, ignore_case = true)]
    pub verdict: Option<VerdictName>,
    /// Only the latest N runs.
    #[arg(long, value_name = "N", value_parser = super::whole)]
    pub limit: Option<u64>,
}

impl Filters {
    pub fn are_empty(&self) -> bool {
        self.filter() == archive::Filter::default()
    }

    pub fn filter(&self) -> archive::Filter {
        archive::Filter {
            since_unix_ns: self.since.map(|moment| moment.0),
            until_unix_ns: self.until.map(|moment| moment.0),
            host: self.host.clone(),
            file_system: self.file_system.clone(),
            preset: self.preset.clone(),
            fingerprint: None,
            tags: self.tag.iter().map(Tag::to_string).collect(),
            verdict: self.verdict.map(Level::from),
            limit: self.limit,
            crashes: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerdictName {
    /// No rule found a problem with the numbers.
    Valid,
    /// The numbers may be misleading.
    Doubtful,
    /// The numbers are misleading: do not use them.
    Invalid,
}

impl From<VerdictName> for Level {
    fn from(name: VerdictName) -> Self {
        match name {
            VerdictName::Valid => Self::Valid,
            VerdictName::Doubtful => Self::Doubtful,
            VerdictName::Invalid => Self::Invalid,
        }
    }
}

/// A time, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a date (2026-11-21), a time in UTC (2026-11-21T14:30) or an age (7d, 12h, 30m)")]
pub struct InvalidMoment;

impl FromStr for Moment {
    type Err = InvalidMoment;

    fn from_str(text: &str) -> Result<Self, InvalidMoment> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self::read(text, u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Moment {
    fn read(text: &str, now_unix_ns: u64) -> Result<Self, InvalidMoment> {
        const HOUR_NS: u64 = 3_600_000_000_000;
        const FORMATS: [&str; 5] = [
            "%Y-%m-%d",
            "%Y-%m-%dT%H:%M",
            "%Y-%m-%dT%H:%MZ",
            "%Y-%m-%dT%H:%M:%S",
            "%Y-%m-%dT%H:%M:%SZ",
        ];
        if text.matches('-').count() != 2 {
            let long = |unit: char, hours: u64| {
                let count: Option<u64> =
                    text.strip_suffix(unit).and_then(|count| count.parse().ok());
                count.and_then(|count| count.checked_mul(hours * HOUR_NS))
            };
            let ago = long('w', 7 * 24)
                .or_else(|| long('d', 24))
                .or_else(|| long('h', 1));
            let ago = ago
                .or_else(|| quantity::duration_ns(text).ok())
                .ok_or(InvalidMoment)?;
            return Ok(Self(now_unix_ns.saturating_sub(ago)));
        }
        let text = text.replacen(' ', "T", 1);
        // A date must start with a digit and contain no white space. `strptime` alone would accept
        // signs and white space.
        if !text.starts_with(|first: char| first.is_ascii_digit())
            || text.contains(char::is_whitespace)
        {
            return Err(InvalidMoment);
        }
        let of_utc = |format| DateTime::strptime(format, &text).ok();
        let moment = FORMATS.iter().find_map(of_utc).ok_or(InvalidMoment)?;
        let moment = Offset::UTC
            .to_timestamp(moment)
            .map_err(|_| InvalidMoment)?;
        u64::try_from(moment.as_nanosecond())
            .map(Self)
            .map_err(|_| InvalidMoment)
    }
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    pub archive: ArchiveArgument,
    #[command(flatten)]
    pub filters: Filters,
    /// Format of the list.
    #[arg(long, value_parser = format::one_of(format::LIST), default_value = "text")]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Number, identity (at least 4 digits), last, tag, or file.
    ///
    /// A tag shows its newest run. The file has records: JSON, or a page that 'report' wrote.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    #[command(flatten)]
    pub archive: ArchiveArgument,
    /// Format of the report.
    #[arg(long, value_parser = format::one_of(&format::REPORT), default_value = "text")]
    pub format: Format,
    /// Print the complete report, not only one screen.
    ///
    /// The option applies to text and Markdown.
    #[arg(long)]
    pub full: bool,
    /// Write the report to this file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file of --output if it exists.
    #[arg(long)]
    pub force: bool,
    /// Add published results of the same configuration.
    ///
    /// The option applies to text; 'published beside' has other formats.
    #[arg(long)]
    pub with_published: bool,
}

#[derive(Debug, Args)]
pub struct TagArguments {
    /// Runs: 7, 3,5,7 or 3..9, a tag, an identity, or last.
    #[arg(value_name = "RUNS")]
    pub run: String,
    /// Tags to add.
    #[arg(required = true, value_name = "TAG")]
    pub tags: Vec<Tag>,
    /// Remove these tags instead of adding them.
    #[arg(long)]
    pub remove: bool,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[derive(Debug, Args)]
pub struct NoteArguments {
    /// Number, identity (at least 4 digits), or last.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// New note; it replaces the old one. An empty text removes the note.
    #[arg(value_name = "TEXT")]
    pub text: NoteText,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[derive(Debug, Args)]
pub struct DeleteArguments {
    /// Runs: 7, 3,5,7 or 3..9, a tag, an identity, or last.
    #[arg(required = true, value_name = "RUNS")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Runs to export: 7, 3,5,7 or 3..9, a tag, an identity, or last.
    ///
    /// Without it, the options choose the runs.
    #[arg(value_name = "RUNS")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub filters: Filters,
    /// Format of the exported runs.
    #[arg(long, value_parser = format::one_of(format::EXPORT), default_value = "json")]
    pub format: Format,
    /// Write the runs as submissions.
    ///
    /// Other users import them and compare them with 'published submissions'.
    #[arg(long, requires_all = ["by", "system", "runs"], conflicts_with = "format")]
    pub submission: bool,
    /// Person or group who measured, for --submission.
    #[arg(long, value_name = "NAME", requires = "submission")]
    pub by: Option<String>,
    /// Description of the system, for --submission.
    ///
    /// It names the machine, the devices and the file system.
    #[arg(long, value_name = "TEXT", requires = "submission")]
    pub system: Option<String>,
    /// Write the runs to this file [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file of --output if it exists.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// Files with records or submissions; - is standard input.
    ///
    /// They are JSON, written by 'run' or 'export'.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn moments_are_dates_times_or_ages() {
        let now = 1_000_000 * S;
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1970-1-2", 86_400),
            ("2024-02-29", 1_709_164_800),
            ("1970-01-02T01:02", 90_120),
            ("1970-01-02 01:02:03", 90_123),
            ("1970-01-02T01:02:03Z", 90_123),
            ("1d", 913_600),
            ("1w", 395_200),
            ("2h", 992_800),
            ("30m", 998_200),
            ("90s", 999_910),
            ("9000d", 0),
        ] {
            assert_eq!(Moment::read(text, now), Ok(Moment(seconds * S)), "{text}");
        }
    }

    #[test]
    fn invalid_moments_are_refused() {
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-02-29",
            "2024-04-31",
            "2024-00-01",
            "2024-01-00",
            "1969-12-31",
            "2600-01-01",
            "+2026-01-01",
            "2026-11-21T24:00",
            "2026-11-21T10:60",
            "2026-11-21T10",
            "2026-11-21T10:00:00:00",
            "2026-11-21T10:00+01:00",
            "2026-+1-21",
            "2026-11-",
            "-1-1-1",
            "99999999999999999999d",
        ] {
            assert_eq!(Moment::read(text, S), Err(InvalidMoment), "{text}");
        }
    }
}
