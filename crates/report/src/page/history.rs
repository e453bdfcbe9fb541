//! The page of a history.

use document::units::{latency, throughput, trimmed};
use document::{Document, html};
use study::{History, HistoryPoint, MetricUnit};
use verdict::Level;

use super::file::whole;
use super::labels::{rate_label, whole as whole_number};
use crate::comparison::{metric_name, noun};
use crate::history::{details, points, summary};
use crate::pictures::chart::{Axis, Behind, Chart, Series};
use crate::pictures::scale::Scale;

/// Maximum number of runs that are drawn as circles. A longer history is drawn as a line.
const CIRCLES_MAX: usize = 400;
/// Maximum number of runs that the page lists; CSV and JSON contain all.
const LISTED_MAX: usize = 1_000;

/// The HTML file of a history.
pub fn history_page(history: &History) -> String {
    let name = metric_name(history.metric);
    let title = format!("PostMark: history of {name}, {}", history.series.workload);
    let mut strip = Document::default();
    summary(&mut strip, history);
    let mut main = String::from("<section class=\"strip\" aria-label=\"In short\">\n");
    main += &html(&strip);
    main += "</section>\n";
    let mut rest = Document::default();
    rest.title("History");
    picture(&mut rest, history);
    rest.append(details(history));
    let from = history.runs.len().saturating_sub(LISTED_MAX);
    let listed: Vec<&HistoryPoint> = history.runs.iter().skip(from).collect();
    let mut all = Document::default();
    all.table(points(history, &listed));
    rest.folded(format!("The last {} runs", listed.len()), all);
    main += &html(&rest);
    whole(&title, &main, &[])
}

fn picture(document: &mut Document, history: &History) {
    let numbered = || (1_u32..).zip(&history.runs);
    let of_level = |level: Level| {
        let runs = numbered().filter(move |(_, run)| run.verdict == level);
        let values = runs.filter_map(|(place, run)| Some((f64::from(place), run.value?)));
        values.collect::<Vec<(f64, f64)>>()
    };
    let (means, behind) = means(history);
    let ends = |means: Vec<Option<(f64, f64)>>| {
        let parts = means.split(Option::is_none);
        let ends = parts.flat_map(|part| [part.first(), part.last(), Some(&None)]);
        ends.flatten().copied().collect::<Vec<_>>()
    };
    let mut series = vec![Series::new("mean of a level", ends(means))];
    let circles = |name: &str, level| Series::new(name, Vec::new()).with_single(of_level(level));
    if history.runs.len() <= CIRCLES_MAX {
        let all = [
            ("VALID", Level::Valid),
            ("DOUBTFUL", Level::Doubtful),
            ("INVALID, not counted", Level::Invalid),
        ];
        let circles = all.map(|(name, level)| circles(name, level));
        let known = |series: &Series| !series.single.is_empty();
        series.extend(circles.into_iter().filter(known));
    } else {
        let line = numbered().map(|(place, run)| Some((f64::from(place), run.counted()?)));
        series.push(Series::new("counted runs", line.collect()));
    }
    let caption = "A circle for each run, and the mean of each level. Upright lines: the first run \
                   of a new level. The vertical axis does not begin at 0.";
    let all: Vec<&HistoryPoint> = history.runs.iter().take(LISTED_MAX).collect();
    let title = format!("{} over runs", metric_name(history.metric));
    let chart = Chart::new(title, caption, axes(history), series).over(behind);
    document.figure(chart.picture(points(history, &all)));
}

/// A point of the mean of a level for each run, with gaps between levels; and the marks of changes.
fn means(history: &History) -> (Vec<Option<(f64, f64)>>, Vec<Behind>) {
    let mut means = Vec::new();
    let mut behind = Vec::new();
    let mut level = 0;
    for (place, run) in (1_u32..).zip(&history.runs) {
        let next = history.changes.get(level);
        if next.is_some_and(|change| change.first_after == run.run) {
            level += 1;
            means.push(None);
            behind.push(Behind::Upright {
                at: f64::from(place) - 0.5,
                name: format!("run {}", run.run),
            });
        }
        let mean = history.levels.get(level).map(|level| level.mean);
        means.push(mean.map(|mean| (f64::from(place), mean)));
    }
    (means, behind)
}

fn axes(history: &History) -> (Axis, Axis) {
    let values = || history.runs.iter().filter_map(|run| run.value);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    let more = ((high - low) * 0.05).max(high * 0.005);
    let label = match history.metric.unit() {
        MetricUnit::PerSecond => rate_label,
        MetricUnit::BytesPerSecond => throughput,
        MetricUnit::Nanoseconds => latency,
        MetricUnit::PerTransaction => |value| trimmed(value, 3),
    };
    let count = history.runs.len() as f64;
    (
        Axis::new(
            format!("runs by {}", history.by),
            Scale::over([0.0, count + 1.0].into_iter()),
            whole_number,
        ),
        Axis::new(
            noun(history.metric),
            Scale::over([(low - more).max(0.0), high + more].into_iter()),
            label,
        ),
    )
}
