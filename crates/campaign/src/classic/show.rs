//! What `show` and `help` say, in the layout of each edition.
//!
//! Not how sizes are scaled: that is `report::classic`'s.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use document::Format;
use record::Edition;
use report::classic::scaled_size;

use super::settings::PromptSettings;

/// A command of the prompt as `help` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The command's name: a line that begins with it is the command.
    pub name: &'static str,
    /// What it does. Our wording.
    pub what: &'static str,
    /// Whether edition 1.0 lists it.
    pub in_1_0: bool,
}

const fn listed(name: &'static str, what: &'static str, in_1_0: bool) -> Listed {
    Listed { name, what, in_1_0 }
}

/// The commands, in the order of the original's list.
pub const COMMANDS: [Listed; 17] = [
    listed(
        "set size",
        "bytes of a new file: LOW, or LOW HIGH for a range",
        true,
    ),
    listed("set number", "files that the pool begins with", true),
    listed("set seed", "where the random sequence starts", true),
    listed("set transactions", "transactions of a run", true),
    listed(
        "set location",
        "where the files lie: PATH [WEIGHT]; +PATH adds, -PATH removes",
        true,
    ),
    listed(
        "set subdirectories",
        "directories that each location's files are spread over",
        false,
    ),
    listed("set read", "bytes of one read call", true),
    listed("set write", "bytes of one write call", true),
    listed(
        "set buffering",
        "true: the C library's buffered files; false: system calls",
        true,
    ),
    listed(
        "set bias read",
        "tenths of reads among reads and appends; -1 for neither",
        true,
    ),
    listed(
        "set bias create",
        "tenths of creations among creations and deletions; -1 for neither",
        true,
    ),
    listed(
        "set report",
        "layout of the report: verbose or terse",
        false,
    ),
    listed(
        "run",
        "do it, and report here or behind the end of FILE",
        true,
    ),
    listed("load", "take commands from FILE", false),
    listed(
        "show",
        "the configuration, here or behind the end of FILE",
        true,
    ),
    listed(
        "help",
        "this list, or the commands that begin with PREFIX",
        true,
    ),
    listed("quit", "leave", true),
];

/// The lines of `help`: the commands whose names begin with `prefix`, or all where there is none.
pub fn help(edition: Edition, prefix: &[u8]) -> String {
    let known = || {
        COMMANDS
            .iter()
            .filter(|command| edition != Edition::V1_0 || command.in_1_0)
    };
    let line = |command: &Listed| {
        let what = match (edition, command.name) {
            (Edition::V1_0, "set location") => "where the files lie: PATH",
            _ => command.what,
        };
        format!("{} - {what}\n", command.name)
    };
    let found: String = known()
        .filter(|command| command.name.as_bytes().starts_with(prefix))
        .map(line)
        .collect();
    if found.is_empty() {
        known().map(line).collect()
    } else {
        found
    }
}

/// Writes what `show` says. `working_directory` is where files lie that have no location.
///
/// # Errors
/// Where `to` does not take it.
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

/// Writes the lines of edition 1.5's `show` that name the locations. The original writes these to
/// standard output even where the rest goes to a file.
///
/// # Errors
/// Where `to` does not take it.
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
