//! Dot charts as data: rows of values on a common axis. The crate that computes the values creates
//! the chart's data, and renderers draw it without further information.

#[derive(Clone, Debug, PartialEq)]
pub enum DotValue {
    Heading,
    At {
        /// The index of the value's kind in [`Dots::kinds`].
        kind: usize,
        /// The value in the unit of the axis.
        value: f64,
        /// A range around the value, such as a confidence interval or minimum and maximum.
        range: Option<(f64, f64)>,
    },
    /// The reason why the value is missing.
    Missing(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct DotRow {
    /// The label before the row.
    pub name: String,
    pub value: DotValue,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    pub title: String,
    /// A description of one or two sentences.
    pub caption: String,
    /// The label of the axis, with the unit.
    pub axis: String,
    /// Whether the axis is logarithmic, so that equal ratios have equal lengths.
    pub is_logarithmic: bool,
    /// The names of the kinds of values; a single kind needs no name.
    pub kinds: Vec<String>,
    pub rows: Vec<DotRow>,
}

impl DotRow {
    /// Creates a row that is a heading for the rows below it.
    pub fn heading(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: DotValue::Heading,
        }
    }

    /// Creates a row with a value that has no range.
    pub fn at(name: String, kind: usize, value: f64) -> Self {
        let range = None;
        let value = DotValue::At { kind, value, range };
        Self { name, value }
    }
}
