//! What a chart is made of, and its measures.

use document::sanitize::html;

use crate::pictures::png::Indexed;
use crate::pictures::scale::Scale;

/// The width on a page, and in a column of a paper, where letters are as large.
pub(crate) const WIDE: f64 = 640.0;
pub(crate) const NARROW: f64 = 320.0;
pub(super) const HEIGHT: f64 = 300.0;
pub(super) const LEFT: f64 = 88.0;
pub(super) const RIGHT: f64 = 24.0;
pub(super) const BOTTOM: f64 = 46.0;
/// A line of names.
pub(crate) const LINE: f64 = 19.0;
/// About so wide is a letter.
pub(crate) const LETTER: f64 = 7.0;
/// So many kinds of lines can be told apart.
pub(crate) const SERIES_MAX: usize = 8;

/// An axis.
pub(crate) struct Axis {
    /// What is at it, with the unit.
    pub name: String,
    pub scale: Scale,
    /// How a value of it is written.
    pub label: fn(f64) -> String,
}

impl Axis {
    pub(crate) fn new(name: impl Into<String>, scale: Scale, label: fn(f64) -> String) -> Self {
        let name = name.into();
        Self { name, scale, label }
    }
}

/// A line through points, in order; where there is nothing it is broken.
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<Option<(f64, f64)>>,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<Option<(f64, f64)>>) -> Self {
        let name = name.into();
        Self { name, points }
    }
}

/// The points of all lines.
pub(crate) fn points(series: &[Series]) -> impl Iterator<Item = (f64, f64)> + Clone {
    let points = series.iter().flat_map(|series| &series.points);
    points.copied().flatten()
}

/// What lies behind the lines.
pub(crate) enum Behind {
    /// A stretch of the horizontal axis with a name.
    Stretch {
        from: f64,
        to: f64,
        name: String,
        class: &'static str,
    },
    /// A value of the horizontal axis.
    Upright { at: f64, name: String },
    /// A value of the vertical axis.
    Level { at: f64, name: String },
    /// From where to where the values at one place go, in the colour of a line.
    Range {
        at: f64,
        from: f64,
        to: f64,
        series: usize,
    },
    /// A picture over the whole plane.
    Picture(Indexed),
    /// Values that are not drawn, for the readout.
    Unseen(Series),
}

/// A `<text>` element at a place.
pub(crate) fn label(class: &str, (x, y): (f64, f64), text: &str) -> String {
    let text = html(text);
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>")
}
