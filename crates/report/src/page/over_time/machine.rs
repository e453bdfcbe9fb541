//! Activity of processors and devices over time.

use std::ops::Range;

use document::{Cell, Document, Number, Table};
use record::machine::{Counts, DeviceOverTime};
use record::{Fact, MachineOverTime, Phase, Record};

use super::stretches::{POINTS_MAX, phases};
use super::timeline::{behind, time, values, why_missing};
use crate::page::labels::throughput_axis;
use crate::pictures::chart::{Axis, Chart, SERIES_MAX, Series};
use crate::pictures::scale::Scale;

pub(in crate::page) fn render(document: &mut Document, record: &Record) {
    document.title("The machine over time");
    let phases = phases(record);
    let counted: Vec<(Phase, &MachineOverTime)> = phases
        .iter()
        .filter_map(|phase| Some((phase.phase, phase.machine.as_ref()?)))
        .collect();
    if counted.iter().all(|(_, machine)| machine.index.is_empty()) {
        document.note(format!(
            "Processors and devices over time: not available ({}).",
            why_missing(record)
        ));
        return;
    }
    let slices = counted.iter().map(|(_, machine)| machine.index.len());
    let together = slices.sum::<usize>().div_ceil(POINTS_MAX).max(1);
    processors(document, record, &counted, together);
    devices(document, record, &counted, together);
}

/// One point for each group of `together` slices: the middle of the group's time in seconds, and
/// the value. `value` receives the slices and their duration in seconds. A gap separates the
/// phases.
fn points(
    counted: &[(Phase, &MachineOverTime)],
    together: usize,
    value: impl Fn(&MachineOverTime, Range<usize>, f64) -> Option<f64>,
) -> Vec<Option<(f64, f64)>> {
    let mut points = Vec::new();
    for (_, machine) in counted {
        let slices = machine.ended_ns.len();
        for from in (0..slices).step_by(together) {
            let to = (from + together).min(slices);
            let before = from.checked_sub(1);
            let began_ns = before.map_or(machine.began_ns, |before| machine.ended_ns[before]);
            let ended_ns = machine.ended_ns[to - 1];
            let took = ended_ns.saturating_sub(began_ns) as f64 / 1e9;
            let middle = (began_ns as f64 + ended_ns as f64) / 2e9;
            let value = (took > 0.0).then(|| value(machine, from..to, took));
            points.push(value.flatten().map(|value| (middle, value)));
        }
        points.push(None);
    }
    points
}

/// A table with a column for each series.
fn data(series: &[Series], cell: impl Fn(f64) -> Cell) -> Table {
    let mut header = vec!["at, s".to_owned()];
    header.extend(series.iter().map(|series| series.name.clone()));
    let mut table = Table::new(0, &header);
    let places = series.iter().map(|series| series.points.len()).max();
    for place in 0..places.unwrap_or(0) {
        let at = |series: &Series| series.points.get(place).copied().flatten();
        let Some((x, _)) = series.iter().find_map(at) else {
            continue;
        };
        let mut row = vec![Number::Decimal(x, 3).into()];
        row.extend(
            series
                .iter()
                .map(|series| at(series).map(|(_, y)| cell(y)).into()),
        );
        table.row(row);
    }
    table
}

/// The time of all processors in `slices`, in nanoseconds; `None` if it is 0 or not available.
fn processor_time(machine: &MachineOverTime, slices: &Range<usize>) -> Option<u64> {
    let total = machine.system.total_ns.sum(slices);
    total.filter(|total| *total > 0)
}

fn processors(
    document: &mut Document,
    record: &Record,
    counted: &[(Phase, &MachineOverTime)],
    together: usize,
) {
    let share = |part: fn(&MachineOverTime) -> &Counts| {
        points(counted, together, move |machine, slices, _| {
            let total = processor_time(machine, &slices)?;
            Some(part(machine).sum(&slices)? as f64 / total as f64)
        })
    };
    let own = points(counted, together, |machine, slices, _| {
        let total = processor_time(machine, &slices)?;
        let process = &machine.process;
        let used = process.user_ns.sum(&slices)?;
        let used = used.saturating_add(process.system_ns.sum(&slices)?);
        Some(used as f64 / total as f64)
    });
    let series = vec![
        Series::new("busy", share(|machine| &machine.system.busy_ns)),
        Series::new("this program", own),
        Series::new(
            "waiting for I/O",
            share(|machine| &machine.system.iowait_ns),
        ),
        Series::new("CPU steal", share(|machine| &machine.system.steal_ns)),
    ];
    if values(&series).next().is_none() {
        document
            .note("Processors over time: not available (the kernel's counters could not be read).");
        return;
    }
    let caption = "Shares of the time of all processors of the machine.";
    let share = Axis::new(
        "share of CPU time",
        Scale::over([0.0, 1.0].into_iter()),
        |value| format!("{} %", document::units::fixed(value * 100.0, 0)),
    );
    let data = data(&series, |value| Number::Share(value).into());
    let chart = Chart::new(
        "Processors over time",
        caption,
        (time(record), share),
        series,
    );
    document.figure(chart.over(behind(record)).picture(data));
}

/// The names of the devices under the targets, and the reason if the devices of a phase are not
/// available.
fn names_of_devices<'a>(
    counted: &[(Phase, &'a MachineOverTime)],
) -> (Vec<&'a str>, Option<&'a str>) {
    let devices = counted.iter().map(|(_, machine)| &machine.devices);
    let mut names: Vec<&str> = Vec::new();
    for device in devices.clone().filter_map(Fact::known).flatten() {
        if !names.contains(&&*device.name) {
            names.push(&device.name);
        }
    }
    (names, devices.filter_map(Fact::why).next_back())
}

fn devices(
    document: &mut Document,
    record: &Record,
    counted: &[(Phase, &MachineOverTime)],
    together: usize,
) {
    let (mut names, why) = names_of_devices(counted);
    if names.is_empty() {
        document.note(match why {
            Some(why) => format!("Devices over time: not available ({why})."),
            None => "Devices over time: not applicable (no block device lies under the target)."
                .to_owned(),
        });
        return;
    }
    let more = names.len().saturating_sub(SERIES_MAX / 2);
    names.truncate(SERIES_MAX / 2);
    let of = |name: &str, what: &str, part: fn(&DeviceOverTime) -> &Counts| {
        let per_second = points(counted, together, |machine, slices, took| {
            let mut devices = machine.devices.known()?.iter();
            let device = devices.find(|device| device.name == name)?;
            Some(part(device).sum(&slices)? as f64 / took)
        });
        Series::new(format!("{name} {what}"), per_second)
    };
    let mut series = Vec::new();
    for name in &names {
        series.extend([
            of(name, "read", |device| &device.read_bytes),
            of(name, "written", |device| &device.written_bytes),
        ]);
    }
    let mut caption = "Bytes/s that the devices under the target read and wrote, whoever asked \
                       for them."
        .to_owned();
    if more > 0 {
        caption += &format!(" {more} more devices are in the record.");
    }
    let data = data(&series, |value| Cell::throughput(Some(value)));
    let axes = (time(record), throughput_axis(values(&series)));
    let chart = Chart::new("Devices over time", caption, axes, series);
    document.figure(chart.over(behind(record)).picture(data));
}
