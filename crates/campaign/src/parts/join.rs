//! Joins the rank files of a run into one record.

use std::collections::BTreeMap;
use std::path::PathBuf;

use document::sanitize;
use record::ranks::MissingRank;
use record::{CompletedPart, Outcome, Record};

use super::read::{ReadPart, find};
use crate::error::Error;
use crate::user::User;

/// Maximum number of missing ranks that messages list.
const NAMED_MAX: usize = 16;

pub struct JoinedParts {
    pub record: Record,
    /// Whether the files of all ranks exist and are complete.
    pub is_complete: bool,
}

/// Joins the rank files in these directories, and reports missing ranks to the user.
///
/// # Errors
/// Returns an error if no file in the directories can be used, or if the rank files are of several
/// runs.
pub fn join(directories: &[PathBuf], user: User) -> Result<JoinedParts, Error> {
    let found = find(directories)?;
    for (file, why) in &found.unreadable {
        user.tell(format_args!("cannot use {file}: {why}"));
    }
    let (parts, ranks) = (found.parts, found.ranks);
    if let Some(record) = found.merged.filter(|merged| is_of_run(merged, &parts)) {
        return Ok(JoinedParts {
            record,
            is_complete: true,
        });
    }
    let (mut early, missing) = ended_and_missing(&parts, ranks, user);
    // The last record that rank 0 merged also includes ranks whose own file is missing.
    let so_far = found
        .so_far
        .filter(|so_far| !missing.is_empty() && is_of_run(so_far, &parts));
    let mut record = match so_far {
        Some(so_far) => {
            user.tell(
                "the record has what all ranks had completed at the last border, as rank 0 \
                 has merged it",
            );
            so_far
        }
        None => {
            let records = parts.into_values().filter_map(|part| part.record).collect();
            let record = Record::join_all(records).ok_or_else(|| {
                Error::refused(
                    "no rank has left a part of its record: the run ended before it began",
                )
            })?;
            match missing.is_empty() {
                true => record,
                false => record.without(missing),
            }
        }
    };
    let is_complete = early.is_empty();
    if !is_complete {
        // With a final outcome, the joined record can replace an unfinished record that rank 0 may
        // have left in an archive.
        record.actual.outcome = Outcome::Failed {
            why: ended_early(&mut early, ranks),
        };
    }
    // The joined record must pass the same validation as a record from another source.
    let record = Record::from_json(&verdict::to_json(&record));
    let record = record.map_err(|error| {
        Error::refused(format_args!("the parts contradict one another: {error}"))
    })?;
    Ok(JoinedParts {
        record,
        is_complete,
    })
}

/// Returns all ranks that did not reach the end of the run, and those of them without a usable
/// record. Reports both lists to the user.
fn ended_and_missing(
    parts: &BTreeMap<u32, ReadPart>,
    ranks: u32,
    user: User,
) -> (Vec<u32>, Vec<MissingRank>) {
    let mut early = Vec::new();
    let mut missing = Vec::new();
    for rank in 0..ranks {
        let why = match parts.get(&rank) {
            None => "its part was not found, or cannot be read",
            Some(part) if part.record.is_none() => "it ended before the run began",
            Some(part) if part.is_ended => continue,
            Some(part) => {
                early.push(rank);
                user.tell(not_ended(part));
                continue;
            }
        };
        let why = why.to_owned();
        missing.push(MissingRank { rank, why });
    }
    tell_missing(&missing, parts, user);
    early.extend(missing.iter().map(|missing| missing.rank));
    (early, missing)
}

/// Returns the reason why the record of a run is partial: not all ranks reached the end of the run.
fn ended_early(early: &mut [u32], ranks: u32) -> String {
    early.sort_unstable();
    let named: Vec<String> = early.iter().take(NAMED_MAX).map(u32::to_string).collect();
    let more = match early.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} of {ranks} ranks did not complete the run ({}{more}); the record has the parts that \
         ranks left on disk",
        early.len(),
        named.join(", ")
    )
}

/// Whether the merged record and the parts are of the same run. Compares the ID of rank 0's record,
/// or the fingerprints if the file of rank 0 is missing.
fn is_of_run(merged: &Record, parts: &BTreeMap<u32, ReadPart>) -> bool {
    let record_of = |rank: &u32| parts.get(rank).and_then(|part| part.record.as_ref());
    match record_of(&0) {
        Some(first) => first.id == merged.id,
        None => {
            let mut others = parts.keys().filter_map(record_of);
            others.all(|other| other.fingerprint == merged.fingerprint)
        }
    }
}

/// Describes how far a rank got whose file lacks the last line, which a rank writes when its run
/// ends.
fn not_ended(part: &ReadPart) -> String {
    let far = match &part.last {
        None => "before its first phase was complete".to_owned(),
        Some(CompletedPart::Phase(phase)) => format!("after the phase '{}'", phase.phase.name()),
        Some(CompletedPart::SweepStep(_)) => {
            format!("after {} load levels of the sweep", part.count)
        }
    };
    format!(
        "rank {} ({}): its part ends {far}",
        part.of.rank,
        sanitize::sanitize(&part.of.host)
    )
}

fn tell_missing(missing: &[MissingRank], parts: &BTreeMap<u32, ReadPart>, user: User) {
    for MissingRank { rank, why } in missing.iter().take(NAMED_MAX) {
        let host = parts
            .get(rank)
            .map(|part| sanitize::sanitize(&part.of.host));
        let host = host.map_or_else(String::new, |host| format!(" ({host})"));
        user.tell(format_args!("rank {rank}{host} is missing: {why}"));
    }
    if missing.len() > NAMED_MAX {
        user.tell(format_args!(
            "and {} other ranks like that",
            missing.len() - NAMED_MAX
        ));
    }
}
