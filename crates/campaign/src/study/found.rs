//! Studies in the archive: their runs, found by the tag that each of them has.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{Archive, Filter, Tag};
use record::{Outcome, Record};
use study::{Design, Observed, StudyRun};
use verdict::{ListedRun, State};

use super::directories::MountedOn;
use crate::error::Error;

/// The tag of all runs of a study begins so; its identity follows.
const TAG: &str = "study:";

/// A study in the archive.
pub struct FoundStudy {
    /// Its identity.
    pub id: String,
    /// Its design, as its last run has it.
    pub design: Design,
    /// The runs that came to their end, in order.
    pub runs: Vec<StudyRun>,
    /// A run of it that goes on.
    pub going: Option<u64>,
    /// The file system that the first run in each directory met.
    pub mounted: BTreeMap<String, MountedOn>,
}

/// The tag of a study's runs.
///
/// # Errors
/// Where it is none; an identity of ours makes one.
pub fn tag(id: &str) -> Option<Tag> {
    format!("{TAG}{id}").parse().ok()
}

/// Which study a run is part of.
fn study_of(run: &ListedRun) -> Option<&str> {
    run.tags.iter().find_map(|tag| tag.strip_prefix(TAG))
}

/// A study by its identity, or at least four digits of it, by its name, or `last`; nothing where
/// there is none.
///
/// # Errors
/// Where the archive cannot be read, or a name has several.
pub fn find(archive: &Archive, word: &str) -> Result<Option<FoundStudy>, Error> {
    let all = archive.list(&Filter::default())?;
    let mut ids: Vec<&str> = Vec::new();
    // The newest come first or last, whatever the order of the list: numbers grow.
    let mut listed: Vec<&ListedRun> = all.iter().filter(|run| study_of(run).is_some()).collect();
    listed.sort_by_key(|run| run.number);
    for run in listed.iter().rev() {
        if let Some(id) = study_of(run).filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
    }
    let id = match word {
        "last" => ids.first().copied(),
        word if word.len() >= 4 && ids.iter().any(|id| id.starts_with(word)) => {
            ids.iter().find(|id| id.starts_with(word)).copied()
        }
        // By its name: the newest that has it.
        word => ids.iter().copied().find(|id| {
            let run = listed.iter().rev().find(|run| study_of(run) == Some(id));
            run.and_then(|run| archive.record(run.number?).ok())
                .and_then(|record| record.study)
                .is_some_and(|part| part.name == word)
        }),
    };
    id.map(|id| read(archive, id, &listed)).transpose()
}

/// The study of which a run has this tag, and that is measured side by side.
///
/// # Errors
/// Where the archive cannot be read.
pub fn find_tagged(archive: &Archive, tag: &Tag) -> Result<Option<FoundStudy>, Error> {
    let filter = Filter {
        tags: vec![tag.to_string()],
        ..Filter::default()
    };
    let tagged = archive.list(&filter)?;
    let of_studies = tagged.iter().filter(|run| study_of(run).is_some());
    let last = of_studies.max_by_key(|run| run.number);
    last.and_then(study_of)
        .map_or(Ok(None), |id| find(archive, id))
}

fn read(archive: &Archive, id: &str, listed: &[&ListedRun]) -> Result<FoundStudy, Error> {
    let mut found = None;
    let mut runs = Vec::new();
    let mut going = None;
    for run in listed.iter().filter(|run| study_of(run) == Some(id)) {
        let number = run.number.unwrap_or_default();
        if run.headline.state == State::Going {
            going = Some(number);
            continue;
        }
        let record = archive.record(number)?;
        let Some(part) = record.study.clone() else {
            continue;
        };
        found = Some(part.design.clone());
        if record.actual.outcome == Outcome::Complete {
            runs.push((part, record, number));
        }
    }
    let text = found.ok_or_else(|| {
        Error::refused(format!(
            "the study {id} has no run in the archive with its design (start a new study)"
        ))
    })?;
    let design = Design::parse(&text).map_err(|error| {
        Error::refused(format!(
            "the study {id} has a design that cannot be read: {error} (start a new study)"
        ))
    })?;
    let mounted = mounted(&design, runs.iter().map(|(_, record, _)| record));
    let runs = runs.into_iter().map(|(part, record, number)| StudyRun {
        observed: Observed::of(&record, Some(number), &design.metrics),
        part,
    });
    Ok(FoundStudy {
        id: id.to_owned(),
        runs: runs.collect(),
        design,
        going,
        mounted,
    })
}

/// The file systems of the directories of a design, as its runs met them.
fn mounted<'a>(
    design: &Design,
    records: impl Iterator<Item = &'a Record>,
) -> BTreeMap<String, MountedOn> {
    let mut mounted = BTreeMap::new();
    for location in records.flat_map(|record| &record.locations) {
        let directories = design.targets.iter().filter(|target| !target.is_made());
        // The run's own directory lies in the target.
        let of_run =
            directories.filter(|target| Path::new(&location.directory).starts_with(&target.at));
        // A target may lie in another one.
        let directory = of_run.max_by_key(|target| target.at.len());
        let mount = location
            .target
            .known()
            .and_then(|target| target.mount.known());
        if let (Some(directory), Some(mount)) = (directory, mount) {
            let first = mounted.entry(directory.at.clone());
            first.or_insert_with(|| MountedOn::from(mount));
        }
    }
    mounted
}
