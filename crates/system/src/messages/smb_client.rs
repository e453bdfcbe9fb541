//! Counters of the SMB client for each share: `/proc/fs/cifs/Stats` (the format is defined in
//! fs/smb/client/cifs_debug.c, smb1ops.c and smb2ops.c of Linux).
//!
//! Each command counts as a message, even if several are sent together. Commands of a session, such
//! as its setup, are not counted by share.

use super::reading::{MessageKind, MessagesReading, Named as _, WatchedCounter, sorted};
use crate::fact::Fact;
use crate::mount::Mount;

pub(super) const STATS: &str = "/proc/fs/cifs/Stats";

/// Names of the counters of SMB 1. In the file, each name is followed by its count, and a line
/// contains several names. The counts of `Reads` and `Writes` are followed by `Bytes`.
const COMMANDS_OF_SMB1: [&str; 18] = [
    "Reads",
    "Writes",
    "Flushes",
    "Locks",
    "HardLinks",
    "Symlinks",
    "Opens",
    "Closes",
    "Deletes",
    "Posix Opens",
    "Posix Mkdirs",
    "Mkdirs",
    "Rmdirs",
    "Renames",
    "T2 Renames",
    "FindFirst",
    "FNext",
    "FClose",
];

/// Beginnings of the last line of a share's section: for SMB 2 and later, and for SMB 1. If the
/// last section of the file lacks this line, the file is truncated.
const LAST: [&str; 2] = ["OplockBreaks:", "FindFirst:"];

/// Returns the protocol with the version in the option `vers`: `smb3.1.1`.
pub(super) fn protocol(mount: &Mount) -> String {
    format!("smb{}", mount.super_option("vers").unwrap_or_default())
}

/// Returns the share `//server/share` of a mount's source. The source may also name a directory in
/// the share.
pub(super) fn share(source: &str) -> String {
    let plain = source.replace('\\', "/");
    let mut names = plain.trim_start_matches('/').split('/');
    let (server, share) = (
        names.next().unwrap_or_default(),
        names.next().unwrap_or_default(),
    );
    format!("//{server}/{share}")
}

pub(super) fn parse(watched: &WatchedCounter, text: &str) -> MessagesReading {
    match Counted::of(&watched.of, text) {
        Ok(counted) => {
            let mut kinds = counted.kinds;
            kinds.retain(MessageKind::occurred);
            let kinds = sorted(kinds);
            let bytes = |bytes: Option<u64>, what: &str| {
                Fact::found(bytes, || {
                    format!("{STATS}: {}: no bytes {what}", watched.of)
                })
            };
            MessagesReading {
                server_read_bytes: bytes(counted.read_bytes, "read"),
                server_written_bytes: bytes(counted.written_bytes, "written"),
                ..watched.reading(Fact::Known(kinds))
            }
        }
        Err(why) => {
            let missing = Fact::Unavailable(format!("{STATS}: {}: {why}", watched.of));
            MessagesReading {
                server_read_bytes: missing.clone(),
                server_written_bytes: missing.clone(),
                ..watched.reading(missing.and_then(|_: u64| Fact::NotApplicable))
            }
        }
    }
}

/// Counts of a share, summed over all sessions that use it.
#[derive(Default)]
struct Counted {
    kinds: Vec<MessageKind>,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
}

impl Counted {
    fn of(wanted: &str, text: &str) -> Result<Counted, String> {
        let mut counted = Counted::default();
        let (mut is_found, mut is_wanted, mut is_whole) = (false, false, true);
        for line in text.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                return Err("the file ends within a line".to_owned());
            };
            if let Some(name) = heading(line) {
                is_wanted = share(name).eq_ignore_ascii_case(wanted);
                is_found |= is_wanted;
                is_whole = !is_wanted;
            // An empty line, or the line about requests in flight, ends the list of a server's
            // shares.
            } else if line.is_empty() || line.starts_with("Max requests in flight") {
                (is_wanted, is_whole) = (false, true);
            } else if is_wanted {
                is_whole |= LAST.iter().any(|name| line.starts_with(name));
                counted
                    .add(line)
                    .ok_or_else(|| format!("`{line}` is not understood"))?;
            }
        }
        match (is_found, is_whole) {
            (true, true) => Ok(counted),
            (true, false) => Err("the file ends within it".to_owned()),
            (false, _) => Err("no such share is mounted".to_owned()),
        }
    }

    /// Adds the counts of a line: `Creates: 18 total 0 failed` (SMB 2 and later; before Linux 4.19
    /// with `sent` instead of `total`), `Opens: 0 Closes: 0 Deletes: 0` (SMB 1), or `Bytes read: 1
    /// Bytes written: 2`. Other lines contain no counts of messages.
    fn add(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            [name, count, "total" | "sent", _, "failed"] => {
                self.add_kind(name.strip_suffix(':')?, count.parse().ok()?);
            }
            ["Bytes", "read:", read, "Bytes", "written:", written, ..] => {
                add(&mut self.read_bytes, read.parse().ok()?);
                add(&mut self.written_bytes, written.parse().ok()?);
            }
            _ => self.add_smb1(&words)?,
        }
        Some(())
    }

    fn add_smb1(&mut self, words: &[&str]) -> Option<()> {
        let mut of_bytes = None;
        let mut name = Vec::new();
        for word in words {
            if !word.starts_with(|first: char| first.is_ascii_digit()) {
                name.push(word.trim_end_matches(':'));
                continue;
            }
            match (std::mem::take(&mut name).join(" ").as_str(), of_bytes) {
                ("Bytes", Some("Reads")) => add(&mut self.read_bytes, word.parse().ok()?),
                ("Bytes", Some("Writes")) => add(&mut self.written_bytes, word.parse().ok()?),
                (command, _) => {
                    of_bytes = COMMANDS_OF_SMB1.into_iter().find(|known| *known == command);
                    if let Some(command) = of_bytes {
                        self.add_kind(command, word.parse().ok()?);
                    }
                }
            }
        }
        Some(())
    }

    fn add_kind(&mut self, name: &str, count: u64) {
        match self.kinds.iter_mut().find(|kind| kind.kind == name) {
            Some(kind) => kind.requests = kind.requests.saturating_add(count),
            None => self.kinds.push(MessageKind::counted(name, count)),
        }
    }
}

fn add(sum: &mut Option<u64>, bytes: u64) {
    *sum = Some(sum.unwrap_or_default().saturating_add(bytes));
}

/// Returns the name in `1) \\server\share`, the first line of a share's section. `DISCONNECTED`
/// follows the name of a share without a session.
fn heading(line: &str) -> Option<&str> {
    let (number, name) = line.split_once(") ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.trim_end();
    let name = name
        .strip_suffix("DISCONNECTED")
        .map_or(name, str::trim_end);
    (is_number && name.starts_with("\\\\")).then_some(name)
}
