//! `postmark collect`: one record of what the ranks of a run have left on disk ([`crate::parts`]).

mod read;

use std::collections::BTreeMap;

use archive::{Imported, Remarks};
use document::sanitize;
use record::ranks::MissingRank;
use record::{CompletedPart, Outcome, Record};

use crate::archive::{self as archived, Chosen};
use crate::options::CollectArguments;
use crate::output::Outputs;
use crate::problem::{Problem, tell};
use crate::run::{deliver, render, writer};
use read::{FoundParts, ReadPart, refused};

/// A part is missing, cannot be read or is not complete.
const NOT_ALL: u8 = 1;
/// Of ranks that are missing, no more are named one by one.
const NAMED_MAX: usize = 16;

/// Puts the parts together, reports and archives the record, and gives the exit status.
///
/// # Errors
/// Where there is no part, parts are of several runs, or the report cannot be delivered.
pub fn collect(arguments: &CollectArguments) -> Result<u8, Problem> {
    let chosen = archived::chosen_for_run(arguments.archive.as_deref())?;
    let place = match &chosen {
        Chosen::At(place) => Some(place),
        Chosen::Nowhere | Chosen::Unknown(_) => None,
    };
    let mut outputs = Outputs::new(arguments.force, place, &[])?;
    if let Some(path) = &arguments.output {
        outputs.judge("--output", path)?;
    }
    let found = read::find(&arguments.directories)?;
    let Collected { record, code } = Collected::of(found)?;
    let output = arguments.output.as_deref();
    let output = output
        .map(|path| outputs.open("--output", path))
        .transpose()?;
    let report = render(&record, arguments.format, arguments.full, output.is_none());
    deliver(output, &report, writer(arguments.format))?;
    match place {
        Some(place) => keep(place, &record, &arguments.remarks.remarks())?,
        None => {
            if let Chosen::Unknown(why) = &chosen {
                tell(format_args!("warning: {why}; the record is not archived"));
            }
        }
    }
    Ok(code)
}

/// Adds the record to the archive, in the place of what rank 0 has left there of the run.
fn keep(place: &archived::ArchivePlace, record: &Record, remarks: &Remarks) -> Result<(), Problem> {
    let mut archive = place.open_for_run()?;
    let path = sanitize::path(place.path()).into_owned();
    for imported in archive.import_all(&[(record, remarks)])? {
        tell(match imported {
            Imported::New(number) | Imported::Completed(number) => {
                format!("archived as run {number} in {path} (postmark show {number} --full)")
            }
            Imported::There(number) => format!("archived already: run {number} in {path}"),
            Imported::Conflict(number) | Imported::Unreadable(number) => format!(
                "not archived: run {number} in {path} has the same identity and another record \
                 (delete it with 'postmark delete {number}', then collect again)"
            ),
        });
    }
    Ok(())
}

/// The record of all parts.
struct Collected {
    record: Record,
    /// The exit status.
    code: u8,
}

impl Collected {
    /// Puts parts together, and says on standard error what is missing.
    fn of(found: FoundParts) -> Result<Self, Problem> {
        let FoundParts {
            parts,
            unreadable,
            merged,
            so_far,
            ranks,
        } = found;
        for (file, why) in &unreadable {
            tell(format_args!("cannot use {file}: {why}"));
        }
        if let Some(record) = merged.filter(|merged| is_of_run(merged, &parts)) {
            return Ok(Self { record, code: 0 });
        }
        let mut early = Vec::new();
        let mut missing = Vec::new();
        for rank in 0..ranks {
            let why = match parts.get(&rank) {
                None => "its part was not found, or cannot be read".to_owned(),
                Some(part) if part.record.is_none() => "it ended before the run began".to_owned(),
                Some(part) => {
                    if !part.is_ended {
                        early.push(rank);
                        tell(not_ended(part));
                    }
                    continue;
                }
            };
            missing.push(MissingRank { rank, why });
        }
        tell_missing(&missing, &parts);
        early.extend(missing.iter().map(|missing| missing.rank));
        // It has those whose own part is not there, and ends with the last border that rank 0 has
        // come to.
        let so_far = so_far.filter(|so_far| !missing.is_empty() && is_of_run(so_far, &parts));
        let mut record = match so_far {
            Some(so_far) => {
                tell(
                    "the record has what all ranks had completed at the last border, as rank 0 \
                     has merged it",
                );
                so_far
            }
            None => {
                let records = parts.into_values().filter_map(|part| part.record).collect();
                let Some(record) = Record::join_all(records) else {
                    return Err(refused(
                        "no rank has left a part of its record: the run ended before it began",
                    ));
                };
                match missing.is_empty() {
                    true => record,
                    false => record.without(missing),
                }
            }
        };
        if early.is_empty() {
            return Ok(Self {
                record: checked(record)?,
                code: 0,
            });
        }
        // What rank 0 has left in an archive is not of a run that may be going on: this is more of
        // it.
        record.actual.outcome = Outcome::Failed {
            why: ended_early(&mut early, ranks),
        };
        Ok(Self {
            record: checked(record)?,
            code: NOT_ALL,
        })
    }
}

/// Why a run is partial whose ranks were not all at its end.
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

/// Whether the record of all ranks is of the same run as the parts: as that of the first one, where
/// it is there.
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

/// What is asked of the records of others is asked of one that was put together, too.
fn checked(record: Record) -> Result<Record, Problem> {
    Record::from_json(&record.to_json())
        .map_err(|error| refused(&format!("the parts contradict one another: {error}")))
}

/// How far a rank came whose part has no end.
fn not_ended(part: &ReadPart) -> String {
    let far = match &part.last {
        None => "before its first phase was complete".to_owned(),
        Some(CompletedPart::Phase(phase)) => format!("after the phase '{}'", phase.phase.name()),
        Some(CompletedPart::SweepStep(_)) => format!("after {} steps of the sweep", part.count),
    };
    format!(
        "rank {} ({}): its part ends {far}",
        part.of.rank,
        sanitize::sanitize(&part.of.host)
    )
}

fn tell_missing(missing: &[MissingRank], parts: &BTreeMap<u32, ReadPart>) {
    for MissingRank { rank, why } in missing.iter().take(NAMED_MAX) {
        let host = parts
            .get(rank)
            .map(|part| sanitize::sanitize(&part.of.host));
        let host = host.map_or_else(String::new, |host| format!(" ({host})"));
        tell(format_args!("rank {rank}{host} is missing: {why}"));
    }
    if missing.len() > NAMED_MAX {
        tell(format_args!(
            "and {} other ranks like that",
            missing.len() - NAMED_MAX
        ));
    }
}
