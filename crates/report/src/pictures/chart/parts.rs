//! The parts of a chart and their dimensions.

use document::sanitize::html;

use crate::pictures::png::Indexed;
use crate::pictures::scale::Scale;

/// Width of a chart on a page (`WIDE`), and in a column of a paper (`NARROW`), in units of the SVG.
/// Letters have the same size in both charts.
pub(crate) const WIDE: f64 = 640.0;
pub(crate) const NARROW: f64 = 320.0;
pub(super) const HEIGHT: f64 = 300.0;
pub(super) const LEFT: f64 = 88.0;
pub(super) const RIGHT: f64 = 24.0;
pub(super) const BOTTOM: f64 = 46.0;
/// Height of a line of the legend, in units of the SVG.
pub(crate) const LINE: f64 = 19.0;
/// Approximate width of a letter in the text of a chart, in units of the SVG.
pub(crate) const LETTER: f64 = 7.0;
/// Maximum number of series in a chart, because a reader can distinguish only 8 styles of lines.
pub(crate) const SERIES_MAX: usize = 8;

pub(crate) struct Axis {
    /// The quantity, with its unit.
    pub name: String,
    pub scale: Scale,
    pub label: fn(f64) -> String,
}

impl Axis {
    pub(crate) fn new(name: impl Into<String>, scale: Scale, label: fn(f64) -> String) -> Self {
        let name = name.into();
        Self { name, scale, label }
    }
}

/// A line through points, in order. `None` interrupts the line.
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<Option<(f64, f64)>>,
    /// Points that no line joins, drawn as pale circles.
    pub single: Vec<(f64, f64)>,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<Option<(f64, f64)>>) -> Self {
        Self {
            name: name.into(),
            points,
            single: Vec::new(),
        }
    }

    pub(crate) fn with_single(self, single: Vec<(f64, f64)>) -> Self {
        Self { single, ..self }
    }

    /// All points, without the gaps.
    pub(crate) fn values(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let joined = self.points.iter().copied().flatten();
        joined.chain(self.single.iter().copied())
    }
}

/// The points of all series, without the gaps.
pub(crate) fn points(series: &[Series]) -> impl Iterator<Item = (f64, f64)> + Clone {
    series.iter().flat_map(Series::values)
}

/// A mark in the background of a chart.
pub(crate) enum Behind {
    /// A named interval of the horizontal axis.
    Stretch {
        from: f64,
        to: f64,
        name: String,
        class: &'static str,
    },
    /// A line at a value of the horizontal axis.
    Upright { at: f64, name: String },
    /// A line at a value of the vertical axis.
    Level { at: f64, name: String },
    /// The range of values at one position, in the colour of a series.
    Range {
        at: f64,
        from: f64,
        to: f64,
        series: usize,
    },
    /// An image over the whole plotting area.
    Picture(Indexed),
    /// Values for the readout that are not drawn.
    Unseen(Series),
}

pub(crate) fn label(class: &str, (x, y): (f64, f64), text: &str) -> String {
    let text = html(text);
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>")
}
