//! Reads the files that ranks wrote. The files are untrusted data: the limits of records apply, and
//! contradictory data is rejected.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use document::sanitize;
use record::documents::{DocumentError, Documents};
use record::{Completed, CompletedPart, Record};
use workload::Workload;

use super::lines::{Begun, MERGED, MERGED_SO_FAR, PartEnded, PartOf};
use crate::error::Error;

/// All usable files of one run in the given directories.
pub struct FoundParts {
    /// The contents of the rank files, by rank.
    pub parts: BTreeMap<u32, ReadPart>,
    /// Files that cannot be used, each with the reason.
    pub unreadable: Vec<(String, String)>,
    /// The final record of all ranks, if rank 0 wrote it.
    pub merged: Option<Record>,
    /// The record that rank 0 merged after the last complete phase, if rank 0 wrote one.
    pub so_far: Option<Record>,
    /// Number of ranks that performed the run.
    pub ranks: u32,
}

/// The contents of one rank's file.
pub struct ReadPart {
    pub of: PartOf,
    /// The rank's record, with all parts in the file; `None` if the run did not begin.
    pub record: Option<Record>,
    /// The last completed part in the file.
    pub last: Option<CompletedPart>,
    pub count: u32,
    /// Whether the file contains the line that a rank writes when its run ends.
    pub is_ended: bool,
    file: PathBuf,
}

/// Reads the files of a run in these directories.
///
/// # Errors
/// Returns an error if a directory cannot be read, if no file can be used, or if the rank files are
/// of several runs.
pub fn find(directories: &[PathBuf]) -> Result<FoundParts, Error> {
    let mut found = FoundParts {
        parts: BTreeMap::new(),
        unreadable: Vec::new(),
        merged: None,
        so_far: None,
        ranks: 0,
    };
    for directory in directories {
        for path in files(directory)? {
            match read(&path) {
                Ok(part) => found.add(part)?,
                Err(why) => found.unreadable.push((shown(&path), why)),
            }
        }
        for (name, of_all) in [
            (MERGED, &mut found.merged),
            (MERGED_SO_FAR, &mut found.so_far),
        ] {
            let path = directory.join(name);
            if path.exists() {
                match whole(&path) {
                    Ok(record) => *of_all = Some(record),
                    Err(why) => found.unreadable.push((shown(&path), why)),
                }
            }
        }
    }
    if found.parts.is_empty() && found.merged.is_none() && found.so_far.is_none() {
        let why = found.unreadable.first();
        let why = why.map_or_else(String::new, |(file, why)| format!(": {file}: {why}"));
        return Err(Error::refused(format_args!(
            "no part of a run can be read in these directories{why}"
        )));
    }
    if let (0, Some(so_far)) = (found.ranks, &found.so_far) {
        found.ranks = so_far.spec.ranks;
    }
    Ok(found)
}

impl FoundParts {
    fn add(&mut self, part: ReadPart) -> Result<(), Error> {
        if let Some(other) = self.parts.values().next() {
            if (&part.of.job, part.of.ranks) != (&other.of.job, other.of.ranks) {
                return Err(Error::refused(format_args!(
                    "{} and {} are parts of different runs (collect those of one)",
                    shown(&other.file),
                    shown(&part.file)
                )));
            }
            let works = [other, &part].map(|part| {
                part.record
                    .as_ref()
                    .map(|record| record.fingerprint.clone())
            });
            if let [Some(one), Some(other)] = works
                && one != other
            {
                let why = "it has another workload than the other ranks".to_owned();
                self.unreadable.push((shown(&part.file), why));
                return Ok(());
            }
        }
        if let Some(other) = self.parts.get(&part.of.rank) {
            // A directory that several hosts share may be given once for each host, so the same
            // file may be read twice.
            let same = [&other.file, &part.file].map(|file| fs::canonicalize(file).ok());
            if same[0].is_some() && same[0] == same[1] {
                return Ok(());
            }
            return Err(Error::refused(format_args!(
                "{} and {} are both of rank {} (collect only one)",
                shown(&other.file),
                shown(&part.file),
                part.of.rank
            )));
        }
        self.ranks = part.of.ranks;
        self.parts.insert(part.of.rank, part);
        Ok(())
    }
}

/// Returns the paths of the rank files in a directory, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::refused(format_args!("cannot read {}: {error}", shown(directory)));
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("rank-") && name.ends_with(".jsonl") {
            files.push(directory.join(&*name));
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file that contains one record.
fn whole(path: &Path) -> Result<Record, String> {
    let mut documents = Documents::of(File::open(path).map_err(|error| error.to_string())?);
    let text = documents.next().unwrap_or(Err(DocumentError::Nothing));
    let text = text.map_err(|error| error.to_string())?;
    Record::from_json(&text).map_err(|error| error.to_string())
}

fn read(path: &Path) -> Result<ReadPart, String> {
    let mut documents = Documents::of(File::open(path).map_err(|error| error.to_string())?);
    let first = documents.next().unwrap_or(Err(DocumentError::Nothing));
    let first = first.map_err(|error| error.to_string())?;
    let begun: Begun = serde_json::from_str(&first)
        .map_err(|error| format!("its first line names no rank: {error}"))?;
    let of = begun.rank;
    if of.rank >= of.ranks || of.ranks > Workload::WORKERS_MAX {
        return Err(format!("rank {} of {} cannot be", of.rank, of.ranks));
    }
    let mut part = ReadPart {
        of,
        record: None,
        last: None,
        count: 0,
        is_ended: false,
        file: path.to_owned(),
    };
    for (place, text) in documents.enumerate() {
        let text = match text {
            Ok(text) => text,
            // The line is incomplete: the rank was killed while it wrote the line, or its disk was
            // full.
            Err(DocumentError::CutOff) => break,
            Err(error) => return Err(format!("line {}: {error}", place + 2)),
        };
        part.take(&text)
            .map_err(|why| format!("line {}: {}", place + 2, sanitize::sanitize(&why)))?;
    }
    if let (Some(record), true) = (&part.record, part.count > 0) {
        // The extended record must pass the same validation as a record from another source.
        part.record =
            Some(Record::from_json(&verdict::to_json(record)).map_err(|error| error.to_string())?);
    }
    Ok(part)
}

impl ReadPart {
    /// Processes a line after the first one.
    fn take(&mut self, text: &str) -> Result<(), String> {
        if self.is_ended {
            return Err("it follows the end".to_owned());
        }
        let Some(record) = &mut self.record else {
            let record = Record::from_json(text).map_err(|error| error.to_string())?;
            self.record = Some(record);
            return Ok(());
        };
        if let Ok(PartEnded { ended: true }) = serde_json::from_str(text) {
            self.is_ended = true;
            return Ok(());
        }
        let completed = Completed::from_json(text).map_err(|error| error.to_string())?;
        self.last = Some(completed.part.clone());
        self.count += 1;
        record.add(completed);
        Ok(())
    }
}

fn shown(path: &Path) -> String {
    sanitize::path(path).into_owned()
}
