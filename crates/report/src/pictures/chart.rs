//! A chart: axes, what lies behind, lines and points, and names of the lines above.

use std::fmt::Write;

use document::harmless::html;
use document::{Picture, Table};

use super::png::Indexed;
use super::scale::Scale;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 88.0;
const RIGHT: f64 = 24.0;
const BOTTOM: f64 = 46.0;
/// A line of names.
pub(crate) const LINE: f64 = 19.0;
/// About so wide is a letter.
pub(crate) const LETTER: f64 = 7.0;
/// With fewer points each one is drawn, and says what it is.
const POINTS_DRAWN_MAX: usize = 60;
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

/// A line through points, in order; where there is nothing it is broken.
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<Option<(f64, f64)>>,
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
    Range { at: f64, from: f64, to: f64, series: usize },
    /// A picture over the whole plane.
    Picture(Indexed),
}

/// See the module's text.
pub(crate) struct Chart<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub x: Axis,
    pub y: Axis,
    pub behind: Vec<Behind>,
    pub series: Vec<Series>,
}

impl Chart<'_> {
    /// The picture, with the numbers that it shows.
    pub(crate) fn picture(&self, data: Table) -> Picture {
        Picture {
            title: self.title.to_owned(),
            caption: self.description.to_owned(),
            svg: self.svg(),
            data,
        }
    }

    /// One `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><title>{}</title><desc>{}</desc>\n",
            html(self.title),
            html(self.description)
        );
        let mut names = String::new();
        let top = self.names(&mut names);
        let plane = Plane {
            top,
            x: self.x.scale,
            y: self.y.scale,
        };
        for behind in &self.behind {
            plane.behind(&mut svg, behind);
        }
        self.axes(&mut svg, &plane);
        for (number, series) in self.series.iter().enumerate() {
            self.line(&mut svg, &plane, series, number % SERIES_MAX);
        }
        svg + &names + "</svg>"
    }

    /// The names of the lines, in as many lines as they need: where the plane begins.
    fn names(&self, svg: &mut String) -> f64 {
        let (mut x, mut y) = (LEFT, LINE - 5.0);
        if self.series.len() < 2 && self.series.iter().all(|series| series.name.is_empty()) {
            return LINE;
        }
        for (number, series) in self.series.iter().enumerate() {
            let width = 34.0 + LETTER * series.name.chars().count() as f64;
            if x > LEFT && x + width > WIDTH {
                (x, y) = (LEFT, y + LINE);
            }
            let _ = writeln!(
                svg,
                "<path class=\"line s{}\" d=\"M{x:.1} {:.1}h18\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                number % SERIES_MAX,
                y - 4.0,
                x + 22.0,
                html(&series.name)
            );
            x += width;
        }
        y + LINE
    }

    fn axes(&self, svg: &mut String, plane: &Plane) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for tick in self.y.scale.ticks() {
            if let Some(y) = plane.y(tick) {
                let label = (self.y.label)(tick);
                let _ = writeln!(
                    svg,
                    "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    LEFT - 6.0,
                    y + 4.0,
                    html(&label)
                );
            }
        }
        for tick in self.x.scale.ticks() {
            if let Some(x) = plane.x(tick) {
                let label = (self.x.label)(tick);
                let _ = writeln!(
                    svg,
                    "<path class=\"grid\" d=\"M{x:.1} {bottom}v5\"/><text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                    bottom + 18.0,
                    html(&label)
                );
            }
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {:.1}V{bottom}H{right}\"/><text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text><text class=\"middle\" transform=\"translate(13 {:.1}) rotate(-90)\">{}</text>",
            plane.top,
            (LEFT + right) / 2.0,
            HEIGHT - 6.0,
            html(&self.x.name),
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
        if series.points.len() > POINTS_DRAWN_MAX {
            return;
        }
        for (x, y) in series.points.iter().flatten() {
            if let Some((left, top)) = plane.point(*x, *y) {
                let _ = writeln!(
                    svg,
                    "<circle class=\"s{class}\" cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"2.5\"><title>{}: {} at {}</title></circle>",
                    html(&series.name),
                    html(&(self.y.label)(*y)),
                    html(&(self.x.label)(*x))
                );
            }
        }
    }
}

/// Where values lie in the picture.
struct Plane {
    top: f64,
    x: Scale,
    y: Scale,
}

impl Plane {
    fn x(&self, value: f64) -> Option<f64> {
        Some(LEFT + self.x.place(value)? * (WIDTH - RIGHT - LEFT))
    }

    fn y(&self, value: f64) -> Option<f64> {
        let bottom = HEIGHT - BOTTOM;
        Some(bottom - self.y.place(value)? * (bottom - self.top))
    }

    fn point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x(x)?, self.y(y)?))
    }

    fn behind(&self, svg: &mut String, behind: &Behind) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let top = self.top;
        let _ = match behind {
            Behind::Stretch { from, to, name, class } => {
                let (Some(from), Some(to)) = (self.x(*from), self.x(*to)) else {
                    return;
                };
                let (width, height) = ((to - from).max(1.0), bottom - top);
                let _ = writeln!(
                    svg,
                    "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{}</title></rect>",
                    html(name)
                );
                // A name that has no room is in the table.
                if width < LETTER * name.chars().count() as f64 {
                    return;
                }
                writeln!(
                    svg,
                    "<text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    from + 3.0,
                    top + 13.0,
                    html(name)
                )
            }
            Behind::Upright { at, name } => {
                let Some(x) = self.x(*at) else { return };
                let class = if x > (LEFT + right) / 2.0 { "faint end" } else { "faint" };
                let beside = if x > (LEFT + right) / 2.0 { x - 4.0 } else { x + 4.0 };
                writeln!(
                    svg,
                    "<path class=\"rule\" d=\"M{x:.1} {top:.1}V{bottom}\"/><text class=\"{class}\" x=\"{beside:.1}\" y=\"{:.1}\">{}</text>",
                    top + 13.0,
                    html(name)
                )
            }
            Behind::Level { at, name } => {
                let Some(y) = self.y(*at) else { return };
                writeln!(
                    svg,
                    "<path class=\"rule\" d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"faint\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    LEFT + 4.0,
                    y - 4.0,
                    html(name)
                )
            }
            Behind::Range { at, from, to, series } => {
                let (Some((x, from)), Some(to)) = (self.point(*at, *from), self.y(*to)) else {
                    return;
                };
                writeln!(
                    svg,
                    "<path class=\"range m{}\" d=\"M{:.1} {from:.1}h8m-4 0V{to:.1}m-4 0h8\"/>",
                    series % SERIES_MAX,
                    x - 4.0
                )
            }
            Behind::Picture(picture) => writeln!(
                svg,
                "<image class=\"pixels\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" preserveAspectRatio=\"none\" href=\"{}\"/>",
                right - LEFT,
                bottom - top,
                picture.address()
            ),
        };
    }
}
