//! Activity over time: rate and throughput. Submodules add latencies and the activity of the
//! machine.

mod heat_maps;
pub(super) mod machine;
mod stretches;
mod timeline;

use std::collections::BTreeMap;

use document::units::latency;
use document::{Cell, Document, Number, Table};
use record::{Action, Record};

use self::stretches::{POINTS_MAX, Stretch};
pub(crate) use self::stretches::{phases, stretches};
use self::timeline::{behind, failures, line, stalls, time, values, why_missing};
use super::labels::{rate_label, throughput_axis};
use crate::pictures::chart::{Axis, Chart, SERIES_MAX};
use crate::pictures::scale::Scale;

/// Adds charts of rate, throughput and latencies over time.
pub(super) fn work(document: &mut Document, record: &Record) {
    document.title("Over time");
    let phases = phases(record);
    let stretches = self::stretches(&phases, POINTS_MAX);
    if stretches.is_empty() {
        document.note(format!(
            "Rate and throughput over time: not available ({}).",
            why_missing(record)
        ));
        return;
    }
    let mut kinds: BTreeMap<Action, u64> = BTreeMap::new();
    for (action, done) in stretches.iter().flat_map(|stretch| &stretch.done) {
        let sum = kinds.entry(*action).or_default();
        *sum = sum.saturating_add(done.operations);
    }
    rates(document, record, &stretches, &kinds);
    throughputs(document, record, &stretches);
    heat_maps::render(document, record, &phases, &kinds);
}

fn rates(
    document: &mut Document,
    record: &Record,
    stretches: &[Stretch],
    kinds: &BTreeMap<Action, u64>,
) {
    let mut most: Vec<(&Action, &u64)> = kinds.iter().collect();
    most.sort_by_key(|(_, operations)| std::cmp::Reverse(**operations));
    let several = most.len() > 1;
    let first = most.iter().take(SERIES_MAX - 1).filter(|_| several);
    let shown: Vec<Action> = first.map(|(action, _)| **action).collect();
    let mut series = vec![line("all operations", stretches, |stretch| {
        stretch.per_second(|done| done.operations)
    })];
    let lines = shown.iter();
    series.extend(lines.map(|action| line(action.name(), stretches, rate_of(*action))));
    let data = table_of_rates(stretches, &shown);
    let failed = stretches.iter().map(|stretch| stretch.failed);
    let failed = failed.fold(0, u64::saturating_add);
    let caption = format!(
        "Completed operations/s in stretches of up to {}. Shaded: phases; red: stretches with \
         failed operations ({failed} failed); grey: stretches in which no operation was \
         completed.{}",
        latency(stretches.iter().map(Stretch::seconds).fold(0.0, f64::max) * 1e9),
        match most.len() > SERIES_MAX - 1 {
            true => " The operations with the highest counts are drawn.",
            false => "",
        }
    );
    let mut behind = behind(record);
    behind.extend(failures(stretches));
    behind.extend(stalls(&phases(record)));
    let rates = Axis::new(
        "operations/s",
        Scale::from_zero(values(&series)),
        rate_label,
    );
    let chart = Chart::new("Rate over time", caption, (time(record), rates), series);
    document.figure(chart.over(behind).picture(data));
}

/// Returns a function that calculates an action's completed operations per second in a time
/// interval.
fn rate_of(action: Action) -> impl Fn(&Stretch) -> Option<f64> {
    move |stretch| {
        let done = stretch.done.get(&action).map_or(0, |done| done.operations);
        (stretch.seconds() > 0.0).then(|| done as f64 / stretch.seconds())
    }
}

fn table_of_rates(stretches: &[Stretch], shown: &[Action]) -> Table {
    let mut header = vec!["from, s", "failed", "all"];
    header.extend(shown.iter().map(|action| action.name()));
    let mut table = Table::new(0, &header);
    for stretch in stretches {
        let all = stretch.per_second(|done| done.operations);
        let mut row: Vec<Cell> = vec![
            Number::Seconds(stretch.began_ns).into(),
            Number::Count(stretch.failed).into(),
            all.map(Number::Rate).into(),
        ];
        let rates = shown.iter().map(|action| rate_of(*action)(stretch));
        row.extend(rates.map(|rate| rate.map(Number::Rate).into()));
        table.row(row);
    }
    table
}

fn throughputs(document: &mut Document, record: &Record, stretches: &[Stretch]) {
    let moved = |is_wanted: fn(Action) -> bool| {
        move |stretch: &Stretch| {
            let done = stretch.done.iter();
            let wanted = done.filter(|(action, _)| is_wanted(**action));
            let sum: f64 = wanted.map(|(_, done)| done.bytes as f64).sum();
            (stretch.seconds() > 0.0).then(|| sum / stretch.seconds())
        }
    };
    let (read, written) = (
        moved(Action::moves_bytes_in),
        moved(Action::moves_bytes_out),
    );
    let series = vec![
        line("read", stretches, read),
        line("written", stretches, written),
    ];
    if values(&series).all(|value| value <= 0.0) {
        document.note("Throughput over time: not applicable (no operation moved bytes).");
        return;
    }
    let mut data = Table::new(0, &["from, s", "read", "written"]);
    for stretch in stretches {
        let began = Number::Seconds(stretch.began_ns).into();
        let moved = [read(stretch), written(stretch)].map(Cell::throughput);
        data.row([vec![began], moved.into()].concat());
    }
    let caption = "Bytes/s that operations read and wrote; who served them is below.";
    let axes = (time(record), throughput_axis(values(&series)));
    let chart = Chart::new("Throughput over time", caption, axes, series);
    document.figure(chart.over(behind(record)).picture(data));
}
