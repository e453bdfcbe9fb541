//! The arguments of the commands about runs that were archived.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use archive::{NoteText, Remarks, Tag};
use clap::{Args, ValueEnum};
use jiff::civil::DateTime;
use jiff::tz::Offset;
use record::Level;
use workload::quantity;

use super::ReportFormat;

/// Which archive.
#[derive(Debug, Args)]
pub struct ArchiveArgument {
    /// The archive of runs [default: $POSTMARK_ARCHIVE, or postmark/archive.db in the user's data folder].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
}

/// The tags and the note of a run that is going to be archived.
#[derive(Debug, Args)]
pub struct RemarkArguments {
    /// Tag the archived run with this word, as `postmark tag` does; can be given several times.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<Tag>,
    /// Keep this note with the archived run, as `postmark note` does.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<NoteText>,
}

impl RemarkArguments {
    /// What they come to.
    pub fn remarks(&self) -> Remarks {
        Remarks {
            tags: self.tag.clone(),
            note: self.note.clone(),
        }
    }
}

/// Which runs: conditions that all hold.
#[derive(Debug, Args)]
pub struct Filters {
    /// Begun at this time or later: 2026-11-21, 2026-11-21T14:30 (UTC), or so long ago, like 7d or 12h.
    #[arg(long, value_name = "TIME")]
    pub since: Option<Moment>,
    /// Begun before this time, written likewise.
    #[arg(long, value_name = "TIME")]
    pub until: Option<Moment>,
    /// On the machine with this name.
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// On a file system of this type, like ext4.
    #[arg(long, value_name = "TYPE")]
    pub file_system: Option<String>,
    /// With this preset.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// With this tag; given again, with that one, too.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<Tag>,
    /// With this verdict.
    #[arg(long, value_enum)]
    pub verdict: Option<VerdictName>,
    /// No more than so many: those that began last.
    #[arg(long, value_name = "N", value_parser = super::whole)]
    pub limit: Option<u64>,
}

impl Filters {
    /// Whether nothing was said.
    pub fn are_empty(&self) -> bool {
        self.filter() == archive::Filter::default()
    }

    /// What they come to.
    pub fn filter(&self) -> archive::Filter {
        archive::Filter {
            since_unix_ns: self.since.map(|moment| moment.0),
            until_unix_ns: self.until.map(|moment| moment.0),
            host: self.host.clone(),
            file_system: self.file_system.clone(),
            preset: self.preset.clone(),
            tags: self.tag.iter().map(Tag::to_string).collect(),
            verdict: self.verdict.map(Level::from),
            limit: self.limit,
        }
    }
}

/// A verdict by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VerdictName {
    /// Nothing was found that speaks against the numbers.
    Valid,
    /// They may be what they seem.
    Doubtful,
    /// They are not what they seem.
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

/// A moment, in nanoseconds of the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub u64);

/// A text is no moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "give a date like 2026-11-21, a time of UTC like 2026-11-21T14:30, or how long ago it was, like 7d, 12h or 30m"
)]
pub struct InvalidMoment;

impl FromStr for Moment {
    type Err = InvalidMoment;

    fn from_str(text: &str) -> Result<Self, InvalidMoment> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
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
                let count: Option<u64> = text.strip_suffix(unit).and_then(|count| count.parse().ok());
                count.and_then(|count| count.checked_mul(hours * HOUR_NS))
            };
            let ago = long('w', 7 * 24).or_else(|| long('d', 24)).or_else(|| long('h', 1));
            let ago = ago.or_else(|| quantity::duration_ns(text).ok()).ok_or(InvalidMoment)?;
            return Ok(Self(now_unix_ns.saturating_sub(ago)));
        }
        let text = text.replacen(' ', "T", 1);
        // Signs and white space would be passed over.
        if !text.starts_with(|first: char| first.is_ascii_digit()) || text.contains(char::is_whitespace) {
            return Err(InvalidMoment);
        }
        let of_utc = |format| DateTime::strptime(format, &text).ok();
        let moment = FORMATS.iter().find_map(of_utc).ok_or(InvalidMoment)?;
        let moment = Offset::UTC.to_timestamp(moment).map_err(|_| InvalidMoment)?;
        u64::try_from(moment.as_nanosecond())
            .map(Self)
            .map_err(|_| InvalidMoment)
    }
}

/// How a list looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table for people.
    Text,
    /// An array, for programs.
    Json,
    /// A table for spreadsheets.
    Csv,
}

/// The arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
    /// Which runs.
    #[command(flatten)]
    pub filters: Filters,
    /// How the list looks.
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub format: ListFormat,
}

/// The arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The run: its number, at least four digits of its identity, last, or a file with its record in JSON.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
    /// How the report looks.
    #[arg(long, value_enum, default_value_t = ReportFormat::Document(document::Rendering::Text))]
    pub format: ReportFormat,
    /// Report everything in text and Markdown, not only what fits on one screen.
    #[arg(long)]
    pub full: bool,
    /// Write the report to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write over the file of --output, where it exists already.
    #[arg(long)]
    pub force: bool,
    /// Set it beside the published rows of the same configuration (in the report for people; 'published beside' has other formats).
    #[arg(long)]
    pub with_published: bool,
}

/// The arguments of `tag`.
#[derive(Debug, Args)]
pub struct TagArguments {
    /// The run: its number, at least four digits of its identity, or last.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// What it is to be tagged with.
    #[arg(required = true, value_name = "TAG")]
    pub tags: Vec<Tag>,
    /// Take the tags away instead.
    #[arg(long)]
    pub remove: bool,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

/// The arguments of `note`.
#[derive(Debug, Args)]
pub struct NoteArguments {
    /// The run: its number, at least four digits of its identity, or last.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The note, in the place of the one before; an empty one takes it away.
    #[arg(value_name = "TEXT")]
    pub text: NoteText,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

/// The arguments of `delete`.
#[derive(Debug, Args)]
pub struct DeleteArguments {
    /// The runs: numbers, at least four digits of their identities, or last.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

/// How runs are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// The whole record of each with its summary, a line each: what `import` takes.
    Json,
    /// A table for spreadsheets: a line for each kind of operation in each phase of each run.
    Csv,
    /// A table for documents: a line for each run.
    Markdown,
}

/// The arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The runs, as show takes them; without any, those that the conditions choose, or all.
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Which runs.
    #[command(flatten)]
    pub filters: Filters,
    /// How they look.
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
    /// Write the runs as submissions, which somebody else's import takes into the table of 'published submissions'.
    #[arg(long, requires_all = ["by", "system", "runs"], conflicts_with = "format")]
    pub submission: bool,
    /// Of a submission: who has measured.
    #[arg(long, value_name = "NAME", requires = "submission")]
    pub by: Option<String>,
    /// Of a submission: what was measured, in your words: machine, devices, file system.
    #[arg(long, value_name = "TEXT", requires = "submission")]
    pub system: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write over the file of --output, where it exists already.
    #[arg(long)]
    pub force: bool,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

/// The arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// Files with records or submissions in JSON, as run and export write them; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Which archive.
    #[command(flatten)]
    pub archive: ArchiveArgument,
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn moments_are_dates_times_and_how_long_ago() {
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
    fn nothing_else_is_one() {
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
