//! Shows published results: the list of sources and tables, and their contents in several formats.

use std::collections::BTreeMap;

use document::{Cell, Document, Format, Number, Table};
use record::Fact;
use serde::Serialize;

use crate::cells::flat;
use crate::editions::{Finding, WhichEdition, told_of_converted};
use crate::improvements::{Agreement, Recomputed};
use crate::library::{Library, NoSuchName};
use crate::shape::ConfigurationShape;
use crate::source::{Configuration, PrintedCell, PublishedTable, Source, System};

/// The version of the JSON that [`show`] writes.
pub const SCHEMA_VERSION: u32 = 1;

/// The shown results, independent of the output format.
#[derive(Serialize)]
struct Contents<'a> {
    schema: u32,
    sources: &'a [Source],
    findings: Vec<Finding>,
    improvements: Vec<Recomputed>,
}

/// Returns a document that lists the names of sources and tables.
pub fn list(library: &Library) -> Document {
    let mut document = Document::default();
    document.title(
        "Published results: postmark published show [NAME] [--format text|csv|json|markdown]",
    );
    let mut sheet =
        Table::new(5, &["name", "what", "configurations", "systems", "cells"]).folding();
    for source in &library.sources {
        document.item(format!("{}: {}", source.name, source.in_short()));
        for table in &source.tables {
            let configurations = configurations(source, table);
            sheet.row(vec![
                table.name.as_str().into(),
                shortened(&table.title).into(),
                match configurations.as_slice() {
                    [one] => one.name.clone(),
                    several => format!("{} configurations", several.len()),
                }
                .into(),
                Number::Ordinal(systems(source, table).len() as u64).into(),
                Number::Ordinal(table.places().count() as u64).into(),
            ]);
        }
    }
    document.heading("Their tables");
    document.table(sheet.leading(1));
    document
}

/// Shortens a title to at most `MAX` characters.
fn shortened(title: &str) -> String {
    // A title of this length fits beside the names of tables on a terminal with 60 columns.
    const MAX: usize = 37;
    if title.chars().count() <= MAX {
        return title.to_owned();
    }
    let begin: String = title.chars().take(MAX - 3).collect();
    format!("{}...", begin.trim_end())
}

/// Shows a source, a table, or all sources, with the findings about them.
///
/// # Errors
/// Returns an error if no source or table has this name.
pub fn show(library: &Library, name: Option<&str>, format: Format) -> Result<String, NoSuchName> {
    let taken = take(library, name)?;
    let shown = contents(library, &taken);
    Ok(format.answer(
        || blocks(&shown),
        || document::csv(&flat(&taken, &shown.findings), "\n"),
        || document::json(&shown),
    ))
}

/// Returns the contents of [`show`] as a document.
///
/// # Errors
/// Returns an error if no source or table has this name.
pub fn document(library: &Library, name: Option<&str>) -> Result<Document, NoSuchName> {
    let taken = take(library, name)?;
    Ok(blocks(&contents(library, &taken)))
}

fn take(library: &Library, name: Option<&str>) -> Result<Library, NoSuchName> {
    match name {
        Some(name) => library.take(name),
        None => Ok(library.clone()),
    }
}

fn contents<'a>(library: &Library, taken: &'a Library) -> Contents<'a> {
    let is_shown = |name: &str| taken.tables().any(|(_, table)| table.name == name);
    let mut improvements = library.improvements();
    // Improvements are computed from all tables of the library and not only from the shown ones: a
    // table of ranges contains no rates, so its improvements need the rates of other tables.
    improvements.retain(|one| is_shown(&one.table));
    Contents {
        schema: SCHEMA_VERSION,
        sources: &taken.sources,
        findings: taken.findings(),
        improvements,
    }
}

pub(crate) fn told<T: std::fmt::Display>(fact: &Fact<T>) -> String {
    match fact {
        Fact::Known(value) => value.to_string(),
        Fact::NotApplicable => "does not apply".to_owned(),
        Fact::Unavailable(why) => format!("unavailable: {why}"),
    }
}

/// Returns the system's description, with its contributor in brackets.
pub(crate) fn described(system: &System) -> String {
    let contributor = match &system.contributor {
        Fact::Known(name) => format!(" [{name}]"),
        other => format!("; contributor {}", told(other)),
    };
    format!(
        "{}: {}{contributor}",
        system.column,
        told(&system.description)
    )
}

/// Returns the configurations of a table's cells, in the order of the source's list.
fn configurations<'a>(source: &'a Source, table: &PublishedTable) -> Vec<&'a Configuration> {
    let is_used = |configuration: &&Configuration| {
        let mut places = table.places();
        places.any(|place| place.of.configurations.contains(&configuration.name))
    };
    source.configurations.iter().filter(is_used).collect()
}

fn systems<'a>(source: &'a Source, table: &PublishedTable) -> Vec<&'a System> {
    let is_used = |system: &&System| {
        let names_it = |name: &Option<String>| name.as_deref() == Some(system.name.as_str());
        table
            .places()
            .any(|place| names_it(&place.of.system) || names_it(&place.of.over))
    };
    source.systems.iter().filter(is_used).collect()
}

fn blocks(shown: &Contents<'_>) -> Document {
    let mut document = Document::default();
    for source in shown.sources {
        about(&mut document, source);
        for table in &source.tables {
            document.heading(format!("{}: {}", table.name, table.title));
            for configuration in configurations(source, table) {
                document.item(format!(
                    "{}: {}; edition {}; {}",
                    configuration.name,
                    ConfigurationShape::of_configuration(configuration).in_short(),
                    told(&configuration.edition),
                    configuration.parameters
                ));
            }
            document.table(as_printed(table));
            notes(&mut document, table);
            editions(&mut document, shown, table);
            improvements(&mut document, shown, table);
        }
        document.gap();
    }
    document
}

fn about(document: &mut Document, source: &Source) {
    document.title(format!("{}: {}", source.name, source.in_short()));
    document.words(source.what.as_str());
    for (what, fact) in [
        ("Title", &source.title),
        ("Authors", &source.authors),
        ("Publisher", &source.publisher),
        ("Program", &source.program),
    ] {
        document.item(format!("{what} {}", told(fact)));
    }
    document.item(format!("Year {}", told(&source.year)));
    let lines = source.environment.iter().chain(&source.notes);
    document.items(lines);
    document.heading("Systems, with contributors in brackets");
    let used = |system: &&System| {
        let mut tables = source.tables.iter();
        tables.any(|table| systems(source, table).contains(system))
    };
    let systems = source.systems.iter().filter(used);
    document.items(systems.map(described));
}

fn as_printed(table: &PublishedTable) -> Table {
    let stub = table
        .stub
        .iter()
        .enumerate()
        .map(|(at, label)| match &table.stub_group {
            Some(group) if at > 0 => format!("{group} {label}"),
            _ => label.clone(),
        });
    let header = table.columns.iter().map(|column| match &column.group {
        Some(group) => format!("{group} {}", column.label),
        None => column.label.clone(),
    });
    let header: Vec<String> = stub.chain(header).collect();
    let mut sheet = Table::new(table.stub.len(), &header).folding();
    for line in &table.rows {
        let printed = |cell: &crate::CellValue| {
            cell.0
                .known()
                .map_or(Cell::ours("?"), |number| Cell::ours(&number.printed))
        };
        let labels = line.labels.iter().map(Cell::ours);
        sheet.row(labels.chain(line.cells.iter().map(printed)).collect());
    }
    sheet
}

/// Adds a table's notes, and the reasons why cells are missing. Cells with the same reason form one
/// item.
fn notes(document: &mut Document, table: &PublishedTable) {
    let of_rows = table.rows.iter().flat_map(|line| &line.notes);
    document.items(table.notes.iter().chain(of_rows));
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in table.places().filter(|place| !place.cell.0.is_known()) {
        let name = format!("{} of {}", place.column.label, first_label(&place));
        missing
            .entry(told(&place.cell.0.clone().map(|number| number.printed)))
            .or_default()
            .push(name);
    }
    for (why, cells) in missing {
        document.item(format!("?: {} {why}", cells.join(", ")));
    }
}

fn first_label<'a>(place: &PrintedCell<'a>) -> &'a str {
    let mut labels = place.line.labels.iter().map(String::as_str);
    labels.find(|label| !label.is_empty()).unwrap_or("the row")
}

fn editions(document: &mut Document, shown: &Contents<'_>, table: &PublishedTable) {
    let findings: Vec<&Finding> = shown
        .findings
        .iter()
        .filter(|finding| finding.table == table.name)
        .collect();
    let Some(first) = findings.first() else {
        return;
    };
    let mut sheet = Table::new(1, &["data read over written", "printed", "from", "to"]).folding();
    for planned in &first.planned {
        sheet.column(format!("edition {}", planned.edition), false);
    }
    sheet.column("made by", false);
    let number = |number: f64| Number::Decimal(number, 5);
    for finding in &findings {
        let mut row = vec![
            finding.column.as_str().into(),
            number(finding.printed_ratio).into(),
            number(finding.ratio.low).into(),
            number(finding.ratio.high).into(),
        ];
        let fits = |is_so: bool| if is_so { " fits" } else { "" };
        let planned = finding.planned.iter();
        row.extend(planned.map(|planned| Cell::Number(number(planned.ratio), fits(planned.fits))));
        row.push(finding.made.in_short().into());
        sheet.row(row);
    }
    document.gap();
    document.table(sheet);
    let wrong = findings.iter().filter(|of| !of.converted.is_empty());
    document.items(told_of_converted(wrong.map(|of| &of.column)));
    for finding in findings {
        if let WhichEdition::Neither { cause } = &finding.made {
            document.item(format!("{} fits neither edition. {cause}", finding.column));
        }
    }
}

fn improvements(document: &mut Document, shown: &Contents<'_>, table: &PublishedTable) {
    let of_table: Vec<&Recomputed> = shown
        .improvements
        .iter()
        .filter(|one| one.table == table.name)
        .collect();
    if of_table.is_empty() {
        return;
    }
    let (printed, missing): (Vec<&Recomputed>, Vec<&Recomputed>) =
        of_table.into_iter().partition(|one| one.printed.is_known());
    let exact = printed
        .iter()
        .filter(|one| one.agreement == Agreement::Exact)
        .count();
    document.item(format!(
        "{exact} of {} printed improvements agree with the printed rates.",
        printed.len()
    ));
    for one in printed {
        let how = match &one.agreement {
            Agreement::Exact => continue,
            Agreement::WithinRounding => "within the rounding of the rates".to_owned(),
            Agreement::Differs { by } => format!("it differs by {by:+.2} percentage points"),
            Agreement::Unknown { why } => format!("it cannot be checked, because {why}"),
        };
        document.item(format!(
            "{}: printed {}; {}; {how}",
            one.what,
            one.printed.known().map_or("?", String::as_str),
            percents(one)
        ));
    }
    for one in missing {
        document.item(format!(
            "{}: missing in the copy; {}",
            one.what,
            percents(one)
        ));
    }
}

fn percents(one: &Recomputed) -> String {
    if one.recomputed.is_empty() {
        return "a rate that it needs is also missing".to_owned();
    }
    let percents: Vec<String> = one
        .recomputed
        .iter()
        .map(|percent| format!("{percent:.2}"))
        .collect();
    format!("the known rates give {} %", percents.join(" to "))
}
