//! Finds the runs of a history in the archive, in their order, with their A/A controls.

mod controls;
mod order;
mod select;

use archive::{Archive, Filter};
use study::{History, HistoryPoint, Metric};
use verdict::Level;

pub use self::order::Order;
use self::order::in_order;
use self::select::{Member, members, of_words};
use crate::error::Error;

/// What a history is about.
pub struct HistoryRequest<'a> {
    /// A run of the series, a tag, or numbers; `None` for all runs that meet `filter`.
    pub word: Option<&'a str>,
    pub filter: Filter,
    pub metric: Metric,
    pub by: Order,
}

impl HistoryRequest<'_> {
    /// Finds the runs, and searches the changes.
    ///
    /// # Errors
    /// Returns an error if no run or runs of several series are selected, if no run contains the
    /// metric, or if the archive cannot be read.
    pub fn find(&self, archive: &Archive) -> Result<History, Error> {
        let found = members(archive, self.word, &self.filter, self.metric)?;
        history(archive, found, (self.metric, &self.by))
    }
}

/// The history before the runs that `word` names, and these runs.
///
/// # Errors
/// Returns an error if the word names no run or runs of several series, if they do not contain the
/// metric, or if the archive cannot be read.
pub fn before(
    archive: &Archive,
    word: &str,
    metric: Metric,
) -> Result<(History, Vec<HistoryPoint>), Error> {
    let new = of_words(archive, word)?;
    let first = new.iter().map(|run| run.headline.begun_unix_ns).min();
    let numbers: Vec<u64> = new.iter().filter_map(|run| run.number).collect();
    // Any of the runs selects the series. `members` refuses runs of several series below.
    let one = numbers.first().map(u64::to_string).unwrap_or_default();
    let mut found = members(archive, Some(&one), &Filter::default(), metric)?;
    let is_new = |member: &Member| numbers.contains(&member.point.run);
    let points: Vec<HistoryPoint> = found
        .members
        .iter()
        .filter(|member| is_new(member))
        .map(|member| member.point.clone())
        .collect();
    if points.len() < numbers.len() {
        return Err(Error::refused(format_args!(
            "the runs '{word}' are not all of one workload, engine, target and durability (give \
             runs of one configuration)"
        )));
    }
    let begun = |member: &Member| member.point.begun_unix_ns;
    found
        .members
        .retain(|member| !is_new(member) && first.is_some_and(|first| begun(member) < first));
    if let Some(point) = points.iter().find(|point| point.counted().is_none()) {
        let run = point.run;
        return Err(match point.verdict {
            Level::Invalid => Error::refused(format_args!(
                "run {run} of '{word}' is INVALID: a gate cannot decide on it ('postmark show \
                 {run}' has the reasons)"
            )),
            Level::Valid | Level::Doubtful => {
                let why = metric.why_missing(None);
                let why = why.map_or_else(String::new, |why| format!(" ({why})"));
                Error::refused(format_args!(
                    "{metric} is not in run {run} of '{word}'{why}"
                ))
            }
        });
    }
    let by = Order::Time;
    let (runs, without) = in_order(found.members, &by);
    let of = (found.key, metric);
    Ok((History::of(of, by.to_string(), (runs, without)), points))
}

fn history(
    archive: &Archive,
    found: select::Found,
    (metric, by): (Metric, &Order),
) -> Result<History, Error> {
    let controls = controls::of(archive, &found, metric)?;
    let mut members = found.members;
    for member in &mut members {
        let block = member.block.as_ref();
        member.point.control = block.and_then(|block| controls.get(block)).copied();
    }
    if members.iter().all(|member| member.point.value.is_none()) {
        let why = metric.why_missing(None);
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        return Err(Error::refused(format_args!(
            "no run of the series contains {metric}{why}"
        )));
    }
    let all = members.len();
    let (runs, without) = in_order(members, by);
    if runs.is_empty() {
        return Err(Error::refused(format_args!(
            "none of the {all} runs has {} ('postmark tag' and 'postmark note' add them)",
            by.missing()
        )));
    }
    Ok(History::of(
        (found.key, metric),
        by.to_string(),
        (runs, without),
    ))
}
