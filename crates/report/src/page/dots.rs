//! Charts of single values, for example from a paper, on an axis that the caller chooses.

use document::{Cell, DotValue, Dots, Number, Picture, Table};

use super::sides::number;
use crate::pictures::chart::Axis;
use crate::pictures::rows::{Mark, Row, Rows};
use crate::pictures::scale::Scale;

pub fn dots(of: &Dots) -> Picture {
    let mut rows = Vec::new();
    let mut all = Vec::new();
    let mut data = Table::new(3, &["", "of", "kind", "value", "from", "to"]);
    let mut heading = "";
    for row in &of.rows {
        let mut one = Row::heading(&row.name);
        match &row.value {
            DotValue::Heading => heading = &row.name,
            DotValue::Missing(why) => one.why = Some(why.clone()),
            DotValue::At { kind, value, range } => {
                all.push(*value);
                all.extend(range.iter().flat_map(|(low, high)| [*low, *high]));
                one.marks.push(Mark {
                    series: *kind,
                    at: *value,
                    range: *range,
                });
                let cell = |value: f64| Cell::from(Number::Decimal(value, 3));
                data.row(vec![
                    row.name.as_str().into(),
                    heading.into(),
                    of.kinds.get(*kind).map_or("", String::as_str).into(),
                    cell(*value),
                    range.map(|(low, _)| cell(low)).into(),
                    range.map(|(_, high)| cell(high)).into(),
                ]);
            }
        }
        rows.push(one);
    }
    let scale = match (of.is_logarithmic, all.iter().any(|value| *value < 0.0)) {
        (true, _) => Scale::decades(all.iter().copied()),
        (false, false) => Scale::from_zero(all.iter().copied()),
        (false, true) => {
            let low = all.iter().copied().fold(0.0, f64::min);
            let high = all.iter().copied().fold(0.0, f64::max);
            let more = (high - low) * 0.05;
            Scale::over([low - more, high + more].into_iter())
        }
    };
    let plot = Rows {
        title: of.title.clone(),
        caption: of.caption.clone(),
        x: Axis::new(&of.axis, scale, number),
        rule: (!of.is_logarithmic).then_some(0.0),
        series: of.kinds.clone(),
        rows,
    };
    plot.picture(data)
}
