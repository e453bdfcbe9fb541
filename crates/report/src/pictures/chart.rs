//! A chart: axes, background, lines and points, and a legend above.

mod parts;
mod plane;

use std::collections::BTreeMap;
use std::fmt::Write;

use document::sanitize::html;
use document::{Picture, Table};

pub(crate) use self::parts::{
    Axis, Behind, LETTER, LINE, NARROW, SERIES_MAX, Series, WIDE, label, points,
};
use self::parts::{BOTTOM, HEIGHT, LEFT, RIGHT};
use self::plane::Plane;
pub(crate) use self::plane::ticks;

/// Maximum number of points of a line. With more points, a chart contains lines only, without a
/// mark and a tooltip at each point.
const POINTS_DRAWN_MAX: usize = 60;
/// A chart of lines over two axes.
pub(crate) struct Chart {
    title: String,
    caption: String,
    x: Axis,
    y: Axis,
    behind: Vec<Behind>,
    series: Vec<Series>,
}

impl Chart {
    /// A chart without a background.
    pub(crate) fn new(
        title: impl Into<String>,
        caption: impl Into<String>,
        (x, y): (Axis, Axis),
        series: Vec<Series>,
    ) -> Self {
        Self {
            title: title.into(),
            caption: caption.into(),
            x,
            y,
            behind: Vec::new(),
            series,
        }
    }

    pub(crate) fn over(self, behind: Vec<Behind>) -> Self {
        Self { behind, ..self }
    }

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
        let mut names = String::new();
        let top = self.names(&mut names, width);
        let plane = Plane {
            width,
            top,
            x: self.x.scale,
            y: self.y.scale,
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" \
             role=\"img\"{}><title>{}</title><desc>{}</desc>\n",
            self.readings(&plane),
            html(&self.title),
            html(&self.caption)
        );
        for behind in &self.behind {
            plane.behind(&mut svg, behind);
        }
        self.axes(&mut svg, &plane);
        for (number, series) in self.series.iter().enumerate() {
            svg.push_str("<g class=\"series\">\n");
            self.line(&mut svg, &plane, series, number % SERIES_MAX);
            svg.push_str("</g>\n");
        }
        // Labels are drawn after the lines, which would otherwise cross the labels.
        for behind in &self.behind {
            plane.label(&mut svg, behind);
        }
        svg + &names + "</svg>"
    }

    /// Attributes from which `style/page.js` shows the values at the pointer: the top and bottom of
    /// the plotting area, and rows of values. The first row contains the names of the axis and of
    /// the series. Each other row contains a position on the axis, its label, and the formatted
    /// value of each series there. Tabs and newlines separate values and rows; in names they are
    /// escaped.
    fn readings(&self, plane: &Plane) -> String {
        let unseen = self.behind.iter().filter_map(|behind| match behind {
            Behind::Unseen(series) => Some(series),
            _ => None,
        });
        let all: Vec<&Series> = self.series.iter().chain(unseen).collect();
        let mut places: BTreeMap<i64, (f64, Vec<String>)> = BTreeMap::new();
        for (number, series) in all.iter().enumerate() {
            for (x, y) in series.values() {
                if let Some(left) = plane.x(x) {
                    let (_, values) = places
                        .entry((left * 10.0).round() as i64)
                        .or_insert_with(|| (x, vec![String::new(); all.len()]));
                    values[number] = (self.y.label)(y);
                }
            }
        }
        if places.is_empty() {
            return String::new();
        }
        let mut rows = String::new();
        for series in &all {
            let _ = write!(rows, "\t{}", html(&series.name));
        }
        for (tenths, (x, values)) in places {
            let _ = write!(
                rows,
                "\n{}.{}\t{}",
                tenths / 10,
                tenths % 10,
                html(&(self.x.label)(x))
            );
            for value in values {
                let _ = write!(rows, "\t{}", html(&value));
            }
        }
        let (name, bottom) = (html(&self.x.name), HEIGHT - BOTTOM);
        format!(
            " data-plane=\"{:.1} {bottom}\" data-readings=\"{name}{rows}\"",
            plane.top
        )
    }

    /// Draws the legend in as many lines as necessary; returns the top of the plotting area.
    fn names(&self, svg: &mut String, width: f64) -> f64 {
        let (mut x, mut y) = (LEFT, LINE - 5.0);
        if self.series.len() < 2 && self.series.iter().all(|series| series.name.is_empty()) {
            return LINE;
        }
        for (number, series) in self.series.iter().enumerate() {
            let wide = 34.0 + LETTER * series.name.chars().count() as f64;
            if x > LEFT && x + wide > width {
                (x, y) = (LEFT, y + LINE);
            }
            let _ = writeln!(
                svg,
                "<g class=\"name\"><path class=\"line s{}\" d=\"M{x:.1} {:.1}h18\"/><text \
                 x=\"{:.1}\" y=\"{y:.1}\">{}</text></g>",
                number % SERIES_MAX,
                y - 4.0,
                x + 22.0,
                html(&series.name)
            );
            x += wide;
        }
        y + LINE
    }

    fn axes(&self, svg: &mut String, plane: &Plane) {
        let (bottom, right) = (HEIGHT - BOTTOM, plane.width - RIGHT);
        for tick in self.y.scale.ticks() {
            if let Some(y) = plane.y(tick) {
                let label = label("end", (LEFT - 6.0, y + 4.0), &(self.y.label)(tick));
                let grid = format!("<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>");
                let _ = writeln!(svg, "{grid}{label}");
            }
        }
        let grid = |x| format!("M{x:.1} {bottom}v5");
        ticks(svg, &self.x, |value| plane.x(value), bottom, grid);
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {:.1}V{bottom}H{right}\"/>{}<text \
             class=\"middle\" transform=\"translate(13 {:.1}) rotate(-90)\">{}</text>",
            plane.top,
            label("middle", ((LEFT + right) / 2.0, HEIGHT - 6.0), &self.x.name),
            (plane.top + bottom) / 2.0,
            html(&self.y.name)
        );
    }

    fn line(&self, svg: &mut String, plane: &Plane, series: &Series, class: usize) {
        let mut path = String::new();
        let mut is_down = false;
        for point in &series.points {
            let place = point.and_then(|(x, y)| plane.point(x, y));
            if let Some((x, y)) = place {
                let _ = write!(path, "{}{x:.1} {y:.1}", if is_down { 'L' } else { 'M' });
            }
            is_down = place.is_some();
        }
        if !path.is_empty() {
            let _ = writeln!(svg, "<path class=\"line s{class}\" d=\"{path}\"/>");
        }
        // All lines of a chart have the same style: if one line has too many points, marks are
        // drawn on no line.
        if self
            .series
            .iter()
            .any(|series| series.points.len() > POINTS_DRAWN_MAX)
        {
            return;
        }
        let joined = series.points.iter().copied().flatten();
        let single = series.single.iter().copied();
        let all = joined
            .map(|point| (point, ""))
            .chain(single.map(|point| (point, " single")));
        for ((x, y), pale) in all {
            if let Some((left, top)) = plane.point(x, y) {
                let _ = writeln!(
                    svg,
                    "<circle class=\"s{class}{pale}\" cx=\"{left:.1}\" cy=\"{top:.1}\" \
                     r=\"{}\"><title>{}: {} at {}</title></circle>",
                    if pale.is_empty() { 2.5 } else { 3.5 },
                    html(&series.name),
                    html(&(self.y.label)(y)),
                    html(&(self.x.label)(x))
                );
            }
        }
    }
}
