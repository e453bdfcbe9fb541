//! The data types of a published source: systems, configurations, and tables as printed. The data
//! is read from `data/*.toml`.

use record::Fact;
use serde::{Deserialize, Serialize};
use workload::Edition;

use crate::number::{NotANumber, PrintedNumber, Unit};

/// A published source of results, for example a paper or a web page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// For example `veritas`; users select the source by this name.
    pub name: String,
    pub title: Fact<String>,
    pub authors: Fact<String>,
    pub publisher: Fact<String>,
    pub year: Fact<u32>,
    /// The program that produced the results, with its version, as far as known.
    pub program: Fact<String>,
    /// A description of the source in one sentence.
    pub what: String,
    /// Machines and parameters, as the source describes them.
    pub environment: Vec<String>,
    /// Notes that are needed to interpret the numbers.
    pub notes: Vec<String>,
    pub systems: Vec<System>,
    /// The configurations of the workload that the tables refer to.
    pub configurations: Vec<Configuration>,
    /// The tables, in the order of the source.
    pub tables: Vec<PublishedTable>,
}

/// A system that was measured, usually a column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The name by which tables in the data file refer to the system.
    pub name: String,
    /// The header of the system's column in tables.
    pub column: String,
    /// The machine, disks and file system.
    pub description: Fact<String>,
    /// The person or organisation that measured the system.
    pub contributor: Fact<String>,
}

/// The parameters of the program. Files, transactions and subdirectories are those of each process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The name by which tables in the data file refer to the configuration.
    pub name: String,
    pub files: u64,
    pub transactions: u64,
    /// The number of subdirectories; 1 means none.
    pub subdirectories: u32,
    /// The number of simultaneous processes, each with this complete configuration. Rates are those
    /// of one process.
    pub processes: u32,
    /// The PostMark edition (1.0 or 1.5) that the source names; not available if it names none.
    pub edition: Fact<Edition>,
    /// Information about all other parameters of the program, as text.
    pub parameters: String,
}

/// The quantity that a number in a table measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Transactions per second, over the time of the transactions.
    TransactionsRate,
    /// Data read per second of the whole run.
    DataReadRate,
    /// Data written per second of the whole run.
    DataWrittenRate,
    DataRead,
    DataWritten,
    /// The duration of the whole run.
    Elapsed,
    /// The duration of the transactions phase, without creation and deletion.
    TransactionsTime,
    Created,
    /// Files created per second of the whole run.
    CreatedRate,
    /// Files created before the transactions.
    CreatedAlone,
    /// Files created before the transactions, per second of this creation.
    CreatedAloneRate,
    /// Files created in transactions.
    CreatedMixed,
    /// Files created in transactions, per second of the transactions.
    CreatedMixedRate,
    Read,
    /// Files read per second of the transactions.
    ReadRate,
    Appended,
    /// Appends per second of the transactions.
    AppendedRate,
    Deleted,
    /// Files deleted per second of the whole run.
    DeletedRate,
    /// Files deleted after the transactions.
    DeletedAlone,
    /// Files deleted after the transactions, per second of this deletion.
    DeletedAloneRate,
    /// Files deleted in transactions.
    DeletedMixed,
    /// Files deleted in transactions, per second of the transactions.
    DeletedMixedRate,
    /// Messages between client and server.
    Messages,
    /// The client's processor time.
    CpuTime,
    /// The improvement of a system's transaction rate over another system's, in percent.
    Improvement,
}

/// The meaning of a cell: its system, configuration and so on. The table, the column and the row of
/// the cell each define some of these fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinates {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// For an improvement, the system with which `system` is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The build of the operating system, for example `32 bit`; `None` if the source has only one
    /// build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The configuration of the cell. A cell with a range of numbers may cover several
    /// configurations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<String>,
}

impl Coordinates {
    /// Returns these coordinates, with the fields of `other` in place of missing fields.
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// For example `mail-page-1`; users select the table by this name.
    pub name: String,
    /// The title of the table, as printed.
    pub title: String,
    /// The coordinates that all cells of the table have in common.
    #[serde(default)]
    pub of: Coordinates,
    /// Notes that are needed to interpret the table.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The headers of the first columns, which contain the labels of the rows.
    pub stub: Vec<String>,
    /// The common header above all headers of `stub` except the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stub_group: Option<String>,
    pub columns: Vec<Column>,
    /// Likely causes for rows whose ratio of data read to data written fits no PostMark edition.
    #[serde(default)]
    pub causes: Vec<Misfit>,
    pub rows: Vec<TableLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The common header above this column and its neighbours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The header of the column, as printed.
    pub label: String,
    /// The coordinates that all cells of the column have in common.
    #[serde(default)]
    pub of: Coordinates,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableLine {
    /// The labels at the beginning of the row, as printed.
    pub labels: Vec<String>,
    /// The coordinates that all cells of the row have in common.
    #[serde(default)]
    pub of: Coordinates,
    /// Notes that are needed to interpret the row.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The cells of the row, one for each column.
    pub cells: Vec<CellValue>,
}

/// A printed cell: a number, or the reason why it is not available.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CellText")]
pub struct CellValue(pub Fact<PrintedNumber>);

/// A cell as written in the data files: the printed text, or the reason why it is missing.
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

/// The likely cause why the ratio of data read to data written in a system's row fits neither
/// PostMark 1.0 nor 1.5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misfit {
    pub system: String,
    pub why: String,
}

/// A cell with its row, its column and its complete coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedCell<'a> {
    pub line: &'a TableLine,
    pub column: &'a Column,
    /// The combined coordinates of row, column and table.
    pub of: Coordinates,
    pub cell: &'a CellValue,
}

impl PrintedCell<'_> {
    /// Returns the printed number, or `None` if it is not available.
    pub fn number(&self) -> Option<&PrintedNumber> {
        self.cell.0.known()
    }

    pub fn is_range(&self) -> bool {
        self.number().is_some_and(|number| number.to.is_some())
    }
}

impl PublishedTable {
    /// Returns all cells, row by row.
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
    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|system| system.name == name)
    }

    pub fn configuration(&self, name: &str) -> Option<&Configuration> {
        self.configurations
            .iter()
            .find(|configuration| configuration.name == name)
    }

    pub fn table(&self, name: &str) -> Option<&PublishedTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Returns the title, or without a title the description, followed by the year in brackets.
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
