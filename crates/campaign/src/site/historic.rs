//! The collections of the class `historic`: published results, with the runs of the site that
//! performed the same operations.

use std::collections::BTreeMap;

use document::Document;
use document::units::{grouped, rate};
use published::collection::{CollectedRow, CollectedTable, collected, origin};
use published::{Figure, Library, Source};
use record::{Edition, Fact};
use report::site::{
    self, Collection, CollectionCell, CollectionRow, CollectionTable, Site, SiteRun, key,
    record_path,
};
use study::ResultClass;

use super::output::SiteOutput;
use crate::error::Error;

/// Adds the names of all collections to the site. The mail administrator's table, to which many
/// contributed, is the first.
pub(super) fn collections(site: &mut Site) -> Library {
    const FIRST: &str = "mail-page";
    let mut library = Library::read();
    library.sources.sort_by_key(|source| source.name != FIRST);
    site.collections = library
        .sources
        .iter()
        .map(|source| (source.name.clone(), title(source)))
        .collect();
    library
}

fn title(source: &Source) -> String {
    match source.name.as_str() {
        "mail-page" => "The mail administrator's table (about 2000)".to_owned(),
        _ => source.in_short(),
    }
}

/// Writes the pages of all collections, and the data that their numbers link to.
pub(super) fn write(output: &mut SiteOutput, site: &Site, library: &Library) -> Result<(), Error> {
    let data: BTreeMap<String, &str> = Library::files().collect();
    for source in &library.sources {
        let name = &source.name;
        if let Some(text) = data.get(name) {
            output.write(&data_path(name), text)?;
        }
        let page = site::collection(site, &collection(site, source));
        output.write(&format!("collection/{name}.html"), &page)?;
    }
    Ok(())
}

fn data_path(name: &str) -> String {
    format!("record/published/{name}.toml")
}

fn collection(site: &Site, source: &Source) -> Collection {
    let mut about = Document::default();
    for (name, value) in origin(source) {
        about.sentence(name, value);
    }
    let mut conditions = Document::default();
    conditions.items(source.environment.iter().chain(&source.notes));
    about.folded("Machines, parameters and units", conditions);
    let tables = collected(source);
    Collection {
        title: title(source),
        about,
        tables: tables.iter().map(|of| table(site, source, of)).collect(),
    }
}

fn table(site: &Site, source: &Source, of: &CollectedTable) -> CollectionTable {
    let mut rows: Vec<CollectionRow> = of.rows.iter().map(|row| printed(source, of, row)).collect();
    for (edition, fingerprint) in &of.fingerprints {
        rows.extend(own_rows(site, of, *edition, &key(fingerprint)));
    }
    let mut notes = of.notes.clone();
    if of
        .rows
        .iter()
        .flat_map(|row| row.cells.iter().flatten())
        .any(|cell| cell.is_converted)
    {
        notes.push(
            "A number with an asterisk was multiplied by 1,024, but edition 1.0 had divided it by \
             1,000, so it is 2.4 % too high as printed."
                .to_owned(),
        );
    }
    CollectionTable {
        title: format!("{}: {}", of.title, of.configuration.in_short()),
        notes,
        figures: of
            .figures
            .iter()
            .map(|figure| CollectedTable::header(*figure))
            .collect(),
        rows,
    }
}

/// The letter of the rows whose operations an edition performs.
const fn group(edition: Edition) -> char {
    match edition {
        Edition::V1_0 => 'A',
        Edition::V1_5 => 'B',
    }
}

fn printed(source: &Source, table: &CollectedTable, row: &CollectedRow) -> CollectionRow {
    let contributor = match &row.contributor {
        Fact::Known(name) => name.clone(),
        Fact::NotApplicable | Fact::Unavailable(_) => "not available".to_owned(),
    };
    let cell = |cell: &Option<published::CollectedCell>| match cell {
        None => CollectionCell::Missing,
        Some(cell) => CollectionCell::Number {
            printed: match cell.is_converted {
                true => format!("{}*", cell.printed),
                false => cell.printed.clone(),
            },
            value: cell.value,
            to: format!("../{}", data_path(&source.name)),
        },
    };
    debug_assert_eq!(row.cells.len(), table.figures.len());
    CollectionRow {
        system: row.system.clone(),
        to: None,
        contributor,
        group: row.edition().map(group),
        made_by: row.made_by.as_ref().map_or_else(
            || "?".to_owned(),
            published::editions::WhichEdition::in_short,
        ),
        class: ResultClass::Historic.name(),
        cells: row.cells.iter().map(cell).collect(),
        description: row.description.clone(),
    }
}

/// The runs of the site that performed the operations of an edition, at most one for each system:
/// the run with the median rate.
fn own_rows(
    site: &Site,
    of: &CollectedTable,
    edition: Edition,
    workload: &str,
) -> Vec<CollectionRow> {
    let mut systems: BTreeMap<(&str, ResultClass), Vec<&SiteRun>> = BTreeMap::new();
    let is_counted = |run: &&SiteRun| run.workload == workload && run.is_counted();
    for run in site.runs.iter().filter(is_counted) {
        let of_system = systems.entry((&run.system, run.class)).or_default();
        of_system.push(run);
    }
    let row = |((system, class), mut runs): ((&str, ResultClass), Vec<&SiteRun>)| {
        let value = |run: &SiteRun| run.transactions_per_second.unwrap_or(0.0);
        runs.sort_by(|one, other| value(one).total_cmp(&value(other)));
        let median = runs.get((runs.len() - 1) / 2)?;
        let disclosure = median.submission.and_then(|at| site.submissions.get(at));
        let name = &site.systems.get(system)?.name;
        let cell = |figure: &Figure| match (figure, median.transactions_per_second) {
            (Figure::TransactionsRate, Some(value)) => CollectionCell::Number {
                printed: rate(Some(value)),
                value: value / f64::from(of.configuration.processes.max(1)),
                to: format!("../{}", record_path(&median.id)),
            },
            _ => CollectionCell::Missing,
        };
        Some(CollectionRow {
            system: name.clone(),
            to: Some(format!("../system/{system}.html")),
            contributor: disclosure.map_or_else(|| "-".to_owned(), |of| of.contributor.clone()),
            group: Some(group(edition)),
            made_by: edition.name().to_owned(),
            class: class.name(),
            cells: of.figures.iter().map(cell).collect(),
            description: format!("{name}: the median of {} runs", grouped(runs.len() as u64)),
        })
    };
    systems.into_iter().filter_map(row).collect()
}
