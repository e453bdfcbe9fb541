//! Resolves an argument of `compare` or `gate` to the runs of one configuration.

use std::collections::BTreeSet;
use std::path::Path;

use archive::{Archive, RunName};
use record::Record;
use study::{ComparedSide, Metric, Observed, StudyRun};
use verdict::{ListedRun, State};

use super::found::{self, FoundStudy};
use super::named_runs::{numbered, tagged};
use super::pooled::PooledRuns;
use crate::error::Error;
use crate::record_source::{self, is_record_file, wrong};

/// The argument that names the newest run or study.
pub(super) const LAST: &str = "last";

/// Returns the runs of a study with the values of these metrics. Records are read for metrics that
/// are not in the study's design.
pub(super) fn with_metrics(
    archive: &Archive,
    found: &FoundStudy,
    metrics: &[Metric],
) -> Result<Vec<StudyRun>, Error> {
    let is_there = |metric: &Metric| found.design.metrics.contains(metric);
    if metrics.iter().all(is_there) {
        return Ok(found.runs.clone());
    }
    let read = |run: &StudyRun| {
        let number = run.observed.run.unwrap_or_default();
        Ok(StudyRun {
            part: run.part.clone(),
            observed: Observed::of(&archive.record(number)?, Some(number), metrics),
        })
    };
    found.runs.iter().map(read).collect()
}

/// The runs of a configuration that an argument names. The flag of a run is `true` for the second
/// run of a baseline (A/A control).
pub(super) struct NamedSide {
    pub(super) label: String,
    pub(super) runs: Vec<(Observed, bool)>,
    /// Why the name may not select what the user expects: the runs of a tag may belong to different
    /// experiments ([`PooledRuns::if_apart`]), or several studies have the name.
    pub(super) note: Option<String>,
}

/// Separates the second runs of a baseline (the A/A control) from its first runs. If all runs are
/// first runs or all are second runs, the configuration has no A/A control.
pub(super) fn halves(called: NamedSide) -> (ComparedSide, Option<ComparedSide>) {
    let NamedSide { label, runs, .. } = called;
    let has_both =
        runs.iter().any(|(_, is_twin)| *is_twin) && runs.iter().any(|(_, is_twin)| !is_twin);
    let (twins, runs): (Vec<_>, Vec<_>) = runs
        .into_iter()
        .partition(|(_, is_twin)| has_both && *is_twin);
    let side = |runs: Vec<(Observed, bool)>| ComparedSide {
        label: label.clone(),
        runs: runs.into_iter().map(|(run, _)| run).collect(),
    };
    let twin = (!twins.is_empty()).then(|| side(twins));
    (side(runs), twin)
}

/// Resolves an argument, in this order: a file whose name is that of an export or a page, run
/// numbers, a cell of a study, a tag, a study of one configuration, a run ID, and any other file.
pub(super) fn named_side(
    archive: Option<&Archive>,
    word: &str,
    metrics: &[Metric],
) -> Result<NamedSide, Error> {
    let Some(archive) = archive.filter(|_| !is_record_file(word)) else {
        return of_file(word, metrics);
    };
    if let Some(runs) = numbered(archive, word, false)? {
        return of_runs(archive, word, &runs, metrics);
    }
    if let Some(named) = cell(archive, word, metrics)? {
        return Ok(named);
    }
    let tagged = tagged(archive, word, false)?;
    if !tagged.is_empty() {
        return of_tag(archive, word, &tagged, metrics);
    }
    if let Some(study) = found::find(archive, word)? {
        return of_one_cell(archive, &study, word, metrics);
    }
    if RunName::parse(word).is_some() {
        return of_runs(archive, word, &[archive.called(word)?], metrics);
    }
    if Path::new(word).is_file() {
        return of_file(word, metrics);
    }
    Err(Error::refused(format_args!(
        "there is nothing called '{word}': no run, no cell of the last study, no tag, no study and \
         no file (use numbers like 3,5,7 or 3..9, STUDY:CELL, a tag, a study, or a file of run \
         --format json; 'postmark list' shows runs and tags, and 'postmark tag 3..9 NAME' names \
         runs)"
    )))
}

/// Returns the runs with a tag as configurations: one for each target or set of targets, in the
/// order of their first runs. Empty if no run has the tag. If the runs may belong to different
/// experiments, `note` of the first configuration names them.
pub(super) fn tagged_by_target(
    archive: &Archive,
    word: &str,
    metrics: &[Metric],
) -> Result<Vec<NamedSide>, Error> {
    let tagged = tagged(archive, word, false)?;
    let mut sides: Vec<NamedSide> = Vec::new();
    let mut pooled = PooledRuns::new(word);
    for run in &tagged {
        let (record, observed) = read(archive, run, metrics)?;
        pooled.add(run, &observed);
        let targets = record.spec.targets.iter();
        let targets: Vec<String> = targets.map(|of| of.display().to_string()).collect();
        let label = targets.join(", ");
        match sides.iter_mut().find(|side| side.label == label) {
            Some(side) => side.runs.push((observed, false)),
            None => sides.push(NamedSide {
                label,
                runs: vec![(observed, false)],
                note: None,
            }),
        }
    }
    if let Some(first) = sides.first_mut() {
        first.note = pooled.if_apart().map(|pooled| pooled.to_string());
    }
    Ok(sides)
}

/// Reads an archived run that has ended.
fn read(
    archive: &Archive,
    run: &ListedRun,
    metrics: &[Metric],
) -> Result<(Record, Observed), Error> {
    let number = run.number.unwrap_or_default();
    if run.headline.state == State::Going {
        return Err(Error::refused(format_args!(
            "run {number} has not ended (wait for it, or leave it out)"
        )));
    }
    if run.headline.is_sweep {
        return Err(Error::refused(format_args!(
            "run {number} is a load sweep, which has several rates (give a run with one load)"
        )));
    }
    let record = archive.record(number)?;
    let observed = Observed::of(&record, Some(number), metrics);
    Ok((record, observed))
}

/// The runs in a file, which must be of one configuration.
fn of_file(word: &str, metrics: &[Metric]) -> Result<NamedSide, Error> {
    let path = Path::new(word);
    let mut runs = Vec::new();
    let mut cells = BTreeSet::new();
    for text in record_source::texts(path)? {
        let record = record_source::record(path, &text?)?;
        let part = record.study.as_ref();
        cells.insert(part.map_or("", |part| &*part.cell).to_owned());
        let is_twin = part.is_some_and(|part| part.is_twin);
        runs.push((Observed::of(&record, None, metrics), is_twin));
    }
    if cells.len() > 1 {
        let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        return Err(wrong(path, several(&cells)));
    }
    let name = path.file_name().filter(|_| word != "-");
    Ok(NamedSide {
        label: name.map_or("standard input".into(), |name| {
            name.to_string_lossy().into()
        }),
        runs,
        note: None,
    })
}

/// Returns the runs of a study that has only one configuration, and an error for other studies.
fn of_one_cell(
    archive: &Archive,
    study: &FoundStudy,
    word: &str,
    metrics: &[Metric],
) -> Result<NamedSide, Error> {
    match &cells(study)[..] {
        [cell] => {
            let label = word.to_owned();
            let named = of_cell(archive, study, cell, metrics)?;
            let runs = named.map_or_else(Vec::new, |named| named.runs);
            Ok(NamedSide {
                label,
                runs,
                note: study.namesakes_note(),
            })
        }
        cells => Err(Error::refused(format_args!(
            "cannot use the study {word}: {}",
            several(cells)
        ))),
    }
}

/// Returns the message for an argument that names several configurations instead of one.
fn several(cells: &[String]) -> String {
    format!(
        "it has {} configurations: {} (give it alone to compare them all, or one as STUDY:CELL)",
        cells.len(),
        cells.join(", ")
    )
}

fn of_runs(
    archive: &Archive,
    word: &str,
    runs: &[ListedRun],
    metrics: &[Metric],
) -> Result<NamedSide, Error> {
    let read = |run: &ListedRun| {
        let (record, observed) = read(archive, run, metrics)?;
        let is_twin = record.study.as_ref().is_some_and(|part| part.is_twin);
        Ok((observed, is_twin))
    };
    let runs: Result<Vec<(Observed, bool)>, Error> = runs.iter().map(read).collect();
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let label = if word.bytes().all(is_digit) {
        format!("run {word}")
    } else if word
        .bytes()
        .all(|byte| is_digit(byte) || b",. ".contains(&byte))
    {
        format!("runs {word}")
    } else {
        word.to_owned()
    };
    Ok(NamedSide {
        label,
        runs: runs?,
        note: None,
    })
}

fn of_tag(
    archive: &Archive,
    tag: &str,
    tagged: &[ListedRun],
    metrics: &[Metric],
) -> Result<NamedSide, Error> {
    let mut named = of_runs(archive, tag, tagged, metrics)?;
    let mut pooled = PooledRuns::new(tag);
    for (run, (observed, _)) in tagged.iter().zip(&named.runs) {
        pooled.add(run, observed);
    }
    named.note = pooled.if_apart().map(|pooled| pooled.to_string());
    Ok(named)
}

/// Resolves `STUDY:CELL`, or a cell of the newest study. Returns `None` for other arguments. The
/// label of a cell may itself contain colons.
fn cell(archive: &Archive, word: &str, metrics: &[Metric]) -> Result<Option<NamedSide>, Error> {
    if let Some((name, cell)) = word.split_once(':')
        && let Some(found) = found::find(archive, name)?
    {
        return match of_cell(archive, &found, cell, metrics)? {
            Some(called) => Ok(Some(called)),
            None => Err(Error::refused(format_args!(
                "there is no cell '{cell}' in the study {name} (it has {})",
                cells(&found).join(", ")
            ))),
        };
    }
    match found::find(archive, LAST)? {
        Some(found) => of_cell(archive, &found, word, metrics),
        None => Ok(None),
    }
}

fn of_cell(
    archive: &Archive,
    found: &FoundStudy,
    cell: &str,
    metrics: &[Metric],
) -> Result<Option<NamedSide>, Error> {
    let mut runs = with_metrics(archive, found, metrics)?;
    runs.retain(|run| run.part.cell == cell);
    Ok((!runs.is_empty()).then(|| NamedSide {
        label: cell.to_owned(),
        runs: runs
            .into_iter()
            .map(|run| (run.observed, run.part.is_twin))
            .collect(),
        note: found.namesakes_note(),
    }))
}

fn cells(found: &FoundStudy) -> Vec<String> {
    let cells: BTreeSet<&str> = found.runs.iter().map(|run| &*run.part.cell).collect();
    cells.into_iter().map(str::to_owned).collect()
}
