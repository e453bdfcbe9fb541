//! What a source says: systems, configurations, and tables as they were printed. Read from
//! `data/*.toml`.

use record::Fact;
use serde::{Deserialize, Serialize};
use workload::Edition;

use crate::number::{NotANumber, PrintedNumber, Unit};

/// Something published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its short name, which options take.
    pub name: String,
    /// Its title.
    pub title: Fact<String>,
    /// Who wrote it.
    pub authors: Fact<String>,
    /// Who published it.
    pub publisher: Fact<String>,
    /// When.
    pub year: Fact<u32>,
    /// The program that made its results.
    pub program: Fact<String>,
    /// What it is, in one sentence.
    pub what: String,
    /// Machines and parameters, as the source tells them.
    pub environment: Vec<String>,
    /// What one has to know to read its numbers.
    pub notes: Vec<String>,
    /// What was measured.
    pub systems: Vec<System>,
    /// With which work.
    pub configurations: Vec<Configuration>,
    /// The tables, in order.
    pub tables: Vec<PublishedTable>,
}

/// What was measured: mostly a column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Its name in this source's data.
    pub name: String,
    /// What the column's header says.
    pub column: String,
    /// Machine, disks and file system.
    pub description: Fact<String>,
    /// Who measured it.
    pub contributor: Fact<String>,
}

/// What the program was told to do. Files, transactions and subdirectories are of each process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Its name in this source's data.
    pub name: String,
    /// Files of the pool.
    pub files: u64,
    /// Transactions.
    pub transactions: u64,
    /// Subdirectories; 1: none.
    pub subdirectories: u32,
    /// Processes that ran at once, each with all of this; rates are of one of them.
    pub processes: u32,
    /// The edition that the source names.
    pub edition: Fact<Edition>,
    /// What is known of the rest.
    pub parameters: String,
}

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Transactions, each second of them.
    TransactionsRate,
    /// Data read, each second of the whole run.
    DataReadRate,
    /// Data written, each second of the whole run.
    DataWrittenRate,
    /// All data read.
    DataRead,
    /// All data written.
    DataWritten,
    /// The whole run's time.
    Elapsed,
    /// The transactions' time.
    TransactionsTime,
    /// Files created.
    Created,
    /// The same, each second of the whole run.
    CreatedRate,
    /// Files created before the transactions.
    CreatedAlone,
    /// The same, each second of that phase.
    CreatedAloneRate,
    /// Files created in transactions.
    CreatedMixed,
    /// The same, each second of them.
    CreatedMixedRate,
    /// Files read.
    Read,
    /// The same, each second of the transactions.
    ReadRate,
    /// Files appended to.
    Appended,
    /// The same, each second of the transactions.
    AppendedRate,
    /// Files deleted.
    Deleted,
    /// The same, each second of the whole run.
    DeletedRate,
    /// Files deleted after the transactions.
    DeletedAlone,
    /// The same, each second of that phase.
    DeletedAloneRate,
    /// Files deleted in transactions.
    DeletedMixed,
    /// The same, each second of them.
    DeletedMixedRate,
    /// Messages between client and server.
    Messages,
    /// Processor time of the client.
    CpuTime,
    /// By how much a system's transactions a second exceed another's.
    Improvement,
}

/// Where in the space of results a cell lies; tables, columns and rows each say a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinates {
    /// What it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
    /// What it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// The system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Of an improvement: over which system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The build of the operating system, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The configuration; several where a range goes over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<String>,
}

impl Coordinates {
    /// These, and of what they leave open those of another.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let configurations = if self.configurations.is_empty() {
            &other.configurations
        } else {
            &self.configurations
        };
        Self {
            figure: self.figure.or(other.figure),
            unit: self.unit.or(other.unit),
            system: self.system.clone().or_else(|| other.system.clone()),
            over: self.over.clone().or_else(|| other.over.clone()),
            variant: self.variant.clone().or_else(|| other.variant.clone()),
            configurations: configurations.clone(),
        }
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// Its short name, which options take.
    pub name: String,
    /// Its title, as printed.
    pub title: String,
    /// What holds for all of its cells.
    #[serde(default)]
    pub of: Coordinates,
    /// What one has to know to read it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The headers over the labels of its rows.
    pub stub: Vec<String>,
    /// What stands over those headers but the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stub_group: Option<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Of rows whose ratio fits no edition: why that may be.
    #[serde(default)]
    pub causes: Vec<Misfit>,
    /// Its rows.
    pub rows: Vec<TableLine>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What stands over this and its neighbours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Its header, as printed.
    pub label: String,
    /// What holds for its cells.
    #[serde(default)]
    pub of: Coordinates,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableLine {
    /// Its labels, as printed.
    pub labels: Vec<String>,
    /// What holds for its cells.
    #[serde(default)]
    pub of: Coordinates,
    /// What one has to know to read it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Its cells, one for each column.
    pub cells: Vec<CellValue>,
}

/// What was printed in one place: a number, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CellText")]
pub struct CellValue(pub Fact<PrintedNumber>);

/// A cell as it is written down.
#[derive(Deserialize)]
#[serde(untagged)]
enum CellText {
    Printed(String),
    Missing(Fact<String>),
}

impl TryFrom<CellText> for CellValue {
    type Error = NotANumber;

    fn try_from(text: CellText) -> Result<Self, NotANumber> {
        Ok(Self(match text {
            CellText::Printed(printed) | CellText::Missing(Fact::Known(printed)) => {
                Fact::Known(printed.parse()?)
            }
            CellText::Missing(Fact::NotApplicable) => Fact::NotApplicable,
            CellText::Missing(Fact::Unavailable(why)) => Fact::Unavailable(why),
        }))
    }
}

/// Why a row's ratio may fit no edition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misfit {
    /// The row's system.
    pub system: String,
    /// Why.
    pub why: String,
}

/// A cell with all that says what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedCell<'a> {
    /// The row that it stands in.
    pub line: &'a TableLine,
    /// The column that it stands in.
    pub column: &'a Column,
    /// What table, column and row say together.
    pub of: Coordinates,
    /// What was printed.
    pub cell: &'a CellValue,
}

impl PrintedCell<'_> {
    /// What was printed; nothing where it is missing.
    pub fn number(&self) -> Option<&PrintedNumber> {
        self.cell.0.known()
    }

    /// Whether a range was printed.
    pub fn is_range(&self) -> bool {
        self.number().is_some_and(|number| number.to.is_some())
    }
}

impl PublishedTable {
    /// All cells, row by row.
    pub fn places(&self) -> impl Iterator<Item = PrintedCell<'_>> {
        self.rows.iter().flat_map(move |line| {
            let cells = line.cells.iter().zip(&self.columns);
            cells.map(move |(cell, column)| PrintedCell {
                line,
                column,
                of: line.of.or(&column.of).or(&self.of),
                cell,
            })
        })
    }
}

impl Source {
    /// The system of this name.
    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|system| system.name == name)
    }

    /// The configuration of this name.
    pub fn configuration(&self, name: &str) -> Option<&Configuration> {
        self.configurations
            .iter()
            .find(|configuration| configuration.name == name)
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&PublishedTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Title and year in a few words; the short name where there is no title.
    pub fn in_short(&self) -> String {
        let title = self
            .title
            .known()
            .map_or(self.what.as_str(), String::as_str);
        match self.year.known() {
            Some(year) => format!("{title} ({year})"),
            None => title.to_owned(),
        }
    }
}
