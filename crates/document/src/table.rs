//! Tables, whose columns have an alignment and whose cells have types.

use std::fmt;

use crate::units::{bytes, fixed, grouped, latency, microseconds, percent, rate, seconds};

/// A number with its unit. The unit determines how many digits readers see; data formats contain
/// the exact number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A count, with digits in groups of three.
    Count(u64),
    /// A position or an identifier, with digits that are not grouped.
    Ordinal(u64),
    /// A rate per second.
    Rate(f64),
    /// Nanoseconds, printed in seconds.
    Seconds(u64),
    /// Nanoseconds, printed in milliseconds.
    Milliseconds(u64),
    /// Nanoseconds, printed in microseconds.
    Microseconds(f64),
    /// Nanoseconds, printed in a suitable unit.
    Latency(f64),
    /// Bytes, printed in a suitable power of 1,024.
    Bytes(f64),
    /// A fraction from 0 to 1, printed in percent.
    Share(f64),
    /// A number with a given number of decimals.
    Decimal(f64, usize),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(number) => f.write_str(&grouped(*number)),
            Self::Ordinal(number) => write!(f, "{number}"),
            Self::Rate(per_second) => f.write_str(&rate(Some(*per_second))),
            Self::Seconds(ns) => f.write_str(&seconds(*ns)),
            Self::Milliseconds(ns) => write!(f, "{:.3}", *ns as f64 / 1e6),
            Self::Microseconds(ns) => f.write_str(&microseconds(*ns)),
            Self::Latency(ns) => f.write_str(&latency(*ns)),
            Self::Bytes(number) => f.write_str(&bytes(*number)),
            Self::Share(fraction) => f.write_str(&percent(*fraction)),
            Self::Decimal(number, digits) => f.write_str(&fixed(*number, *digits)),
        }
    }
}

impl Number {
    /// Returns how many decimals `Display` prints. The result is 0 for zero, and for numbers for
    /// which [`in_one_unit`](Self::in_one_unit) returns `None`.
    fn digits(&self) -> usize {
        let is_zero = self.in_one_unit().is_none_or(|value| value == 0.0);
        let shown = self.to_string();
        let digits = shown.split_once('.').map(|(_, digits)| digits.len());
        digits.filter(|_| !is_zero).unwrap_or(0)
    }

    /// Returns the value in its printed unit. `None` for kinds of numbers whose unit varies, or
    /// whose number of decimals is fixed.
    fn in_one_unit(&self) -> Option<f64> {
        match self {
            Self::Rate(per_second) => Some(*per_second),
            Self::Seconds(ns) => Some(*ns as f64 / 1e9),
            Self::Microseconds(ns) => Some(ns / 1e3),
            _ => None,
        }
    }

    /// Formats the number with `digits` decimals, unless [`in_one_unit`](Self::in_one_unit) returns
    /// `None`.
    fn with_digits(&self, digits: usize) -> String {
        let Some(value) = self.in_one_unit() else {
            return self.to_string();
        };
        // A half is rounded away from zero, as in `Display`. Without this line, formatting would
        // round a half to the even number.
        let value = if digits == 0 { value.round() } else { value };
        let shown = fixed(value, digits);
        let (whole, rest) = shown
            .split_once('.')
            .map_or((&*shown, None), |(whole, rest)| (whole, Some(rest)));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
        rest.map_or(whole.clone(), |rest| format!("{whole}.{rest}"))
    }

    /// Formats the stored number with all of its digits, for example in nanoseconds.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Count(number) | Self::Ordinal(number) | Self::Seconds(number) |
                Self::Milliseconds(number) => {
                number.to_string()
            }
            Self::Rate(number)
            | Self::Microseconds(number)
            | Self::Latency(number)
            | Self::Bytes(number)
            | Self::Share(number)
            // The sum of an empty list is -0; adding 0 removes the sign.
            | Self::Decimal(number, _) => (number + 0.0).to_string(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// An empty cell where no value is expected.
    Empty,
    /// A text that may be untrusted. CSV escapes it, so that spreadsheets do not interpret it as a
    /// formula.
    Text(String),
    /// A text of this program, or a printed number. CSV does not escape it as a formula, so that
    /// negative numbers remain numbers.
    Ours(String),
    /// An untrusted text, and the anchor of its details on the same page. Formats other than HTML
    /// show only the text.
    Linked(String, String),
    /// A number, and a suffix that follows the number's unit, such as `/s`.
    Number(Number, &'static str),
    /// A value that does not apply or was not requested.
    Missing,
    /// A value that is not available, with the reason.
    Unavailable(String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) | Self::Ours(text) | Self::Linked(text, _) => f.write_str(text),
            Self::Number(number, unit) => write!(f, "{number}{unit}"),
            Self::Missing => f.write_str("not applicable"),
            Self::Unavailable(why) => write!(f, "not available ({why})"),
        }
    }
}

impl Cell {
    /// Returns the cell's text in tables. Reasons of missing values are omitted for lack of space.
    pub fn short(&self) -> String {
        match self {
            Self::Missing | Self::Unavailable(_) => "-".to_owned(),
            cell => cell.to_string(),
        }
    }

    /// Returns the cell's text in a column whose numbers have `digits` decimals.
    pub(crate) fn short_with(&self, digits: usize) -> String {
        match self {
            Self::Number(number, unit) => number.with_digits(digits) + unit,
            cell => cell.short(),
        }
    }

    /// Creates a cell with a text of this program, which CSV does not escape as a formula.
    pub fn ours(text: impl Into<String>) -> Self {
        Self::Ours(text.into())
    }

    pub fn count(number: impl Into<u64>) -> Self {
        Number::Count(number.into()).into()
    }

    pub fn rate(per_second: Option<f64>) -> Self {
        per_second.map(Number::Rate).into()
    }

    pub fn latency(ns: Option<u64>) -> Self {
        ns.map(|ns| Number::Latency(ns as f64)).into()
    }

    pub fn bytes(number: Option<u64>) -> Self {
        number.map(|number| Number::Bytes(number as f64)).into()
    }

    /// Creates a cell with a throughput in bytes per second.
    pub fn throughput(per_second: Option<f64>) -> Self {
        let number = per_second.map(|rate| Self::Number(Number::Bytes(rate), "/s"));
        number.into()
    }

    /// Creates a cell with a percentage from a fraction of 0 to 1.
    pub fn share(fraction: Option<f64>) -> Self {
        fraction.map(Number::Share).into()
    }

    /// Creates a cell with a number that is printed with `digits` decimals.
    pub fn decimal(number: Option<f64>, digits: usize) -> Self {
        number.map(|number| Number::Decimal(number, digits)).into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        Self::Number(number, "")
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

/// A column of a table whose rows are the entries of a list. Consists of the header, and a function
/// from an entry to its cell.
pub type Column<T> = (&'static str, fn(&T) -> Cell);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    pub header: String,
    /// Whether the column contains words, whose cells are aligned to the left.
    pub is_words: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) columns: Vec<Head>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// The number of columns at the beginning that identify a row. Every part of a divided table
    /// repeats these columns.
    pub(crate) leads: usize,
    /// Whether a table that is too wide is divided into parts, one below the other. In such a
    /// table, headers are also wrapped.
    pub(crate) folds: bool,
}

impl Table {
    /// Creates a table without rows. The first `words` columns contain words, all other columns
    /// contain numbers.
    pub fn new<T: AsRef<str>>(words: usize, header: &[T]) -> Self {
        let mut table = Self {
            columns: Vec::new(),
            rows: Vec::new(),
            leads: words,
            folds: false,
        };
        for (place, header) in header.iter().enumerate() {
            table.column(header.as_ref(), place < words);
        }
        table
    }

    /// Creates a table with a row for each entry of a list.
    pub fn of<T>(words: usize, columns: &[Column<T>], list: impl IntoIterator<Item = T>) -> Self {
        let header: Vec<&str> = columns.iter().map(|(header, _)| *header).collect();
        let mut table = Self::new(words, &header);
        for entry in list {
            table.row(columns.iter().map(|(_, cell)| cell(&entry)).collect());
        }
        table
    }

    /// Lets a table that is too wide be divided into parts, one below the other. Headers are
    /// wrapped, and every part repeats the leading columns.
    #[must_use]
    pub fn folding(mut self) -> Self {
        self.folds = true;
        self
    }

    /// Sets the number of leading columns, which every part of a divided table repeats.
    #[must_use]
    pub fn leading(mut self, columns: usize) -> Self {
        self.leads = columns;
        self
    }

    /// Changes the column at this index, from 0, to a column of words.
    #[must_use]
    pub fn with_words(mut self, place: usize) -> Self {
        if let Some(column) = self.columns.get_mut(place) {
            column.is_words = true;
        }
        self
    }

    pub fn column(&mut self, header: impl Into<String>, is_words: bool) {
        let header = header.into();
        self.columns.push(Head { header, is_words });
    }

    /// Adds a row. Missing cells at its end are empty.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Returns the texts of all cells. Within a column, numbers with the same unit have the same
    /// number of decimals.
    pub(crate) fn shown(&self) -> Vec<Vec<String>> {
        let digits_of = |place: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            let digits = cells.map(|cell| match cell {
                Cell::Number(number, _) => number.digits(),
                _ => 0,
            });
            digits.max().unwrap_or(0)
        };
        let digits: Vec<usize> = (0..self.columns.len()).map(digits_of).collect();
        let row = |row: &Vec<Cell>| {
            let cells = row.iter().enumerate();
            cells
                .map(|(place, cell)| cell.short_with(digits.get(place).copied().unwrap_or(0)))
                .collect()
        };
        self.rows.iter().map(row).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
