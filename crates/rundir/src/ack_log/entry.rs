//! Format of the lines of an acknowledgement log.
//!
//! A line consists of its checksum (64-bit XXH3, 16 hexadecimal digits), a blank and its text. The
//! checksum of a line is seeded with the checksum of the line before it. A missing, moved or
//! changed line is therefore detected at that line or at the next one.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use engine::{Operation, Policies, Promise};
use serde::{Deserialize, Serialize};
use workload::{Action, Intent, Workload};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::loss::VerifyError;

pub(crate) const VERSION: u32 = 1;

const CHECKSUM_DIGITS: usize = 16;

/// The header, which is the first line of the log and describes the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub postmark_ack_log: u32,
    pub tool: String,
    pub workload: Workload,
    pub durability: Policies,
    /// What the engine's protocol promises, whatever the policy; earlier versions did not log it.
    #[serde(default)]
    pub promise: Promise,
    /// Absolute paths of the file directories, one for each location; escaped by [`escape`].
    pub directories: Vec<String>,
    /// Whether the run created the directories itself, inside the target.
    pub own_directories: bool,
    pub workers: u32,
}

impl Header {
    /// Whether the run of this header can have continued on the files of an earlier run.
    pub(crate) fn continues(&self, earlier: &Self) -> bool {
        self.workload == earlier.workload
            && self.directories == earlier.directories
            && self.own_directories == earlier.own_directories
    }
}

/// The log entry of an operation that was about to be issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub worker: u32,
    /// Running number of the operation in its worker's stream, from 1.
    pub sequence: u64,
    pub action: Action,
    pub location: u32,
    /// Path of the file, relative to the location's directory.
    pub path: Vec<u8>,
    /// The second path of the operation, such as the new name of a rename. Other examples are the
    /// temporary name of a replacement, the source of a copy, and the target of a symbolic link.
    pub second: Option<Vec<u8>>,
    /// The file number from which the file's contents are generated.
    pub file: u64,
    /// Version of the contents after the operation.
    pub version: u32,
    pub before_bytes: u64,
    pub after_bytes: u64,
    pub offset_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    Header(Box<Header>),
    Begun(Entry),
    Acknowledged {
        worker: u32,
        sequence: u64,
    },
    /// All workers have ended by themselves. After this line, the run may remove its files; a line
    /// `Over` follows when the removal has ended.
    Ended,
    /// The last line of a log: the run has removed its files, or has kept its pool.
    Over {
        /// Number of files that the run removed after its workers had ended.
        removed: u64,
    },
}

/// Returns the checksum of a line. `before` is the checksum of the preceding line.
pub(crate) fn checksum(before: u64, text: &[u8]) -> u64 {
    xxh3_64_with_seed(text, before)
}

/// Appends a line to `to`, and returns the checksum of the line.
pub(crate) fn push(before: u64, text: &[u8], to: &mut Vec<u8>) -> u64 {
    let checksum = checksum(before, text);
    append(to, format_args!("{checksum:016x} "));
    to.extend_from_slice(text);
    to.push(b'\n');
    checksum
}

/// Writes the entry of an operation that is about to be issued. `prefix` is the prefix of the
/// worker's file names.
pub(crate) fn write_begun(
    to: &mut Vec<u8>,
    (worker, sequence): (u32, u64),
    prefix: &[u8],
    intent: &Intent,
    operation: &Operation<'_>,
) {
    to.clear();
    let name = operation.name();
    let (action, location) = (intent.action.name(), name.location);
    append(
        to,
        format_args!("B {worker} {sequence} {action} {location} "),
    );
    escape(prefix, to);
    escape(name.relative.to_bytes(), to);
    to.push(b' ');
    match operation {
        Operation::Rename { to: second, .. }
        | Operation::Link { to: second, .. }
        | Operation::InstallLink { to: second, .. }
        | Operation::Replace {
            temporary: second, ..
        }
        | Operation::Deliver {
            temporary: second, ..
        }
        | Operation::Copy { from: second, .. }
        | Operation::Clone { from: second, .. }
        | Operation::InstallCopy { from: second, .. }
        | Operation::InstallClone { from: second, .. } => {
            escape(prefix, to);
            escape(second.relative.to_bytes(), to);
        }
        Operation::SymbolicLink { target, .. } => escape(target.to_bytes(), to),
        _ => to.push(b'-'),
    }
    let (file, version, before) = (intent.file, intent.version, intent.size_bytes);
    let (after, offset) = (size_after(intent), intent.offset_bytes);
    append(
        to,
        format_args!(" {file} {version} {before} {after} {offset}"),
    );
}

pub(crate) fn write_acknowledged(to: &mut Vec<u8>, (worker, sequence): (u32, u64)) {
    to.clear();
    append(to, format_args!("A {worker} {sequence}"));
}

/// The text of [`Line::Ended`].
pub(crate) const ENDED: &[u8] = b"E";

pub(crate) fn write_over(to: &mut Vec<u8>, removed: u64) {
    to.clear();
    append(to, format_args!("O {removed}"));
}

/// Returns the text of the first line, which is `H ` and the header as JSON.
pub(crate) fn header(header: &Header) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = b"H ".to_vec();
    text.extend(serde_json::to_vec(header)?);
    Ok(text)
}

fn size_after(intent: &Intent) -> u64 {
    match intent.action {
        Action::Replace | Action::Truncate | Action::Rewrite => intent.bytes,
        action if action.changes_count() == Some(true) => intent.bytes,
        Action::Append => intent.size_bytes + intent.bytes,
        Action::Overwrite => intent.size_bytes.max(intent.bytes),
        Action::Delete => 0,
        _ => intent.size_bytes,
    }
}

fn append(to: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = to.write_fmt(text);
}

/// Appends `bytes`, escaped so that the result has no blanks or line ends. Graphic ASCII characters
/// except `%` stay; every other byte becomes `%` and two hexadecimal digits.
pub(crate) fn escape(bytes: &[u8], to: &mut Vec<u8>) {
    for byte in bytes {
        if byte.is_ascii_graphic() && *byte != b'%' {
            to.push(*byte);
        } else {
            append(to, format_args!("%{byte:02x}"));
        }
    }
}

/// Reverses [`escape`]. Returns `None` if the text is not a valid escaped text.
pub(crate) fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(bytes)
}

pub(crate) fn unreadable(path: &Path, answer: &io::Error) -> VerifyError {
    VerifyError::new(format!(
        "cannot read the acknowledgement log {}: {answer} (use the file that the run had as \
         --ack-log)",
        path.display()
    ))
}

/// Error for a file whose first line is not that of an acknowledgement log, or whose format has
/// another version.
pub(crate) fn foreign(path: &Path, why: &str) -> VerifyError {
    VerifyError::new(format!(
        "{} is not an acknowledgement log of postmark: {why} (use the file that the run had as \
         --ack-log)",
        path.display()
    ))
}

/// Error for a damaged line that is followed by valid lines. A crash can damage only the last
/// lines.
fn damaged(path: &Path, line: u64, why: &str) -> VerifyError {
    VerifyError::new(format!(
        "the acknowledgement log {} is damaged in line {line}: {why} (use an undamaged copy, or \
         repeat the run)",
        path.display()
    ))
}

/// Maximum length of a line, in bytes. The limit is large because the first line contains the
/// workload.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Reads an acknowledgement log, and returns whether its last line is complete. Lines at the end
/// that a crash left incomplete are skipped.
pub(crate) fn read(
    path: &Path,
    mut input: impl BufRead,
    each: &mut dyn FnMut(Line) -> Result<(), String>,
) -> Result<bool, VerifyError> {
    let mut bytes = Vec::new();
    let mut before = 0;
    let mut bad = None;
    for line in 1.. {
        bytes.clear();
        // A line longer than the maximum is read in several parts, none of which has a valid
        // checksum.
        let read = input
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut bytes);
        if read.map_err(|answer| unreadable(path, &answer))? == 0 {
            return if line == 1 {
                Err(foreign(path, "it is empty"))
            } else {
                Ok(bad.is_none())
            };
        }
        let (stated, text) = take_apart(&bytes).unzip();
        let is_good = text.is_some_and(|text| stated == Some(checksum(before, text)));
        // Each checksum is seeded with the checksum of the line before. A damaged line may still
        // state its correct checksum, so the next line is checked with the checksum that the
        // damaged line states.
        before = stated.unwrap_or(before);
        match (text.filter(|_| is_good), bad) {
            (None, _) if line == 1 => {
                let why = "its first line is not that of an acknowledgement log";
                return Err(foreign(path, why));
            }
            (None, _) => bad = bad.or(Some(line)),
            (Some(_), Some(line)) => {
                let why = "its checksum is wrong or the line before it is missing, and valid \
                           lines follow";
                return Err(damaged(path, line, why));
            }
            (Some(text), None) => {
                let parsed = parse(text).map_err(|why| foreign(path, &why))?;
                let parsed = parsed.ok_or_else(|| "it cannot be parsed".to_owned());
                let done = parsed.and_then(|parsed| match parsed {
                    Line::Header(_) if line > 1 => Err("it is a second header".to_owned()),
                    parsed if line == 1 && !matches!(parsed, Line::Header(_)) => {
                        Err("it is not the header".to_owned())
                    }
                    parsed => each(parsed),
                });
                done.map_err(|why| damaged(path, line, &why))?;
            }
        }
    }
    Ok(true)
}

/// Returns the checksum stored at the beginning of a line, and the text of the line.
fn take_apart(line: &[u8]) -> Option<(u64, &[u8])> {
    let line = line.strip_suffix(b"\n")?;
    let (digits, text) = line.split_at_checked(CHECKSUM_DIGITS)?;
    let checksum = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((checksum, text.strip_prefix(b" ")?))
}

/// Parses the text of a line. Returns an error with the reason if the line is a header that is not
/// accepted, and `None` if the text is not valid.
fn parse(text: &[u8]) -> Result<Option<Line>, String> {
    if let Some(json) = text.strip_prefix(b"H ") {
        return parse_header(json).map(|header| Some(Line::Header(Box::new(header))));
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return Ok(None);
    };
    let mut words = text.split(' ');
    let line = match words.next() {
        Some("B") => parse_begun(&mut words).map(Line::Begun),
        Some("A") => number(&mut words)
            .zip(number(&mut words))
            .map(|(worker, sequence)| Line::Acknowledged { worker, sequence }),
        Some("E") => Some(Line::Ended),
        Some("O") => number(&mut words).map(|removed| Line::Over { removed }),
        _ => None,
    };
    Ok(line.filter(|_| words.next().is_none()))
}

fn parse_header(json: &[u8]) -> Result<Header, String> {
    #[derive(Deserialize)]
    struct Version {
        postmark_ack_log: u32,
    }
    let foreign = |error: serde_json::Error| format!("its first line cannot be parsed: {error}");
    let Version { postmark_ack_log } = serde_json::from_slice(json).map_err(foreign)?;
    if postmark_ack_log != VERSION {
        return Err(format!(
            "it has version {postmark_ack_log}, and this program reads version {VERSION} (use the \
             postmark that wrote it)"
        ));
    }
    serde_json::from_slice(json).map_err(foreign)
}

fn parse_begun<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Entry> {
    let worker = number(words)?;
    let sequence = number(words)?;
    let action = words.next()?;
    let action = Action::operations().find(|known| known.name() == action)?;
    let location = number(words)?;
    let path = unescape(words.next()?.as_bytes())?;
    let second = match words.next()? {
        "-" => None,
        second => Some(unescape(second.as_bytes())?),
    };
    Some(Entry {
        worker,
        sequence,
        action,
        location,
        path,
        second,
        file: number(words)?,
        version: number(words)?,
        before_bytes: number(words)?,
        after_bytes: number(words)?,
        offset_bytes: number(words)?,
    })
}

fn number<'a, T: std::str::FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use engines::PathBuffer;

    use super::*;

    fn head() -> Header {
        Header {
            postmark_ack_log: VERSION,
            tool: "postmark".to_owned(),
            workload: workload::Mix::default().into(),
            durability: engine::Durability::FsyncDirectory.into(),
            promise: Promise::Nothing,
            directories: vec!["/mnt/a%20b".to_owned()],
            own_directories: true,
            workers: 1,
        }
    }

    /// Returns an acknowledgement log that consists of a header and a line for each text.
    fn ack_log(texts: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut before = push(0, &header(&head()).unwrap(), &mut bytes);
        for text in texts {
            before = push(before, text.as_bytes(), &mut bytes);
        }
        bytes
    }

    fn read_all(bytes: &[u8]) -> Result<(Vec<Line>, bool), String> {
        let mut lines = Vec::new();
        let whole = read(Path::new("log"), bytes, &mut |line| {
            lines.push(line);
            Ok(())
        });
        whole
            .map(|whole| (lines, whole))
            .map_err(|error| format!("{error:?}"))
    }

    const TEXTS: [&str; 5] = [
        "B 0 1 create 0 s1/1 - 1 0 0 700 0",
        "A 0 1",
        "B 0 2 rename 0 s1/1 s1/2 1 0 700 700 0",
        "E",
        "O 12",
    ];

    #[test]
    fn ack_log_lines_are_read_as_written() {
        let (lines, whole) = read_all(&ack_log(&TEXTS)).unwrap();
        assert!(whole);
        assert_eq!(lines[0], Line::Header(Box::new(head())));
        let Line::Begun(entry) = &lines[3] else {
            panic!()
        };
        assert_eq!((entry.sequence, entry.action), (2, Action::Rename));
        assert_eq!(
            (&entry.path[..], entry.second.as_deref()),
            (&b"s1/1"[..], Some(&b"s1/2"[..]))
        );
        assert_eq!(
            lines[2],
            Line::Acknowledged {
                worker: 0,
                sequence: 1
            }
        );
        assert_eq!(lines[4..], [Line::Ended, Line::Over { removed: 12 }]);
    }

    #[test]
    fn operation_with_two_names_is_written_and_read() {
        let mut first = PathBuffer::new(1, b"/mnt/w3/".to_vec()).unwrap();
        let mut second = first.clone();
        let intent = Intent {
            action: Action::Replace,
            bytes: 10,
            size_bytes: 700,
            file: 5,
            version: 2,
            ..Intent::NOTHING
        };
        let operation = Operation::Replace {
            name: first.with(|to| to.extend(b"new/5")),
            temporary: second.with(|to| to.extend(b"tmp/5 %")),
            content: b"0123456789",
        };
        let mut text = Vec::new();
        write_begun(&mut text, (3, 9), b"w3/", &intent, &operation);
        assert_eq!(
            String::from_utf8_lossy(&text),
            "B 3 9 replace 1 w3/new/5 w3/tmp/5%20%25 5 2 700 10 0"
        );
        let Ok(Some(Line::Begun(entry))) = parse(&text) else {
            panic!()
        };
        assert_eq!(entry.second.unwrap(), b"w3/tmp/5 %");
    }

    #[test]
    fn torn_last_line_is_skipped() {
        let whole = ack_log(&TEXTS);
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for length in first..whole.len() {
            let (lines, is_whole) = read_all(&whole[..length]).unwrap();
            let ends = whole[..length]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            assert_eq!(
                (lines.len(), is_whole),
                (ends, whole[length - 1] == b'\n'),
                "{length}"
            );
            let mut zeros = whole[..length].to_vec();
            zeros.resize(whole.len() + 100, 0);
            assert_eq!(read_all(&zeros).unwrap(), (lines, false), "{length}");
        }
        assert!(
            read_all(&whole[..first - 1])
                .unwrap_err()
                .contains("first line")
        );
        assert!(read_all(b"").unwrap_err().contains("empty"));
    }

    #[test]
    fn damaged_line_before_valid_lines_is_reported() {
        let whole = ack_log(&TEXTS);
        let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
        for at in ends[0] + 1..ends[2] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert!(read_all(&damaged).unwrap_err().contains("damaged"), "{at}");
        }
        for (from, to) in [(ends[0], ends[1]), (ends[1], ends[2])] {
            let mut shorter = whole.clone();
            shorter.drain(from..to);
            assert!(
                read_all(&shorter).unwrap_err().contains("damaged"),
                "{from}"
            );
        }
        assert!(
            read_all(&ack_log(&["B 0 1 dance 0 1 - 1 0 0 0 0"]))
                .unwrap_err()
                .contains("cannot be parsed")
        );
        assert!(
            read_all(b"something else\n")
                .unwrap_err()
                .contains("first line")
        );
    }

    #[test]
    fn ack_log_of_another_version_is_rejected() {
        let mut bytes = Vec::new();
        push(0, br#"H {"postmark_ack_log":2}"#, &mut bytes);
        assert!(read_all(&bytes).unwrap_err().contains("version 2"));
    }

    #[test]
    fn unescape_reverses_escape() {
        let all: Vec<u8> = (0..=255).collect();
        let mut text = Vec::new();
        escape(&all, &mut text);
        assert!(text.iter().all(u8::is_ascii_graphic));
        assert_eq!(unescape(&text).unwrap(), all);
        assert_eq!(unescape(b"%2"), None);
        assert_eq!(unescape(b"%zz"), None);
    }
}
