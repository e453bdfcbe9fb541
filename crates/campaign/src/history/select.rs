//! Selects the runs of one series from the archive.

use std::collections::BTreeMap;

use archive::{Archive, Filter};
use document::sanitize::sanitize;
use document::units::counted;
use record::Record;
use study::{BlockAttempt, HistoryPoint, Metric, Observed, SeriesKey, UnlikeWhat};
use verdict::{ListedRun, State};

use crate::error::{Error, ErrorForm};
use crate::study::named_runs::named_runs;

/// Maximum number of series that a message lists.
const SERIES_SHOWN_MAX: usize = 8;

/// A run of the series.
pub(super) struct Member {
    pub(super) point: HistoryPoint,
    pub(super) tags: Vec<String>,
    pub(super) note: Option<String>,
    /// The block of the run, if all cells of the block ran in turns.
    pub(super) block: Option<BlockAttempt>,
}

/// The runs of one series.
pub(super) struct Found {
    pub(super) key: SeriesKey,
    pub(super) members: Vec<Member>,
}

/// Returns the archived runs that a word names.
pub(super) fn of_words(archive: &Archive, word: &str) -> Result<Vec<ListedRun>, Error> {
    named_runs(archive, word)
}

/// Finds the runs of one series. A word that names a single run selects all runs of its series.
pub(super) fn members(
    archive: &Archive,
    word: Option<&str>,
    filter: &Filter,
    metric: Metric,
) -> Result<Found, Error> {
    let named = word.map(|word| named_runs(archive, word)).transpose()?;
    let (rows, key) = match named {
        Some(named) if named.len() == 1 => {
            let run = named.into_iter().next();
            let run = run.ok_or_else(|| Error::refused("no runs"))?;
            if let Some(why) = unusable(&run) {
                return Err(Error::refused(why));
            }
            let headline = &run.headline;
            let like = Filter {
                fingerprint: Some(headline.fingerprint.clone()),
                host: Some(headline.host.clone()),
                ..filter.clone()
            };
            let mut rows = archive.list(&like)?;
            rows.retain(|row| row.headline.engine == headline.engine);
            let record = archive.record(run.number.unwrap_or_default())?;
            (rows, Some(key_of(&record, &observed(&record, metric))))
        }
        Some(named) => {
            let selected = archive.list(filter)?;
            let numbers: Vec<Option<u64>> = named.iter().map(|run| run.number).collect();
            let is_named = |run: &ListedRun| numbers.contains(&run.number);
            (selected.into_iter().filter(is_named).collect(), None)
        }
        None => (archive.list(filter)?, None),
    };
    let rows: Vec<ListedRun> = rows
        .into_iter()
        .filter(|row| unusable(row).is_none())
        .collect();
    if rows.is_empty() {
        return Err(Error::refused(
            "no run that has ended and is no load sweep meets the conditions ('postmark list' \
             shows the runs)",
        ));
    }
    one_series(by_series(archive, rows, (key.as_ref(), metric))?, key)
}

/// Why a run cannot be part of a history.
fn unusable(run: &ListedRun) -> Option<String> {
    let number = run.number.unwrap_or_default();
    if run.headline.state == State::Going {
        return Some(format!("run {number} has not ended (wait for it)"));
    }
    let why = "is a load sweep, which has several rates (give a run with one load)";
    run.headline.is_sweep.then(|| format!("run {number} {why}"))
}

fn observed(record: &Record, metric: Metric) -> Observed {
    Observed::of(record, None, &[metric])
}

/// Reads the records, and returns the runs of each series. If `wanted` is known, the runs of other
/// series are left out.
fn by_series(
    archive: &Archive,
    rows: Vec<ListedRun>,
    (wanted, metric): (Option<&SeriesKey>, Metric),
) -> Result<BTreeMap<SeriesKey, Vec<Member>>, Error> {
    let mut series: BTreeMap<SeriesKey, Vec<Member>> = BTreeMap::new();
    for row in rows {
        let number = row.number.unwrap_or_default();
        let record = archive.record(number)?;
        let observed = observed(&record, metric);
        let key = key_of(&record, &observed);
        if wanted.is_none_or(|wanted| *wanted == key) {
            let members = series.entry(key).or_default();
            members.push(member(row, number, (observed, metric)));
        }
    }
    Ok(series)
}

fn member(row: ListedRun, number: u64, (observed, metric): (Observed, Metric)) -> Member {
    Member {
        point: HistoryPoint {
            run: number,
            id: row.headline.id.to_string(),
            begun_unix_ns: row.headline.begun_unix_ns,
            label: None,
            verdict: observed.level,
            value: observed.values.get(&metric).copied(),
            control: None,
        },
        tags: row.tags,
        note: row.note,
        block: observed.block.filter(|block| block.is_interleaved),
    }
}

/// What the runs of a series have in common.
fn key_of(record: &Record, observed: &Observed) -> SeriesKey {
    let condition = |what| observed.conditions.get(&what).cloned().unwrap_or_default();
    let made = record.study.as_ref().and_then(|part| part.made.as_ref());
    SeriesKey {
        host: condition(UnlikeWhat::Host),
        workload: observed.subject.workload.clone(),
        fingerprint: condition(UnlikeWhat::Fingerprint),
        engine: record.spec.engine.name().to_owned(),
        settings: record.spec.settings(),
        // Each scratch file system is on another device, so its request identifies it.
        target: made.map_or_else(
            || observed.subject.target.clone(),
            |made| made.asked.clone(),
        ),
        durability: condition(UnlikeWhat::DurabilityTier),
        cell: record
            .study
            .as_ref()
            .map_or_else(String::new, |part| part.cell.clone()),
    }
}

/// The only series. Several series are refused, and listed with a run of each.
fn one_series(
    mut series: BTreeMap<SeriesKey, Vec<Member>>,
    wanted: Option<SeriesKey>,
) -> Result<Found, Error> {
    if let Some(key) = wanted {
        let members = series.remove(&key).unwrap_or_default();
        return Ok(Found { key, members });
    }
    if series.len() < 2 {
        let (key, members) = series.pop_first().unwrap_or_default();
        return Ok(Found { key, members });
    }
    let mut all: Vec<(&SeriesKey, &Vec<Member>)> = series.iter().collect();
    all.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    // Series that look alike in one line differ in settings.
    let differing = |key: &SeriesKey| -> String {
        let is_common = |setting: &&String| all.iter().all(|of| of.0.settings.contains(setting));
        let own = key.settings.iter().filter(|setting| !is_common(setting));
        own.map(|setting| format!(", {setting}")).collect()
    };
    let shown = all.iter().take(SERIES_SHOWN_MAX).map(|(key, members)| {
        let last = members.iter().map(|member| member.point.run).max();
        format!(
            "\n  postmark history {}: {}, {}{}",
            last.unwrap_or_default(),
            counted(members.len() as u64, "run"),
            sanitize(&key.one_line()),
            sanitize(&differing(key))
        )
    });
    let shown: String = shown.collect();
    let more = match all.len().checked_sub(SERIES_SHOWN_MAX) {
        None | Some(0) => String::new(),
        Some(more) => format!("\n  and {more} more"),
    };
    Err(Error::refused(format_args!(
        "the runs are of {} series (choose one by a run of it, or use --preset, --host, \
         --file-system or --tag):{shown}{more}",
        all.len()
    ))
    .shown(ErrorForm::Lines))
}
