//! Values below one another on one axis, as data: who has them says what they are, and who draws
//! them needs to know no more.

/// A value, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum DotValue {
    /// The row is a heading.
    Heading,
    /// A value.
    At {
        /// Its place among the kinds.
        kind: usize,
        /// In the unit of the axis.
        value: f64,
        /// From where to where it may lie, or lies.
        range: Option<(f64, f64)>,
    },
    /// None, and why.
    Missing(String),
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct DotRow {
    /// What stands before it.
    pub name: String,
    /// What it has.
    pub value: DotValue,
}

/// See the module's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    /// What is shown, in a few words.
    pub title: String,
    /// What can be seen, in a sentence or two.
    pub caption: String,
    /// What stands at the axis, with the unit.
    pub axis: String,
    /// Whether equal ratios are equal lengths.
    pub is_logarithmic: bool,
    /// What the kinds of values are called; one kind needs no name.
    pub kinds: Vec<String>,
    /// The rows, from above.
    pub rows: Vec<DotRow>,
}

impl DotRow {
    /// What stands over rows.
    pub fn heading(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: DotValue::Heading,
        }
    }

    /// A value of a kind, without a range.
    pub fn at(name: String, kind: usize, value: f64) -> Self {
        let range = None;
        let value = DotValue::At { kind, value, range };
        Self { name, value }
    }
}
