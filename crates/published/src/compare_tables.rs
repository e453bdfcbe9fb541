//! Tables and charts of a run beside published rows.

use std::cmp::Reverse;

use document::units::grouped;
use document::{Cell, Document, DotRow, Dots, Format, Number, Table};

use crate::cells::{bracketed, kebab, ours, sheet};
use crate::compare_run::{Against, Beside, BesideRow, WHOLE_SYSTEMS};
use crate::source::Figure;

impl Beside {
    pub fn show(&self, format: Format) -> String {
        format.answer(
            || self.document(),
            || document::csv(&self.flat(), "\n"),
            || document::json(self),
        )
    }

    /// Returns the table of the run and the published rows, with the explanations.
    pub fn document(&self) -> Document {
        let edition = self
            .edition
            .known()
            .map_or_else(String::new, |edition| format!(", edition {edition}"));
        let mut document = Document::default();
        document.title(format!(
            "Comparison with published results: {}{edition}",
            self.configuration
        ));
        if let Some(none) = &self.none {
            document.words(format!("No published row: {none}."));
            return document;
        }
        document.table(self.table());
        document.gap();
        document.items(&self.comparable);
        document
    }

    /// Returns charts of transactions and of data rates, sorted by year.
    pub fn graphs(&self) -> Vec<Dots> {
        let transactions = [(Figure::TransactionsRate, "")];
        let data = [
            (Figure::DataReadRate, "read"),
            (Figure::DataWrittenRate, "written"),
        ];
        let mut graphs = vec![
            self.graph(
                "Transactions, 1997 to today",
                "transactions/s",
                &transactions,
            ),
            self.graph("Throughput, 1997 to today", "Kbytes/s", &data),
        ];
        graphs.retain(|graph| !graph.rows.is_empty());
        graphs
    }

    fn graph(&self, title: &str, axis: &str, figures: &[(Figure, &str)]) -> Dots {
        let mut rows = Vec::new();
        for (figure, heading) in figures {
            let with_figure = |row| Some((row, BesideRow::against(row, *figure)?));
            let mut theirs: Vec<_> = self.rows.iter().filter_map(with_figure).collect();
            let Some((_, against)) = theirs.first() else {
                continue;
            };
            if !heading.is_empty() {
                rows.push(DotRow::heading(*heading));
            }
            rows.push(DotRow::at("this run".to_owned(), 0, against.ours));
            theirs.sort_by_key(|(row, _)| Reverse(row.year.known().copied().unwrap_or(0)));
            rows.extend(theirs.into_iter().map(|(row, against)| {
                let year = row.year.known().map(|year| format!("{year} "));
                let year = year.unwrap_or_default();
                let name = format!("{year}{} [{}]", row.column, row.source);
                DotRow::at(name, 1, against.theirs)
            }));
        }
        Dots {
            title: title.to_owned(),
            caption: format!(
                "This run beside published results for {}, on a logarithmic axis. {WHOLE_SYSTEMS}",
                self.configuration
            ),
            axis: axis.to_owned(),
            is_logarithmic: true,
            kinds: ["this run", "published"].map(str::to_owned).to_vec(),
            rows,
        }
    }
}

/// The headers of the figures in the table, and the units of the run's figures, in the order of
/// `Rates::all`.
const FIGURES: [(&str, &str); 4] = [
    ("transactions", "/s"),
    ("read", "kB/s"),
    ("written", "kB/s"),
    ("whole time", "s"),
];

impl BesideRow {
    fn against(&self, figure: Figure) -> Option<&Against> {
        self.figures.iter().find(|against| against.figure == figure)
    }
}

impl Beside {
    /// Returns a table with a row for the run and one for each published row. Figures that no
    /// published row has are omitted.
    fn table(&self) -> Table {
        let mut table = Table::new(3, &["published", "in", "edition"]).folding();
        let edition = self.edition.known().map_or("", |edition| edition.name());
        let mut ours: Vec<Cell> = vec!["this run".into(), Cell::Empty, edition.into()];
        let mut theirs: Vec<Vec<Cell>> = self.rows.iter().map(lead).collect();
        let Some(rates) = self.ours else { return table };
        for ((figure, rate), (header, unit)) in rates.all().into_iter().zip(FIGURES) {
            if self.rows.iter().all(|row| row.against(figure).is_none()) {
                continue;
            }
            table.column(header, false);
            table.column("times as fast", false);
            ours.extend([format!("{} {unit}", amount(rate)).into(), Cell::Empty]);
            for (cells, row) in theirs.iter_mut().zip(&self.rows) {
                let against = row.against(figure);
                cells.push(against.map(|against| against.printed.as_str()).into());
                let factor = against.map(|against| format!("{} x", amount(against.factor)));
                cells.push(factor.into());
            }
        }
        table.row(ours);
        theirs.into_iter().for_each(|row| table.row(row));
        table
    }

    /// Returns a table with a row for each figure of each published row, for CSV.
    fn flat(&self) -> Table {
        let rows = self.rows.iter();
        let figures = rows.flat_map(|row| row.figures.iter().map(move |against| (row, against)));
        let line = |(row, against): (&BesideRow, &Against)| {
            vec![
                Cell::ours(&row.source),
                Cell::ours(row.tables.join(" ")),
                Cell::ours(&row.column),
                ours(row.contributor.known()),
                Cell::ours(&row.edition),
                Cell::ours(kebab(against.figure)),
                Cell::ours(&against.printed),
                Number::Rate(against.theirs).into(),
                Number::Rate(against.ours).into(),
                Number::Rate(against.factor).into(),
            ]
        };
        let columns = "source table column contributor edition figure printed theirs ours factor";
        sheet(columns, figures.map(line))
    }
}

/// Returns the first cells of a published row: its name, table and edition.
fn lead(row: &BesideRow) -> Vec<Cell> {
    vec![
        format!("{}{}", row.column, bracketed(&row.contributor)).into(),
        row.tables.first().cloned().unwrap_or_default().into(),
        row.edition.as_str().into(),
    ]
}

/// Formats a number with about three significant digits.
pub(crate) fn amount(number: f64) -> String {
    if number >= 100.0 {
        grouped(number.round() as u64)
    } else if number >= 10.0 {
        document::units::fixed(number, 1)
    } else {
        document::units::fixed(number, 2)
    }
}
