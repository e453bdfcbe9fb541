//! Tables: columns that know on which side their cells stand, and cells that know what they are.

use std::fmt;

use crate::units::{bytes, fixed, grouped, latency, microseconds, percent, rate, seconds};

/// A number with its unit, which says how many digits people are shown. Programs are given the
/// number as it is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of things.
    Count(u64),
    /// Of an order, or the like: without groups of digits.
    Ordinal(u64),
    /// A second.
    Rate(f64),
    /// Given in nanoseconds, shown in seconds.
    Seconds(u64),
    /// Given in nanoseconds, shown in milliseconds.
    Milliseconds(u64),
    /// Given in nanoseconds, shown in microseconds.
    Microseconds(f64),
    /// Given in nanoseconds, shown in the unit that suits it.
    Latency(f64),
    /// In the power of 1,024 that suits it.
    Bytes(f64),
    /// From 0 to 1, shown in percent.
    Share(f64),
    /// With so many digits.
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
    /// Digits behind the point where there is one unit for a whole column, and so many of them as
    /// the number is worth.
    fn digits(&self) -> usize {
        let is_zero = self.in_one_unit().is_none_or(|value| value == 0.0);
        let shown = self.to_string();
        let digits = shown.split_once('.').map(|(_, digits)| digits.len());
        digits.filter(|_| !is_zero).unwrap_or(0)
    }

    /// The value, where a whole column has one unit.
    fn in_one_unit(&self) -> Option<f64> {
        match self {
            Self::Rate(per_second) => Some(*per_second),
            Self::Seconds(ns) => Some(*ns as f64 / 1e9),
            Self::Microseconds(ns) => Some(ns / 1e3),
            _ => None,
        }
    }

    /// The number with so many digits behind the point, where a whole column has one unit.
    fn with_digits(&self, digits: usize) -> String {
        let Some(value) = self.in_one_unit() else {
            return self.to_string();
        };
        // Half of a whole one counts as one, as in the number alone.
        let value = if digits == 0 { value.round() } else { value };
        let shown = fixed(value, digits);
        let (whole, rest) = shown
            .split_once('.')
            .map_or((&*shown, None), |(whole, rest)| (whole, Some(rest)));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
        rest.map_or(whole.clone(), |rest| format!("{whole}.{rest}"))
    }

    /// All of its digits, in the unit that it is kept in.
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
            // The sum of no numbers is -0.
            | Self::Decimal(number, _) => (number + 0.0).to_string(),
        }
    }
}

/// What stands in one column of one row; as words by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing, where nothing belongs.
    Empty,
    /// A text, maybe of others: no spreadsheet takes it for a formula.
    Text(String),
    /// A text of ours, or a number as somebody printed it: it stays as it is.
    Ours(String),
    /// A text of others, and the anchor on the same page where more of it stands; without pages the
    /// text alone.
    Linked(String, String),
    /// A number, with what is counted, if its unit does not say it.
    Number(Number, &'static str),
    /// What does not apply, or nobody asked for.
    Missing,
    /// What is not available, and why.
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
    /// As people see it in a table, where there is no room for reasons.
    pub fn short(&self) -> String {
        match self {
            Self::Missing | Self::Unavailable(_) => "-".to_owned(),
            cell => cell.to_string(),
        }
    }

    /// The same in a column whose numbers have so many digits behind the point.
    pub(crate) fn short_with(&self, digits: usize) -> String {
        match self {
            Self::Number(number, unit) => number.with_digits(digits) + unit,
            cell => cell.short(),
        }
    }

    /// A text of ours.
    pub fn ours(text: impl Into<String>) -> Self {
        Self::Ours(text.into())
    }

    /// A number of things.
    pub fn count(number: impl Into<u64>) -> Self {
        Number::Count(number.into()).into()
    }

    /// A number of things a second.
    pub fn rate(per_second: Option<f64>) -> Self {
        per_second.map(Number::Rate).into()
    }

    /// Nanoseconds, in the unit that suits them.
    pub fn latency(ns: Option<u64>) -> Self {
        ns.map(|ns| Number::Latency(ns as f64)).into()
    }

    /// A number of bytes.
    pub fn bytes(number: Option<u64>) -> Self {
        number.map(|number| Number::Bytes(number as f64)).into()
    }

    /// Bytes a second.
    pub fn throughput(per_second: Option<f64>) -> Self {
        let number = per_second.map(|rate| Self::Number(Number::Bytes(rate), "/s"));
        number.into()
    }

    /// A share from 0 to 1.
    pub fn share(fraction: Option<f64>) -> Self {
        fraction.map(Number::Share).into()
    }

    /// A number with so many digits.
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

/// A column of a list: what stands over it, and what it shows of an entry.
pub type Column<T> = (&'static str, fn(&T) -> Cell);

/// The head of a column of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    /// What stands over it.
    pub header: String,
    /// Whether its cells stand to the left.
    pub is_words: bool,
}

/// A table: a header and rows below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) columns: Vec<Head>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// How many columns, from the first, say what a row is.
    pub(crate) leads: usize,
    /// Whether it goes on below where it is too wide, with the headers broken.
    pub(crate) folds: bool,
}

impl Table {
    /// A table without rows, whose first `words` columns are words; the others are numbers.
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

    /// A table with a row for each entry of a list.
    pub fn of<T>(words: usize, columns: &[Column<T>], list: impl IntoIterator<Item = T>) -> Self {
        let header: Vec<&str> = columns.iter().map(|(header, _)| *header).collect();
        let mut table = Self::new(words, &header);
        for entry in list {
            table.row(columns.iter().map(|(_, cell)| cell(&entry)).collect());
        }
        table
    }

    /// Where it is too wide, headers are broken, and the rest of the columns stands below, behind
    /// the first words again.
    #[must_use]
    pub fn folding(mut self) -> Self {
        self.folds = true;
        self
    }

    /// Where it goes on below, so many columns stand there again.
    #[must_use]
    pub fn leading(mut self, columns: usize) -> Self {
        self.leads = columns;
        self
    }

    /// The column at this place, from 0, has words.
    #[must_use]
    pub fn with_words(mut self, place: usize) -> Self {
        if let Some(column) = self.columns.get_mut(place) {
            column.is_words = true;
        }
        self
    }

    /// Adds a column.
    pub fn column(&mut self, header: impl Into<String>, is_words: bool) {
        let header = header.into();
        self.columns.push(Head { header, is_words });
    }

    /// Adds a row. What it has no cells for stays empty.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The cells as people see them: the numbers of a column that has one unit have the same digits
    /// behind the point.
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

    /// Whether there is nothing but the header.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
