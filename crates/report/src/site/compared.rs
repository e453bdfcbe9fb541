//! Comparisons of runs with one workload: only within a class, and only of runs with the same
//! durability and the same state of the cache.

use std::collections::BTreeMap;

use document::units::percent;
use study::ResultClass;

use super::markup::{SiteCell, SiteColumn, SiteRow, table};
use super::model::{Site, SiteRun};

/// The conditions that compared runs have in common.
type Conditions<'a> = (ResultClass, &'a str, &'a str);

/// The runs of one system with one engine. A median that is a run of its own has a record to which
/// its number links.
struct Side<'a> {
    runs: Vec<&'a SiteRun>,
    invalid: usize,
}

impl<'a> Side<'a> {
    fn sorted(&mut self) {
        let rate = |run: &SiteRun| run.transactions_per_second.unwrap_or(0.0);
        self.runs
            .sort_by(|one, other| (rate(one).total_cmp(&rate(other))).then(one.id.cmp(&other.id)));
    }

    /// The run with the median rate; of an even number of runs the lower one of the middle.
    fn median(&self) -> Option<&'a SiteRun> {
        let middle = self.runs.len().checked_sub(1)? / 2;
        self.runs.get(middle).copied()
    }

    fn rate(&self) -> f64 {
        let rate = self.median().and_then(|run| run.transactions_per_second);
        rate.unwrap_or(f64::NEG_INFINITY)
    }
}

/// A table for each class and each set of conditions, with the systems by their median rate.
pub(super) fn tables(site: &Site, runs: &[&SiteRun], up: &str) -> String {
    let mut groups: BTreeMap<Conditions<'_>, BTreeMap<(&str, &str, &str), Side<'_>>> =
        BTreeMap::new();
    for run in runs {
        let conditions = (run.class, run.durability.as_str(), run.cache.as_str());
        let system = (
            run.system.as_str(),
            run.target.as_str(),
            run.engine.as_str(),
        );
        let sides = groups.entry(conditions).or_default();
        let side = sides.entry(system).or_insert(Side {
            runs: Vec::new(),
            invalid: 0,
        });
        match run.is_counted() && run.transactions_per_second.is_some() {
            true => side.runs.push(run),
            false => side.invalid += 1,
        }
    }
    let mut text = String::new();
    for ((class, durability, cache), sides) in groups {
        let title = format!(
            "Class {}, durability {durability}, cache {cache}",
            class.name()
        );
        text += &format!("<h3>{}</h3>\n", document::sanitize::html(&title));
        let mut sides: Vec<(&str, &str, &str, Side<'_>)> = sides
            .into_iter()
            .map(|((system, target, engine), side)| (system, target, engine, side))
            .collect();
        sides.iter_mut().for_each(|(.., side)| side.sorted());
        sides.sort_by(|one, other| {
            let by_rate = other.3.rate().total_cmp(&one.3.rate());
            by_rate.then_with(|| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2)))
        });
        let best = sides.first().map_or(0.0, |(.., side)| side.rate());
        let rows = sides.iter().map(|(system, target, engine, side)| {
            row(site, (system, target, engine), side, best, up)
        });
        let rows: Vec<SiteRow> = rows.map(SiteRow::from).collect();
        text += &table(&title, &columns(), &rows, false);
    }
    text
}

fn columns() -> [SiteColumn; 10] {
    [
        SiteColumn::words("System"),
        SiteColumn::words("File system and device"),
        SiteColumn::words("Engine"),
        SiteColumn::number("Runs"),
        SiteColumn::number("Not counted"),
        SiteColumn::number("Median transactions/s"),
        SiteColumn::number("Lowest"),
        SiteColumn::number("Highest"),
        SiteColumn::number("Of the highest median"),
        SiteColumn::number("p99 of the median run"),
    ]
}

fn row(
    site: &Site,
    (system, target, engine): (&str, &str, &str),
    side: &Side<'_>,
    best: f64,
    up: &str,
) -> Vec<SiteCell> {
    let name = site.systems.get(system).map_or("", |system| &system.name);
    let rate = |run: Option<&SiteRun>| run.map_or(SiteCell::Missing, |run| SiteCell::rate(run, up));
    let share = side.rate() / best;
    let share = match share.is_finite() {
        true => SiteCell::Number {
            text: percent(share),
            value: share,
            to: None,
        },
        false => SiteCell::Missing,
    };
    vec![
        SiteCell::link(name, format!("{up}system/{system}.html")),
        SiteCell::Text(target.to_owned()),
        SiteCell::Text(engine.to_owned()),
        SiteCell::count(side.runs.len()),
        SiteCell::count(side.invalid),
        rate(side.median()),
        rate(side.runs.first().copied()),
        rate(side.runs.last().copied()),
        share,
        side.median()
            .map_or(SiteCell::Missing, |run| SiteCell::p99(run, up)),
    ]
}
