//! The cells of published tables as rows of CSV, and helpers that all tables use.

use document::{Cell, Number, Table};
use record::Fact;
use serde::Serialize;

use crate::editions::Finding;
use crate::library::Library;
use crate::number::Unit;
use crate::source::{Configuration, PrintedCell, PublishedTable, Source};

/// The headers of the columns, in the order of the cells that [`line`] returns.
const COLUMNS: &str = "source table system over variant contributor configuration files \
                       transactions subdirectories processes edition figure unit printed value to \
                       unavailable";

/// Creates a table for CSV. `columns` contains the table's headers, separated by spaces.
pub(crate) fn sheet(columns: &str, lines: impl IntoIterator<Item = Vec<Cell>>) -> Table {
    let header: Vec<&str> = columns.split(' ').collect();
    let mut table = Table::new(0, &header);
    lines.into_iter().for_each(|line| table.row(line));
    table
}

/// Creates a row for each cell of the published tables.
pub(crate) fn flat(library: &Library, findings: &[Finding]) -> Table {
    let lines = library.tables().flat_map(|(source, table)| {
        let places = table.places();
        places.map(move |place| line(findings, source, table, &place))
    });
    sheet(COLUMNS, lines)
}

fn line(
    findings: &[Finding],
    source: &Source,
    table: &PublishedTable,
    place: &PrintedCell<'_>,
) -> Vec<Cell> {
    let of = &place.of;
    // A range covers several configurations, so the columns about a single configuration remain
    // empty.
    let configuration = match of.configurations.as_slice() {
        [name] => source.configuration(name),
        _ => None,
    };
    let finding = findings.iter().find(|finding| {
        finding.table == table.name
            && Some(&finding.system) == of.system.as_ref()
            && of.configurations.contains(&finding.configuration)
    });
    let stated = configuration.and_then(|one| one.edition.known());
    let edition = finding
        .map(|finding| finding.made.in_short())
        .or_else(|| stated.map(|edition| edition.name().to_owned()));
    let system = of.system.as_deref().and_then(|name| source.system(name));
    let number = place.number();
    let count = |of: fn(&Configuration) -> u64| Cell::from(configuration.map(of).map(Cell::count));
    vec![
        Cell::ours(&source.name),
        Cell::ours(&table.name),
        ours(of.system.as_ref()),
        ours(of.over.as_ref()),
        ours(of.variant.as_ref()),
        ours(system.and_then(|system| system.contributor.known())),
        Cell::ours(of.configurations.join(" ")),
        count(|one| one.files),
        count(|one| one.transactions),
        count(|one| one.subdirectories.into()),
        count(|one| one.processes.into()),
        ours(edition),
        ours(of.figure.map(kebab)),
        ours(of.unit.map(Unit::name)),
        ours(number.map(|number| &number.printed)),
        number.map(|number| Number::Rate(number.value)).into(),
        number.and_then(|number| number.to).map(Number::Rate).into(),
        ours(place.cell.0.why()),
    ]
}

/// Returns a cell with a text of this program, which CSV does not escape as a formula; an empty
/// cell for `None`.
pub(crate) fn ours(text: Option<impl Into<String>>) -> Cell {
    text.map_or(Cell::Empty, Cell::ours)
}

/// Removes duplicates and keeps the first occurrence of each value.
pub(crate) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// Returns the contributor's name in brackets, after a space, or an empty string.
pub(crate) fn bracketed(contributor: &Fact<String>) -> String {
    let name = contributor.known();
    name.map_or_else(String::new, |name| format!(" [{name}]"))
}

/// Returns the name of an enum variant in JSON.
pub(crate) fn kebab(value: impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
