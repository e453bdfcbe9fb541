//! Published cells as lines for spreadsheets.

use document::{Cell, Number, Table};
use serde::Serialize;

use crate::editions::Finding;
use crate::number::{PrintedNumber, Unit};
use crate::sheet::sheet;
use crate::source::{Configuration, PrintedCell, PublishedTable, Source};

/// A cell with all that lines for spreadsheets say of it.
struct Line<'a> {
    source: &'a Source,
    table: &'a PublishedTable,
    place: PrintedCell<'a>,
    /// Nothing where a range goes over several, and has no numbers of one.
    configuration: Option<&'a Configuration>,
    edition: Option<String>,
}

impl Line<'_> {
    fn count(&self, number: fn(&Configuration) -> u64) -> Cell {
        let configuration = self.configuration;
        Cell::from(configuration.map(|one| Number::Count(number(one))))
    }

    fn number(&self) -> Option<&PrintedNumber> {
        self.place.cell.0.known()
    }
}

fn text(text: Option<&str>) -> Cell {
    Cell::ours(text.unwrap_or_default())
}

/// A column: its header, and its value in a line.
type Column = (&'static str, fn(&Line<'_>) -> Cell);

/// What a line has, in order.
const COLUMNS: [Column; 18] = [
    ("source", |line| Cell::ours(&line.source.name)),
    ("table", |line| Cell::ours(&line.table.name)),
    ("system", |line| text(line.place.of.system.as_deref())),
    ("over", |line| text(line.place.of.over.as_deref())),
    ("variant", |line| text(line.place.of.variant.as_deref())),
    ("contributor", |line| {
        let system = line.place.of.system.as_deref();
        let system = system.and_then(|name| line.source.system(name));
        text(system.and_then(|system| system.contributor.known().map(String::as_str)))
    }),
    ("configuration", |line| {
        Cell::ours(line.place.of.configurations.join(" "))
    }),
    ("files", |line| line.count(|one| one.files)),
    ("transactions", |line| line.count(|one| one.transactions)),
    ("subdirectories", |line| {
        line.count(|one| one.subdirectories.into())
    }),
    ("processes", |line| line.count(|one| one.processes.into())),
    ("edition", |line| text(line.edition.as_deref())),
    ("figure", |line| {
        text(line.place.of.figure.map(kebab).as_deref())
    }),
    ("unit", |line| text(line.place.of.unit.map(Unit::name))),
    ("printed", |line| {
        text(line.number().map(|number| number.printed.as_str()))
    }),
    ("value", |line| {
        line.number()
            .map(|number| Number::Rate(number.value))
            .into()
    }),
    ("to", |line| {
        line.number()
            .and_then(|number| number.to)
            .map(Number::Rate)
            .into()
    }),
    ("unavailable", |line| text(line.place.cell.0.why())),
];

/// A line for each cell.
pub(crate) fn flat(sources: &[Source], findings: &[Finding]) -> Table {
    let tables = sources.iter().flat_map(|source| {
        let tables = source.tables.iter();
        tables.map(move |table| (source, table))
    });
    let lines = tables.flat_map(|(source, table)| {
        let places = table.places();
        places.map(move |place| line(findings, source, table, place))
    });
    sheet(&COLUMNS, lines)
}

fn line<'a>(
    findings: &[Finding],
    source: &'a Source,
    table: &'a PublishedTable,
    place: PrintedCell<'a>,
) -> Line<'a> {
    let of = &place.of;
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
    Line {
        source,
        table,
        place,
        configuration,
        edition,
    }
}

/// The word for it in JSON.
pub(crate) fn kebab(value: impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
