//! Reads configuration files, and writes a configuration file for a resolved run.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use document::sanitize;
use spec::Options;

use super::specified::Specified;
use crate::{Error, ErrorForm};

/// Maximum size of a configuration file in bytes: five times the size of one with the largest
/// histogram.
const BYTES_MAX: u64 = 16 << 20;

pub(super) fn read(path: &Path) -> Result<Options, Error> {
    let shown = sanitize::path(path);
    let text = text_of(path).map_err(|cause| {
        Error::refused(format_args!(
            "cannot read the configuration file {shown}: {cause}"
        ))
    })?;
    parse_config(&text).map_err(|problem| {
        Error::refused(format_args!(
            "invalid configuration file {shown}: {problem}"
        ))
        .shown(ErrorForm::Lines)
    })
}

/// Reads a configuration file of at most `BYTES_MAX` bytes. The size is limited because the file
/// may be another user's.
pub fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(BYTES_MAX + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        let why = format!("it has more than {BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(text)
}

/// Parses a configuration file.
///
/// # Errors
/// Returns the problem, with its line, its column, and the text of the line.
pub fn parse_config(text: &str) -> Result<Options, String> {
    spec::read_toml(text).map_err(|error: toml::de::Error| {
        // The error text ends with its message, which quotes the file and may contain line ends.
        let (told, message) = (error.to_string(), error.message().trim_end());
        match told.trim_end().strip_suffix(message) {
            Some(place) => format!("{place}{}", sanitize::sanitize(message)),
            None => sanitize::sanitize(told.trim_end()).into_owned(),
        }
    })
}

/// Returns the error for a path that TOML cannot represent.
pub fn no_text(path: &Path) -> Error {
    Error::refused(format_args!(
        "a configuration file cannot hold the path {path:?}, which is not UTF-8 (use --target or \
         --ack-log)"
    ))
}

/// Returns a TOML string. Invisible characters, and characters that control a terminal, are
/// escaped, which is possible only in basic strings.
fn quoted(text: &str) -> String {
    if !text.contains(sanitize::is_harmful) {
        return toml::Value::String(text.to_owned()).to_string();
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        // Writing to memory cannot fail.
        let _ = match character {
            '"' | '\\' => write!(quoted, "\\{character}"),
            harmful if sanitize::is_harmful(harmful) => {
                write!(quoted, "\\U{:08x}", u32::from(harmful))
            }
            other => write!(quoted, "{other}"),
        };
    }
    quoted.push('"');
    quoted
}

/// Returns the text of a configuration file that resolves to the same run spec.
///
/// # Errors
/// Returns an error if a path is not UTF-8.
pub fn to_config(specified: &Specified) -> Result<String, Error> {
    let mut options = specified.spec.to_options();
    if let Some(sizing) = &specified.sizing {
        // Writes the requested working set, because the number of files was chosen for this
        // machine.
        (options.files, options.working_set) = (None, Some(sizing.working_set));
    }
    let notes = specified
        .notes
        .iter()
        .map(|note| format!("# {}\n", sanitize::shown(note)));
    let preset = specified.spec.preset.as_deref();
    let preset = preset.map_or_else(String::new, |preset| {
        format!("# preset {}\n", sanitize::shown(preset))
    });
    let head: String = notes.fold(preset, |text, note| text + &note);
    Ok(head + &options_text(options)?)
}

/// Returns the text of a configuration file with these options.
///
/// # Errors
/// Returns an error if a path is not UTF-8.
pub fn options_text(mut options: Options) -> Result<String, Error> {
    let (ack_log, targets) = (options.ack_log.take(), std::mem::take(&mut options.target));
    let path = |path: &Path| match path.to_str() {
        Some(text) => Ok(quoted(text)),
        None => Err(no_text(path)),
    };
    // Cannot fail, because the options are only numbers and strings, which TOML can represent.
    let mut text = toml::to_string(&options).unwrap_or_default();
    if let Some(ack_log) = ack_log {
        text.push_str(&format!("ack-log = {}\n", path(&ack_log)?));
    }
    for location in targets {
        text.push_str(&format!(
            "\n[[target]]\npath = {}\nweight = {}\n",
            path(&location.path)?,
            location.weight
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_string_is_harmless_and_is_parsed_as_the_original_text() {
        for text in [
            "plain",
            "a \"b\" \\",
            "\u{1b}[2J\n\"\\",
            "\u{7f}\u{9b}\u{202e}\u{e0041}ä",
        ] {
            let quoted = quoted(text);
            assert!(!quoted.contains(sanitize::is_harmful), "{quoted}");
            let read: toml::Table = toml::from_str(&format!("a = {quoted}")).unwrap();
            assert_eq!(read["a"].as_str(), Some(text));
        }
    }

    #[test]
    fn endless_configuration_file_is_rejected() {
        let error = text_of(Path::new("/dev/zero")).unwrap_err();
        assert!(
            error.to_string().contains("more than 16777216 bytes"),
            "{error}"
        );
    }
}
