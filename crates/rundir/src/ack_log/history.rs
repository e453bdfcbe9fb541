//! The entries of an acknowledgement log about one path.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::entry::{self, Entry, Line};
use super::key::Key;
use super::loss::VerifyError;

/// Maximum number of entries in a history; the latest are kept.
const ENTRIES_MAX: usize = 12;

/// Describes the latest operations on a path, in the order in which they began. Follows the path
/// only: a history begins with the rename that created the name. Of several logs, the entries begin
/// with the name of their log.
pub(crate) fn history(ack_logs: &[PathBuf], key: &Key) -> Result<Vec<String>, VerifyError> {
    let mut all = Vec::new();
    for log in ack_logs {
        let name = log.file_name().unwrap_or_default().to_string_lossy();
        let begin = match ack_logs {
            [_] => String::new(),
            _ => format!("{name}: "),
        };
        let of_log = of_log(log, key)?.into_iter();
        all.extend(of_log.map(|entry| format!("{begin}{entry}")));
    }
    Ok(all.split_off(all.len().saturating_sub(ENTRIES_MAX)))
}

fn of_log(ack_log: &Path, (location, path): &Key) -> Result<Vec<String>, VerifyError> {
    let file = File::open(ack_log).map_err(|answer| entry::unreadable(ack_log, &answer))?;
    let is_about = |entry: &Entry| {
        let is_second = entry.second.as_ref() == Some(path);
        entry.location == *location && (entry.path == *path || is_second)
    };
    let mut all = 0;
    let mut entries: VecDeque<(Entry, Option<u64>)> = VecDeque::new();
    entry::read(ack_log, BufReader::new(file), &mut |line| {
        match line {
            Line::Begun(entry) if is_about(&entry) => {
                entries.push_back((entry, None));
                if entries.len() > ENTRIES_MAX {
                    entries.pop_front();
                }
            }
            Line::Acknowledged { worker, sequence } => {
                let is_it = |(entry, _): &&mut (Entry, Option<u64>)| {
                    (entry.worker, entry.sequence) == (worker, sequence)
                };
                all += 1;
                if let Some((_, acknowledged)) = entries.iter_mut().find(is_it) {
                    *acknowledged = Some(all);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(entries
        .iter()
        .map(|(entry, acknowledged)| described(entry, acknowledged.map(|number| (number, all))))
        .collect())
}

/// Describes an operation. `acknowledged` is the number of its acknowledgement, and of all.
fn described(entry: &Entry, acknowledged: Option<(u64, u64)>) -> String {
    let second = entry.second.as_ref().map_or_else(String::new, |second| {
        format!(" and {}", String::from_utf8_lossy(second))
    });
    let end = match acknowledged {
        Some((number, all)) => format!("number {number} of {all} acknowledged"),
        None => "in flight".to_owned(),
    };
    format!(
        "operation {} of worker {}: {} {}{second}, {} to {} bytes, {end}",
        entry.sequence,
        entry.worker,
        entry.action.name(),
        String::from_utf8_lossy(&entry.path),
        entry.before_bytes,
        entry.after_bytes,
    )
}
