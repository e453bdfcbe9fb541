//! A collection: a table by many contributors, for example of results that were printed long ago.
//! The caller converts published results, because this crate does not know them.

use document::Document;
use document::html as rendered;
use document::sanitize::html;
use document::units::fixed;

use super::markup::{SiteCell, SiteColumn, SiteRow, table};
use super::model::Site;
use super::shell::{PageScript, page};

/// The page of a collection.
pub struct Collection {
    pub title: String,
    /// The origin of the results, as paragraphs.
    pub about: Document,
    pub tables: Vec<CollectionTable>,
}

/// Results of one workload, with a row for each system.
pub struct CollectionTable {
    pub title: String,
    pub notes: Vec<String>,
    /// Headers of the columns with numbers.
    pub figures: Vec<&'static str>,
    pub rows: Vec<CollectionRow>,
}

/// A system, its contributor, and its results.
pub struct CollectionRow {
    pub system: String,
    /// The system's page in the site; `None` for a printed result.
    pub to: Option<String>,
    pub contributor: String,
    /// A letter: rows with the same letter performed the same operations. `None` for a row that is
    /// not comparable with any other.
    pub group: Option<char>,
    pub made_by: String,
    pub class: &'static str,
    pub cells: Vec<CollectionCell>,
    pub description: String,
}

/// A number as printed, its value, and the file that contains it.
pub enum CollectionCell {
    Missing,
    Number {
        printed: String,
        value: f64,
        to: String,
    },
}

/// The page of a collection.
pub fn collection(site: &Site, of: &Collection) -> String {
    let mut main = rendered(&of.about);
    main += "<p>Rows with the same letter in the column \"comparable\" performed the same \
             operations, so their numbers can be compared. Rows with another letter, or with a \
             dash, performed other operations. The share is that of the highest transaction rate \
             with the same letter and class. Each number links to the file that contains it.</p>\n";
    for table in &of.tables {
        main += &one(table);
    }
    page(site, &of.title, "../", &main, PageScript::None)
}

fn one(of: &CollectionTable) -> String {
    let mut text = format!("<h2>{}</h2>\n", html(&of.title));
    let mut columns = vec![
        SiteColumn::words("System"),
        SiteColumn::words("Contributor"),
        SiteColumn::words("Comparable"),
        SiteColumn::words("Edition"),
        SiteColumn::words("Class"),
    ];
    let mut figures = of.figures.iter().map(|header| SiteColumn::number(header));
    columns.extend(figures.next());
    columns.push(SiteColumn::number("Of the highest"));
    columns.extend(figures);
    let rows: Vec<SiteRow> = of
        .rows
        .iter()
        .map(|row| cells(row, highest(of, row)).into())
        .collect();
    text += &table(&of.title, &columns, &rows, false);
    text += "<details><summary>Systems and notes</summary>\n<ul>\n";
    let described = of.rows.iter().map(|row| &row.description);
    for note in described.filter(|words| !words.is_empty()).chain(&of.notes) {
        text += &format!("<li>{}</li>\n", html(note));
    }
    text + "</ul>\n</details>\n"
}

/// The highest value of the first figure among comparable rows of the same class.
fn highest(of: &CollectionTable, row: &CollectionRow) -> Option<f64> {
    let group = row.group;
    let is_alike = |other: &&CollectionRow| {
        group.is_some() && other.group == group && other.class == row.class
    };
    of.rows
        .iter()
        .filter(is_alike)
        .filter_map(first)
        .reduce(f64::max)
}

fn first(row: &CollectionRow) -> Option<f64> {
    match row.cells.first()? {
        CollectionCell::Number { value, .. } => Some(*value),
        CollectionCell::Missing => None,
    }
}

fn cells(row: &CollectionRow, highest: Option<f64>) -> Vec<SiteCell> {
    let system = match &row.to {
        Some(to) => SiteCell::link(&row.system, to),
        None => SiteCell::Text(row.system.clone()),
    };
    let group = row.group.map_or_else(|| "-".to_owned(), String::from);
    let mut cells = vec![
        system,
        SiteCell::Text(row.contributor.clone()),
        SiteCell::Toned(group, "mark"),
        SiteCell::Text(row.made_by.clone()),
        SiteCell::Text(row.class.to_owned()),
    ];
    let mut figures = row.cells.iter().map(|cell| match cell {
        CollectionCell::Missing => SiteCell::Missing,
        CollectionCell::Number { printed, value, to } => SiteCell::Number {
            text: printed.clone(),
            value: *value,
            to: Some(to.clone()),
        },
    });
    cells.extend(figures.next());
    let share = first(row).zip(highest).map(|(own, highest)| own / highest);
    cells.push(match share.filter(|share| share.is_finite()) {
        Some(share) => SiteCell::Number {
            text: format!("{} %", fixed(share * 100.0, 0)),
            value: share,
            to: None,
        },
        None => SiteCell::Missing,
    });
    cells.extend(figures);
    cells
}
