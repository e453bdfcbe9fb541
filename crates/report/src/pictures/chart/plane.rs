//! The plotting area of a chart: positions of values, and marks in the background.

use std::fmt::Write;

use document::sanitize::html;

use super::parts::{self, Axis, BOTTOM, Behind, HEIGHT, LEFT, LETTER, LINE, RIGHT, SERIES_MAX};
use crate::pictures::scale::Scale;

/// Draws the labels below a horizontal axis, with a grid line for each value.
pub(crate) fn ticks(
    svg: &mut String,
    axis: &Axis,
    place: impl Fn(f64) -> Option<f64>,
    bottom: f64,
    grid: impl Fn(f64) -> String,
) {
    let mut before = f64::NEG_INFINITY;
    for tick in axis.scale.ticks() {
        let Some(x) = place(tick) else { continue };
        let _ = write!(svg, "<path class=\"grid\" d=\"{}\"/>", grid(x));
        let label = (axis.label)(tick);
        let half = LETTER * label.chars().count() as f64 / 2.0;
        // Labels that would overlap are left out.
        if x - half > before {
            before = x + half + LETTER;
            svg.push_str(&parts::label("middle", (x, bottom + 18.0), &label));
        }
        svg.push('\n');
    }
}

/// Converts values to positions in the plotting area.
pub(super) struct Plane {
    pub(super) width: f64,
    pub(super) top: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Plane {
    pub(super) fn x(&self, value: f64) -> Option<f64> {
        Some(LEFT + self.x.place(value)? * (self.width - RIGHT - LEFT))
    }

    pub(super) fn y(&self, value: f64) -> Option<f64> {
        let bottom = HEIGHT - BOTTOM;
        Some(bottom - self.y.place(value)? * (bottom - self.top))
    }

    pub(super) fn point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x(x)?, self.y(y)?))
    }

    pub(super) fn behind(&self, svg: &mut String, behind: &Behind) {
        let (bottom, right) = (HEIGHT - BOTTOM, self.width - RIGHT);
        let top = self.top;
        let _ = match behind {
            Behind::Stretch {
                from,
                to,
                name,
                class,
            } => return self.stretch(svg, (*from, *to), name, class),
            Behind::Upright { at, .. } => {
                let Some(x) = self.x(*at) else { return };
                writeln!(
                    svg,
                    "<path class=\"rule\" d=\"M{x:.1} {top:.1}V{bottom}\"/>"
                )
            }
            Behind::Level { at, .. } => {
                let Some(y) = self.y(*at) else { return };
                writeln!(svg, "<path class=\"rule\" d=\"M{LEFT} {y:.1}H{right}\"/>")
            }
            Behind::Range {
                at,
                from,
                to,
                series,
            } => {
                let (Some((x, from)), Some(to)) = (self.point(*at, *from), self.y(*to)) else {
                    return;
                };
                // Ranges of several series at one position are drawn side by side.
                writeln!(
                    svg,
                    "<path class=\"range m{}\" d=\"M{:.1} {from:.1}h6m-3 0V{to:.1}m-3 0h6\"/>",
                    series % SERIES_MAX,
                    x - 3.0 + 5.0 * (series % SERIES_MAX) as f64
                )
            }
            Behind::Picture(picture) => writeln!(
                svg,
                "<image class=\"pixels\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" \
                 height=\"{:.1}\" preserveAspectRatio=\"none\" href=\"{}\"/>",
                right - LEFT,
                bottom - top,
                picture.address()
            ),
            Behind::Unseen(_) => Ok(()),
        };
    }

    /// Draws an interval of the horizontal axis, with its name if there is space.
    fn stretch(&self, svg: &mut String, (from, to): (f64, f64), name: &str, class: &str) {
        let (Some(from), Some(to)) = (self.x(from), self.x(to)) else {
            return;
        };
        let (width, top) = ((to - from).max(1.0), self.top);
        let height = HEIGHT - BOTTOM - top;
        let _ = writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"><title>{}</title></rect>",
            html(name)
        );
        // A name that does not fit is only in the tooltip.
        if width < LETTER * name.chars().count() as f64 {
            return;
        }
        // A warm-up is part of a phase, so its name is one line below the name of the phase.
        let below = if class == "warm-up" { LINE } else { 0.0 };
        let place = (from + 3.0, top + 13.0 + below);
        let _ = writeln!(svg, "{}", parts::label("faint", place, name));
    }

    /// Draws the label of a mark at a value of an axis.
    pub(super) fn label(&self, svg: &mut String, behind: &Behind) {
        let right = self.width - RIGHT;
        let (class, place, name) = match behind {
            Behind::Upright { at, name } => {
                let Some(x) = self.x(*at) else { return };
                match x > (LEFT + right) / 2.0 {
                    true => ("faint label end", (x - 4.0, self.top + 13.0), name),
                    false => ("faint label", (x + 4.0, self.top + 13.0), name),
                }
            }
            Behind::Level { at, name } => {
                let Some(y) = self.y(*at) else { return };
                ("faint label", (LEFT + 4.0, y - 4.0), name)
            }
            _ => return,
        };
        let _ = writeln!(svg, "{}", parts::label(class, place, name));
    }
}
