//! Finds studies in the archive by the tag of their runs.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{Archive, Filter, Tag};
use record::{Outcome, Record, StudyPart};
use report::list::CellOfRun;
use study::{Design, Metric, Observed, Repeats, StudyRun};
use verdict::{ListedRun, State};

use super::directories::MountedOn;
use crate::error::Error;

/// Prefix of the tag of a study's runs; the ID of the study follows.
const TAG: &str = "study:";

/// Maximum number of studies whose names [`with_names`] reads.
const NAMES_MAX: usize = 64;
/// Maximum number of characters of a study's name in a list.
const NAME_LENGTH_MAX: usize = 20;
/// Number of digits of the study's ID that follow its name if several studies have this name.
const DIGITS: usize = 4;
/// Maximum number of runs whose cells [`cells_of`] reads.
const CELLS_MAX: usize = 200;

pub struct FoundStudy {
    pub id: String,
    /// The design that the study's last run recorded.
    pub design: Design,
    /// The completed runs of the study, in the order of the archive.
    pub runs: Vec<StudyRun>,
    /// Unambiguous names of other studies with the name by which this study was found.
    pub namesakes: Vec<String>,
    /// Number of a run of this study that is in progress.
    pub going: Option<u64>,
    /// For each directory of the design, the file system on which the first run found the
    /// directory.
    pub mounted: BTreeMap<String, MountedOn>,
}

impl FoundStudy {
    /// The results of a study that repeats the runs of one configuration; `None` for a study that
    /// compares configurations.
    pub fn repeats(&self) -> Option<Repeats> {
        let is_whole = self.runs.iter().all(|run| run.part.side.is_none());
        let cells = self.design.cells().ok().filter(|_| is_whole)?;
        let is_repetition = self.design.is_repetition(&cells);
        is_repetition.then(|| Repeats::of(&self.design, &self.id, &self.runs))
    }

    /// Reports other studies with the name by which this study was found; `None` without them.
    pub fn namesakes_note(&self) -> Option<String> {
        let (name, this) = (&self.design.name, with_digits(&self.design.name, &self.id));
        let others = (!self.namesakes.is_empty()).then(|| self.namesakes.join(" and "))?;
        Some(format!(
            "The name {name} selects the newest study of that name, {this}; {others} also has it."
        ))
    }
}

/// The name of a study with the beginning of its ID, which distinguishes it from other studies of
/// the same name.
fn with_digits(name: &str, id: &str) -> String {
    format!("{name}@{}", id.chars().take(DIGITS).collect::<String>())
}

/// Returns the tag of a study's runs. It is never `None` for the ID of a study, because a tag may
/// contain all characters of an ID.
pub fn tag(id: &str) -> Option<Tag> {
    format!("{TAG}{id}").parse().ok()
}

/// Returns the ID of the study to which a run belongs; `None` for a run without a study.
fn study_of(run: &ListedRun) -> Option<&str> {
    run.tags.iter().find_map(|tag| tag.strip_prefix(TAG))
}

/// Replaces study IDs by study names in the tags of listed runs, for display. Only the newest
/// `NAMES_MAX` studies are named. If several of these studies have the same name, digits of the
/// ID follow. Each shown name selects the study ([`find`]): a name that cannot be a tag, or is too
/// long for a list, is replaced by digits of the ID.
pub fn with_names(archive: &Archive, mut runs: Vec<ListedRun>) -> Vec<ListedRun> {
    // Maps the ID of a study to its name; `None` if the study's run cannot be read.
    let mut names: BTreeMap<String, Option<String>> = BTreeMap::new();
    for run in runs.iter().rev() {
        let Some(id) = study_of(run).filter(|id| !names.contains_key(*id)) else {
            continue;
        };
        if names.len() == NAMES_MAX {
            break;
        }
        let record = run.number.and_then(|number| archive.record(number).ok());
        let part = record.and_then(|record| record.study);
        let name = part.filter(|part| part.study == id).map(|part| part.name);
        names.insert(id.to_owned(), name);
    }
    let shown = |id: &str| {
        let name = names.get(id)?.as_deref()?;
        let same = names.values().flatten().filter(|other| *other == name);
        let word = match same.count() {
            1 => name.to_owned(),
            _ => with_digits(name, id),
        };
        let is_word = format!("{TAG}{word}").parse::<Tag>().is_ok();
        let is_short = name.chars().count() <= NAME_LENGTH_MAX;
        let digits = || id.chars().take(2 * DIGITS).collect();
        let word = if is_word && is_short { word } else { digits() };
        Some(format!("{TAG}{word}"))
    };
    for tag in runs.iter_mut().flat_map(|run| &mut run.tags) {
        if let Some(name) = tag.strip_prefix(TAG).and_then(shown) {
            *tag = name;
        }
    }
    runs
}

/// The cells and the blocks of the newest runs, by number of the run. A study with a single listed
/// cell is left out, because a name of this cell would distinguish it from nothing. The sides of a
/// study are always included.
pub fn cells_of(archive: &Archive, runs: &[ListedRun]) -> BTreeMap<u64, CellOfRun> {
    let of_studies = runs.iter().rev().filter(|run| study_of(run).is_some());
    let parts = of_studies.take(CELLS_MAX).filter_map(|run| {
        let number = run.number?;
        Some((number, archive.record(number).ok()?.study?))
    });
    let mut cells: BTreeMap<String, BTreeMap<u64, StudyPart>> = BTreeMap::new();
    for (number, part) in parts {
        let study = cells.entry(part.study.clone()).or_default();
        study.insert(number, part);
    }
    let is_compared = |parts: &BTreeMap<u64, StudyPart>| {
        let mut all = parts.values();
        let first = all.next().map(|part| &part.cell);
        let has_side = parts.values().any(|part| part.side.is_some());
        has_side || all.any(|part| Some(&part.cell) != first)
    };
    let cell = |(number, part): (u64, StudyPart)| {
        let cell = CellOfRun {
            cell: part.cell,
            block: part.block,
        };
        (number, cell)
    };
    let compared = cells.into_values().filter(is_compared);
    compared.flatten().map(cell).collect()
}

/// Returns the tag in the archive for a tag that a user typed: `study:NAME` becomes `study:ID`.
///
/// # Errors
/// Returns an error if the archive cannot be read, or several studies have the name.
pub fn tag_in_archive(archive: &Archive, word: &str) -> Result<String, Error> {
    let Some(name) = word.strip_prefix(TAG) else {
        return Ok(word.to_owned());
    };
    match find(archive, name)? {
        Some(study) if study.namesakes.is_empty() => Ok(format!("{TAG}{}", study.id)),
        Some(study) => Err(several_called(name, &study)),
        None => Ok(word.to_owned()),
    }
}

/// The error for a name of several studies.
pub fn several_called(name: &str, study: &FoundStudy) -> Error {
    let newest = with_digits(&study.design.name, &study.id);
    let names: Vec<&str> = std::iter::once(&newest)
        .chain(&study.namesakes)
        .map(|of| &**of)
        .collect();
    Error::refused(format_args!(
        "several studies are called '{name}' (use one of {})",
        names.join(", ")
    ))
}

/// Finds a study by its ID, by at least four leading digits of its ID, by its name, or by `last`.
/// A name may be followed by digits of the ID, like `mail@2cb9`, and the tag of a study is accepted
/// as well. Of several studies with a name, the newest is returned, with the names of the others.
///
/// # Errors
/// Returns an error if the archive cannot be read, or the study's design cannot be used.
pub fn find(archive: &Archive, word: &str) -> Result<Option<FoundStudy>, Error> {
    let word = word.strip_prefix(TAG).unwrap_or(word);
    let all = archive.list(&Filter::default())?;
    let mut ids: Vec<&str> = Vec::new();
    // Runs are sorted by number, and later runs have higher numbers, so the newest run is last.
    let mut listed: Vec<&ListedRun> = all.iter().filter(|run| study_of(run).is_some()).collect();
    listed.sort_by_key(|run| run.number);
    for run in listed.iter().rev() {
        if let Some(id) = study_of(run).filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
    }
    let by_digits = |digits: &str| {
        let mut ids = ids.iter().copied();
        ids.find(|id| digits.len() >= DIGITS && id.starts_with(digits))
    };
    let is_called = |id: &&str, name: &str| {
        let run = listed.iter().rev().find(|run| study_of(run) == Some(id));
        run.and_then(|run| archive.record(run.number?).ok())
            .and_then(|record| record.study)
            .is_some_and(|part| part.name == name)
    };
    let with_digits_of = |(name, digits): (&str, &str)| {
        let id = by_digits(digits);
        id.filter(|id| is_called(id, name))
    };
    let known = match word {
        "last" => ids.first().copied(),
        word => by_digits(word).or_else(|| word.rsplit_once('@').and_then(with_digits_of)),
    };
    if let Some(id) = known {
        return read(archive, id, &listed).map(Some);
    }
    // Any other word is a name.
    let named = ids.iter().take(NAMES_MAX).copied();
    let mut named = named.filter(|id| is_called(id, word));
    let Some(id) = named.next() else {
        return Ok(None);
    };
    Ok(Some(FoundStudy {
        namesakes: named.map(|other| with_digits(word, other)).collect(),
        ..read(archive, id, &listed)?
    }))
}

/// Finds the newest study that contains a run with this tag.
///
/// # Errors
/// Returns an error if the archive cannot be read.
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
    let mut records = Vec::new();
    let mut going = None;
    for run in listed.iter().filter(|run| study_of(run) == Some(id)) {
        let number = run.number.unwrap_or_default();
        if run.headline.state == State::Going {
            going = Some(number);
            continue;
        }
        records.push((archive.record(number)?, Some(number)));
    }
    Ok(FoundStudy {
        going,
        ..of_records(id, &records, &[])?
    })
}

/// Assembles a study from records of its runs, each with its number in the archive. Without
/// `metrics`, the metrics of the design are used.
///
/// # Errors
/// Returns an error if no run has the design of the study, or if the design cannot be used.
pub fn of_records(
    id: &str,
    records: &[(Record, Option<u64>)],
    metrics: &[Metric],
) -> Result<FoundStudy, Error> {
    let parts = records.iter().filter_map(|(record, number)| {
        let part = record.study.as_ref().filter(|part| part.study == id)?;
        Some((part, record, *number))
    });
    let last = parts.clone().next_back();
    let text = last.map(|(part, ..)| &part.design).ok_or_else(|| {
        Error::refused(format!(
            "the study {id} has no run in the archive with its design (start a new study)"
        ))
    })?;
    let design = Design::parse(text).map_err(|error| {
        Error::refused(format!(
            "the study {id} has a design that cannot be read: {error} (start a new study)"
        ))
    })?;
    let metrics = match metrics.is_empty() {
        true => &design.metrics,
        false => metrics,
    };
    let complete = parts.filter(|(_, record, _)| record.actual.outcome == Outcome::Complete);
    let mounted = mounted(&design, complete.clone().map(|(_, record, _)| record));
    let runs = complete.map(|(part, record, number)| StudyRun {
        observed: Observed::of(record, number, metrics),
        part: part.clone(),
    });
    Ok(FoundStudy {
        id: id.to_owned(),
        runs: runs.collect(),
        design,
        namesakes: Vec::new(),
        going: None,
        mounted,
    })
}

/// Returns the file systems of the design's directories, as the runs recorded them.
fn mounted<'a>(
    design: &Design,
    records: impl Iterator<Item = &'a Record>,
) -> BTreeMap<String, MountedOn> {
    let mut mounted = BTreeMap::new();
    for location in records.flat_map(|record| &record.locations) {
        let directories = design.targets.iter().filter(|target| !target.is_made());
        // A run's own directory is inside its target, so paths are compared by their beginning.
        let of_run =
            directories.filter(|target| Path::new(&location.directory).starts_with(&target.at));
        // One target may be inside another target, so the one with the longest path is used.
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
