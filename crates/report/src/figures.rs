//! Figures for a paper: the charts of a page as SVG, with data and caption. For each chart, one
//! file has the width of a column of the paper, and another file has the width of two columns.
//! Fonts are generic. Lines and marks differ in more than colour.

use document::{Block, Document, Picture, WIDTH, csv, text};
use record::Record;

use crate::page::{
    ComparedPage, comparison_conditions, comparison_document, conditions, document as of_run,
};

const STYLE: &str = include_str!("../style/paper.css");
/// Widths of one column and of two columns, in millimeters.
const COLUMN_MM: f64 = 85.0;
const COLUMNS_MM: f64 = 178.0;

/// A figure for a paper: the contents of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperFigure {
    /// Beginning of the file names: letters, digits and hyphens.
    pub name: String,
    /// The chart as SVG, 85 mm wide.
    pub one_column: String,
    /// The chart as SVG, 178 mm wide.
    pub two_columns: String,
    /// The charted numbers as CSV (RFC 4180).
    pub data: String,
    /// Title, caption, and conditions of the runs.
    pub caption: String,
}

/// The figures of a run. The charts in `more`, for example of published results, follow the charts
/// of the run.
pub fn run_figures(record: &Record, more: &Document) -> Vec<PaperFigure> {
    let mut document = of_run(record);
    document.append(more.clone());
    figures(&document, &conditions(record))
}

/// The figures of a study or of compared configurations.
pub fn comparison_figures(page: &ComparedPage<'_>) -> Vec<PaperFigure> {
    figures(&comparison_document(page), &comparison_conditions(page))
}

fn figures(document: &Document, conditions: &Document) -> Vec<PaperFigure> {
    let mut lines = Document::default();
    let blocks = conditions.blocks().iter();
    blocks.for_each(|block| line(&mut lines, block));
    let conditions = text(&lines, WIDTH);
    let pictures = document.blocks().iter().filter_map(|block| match block {
        Block::Picture(picture) => Some(picture),
        _ => None,
    });
    let figure = |(number, picture): (usize, &Picture)| {
        let mut said = Document::default();
        said.words(&*picture.title);
        said.gap();
        said.words(&*picture.caption);
        said.gap();
        PaperFigure {
            name: format!("{number:02}-{}", slug(&picture.title)),
            one_column: on_paper(&picture.narrow, COLUMN_MM),
            two_columns: on_paper(&picture.svg, COLUMNS_MM),
            data: csv(&picture.data, "\r\n"),
            caption: text(&said, WIDTH) + &conditions,
        }
    };
    (1..).zip(pictures).map(figure).collect()
}

/// Adds a condition as a paragraph `key: value`. A separate column for keys would be too wide,
/// because keys may be long.
fn line(lines: &mut Document, block: &Block) {
    match block {
        Block::Painted(block, _) => line(lines, block),
        Block::Pair { key, value, .. } if !key.is_empty() => lines.words(format!("{key}: {value}")),
        block => lines.push(block.clone()),
    }
}

/// Converts a title to a part of a file name.
fn slug(title: &str) -> String {
    /// Maximum length of the converted title, in letters. Longer titles are cut.
    const LONGEST: usize = 60;
    let mut slug = String::new();
    for letter in title.chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => slug.push(letter.to_ascii_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Adds a size and a style to a chart of a page, so that the SVG is complete without the page.
fn on_paper(svg: &str, width_mm: f64) -> String {
    let svg = &without(&without(svg, "data-readings"), "data-plane");
    let size = |svg: &str| {
        let (_, size) = svg.split_once("viewBox=\"0 0 ")?;
        let (width, height) = size.split_once('"')?.0.split_once(' ')?;
        Some((width.parse::<f64>().ok()?, height.parse::<f64>().ok()?))
    };
    let height = size(svg).map_or(width_mm, |(width, height)| width_mm * height / width);
    let sized = format!("<svg width=\"{width_mm}mm\" height=\"{height:.1}mm\" ");
    let svg = svg.replacen("<svg ", &sized, 1);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        svg.replacen("</title>", &format!("</title><style>\n{STYLE}</style>"), 1)
    )
}

/// Removes an attribute that only the script of a page reads.
fn without(svg: &str, name: &str) -> String {
    let rest = || {
        let (before, attribute) = svg.split_once(&format!(" {name}=\""))?;
        let (_, after) = attribute.split_once('"')?;
        Some(format!("{before}{after}"))
    };
    rest().unwrap_or_else(|| svg.to_owned())
}
