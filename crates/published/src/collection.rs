//! The tables of a source as collections of results by many contributors: a row for each system,
//! with the edition behind it. Rows of one edition performed the same operations.

use record::Fact;
use workload::{Edition, fingerprint};

use crate::editions::{Plans, WhichEdition, converted, made_by, meant};
use crate::library::{Row, rows};
use crate::shape::ConfigurationShape;
use crate::show::{described, told};
use crate::source::{Figure, PublishedTable, Source};

/// The figures of collections, in the order of their columns.
const FIGURES: [Figure; 4] = [
    Figure::TransactionsRate,
    Figure::DataReadRate,
    Figure::DataWrittenRate,
    Figure::Elapsed,
];

/// The results of one configuration in one table of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectedTable {
    pub name: String,
    pub title: String,
    pub configuration: ConfigurationShape,
    /// The fingerprint of the configuration for each edition.
    pub fingerprints: Vec<(Edition, String)>,
    pub notes: Vec<String>,
    /// The figures that at least one row contains.
    pub figures: Vec<Figure>,
    pub rows: Vec<CollectedRow>,
}

/// A system with its results.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectedRow {
    /// The header of the system's column in the source.
    pub system: String,
    pub contributor: Fact<String>,
    pub description: String,
    pub made_by: Option<WhichEdition>,
    /// The number of each figure of the table; `None` if the source has none.
    pub cells: Vec<Option<CollectedCell>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CollectedCell {
    pub printed: String,
    /// The value that PostMark printed, without a wrong conversion by the source.
    pub value: f64,
    /// Whether the source converted the value wrongly.
    pub is_converted: bool,
}

impl CollectedRow {
    /// The edition whose operations the row performed; `None` if neither or both editions fit.
    pub fn edition(&self) -> Option<Edition> {
        match self.made_by {
            Some(WhichEdition::By(edition)) => Some(edition),
            _ => None,
        }
    }
}

impl CollectedTable {
    /// The header of a figure's column.
    pub fn header(figure: Figure) -> &'static str {
        crate::layouts::label(figure)
    }
}

/// Returns the tables of a source, one for each configuration. Tables without rows, such as tables
/// of ranges, are left out.
pub fn collected(source: &Source) -> Vec<CollectedTable> {
    let mut plans = Plans::default();
    let of_table = |table| tables(source, table, &mut plans);
    source.tables.iter().flat_map(of_table).collect()
}

fn tables(source: &Source, table: &PublishedTable, plans: &mut Plans) -> Vec<CollectedTable> {
    let all = rows(source, table);
    let mut names: Vec<&str> = Vec::new();
    for row in &all {
        if !names.contains(&row.configuration.name.as_str()) {
            names.push(&row.configuration.name);
        }
    }
    let of_configuration = |name: &str| {
        let own = all.iter().filter(|row| row.configuration.name == name);
        let own: Vec<&Row<'_>> = own.collect();
        let has = |figure: &Figure| own.iter().any(|row| row.figures.contains_key(figure));
        let figures: Vec<Figure> = FIGURES.into_iter().filter(has).collect();
        let shape = ConfigurationShape::of_configuration(own.first()?.configuration);
        let prints = Edition::ALL.into_iter().filter_map(|edition| {
            let print = fingerprint::fingerprint(&shape.workload(edition)).ok()?;
            Some((edition, print.as_str().to_owned()))
        });
        Some(CollectedTable {
            name: table.name.clone(),
            title: table.title.clone(),
            configuration: shape,
            fingerprints: prints.collect(),
            notes: table.notes.clone(),
            rows: own
                .iter()
                .map(|row| collect(row, &figures, plans))
                .collect(),
            figures,
        })
    };
    names.into_iter().filter_map(of_configuration).collect()
}

fn collect(row: &Row<'_>, figures: &[Figure], plans: &mut Plans) -> CollectedRow {
    let made = made_by(row, plans);
    let wrong = converted(row, made.as_ref());
    let cell = |figure: &Figure| {
        let (number, unit) = row.figure(*figure)?;
        Some(CollectedCell {
            printed: number.printed.clone(),
            value: meant(number, unit, made.as_ref()),
            is_converted: wrong.iter().any(|of| of.figure == *figure),
        })
    };
    let cells = figures.iter().map(cell).collect();
    CollectedRow {
        system: row.column(),
        contributor: row.system.contributor.clone(),
        description: described(row.system),
        cells,
        made_by: made,
    }
}

/// The origin of a source: a sentence, and names with values.
pub fn origin(source: &Source) -> Vec<(&'static str, String)> {
    vec![
        ("What", source.what.clone()),
        ("Title", told(&source.title)),
        ("Authors", told(&source.authors)),
        ("Publisher", told(&source.publisher)),
        ("Year", told(&source.year)),
        ("Program", told(&source.program)),
    ]
}
