//! Charts of rows over one horizontal axis: points with intervals, and marks in the background. A
//! row without points is a heading, or states why there are no points.

use std::fmt::Write;

use document::sanitize::html;
use document::units::shortened;
use document::{Picture, Table};

use super::chart::{Axis, LETTER, LINE, NARROW, SERIES_MAX, WIDE, label, ticks};

const RIGHT: f64 = 32.0;
const BOTTOM: f64 = 46.0;
const HEIGHT: f64 = 20.0;
/// Maximum share of a chart's width for the names of its rows.
const NAMES_PART: f64 = 0.42;

/// A point of a row, with its interval.
pub(crate) struct Mark {
    /// Index of the point's kind in the legend.
    pub series: usize,
    pub at: f64,
    pub range: Option<(f64, f64)>,
}

pub(crate) struct Row {
    pub name: String,
    /// A shaded range behind the points.
    pub band: Option<(f64, f64)>,
    pub marks: Vec<Mark>,
    /// Why the row contains no points; `None` for a heading and for a row with points.
    pub why: Option<String>,
}

impl Row {
    pub(crate) fn heading(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            band: None,
            marks: Vec::new(),
            why: None,
        }
    }

    fn is_heading(&self) -> bool {
        self.marks.is_empty() && self.why.is_none()
    }
}

pub(crate) struct Rows {
    pub title: String,
    pub caption: String,
    pub x: Axis,
    /// The value of the axis at which a vertical line crosses all rows.
    pub rule: Option<f64>,
    /// Names of the kinds of marks; empty if there is only one kind.
    pub series: Vec<String>,
    pub rows: Vec<Row>,
}

impl Rows {
    pub(crate) fn picture(self, data: Table) -> Picture {
        Picture {
            svg: self.svg(WIDE),
            narrow: self.svg(NARROW),
            title: self.title,
            caption: self.caption,
            data,
        }
    }

    fn svg(&self, width: f64) -> String {
        let longest = self.rows.iter().filter(|row| !row.is_heading());
        let longest = longest
            .map(|row| row.name.chars().count())
            .max()
            .unwrap_or(0);
        let left = (LETTER * longest as f64 + 20.0).clamp(60.0, width * NAMES_PART);
        let mut names = String::new();
        let top = self.names(&mut names, width);
        let bottom = top + HEIGHT * self.rows.len() as f64 + 4.0;
        let right = width - RIGHT;
        let x = |value: f64| Some(left + self.x.scale.place(value)? * (right - left));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {:.0}\" \
             role=\"img\"><title>{}</title><desc>{}</desc>\n",
            bottom + BOTTOM,
            html(&self.title),
            html(&self.caption)
        );
        let grid = |x| format!("M{x:.1} {top:.1}V{:.1}", bottom + 5.0);
        ticks(&mut svg, &self.x, x, bottom, grid);
        for (number, row) in self.rows.iter().enumerate() {
            let y = top + HEIGHT * (number as f64 + 0.5);
            self.row(&mut svg, row, (left, right, y), &x);
        }
        if let Some(at) = self.rule.and_then(x) {
            let _ = writeln!(
                svg,
                "<path class=\"rule\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>"
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>{}",
            label(
                "middle",
                ((left + right) / 2.0, bottom + BOTTOM - 8.0),
                &self.x.name
            )
        );
        svg + &names + "</svg>"
    }

    /// Draws the legend in as many lines as necessary; returns the top of the rows.
    fn names(&self, svg: &mut String, width: f64) -> f64 {
        if self.series.is_empty() {
            return 6.0;
        }
        let (mut x, mut y) = (8.0, LINE - 5.0);
        for (number, name) in self.series.iter().enumerate() {
            let wide = 24.0 + LETTER * name.chars().count() as f64;
            if x > 8.0 && x + wide > width {
                (x, y) = (8.0, y + LINE);
            }
            mark(svg, number, x + 5.0, y - 4.0, "");
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                x + 14.0,
                html(name)
            );
            x += wide;
        }
        y + LINE / 2.0
    }

    fn row(
        &self,
        svg: &mut String,
        row: &Row,
        (left, right, y): (f64, f64, f64),
        x: &impl Fn(f64) -> Option<f64>,
    ) {
        if row.is_heading() {
            let most = ((right / LETTER) as usize).max(1);
            let _ = writeln!(
                svg,
                "<text class=\"head\" x=\"4\" y=\"{:.1}\">{}</text>",
                y + 5.0,
                html(&shortened(&row.name, most))
            );
            return;
        }
        // Values beyond the axis are drawn at its ends.
        let within = |value: f64| {
            x(value).unwrap_or(if self.x.scale.is_above(value) {
                right
            } else {
                left
            })
        };
        if let Some((from, to)) = row.band {
            let (from, to) = (within(from), within(to));
            let _ = writeln!(
                svg,
                "<rect class=\"noise\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                 height=\"{HEIGHT}\"/>",
                y - HEIGHT / 2.0,
                (to - from).max(1.0)
            );
        }
        let most = (((left - 12.0) / LETTER) as usize).max(1);
        let _ = write!(
            svg,
            "<text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
            left - 8.0,
            y + 4.0,
            html(&shortened(&row.name, most)),
            html(&row.name)
        );
        if let Some(why) = &row.why {
            svg.push_str(&label("faint", (left + 6.0, y + 4.0), why));
        }
        self.marks(svg, row, y, within);
        svg.push('\n');
    }

    /// Draws the points of a row with their ranges.
    fn marks(&self, svg: &mut String, row: &Row, y: f64, within: impl Fn(f64) -> f64) {
        for one in &row.marks {
            let label = |value: f64| (self.x.label)(value);
            let mut said = format!("{}: {}", row.name, label(one.at));
            if let Some((from, to)) = one.range {
                said += &format!(" ({} to {})", label(from), label(to));
                let (from, to) = (within(from), within(to));
                let _ = write!(
                    svg,
                    "<path class=\"range m{}\" d=\"M{from:.1} {:.1}v8m0 -4H{to:.1}m0 -4v8\"/>",
                    one.series % SERIES_MAX,
                    y - 4.0
                );
            }
            mark(svg, one.series, within(one.at), y, &said);
        }
    }
}

/// Draws a point. Each kind has its own shape and colour.
fn mark(svg: &mut String, series: usize, x: f64, y: f64, said: &str) {
    let form = match series % SERIES_MAX {
        0 => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        1 => "m0 -5l4.5 8h-9z",
        2 => "m0 5l4.5 -8h-9z",
        3 => "m-3.5 -3.5h7v7h-7z",
        4 => "m0 -5l4.5 5l-4.5 5l-4.5 -5z",
        5 => "m-1.5 -5h3v10h-3z",
        6 => "m-5 -1.5h10v3h-10z",
        _ => {
            "m-4 -4l1.5 -1.5l2.5 3l2.5 -3l1.5 1.5l-3 4l3 4l-1.5 1.5l-2.5 -3l-2.5 3l-1.5 -1.5l3 -4z"
        }
    };
    let _ = write!(
        svg,
        "<path class=\"mark m{}\" d=\"M{x:.1} {y:.1}{form}\"><title>{}</title></path>",
        series % SERIES_MAX,
        html(said)
    );
}
