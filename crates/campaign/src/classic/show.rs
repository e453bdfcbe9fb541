//! The output of `show` and `help`, in the layout of each version. `report::classic` formats the
//! sizes.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use document::Format;
use record::Edition;
use report::classic::scaled_size;

use super::settings::PromptSettings;

/// The commands in the original's order; a line that begins with a command's name executes this
/// command. The descriptions are not the original's.
pub const COMMANDS: [(&str, &str); 17] = [
    (
        "set size",
        "bytes of a new file: LOW, or LOW HIGH for a range",
    ),
    ("set number", "files that the pool begins with"),
    ("set seed", "where the random sequence starts"),
    ("set transactions", "transactions of a run"),
    (
        "set location",
        "where the files lie: PATH [WEIGHT]; +PATH adds, -PATH removes",
    ),
    (
        "set subdirectories",
        "directories that each location's files are spread over",
    ),
    ("set read", "bytes of one read call"),
    ("set write", "bytes of one write call"),
    (
        "set buffering",
        "true: the C library's buffered files; false: system calls",
    ),
    (
        "set bias read",
        "tenths of reads among reads and appends; -1 for neither",
    ),
    (
        "set bias create",
        "tenths of creations among creations and deletions; -1 for neither",
    ),
    ("set report", "layout of the report: verbose or terse"),
    ("run", "do it, and report here or behind the end of FILE"),
    ("load", "take commands from FILE"),
    ("show", "the configuration, here or behind the end of FILE"),
    ("help", "this list, or the commands that begin with PREFIX"),
    ("quit", "leave"),
];

/// The commands that PostMark 1.0 does not list in `help`.
const SINCE_1_5: [&str; 3] = ["set subdirectories", "set report", "load"];

/// Returns the commands of a PostMark version with their descriptions.
pub fn commands(edition: Edition) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_known = move |name: &str| edition != Edition::V1_0 || !SINCE_1_5.contains(&name);
    COMMANDS.into_iter().filter(move |(name, _)| is_known(name))
}

/// Returns the lines of `help`: the commands whose names begin with `prefix`, or all commands if no
/// name does.
pub fn help(edition: Edition, prefix: &[u8]) -> String {
    let line = |(name, what): (&str, &str)| match (edition, name) {
        (Edition::V1_0, "set location") => format!("{name} - where the files lie: PATH\n"),
        _ => format!("{name} - {what}\n"),
    };
    let found = commands(edition).filter(|(name, _)| name.as_bytes().starts_with(prefix));
    let found: String = found.map(line).collect();
    match found.is_empty() {
        true => commands(edition).map(line).collect(),
        false => found,
    }
}

/// Writes the output of `show`. `working_directory` is shown if no location is set.
///
/// # Errors
/// Returns an error if `to` cannot be written.
pub fn configuration(
    to: &mut dyn Write,
    settings: &PromptSettings,
    working_directory: &Path,
) -> io::Result<()> {
    writeln!(to, "Current configuration is:")?;
    match settings.edition {
        Edition::V1_0 => configuration_1_0(to, settings),
        Edition::V1_5 => configuration_1_5(to, settings, working_directory),
    }
}

fn configuration_1_0(to: &mut dyn Write, settings: &PromptSettings) -> io::Result<()> {
    writeln!(to, "Transactions: {}", settings.transactions)?;
    sizes(to, settings)?;
    writeln!(to, "Random number generator seed is {}", settings.seed)?;
    writeln!(to, "The base number of files is {}", settings.files)?;
    to.write_all(b"The working directory is: ")?;
    let path = settings
        .locations
        .first()
        .map_or(Path::new("."), |location| &location.path);
    to.write_all(path.as_os_str().as_bytes())?;
    writeln!(to)?;
    subdirectories(to, settings)?;
    blocks_and_biases(to, settings)
}

fn configuration_1_5(
    to: &mut dyn Write,
    settings: &PromptSettings,
    working_directory: &Path,
) -> io::Result<()> {
    writeln!(to, "The base number of files is {}", settings.files)?;
    writeln!(to, "Transactions: {}", settings.transactions)?;
    sizes(to, settings)?;
    match settings.locations.len() {
        0 => {
            to.write_all(b"Working directory: ")?;
            to.write_all(working_directory.as_os_str().as_bytes())?;
            writeln!(to)?;
        }
        1 => writeln!(to, "Working directory: ")?,
        _ => writeln!(to, "Working directories: ")?,
    }
    locations(to, settings)?;
    subdirectories(to, settings)?;
    blocks_and_biases(to, settings)?;
    writeln!(to, "Random number generator seed is {}", settings.seed)?;
    let format = match settings.format {
        Format::Terse => "terse",
        _ => "verbose",
    };
    writeln!(to, "Report format is {format}.")
}

/// Writes the lines of version 1.5's `show` that list the locations. The original writes these
/// lines to standard output even if the rest of the output is written to a file.
///
/// # Errors
/// Returns an error if `to` cannot be written.
pub fn locations(to: &mut dyn Write, settings: &PromptSettings) -> io::Result<()> {
    for location in &settings.locations {
        to.write_all(b"\t")?;
        to.write_all(location.path.as_os_str().as_bytes())?;
        writeln!(to, " (weight={})", location.weight)?;
    }
    Ok(())
}

fn sizes(to: &mut dyn Write, settings: &PromptSettings) -> io::Result<()> {
    let scaled = |bytes: i32| scaled_size(bytes.into(), settings.edition);
    let low = scaled(settings.size_low);
    if settings.size_low == settings.size_high {
        writeln!(to, "Files are {low} in size")
    } else {
        writeln!(
            to,
            "Files range between {low} and {} in size",
            scaled(settings.size_high)
        )
    }
}

fn subdirectories(to: &mut dyn Write, settings: &PromptSettings) -> io::Result<()> {
    match settings.subdirectories {
        0 => Ok(()),
        1 => writeln!(to, "1 subdirectory will be used"),
        several => writeln!(to, "{several} subdirectories will be used"),
    }
}

fn blocks_and_biases(to: &mut dyn Write, settings: &PromptSettings) -> io::Result<()> {
    let scaled = |bytes: i32| scaled_size(bytes.into(), settings.edition);
    let (read, write) = (scaled(settings.read_block), scaled(settings.write_block));
    writeln!(to, "Block sizes are: read={read}, write={write}")?;
    let (read, create) = (settings.bias_read, settings.bias_create);
    writeln!(to, "Biases are: read/append={read}, create/delete={create}")?;
    let using = if settings.buffered {
        "Using"
    } else {
        "Not using"
    };
    writeln!(to, "{using} Unix buffered file I/O")
}
