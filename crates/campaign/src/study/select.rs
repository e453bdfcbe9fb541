//! Selects the configurations to compare by the arguments of `compare` and `gate`.

use std::collections::BTreeSet;
use std::path::Path;

use archive::{Archive, Tag};
use record::Record;
use study::statistics::ALPHA;
use study::{
    Baseline, ComparedSide, Comparisons, MayDiffer, Metric, SideGroup, StudyComparisons, StudyRun,
    Unlike, unlike,
};

use super::found::{self, FoundStudy};
use super::named_runs::is_number;
use super::named_side::{LAST, NamedSide, halves, named_side, tagged_by_target, with_metrics};
use crate::error::Error;
use crate::record_source::{self, is_record_file, wrong};

/// Compared configurations, their comparison tables, and the compared metrics.
pub struct Found {
    /// Each baseline with the configurations that are compared with it.
    pub groups: Vec<SideGroup>,
    /// The comparison table of each group, in the order of `groups`.
    pub tables: Vec<Comparisons>,
    pub metrics: Vec<Metric>,
    /// Sentences about names that may not select what the user expects: tags whose runs may belong
    /// to different experiments, and names of several studies.
    pub notes: Vec<String>,
}

/// Whether an archive is needed because an argument is not a file with records.
pub fn need_archive(words: &[String]) -> bool {
    !words.iter().all(|word| is_record_file(word))
}

/// Resolves arguments to configurations. A single argument names what to compare: a study, a tag or
/// a file. Several arguments name the baseline and the configurations to compare with it. If
/// `metrics` is empty, the metrics of the study are used, or the transaction rate if the arguments
/// name no study. `archive` may be `None` if all arguments are files ([`need_archive`]).
///
/// # Errors
/// Returns an error if an argument names nothing. Also returns an error if configurations are not
/// alike in other conditions than those of `may_differ`.
pub fn sides(
    archive: Option<&Archive>,
    words: &[String],
    metrics: &[Metric],
    may_differ: &MayDiffer,
) -> Result<Found, Error> {
    let found = match words {
        [] => of_one(archive, (LAST, metrics), may_differ),
        [word] => of_one(archive, (word, metrics), may_differ),
        words => {
            let metrics = or_transactions(metrics);
            let named = words.iter().map(|word| named_side(archive, word, &metrics));
            of_named(named.collect::<Result<_, _>>()?, metrics, may_differ)
        }
    }?;
    let rows = found.tables.iter().flat_map(|table| &table.rows);
    match rows.into_iter().find(|row| row.has_unlike_shares()) {
        Some(row) if !may_differ.shares => {
            let (side, baseline) = (&row.side, &row.baseline);
            let shares = report::comparison::incomplete_words(&row.incomplete, side, baseline);
            Err(Error::refused(format_args!(
                "cannot compare '{side}' with '{baseline}': {shares}, and what is not done makes \
                 a system seem fast (add --unlike=shares to compare them)"
            )))
        }
        _ => Ok(found),
    }
}

/// The transaction rate, unless metrics are given.
fn or_transactions(metrics: &[Metric]) -> Vec<Metric> {
    match metrics.is_empty() {
        true => vec![Metric::Transactions],
        false => metrics.to_vec(),
    }
}

/// Compares configurations with the first one, which is the baseline.
fn of_named(
    named: Vec<NamedSide>,
    metrics: Vec<Metric>,
    may_differ: &MayDiffer,
) -> Result<Found, Error> {
    let notes = named.iter().filter_map(|side| side.note.clone()).collect();
    let mut named = named.into_iter().map(halves);
    let Some((side, twin)) = named.next() else {
        return Err(Error::refused(
            "a comparison needs a baseline and a candidate",
        ));
    };
    let baseline = Baseline { side, twin };
    let mut sides = Vec::new();
    for (side, _) in named {
        are_apart(&side, &baseline)?;
        let found = may_differ.others(unlike(&side, &baseline.side));
        if !found.is_empty() && !is_planned(&side, &baseline.side) {
            return Err(not_alike(&side, &baseline.side, &found));
        }
        sides.push(side);
    }
    let groups = vec![SideGroup { baseline, sides }];
    Ok(Found {
        tables: Comparisons::of_groups(&groups, &metrics, ALPHA),
        groups,
        metrics,
        notes,
    })
}

/// Returns the study that the only argument names.
///
/// # Errors
/// Returns an error if there is not exactly one argument, or if no study has this name.
pub fn one_study(archive: &Archive, words: &[String]) -> Result<FoundStudy, Error> {
    let [word] = words else {
        return Err(Error::refused(
            "--layout shows one study (give its name, its identity or last, and nothing else)",
        ));
    };
    found::find(archive, word)?.ok_or_else(|| no_study(word))
}

pub fn no_study(word: &str) -> Error {
    Error::refused(format_args!(
        "there is no study '{word}' in the archive (use its name, its identity or last, or give \
         two configurations to compare)"
    ))
}

/// Resolves the only argument: a study, a tag of its runs, a file with its runs, or a tag of runs
/// on several targets.
fn of_one(
    archive: Option<&Archive>,
    (word, metrics): (&str, &[Metric]),
    may_differ: &MayDiffer,
) -> Result<Found, Error> {
    let Some(archive) = archive.filter(|_| !is_record_file(word)) else {
        let study = study_in_file(word, metrics)?;
        return of_study(&study, &study.runs, metrics);
    };
    if let Some(study) = study_called(archive, word)? {
        return of_study(&study, &with_metrics(archive, &study, metrics)?, metrics);
    }
    let metrics = or_transactions(metrics);
    let sides = tagged_by_target(archive, word, &metrics)?;
    match sides.len() {
        0 => Err(alone(word, &named_side(Some(archive), word, &metrics)?)),
        1 => Err(alone(word, &sides[0])),
        _ => of_named(sides, metrics, may_differ),
    }
}

/// Returns all comparisons of a study, or an error if it has only one configuration.
fn of_study(study: &FoundStudy, runs: &[StudyRun], metrics: &[Metric]) -> Result<Found, Error> {
    let mut found = compared(study, runs, metrics)?;
    found.groups.retain(|group| !group.sides.is_empty());
    if found.groups.is_empty() {
        return Err(only_side(study));
    }
    Ok(found)
}

/// The error for a study whose runs are of one configuration.
fn only_side(study: &FoundStudy) -> Error {
    let id = &study.id;
    let side = study.runs.iter().find_map(|run| run.part.side.as_deref());
    Error::refused(match side {
        Some(side) => format!(
            "the study {id} has only the side '{side}' so far: nothing to compare it with (measure \
             the other side by the command of this one, with another --side and the same --tag)"
        ),
        None => format!(
            "the study {id} has one configuration: nothing to compare it with (give a second \
             study, a tag or runs beside {id}; 'postmark report {id}' writes its page)"
        ),
    })
}

/// Finds a study by its name or identity, or by a tag of its runs.
pub(crate) fn study_called(archive: &Archive, word: &str) -> Result<Option<FoundStudy>, Error> {
    if let Some(study) = found::find(archive, word)? {
        return Ok(Some(study));
    }
    match word.parse::<Tag>() {
        Ok(tag) if !is_number(word) => found::find_tagged(archive, &tag),
        _ => Ok(None),
    }
}

/// Reads the study whose runs are in a file, with the values of these metrics.
fn study_in_file(word: &str, metrics: &[Metric]) -> Result<FoundStudy, Error> {
    let path = Path::new(word);
    let read = |text: Result<String, Error>| Ok((record_source::record(path, &text?)?, None));
    let records: Result<Vec<(Record, Option<u64>)>, Error> =
        record_source::texts(path)?.map(read).collect();
    let records = records?;
    let ids: BTreeSet<Option<&str>> = records
        .iter()
        .map(|(record, _)| record.study.as_ref().map(|part| &*part.study))
        .collect();
    let ids: Vec<Option<&str>> = ids.into_iter().collect();
    let [Some(id)] = ids[..] else {
        let runs = match records.len() {
            1 => "its run".to_owned(),
            all => format!(
                "its {} are not those of one study, and they",
                document::units::counted(all as u64, "run")
            ),
        };
        let verb = if records.len() == 1 { "has" } else { "have" };
        return Err(wrong(
            path,
            format_args!(
                "{runs} {verb} nothing to be compared with (give a second file, run, tag or study)"
            ),
        ));
    };
    found::of_records(id, &records, metrics)
}

/// The error for a single argument that names one configuration.
fn alone(word: &str, side: &NamedSide) -> Error {
    let runs = document::units::counted(side.runs.len() as u64, "run");
    Error::refused(format_args!(
        "'{word}' is one configuration with {runs}: nothing to compare it with (give the baseline \
         first and then each candidate: runs, tags, studies, cells or files)"
    ))
}

/// Returns all configurations of a study and their comparisons, even if their shares of incomplete
/// operations differ.
///
/// # Errors
/// Returns an error if the design has no configurations, or a record cannot be read.
pub fn all_of_study(
    archive: &Archive,
    found: &FoundStudy,
    metrics: &[Metric],
) -> Result<Found, Error> {
    compared(found, &with_metrics(archive, found, metrics)?, metrics)
}

/// Compares the configurations of a study. Without `metrics`, the metrics of the design are used.
pub(crate) fn compared(
    found: &FoundStudy,
    runs: &[StudyRun],
    metrics: &[Metric],
) -> Result<Found, Error> {
    let cells = found.design.cells().map_err(|flaw| {
        Error::refused(format_args!(
            "cannot compare the study {}: {flaw}",
            found.id
        ))
    })?;
    let metrics = match metrics.is_empty() {
        true => found.design.metrics.clone(),
        false => metrics.to_vec(),
    };
    let mut tables = StudyComparisons::of(&found.design, &cells, runs, &metrics).tables;
    tables.retain(|table| !table.rows.is_empty());
    Ok(Found {
        groups: study::groups(&cells, runs),
        tables,
        metrics,
        notes: found.namesakes_note().into_iter().collect(),
    })
}

fn are_apart(side: &ComparedSide, baseline: &Baseline) -> Result<(), Error> {
    // Runs are compared by their IDs. A file and the archive may contain the same run, but a run
    // from a file has no number.
    let runs = |side: &ComparedSide| -> BTreeSet<String> {
        side.runs.iter().map(|run| run.subject.id.clone()).collect()
    };
    let (one, other) = (runs(side), runs(&baseline.side));
    let Some(id) = one.intersection(&other).next() else {
        return Ok(());
    };
    let same = side.runs.iter().find(|run| run.subject.id == *id);
    let name = match same.and_then(|run| run.run) {
        Some(number) => format!("run {number}"),
        None => format!("the run {}", &id[..id.len().min(12)]),
    };
    Err(Error::refused(format_args!(
        "{name} is in both configurations, '{}' and '{}' (give each run to one of them)",
        side.label, baseline.side.label
    )))
}

/// Whether both configurations are from the same study, in which all their differences are
/// intended.
fn is_planned(side: &ComparedSide, baseline: &ComparedSide) -> bool {
    let studies: BTreeSet<Option<&str>> = [side, baseline]
        .iter()
        .flat_map(|side| &side.runs)
        .map(|run| run.block.as_ref().map(|block| &*block.study))
        .collect();
    studies.len() == 1 && !studies.contains(&None)
}

fn not_alike(side: &ComparedSide, baseline: &ComparedSide, differences: &[Unlike]) -> Error {
    let words: Vec<String> = differences
        .iter()
        .map(report::comparison::unlike_words)
        .collect();
    Error::refused(format_args!(
        "'{}' and '{}' differ in {} (add {} to compare them)",
        side.label,
        baseline.label,
        words.join(", and in "),
        study::may_differ::option(differences)
    ))
}
