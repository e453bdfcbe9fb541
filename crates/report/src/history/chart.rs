//! The chart of a history for a terminal: a column for each run or for several, with a mark at each
//! value.

use document::Document;
use study::{Better, History, HistoryPoint};
use verdict::Level;

use crate::comparison::value;

/// Height of the chart, in lines.
const HEIGHT: usize = 9;
/// Width of the labels to the left, in characters.
const LABEL: usize = 11;
/// Minimum and maximum width of the chart, in characters.
const WIDTHS: (usize, usize) = (20, 84);
/// Maximum number of columns for each run of a short history.
const STEP_MAX: usize = 4;
/// Marks, the least important first: a level's mean, VALID, DOUBTFUL.
const MARKS: [char; 3] = ['─', '•', '?'];

/// A grid of marks.
struct Grid {
    rows: Vec<Vec<char>>,
    /// Marks below the grid: INVALID runs and the first runs of new levels.
    below: Vec<char>,
}

/// The chart for a terminal of `width` characters; empty if there is nothing to draw.
pub fn chart(history: &History, width: usize) -> Document {
    let mut document = Document::default();
    let width = width.saturating_sub(LABEL + 1).min(WIDTHS.1);
    let values = || history.runs.iter().filter_map(HistoryPoint::counted);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    if width < WIDTHS.0 || low >= high {
        return document;
    }
    let grid = grid(history, (low, high), width);
    document.gap();
    for (number, row) in grid.rows.iter().enumerate() {
        let label = match number {
            0 => value(history.metric, high).short(),
            number if number == HEIGHT - 1 => value(history.metric, low).short(),
            _ => String::new(),
        };
        let row: String = row.iter().collect();
        document.line(format!("{label:>LABEL$} {}", row.trim_end()));
    }
    let marks: String = grid.below.iter().collect();
    if !marks.trim().is_empty() {
        document.line(format!("{:LABEL$} {}", "", marks.trim_end()));
    }
    let better = match history.metric.better() {
        Better::Higher => "higher",
        Better::Lower => "lower",
    };
    document.note(format!(
        "• VALID, ? DOUBTFUL, × INVALID (not counted), ─ mean of a level, ^ first run of a new \
         level; {better} is better"
    ));
    document
}

/// The marks of all runs, with values from `low` to `high`.
fn grid(history: &History, (low, high): (f64, f64), width: usize) -> Grid {
    let step = (width / history.runs.len()).min(STEP_MAX);
    let columns = match step {
        0 => width,
        step => step * history.runs.len(),
    };
    let column = |place: usize| place * columns / history.runs.len();
    let row = |value: f64| {
        let part = (high - value) / (high - low);
        (part * (HEIGHT - 1) as f64).round() as usize
    };
    let mut grid = Grid::new(columns);
    let mut level = 0;
    for (place, run) in history.runs.iter().enumerate() {
        if run.verdict == Level::Invalid {
            grid.below[column(place)] = '×';
        }
        let is_first = history
            .changes
            .get(level)
            .is_some_and(|change| change.first_after == run.run);
        if is_first {
            level += 1;
            grid.below[column(place)] = '^';
        }
        if let Some(level) = history.levels.get(level) {
            let row = row(level.mean.clamp(low, high));
            let columns = column(place)..=column(place) + step.saturating_sub(1);
            columns.for_each(|column| grid.mark(row, column, MARKS[0]));
        }
        if let Some(value) = run.counted() {
            let mark = match run.verdict {
                Level::Doubtful => MARKS[2],
                _ => MARKS[1],
            };
            grid.mark(row(value), column(place), mark);
        }
    }
    grid
}

impl Grid {
    fn new(columns: usize) -> Self {
        Self {
            rows: vec![vec![' '; columns]; HEIGHT],
            below: vec![' '; columns],
        }
    }

    /// Adds a mark, unless there is a more important one.
    fn mark(&mut self, row: usize, column: usize, mark: char) {
        let place = &mut self.rows[row.min(HEIGHT - 1)][column];
        let rank = |mark: char| MARKS.iter().position(|known| *known == mark);
        if rank(mark) >= rank(*place) {
            *place = mark;
        }
    }
}
