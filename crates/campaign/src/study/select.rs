//! Selects the configurations to compare by the arguments of `compare` and `gate`.

use std::collections::BTreeSet;

use archive::{Archive, Filter, RunName};
use study::statistics::ALPHA;
use study::{
    Baseline, ComparedSide, Comparisons, Metric, Observed, SideGroup, StudyComparisons, StudyRun,
    Unlike, unlike,
};
use verdict::{ListedRun, State};

use super::found::{self, FoundStudy};
use crate::error::Error;
/// Maximum number of runs that one argument may name; a larger number is probably a mistake.
const RUNS_MAX: u64 = 10_000;

/// The argument that names the newest run or study.
const LAST: &str = "last";

/// Compared configurations, their comparison tables, and the metrics.
pub struct Found {
    /// Each baseline with the configurations that are compared with it.
    pub groups: Vec<SideGroup>,
    /// The comparison table of each group, in the order of `groups`.
    pub tables: Vec<Comparisons>,
    pub metrics: Vec<Metric>,
}

/// Resolves arguments: the name of a study; or a baseline, and the configurations to compare with
/// it. If `metrics` is empty, the metrics of the study are used, or the transaction rate if the
/// arguments name no study.
///
/// # Errors
/// Returns an error if an argument names nothing. Also returns an error if configurations are not
/// alike, unless `is_unlike_allowed`.
pub fn sides(
    archive: &Archive,
    words: &[String],
    metrics: &[Metric],
    is_unlike_allowed: bool,
) -> Result<Found, Error> {
    let found = match words {
        [] => of_study(archive, LAST, metrics),
        [word] => of_study(archive, word, metrics),
        [baseline, others @ ..] => {
            of_words(archive, (baseline, others), metrics, is_unlike_allowed)
        }
    }?;
    let rows = found.tables.iter().flat_map(|table| &table.rows);
    match rows.into_iter().find(|row| row.has_unlike_shares()) {
        Some(row) if !is_unlike_allowed => {
            let (side, baseline) = (&row.side, &row.baseline);
            let shares = report::comparison::incomplete_words(&row.incomplete, side, baseline);
            Err(Error::refused(format_args!(
                "cannot compare '{side}' with '{baseline}': {shares}, and what is not done makes \
                 a system seem fast (add --unlike to compare them)"
            )))
        }
        _ => Ok(found),
    }
}

/// Resolves the names of a baseline and of the configurations to compare with it.
fn of_words(
    archive: &Archive,
    (baseline, others): (&str, &[String]),
    metrics: &[Metric],
    is_unlike_allowed: bool,
) -> Result<Found, Error> {
    let metrics = match metrics.is_empty() {
        true => vec![Metric::Transactions],
        false => metrics.to_vec(),
    };
    let (side, twin) = halves(side(archive, baseline, &metrics)?);
    let baseline = Baseline { side, twin };
    let mut sides = Vec::new();
    for word in others {
        let (side, _) = halves(self::side(archive, word, &metrics)?);
        are_apart(&side, &baseline)?;
        let found = unlike(&side, &baseline.side);
        if !is_unlike_allowed && !found.is_empty() && !is_planned(&side, &baseline.side) {
            return Err(not_alike(&side, &baseline.side, &found));
        }
        sides.push(side);
    }
    let groups = vec![SideGroup { baseline, sides }];
    Ok(Found {
        tables: Comparisons::of_groups(&groups, &metrics, ALPHA),
        groups,
        metrics,
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

/// Returns the error for an argument that names no study.
pub fn no_study(word: &str) -> Error {
    Error::refused(format_args!(
        "there is no study '{word}' in the archive (use its name, its identity or last, or give \
         two sides to compare)"
    ))
}

/// Returns all comparisons in the study that an argument names.
fn of_study(archive: &Archive, word: &str, metrics: &[Metric]) -> Result<Found, Error> {
    let study = one_study(archive, &[word.to_owned()])?;
    let mut found = all_of_study(archive, &study, metrics)?;
    found.groups.retain(|group| !group.sides.is_empty());
    if found.groups.is_empty() {
        return Err(Error::refused(format_args!(
            "the study {} has one cell: nothing to compare it with (give two sides)",
            study.id
        )));
    }
    Ok(found)
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
    let runs = with_metrics(archive, found, &metrics)?;
    let mut tables = StudyComparisons::of(&found.design, &cells, &runs, &metrics).tables;
    tables.retain(|table| !table.rows.is_empty());
    Ok(Found {
        groups: study::groups(&cells, &runs),
        tables,
        metrics,
    })
}

/// Returns the runs of a study with the values of these metrics. Records are read for metrics that
/// are not in the study's design.
fn with_metrics(
    archive: &Archive,
    found: &FoundStudy,
    metrics: &[Metric],
) -> Result<Vec<StudyRun>, Error> {
    let is_there = |metric| found.design.metrics.contains(metric);
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
struct CalledSide {
    label: String,
    runs: Vec<(Observed, bool)>,
}

/// Separates the second runs of a baseline (the A/A control) from its first runs. If all runs are
/// first runs or all are second runs, the configuration has no A/A control.
fn halves(called: CalledSide) -> (ComparedSide, Option<ComparedSide>) {
    let CalledSide { label, runs } = called;
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

/// Resolves an argument: first as run numbers, then as a cell of a study, as a tag, and as a run
/// ID.
fn side(archive: &Archive, word: &str, metrics: &[Metric]) -> Result<CalledSide, Error> {
    if let Some(runs) = numbered(archive, word)? {
        return of_runs(archive, word, &runs, metrics);
    }
    if let Some(called) = cell(archive, word, metrics)? {
        return Ok(called);
    }
    let tagged = Filter {
        tags: vec![word.to_owned()],
        ..Filter::default()
    };
    let tagged = archive.list(&tagged)?;
    if !tagged.is_empty() {
        return of_runs(archive, word, &tagged, metrics);
    }
    if RunName::parse(word).is_some() {
        return of_runs(archive, word, &[archive.called(word)?], metrics);
    }
    Err(Error::refused(format_args!(
        "there is nothing called '{word}' in the archive: no run, no cell of the last study, no \
         tag ('postmark list' shows runs and tags)"
    )))
}

/// Whether an argument is a run number or the word for the newest run.
pub(crate) fn is_number(word: &str) -> bool {
    let name = RunName::parse(word);
    matches!(name, Some(RunName::Last | RunName::Number(_)))
}

/// Resolves run numbers, such as `3,5,7`, `3..9` or `last`. Returns `None` for other arguments.
fn numbered(archive: &Archive, word: &str) -> Result<Option<Vec<ListedRun>>, Error> {
    let mut runs: Vec<ListedRun> = Vec::new();
    for part in word.split(',').map(str::trim) {
        if is_number(part) {
            runs.push(archive.called(part)?);
            continue;
        }
        let ends = part.split_once("..");
        let are_numbers = |ends: &(&str, &str)| is_number(ends.0) && is_number(ends.1);
        let Some((first, last)) = ends.filter(are_numbers) else {
            return Ok(None);
        };
        let range = find_number(archive, first)?..=find_number(archive, last)?;
        let mut listed = archive.list(&Filter::default())?;
        // Numbers of deleted runs within the range are ignored.
        listed.retain(|run| run.number.is_some_and(|run| range.contains(&run)));
        let before = runs.len();
        runs.extend(listed);
        if runs.len() == before || runs.len() as u64 > RUNS_MAX {
            return Err(Error::refused(format_args!(
                "invalid runs '{word}': expected numbers like 3,5,7 or 3..9, at most {RUNS_MAX} \
                 of them"
            )));
        }
    }
    let mut seen = BTreeSet::new();
    runs.retain(|run| seen.insert(run.number));
    Ok(Some(runs))
}

/// Returns the run number at one end of a range. The number is accepted even if no run has it.
fn find_number(archive: &Archive, word: &str) -> Result<u64, Error> {
    match RunName::parse(word) {
        Some(RunName::Number(number)) => Ok(number),
        _ => Ok(archive.called(word)?.number.unwrap_or_default()),
    }
}

fn of_runs(
    archive: &Archive,
    word: &str,
    runs: &[ListedRun],
    metrics: &[Metric],
) -> Result<CalledSide, Error> {
    let read = |run: &ListedRun| {
        let number = run.number.unwrap_or_default();
        if run.headline.state == State::Going {
            return Err(Error::refused(format_args!(
                "run {number} has not ended (wait for it, or leave it out)"
            )));
        }
        let record = archive.record(number)?;
        let is_twin = record.study.as_ref().is_some_and(|part| part.is_twin);
        Ok((Observed::of(&record, Some(number), metrics), is_twin))
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
    Ok(CalledSide { label, runs: runs? })
}

/// Resolves `STUDY:CELL`, or a cell of the newest study. Returns `None` for other arguments. The
/// label of a cell may itself contain colons.
fn cell(archive: &Archive, word: &str, metrics: &[Metric]) -> Result<Option<CalledSide>, Error> {
    if let Some((name, cell)) = word.split_once(':') {
        if let Some(found) = found::find(archive, name)? {
            return match of_cell(archive, &found, cell, metrics)? {
                Some(called) => Ok(Some(called)),
                None => Err(Error::refused(format_args!(
                    "there is no cell '{cell}' in the study {name} (it has {})",
                    cells(&found).join(", ")
                ))),
            };
        }
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
) -> Result<Option<CalledSide>, Error> {
    let mut runs = with_metrics(archive, found, metrics)?;
    runs.retain(|run| run.part.cell == cell);
    Ok((!runs.is_empty()).then(|| CalledSide {
        label: cell.to_owned(),
        runs: runs
            .into_iter()
            .map(|run| (run.observed, run.part.is_twin))
            .collect(),
    }))
}

fn cells(found: &FoundStudy) -> Vec<String> {
    let cells: BTreeSet<&str> = found.runs.iter().map(|run| &*run.part.cell).collect();
    cells.into_iter().map(str::to_owned).collect()
}

fn are_apart(side: &ComparedSide, baseline: &Baseline) -> Result<(), Error> {
    let runs = |side: &ComparedSide| -> BTreeSet<u64> {
        side.runs.iter().filter_map(|run| run.run).collect()
    };
    match runs(side).intersection(&runs(&baseline.side)).next() {
        Some(run) => Err(Error::refused(format_args!(
            "run {run} is on both sides, '{}' and '{}' (give each run to one side)",
            side.label, baseline.side.label
        ))),
        None => Ok(()),
    }
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
    let differences: Vec<String> = differences
        .iter()
        .map(report::comparison::unlike_words)
        .collect();
    Error::refused(format_args!(
        "'{}' and '{}' differ in {} (add --unlike to compare them)",
        side.label,
        baseline.label,
        differences.join(", and in ")
    ))
}
