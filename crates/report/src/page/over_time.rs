//! What was done over time, and what the machine did meanwhile: rate, throughput, latencies, processors, devices.

use std::collections::BTreeMap;

use document::units::{grouped, latency, rate, throughput};
use document::{Cell, Document, Number, Table};
use measure::SparseHistogram;
use record::{Action, Fact, MachineOverTime, Outcome, Phase, PhaseRecord, Record, SegmentKind};

use crate::pictures::chart::{Axis, Behind, Chart, SERIES_MAX, Series};
use crate::pictures::heat::Grid;
use crate::pictures::scale::Scale;

/// No line has more points: a screen shows no more, and the file stays small.
const POINTS_MAX: usize = 240;
/// No table of latencies over time has more rows.
const ROWS_MAX: usize = 60;
/// Of a heat map.
const COLUMNS: usize = 300;
const ROWS: usize = 60;

/// Operations of one kind in a stretch of time.
#[derive(Default)]
pub(crate) struct Done {
    pub operations: u64,
    bytes: u64,
    latency: SparseHistogram,
}

/// What was done in a stretch of time.
pub(crate) struct Stretch {
    pub began_ns: u64,
    pub ended_ns: u64,
    failed: u64,
    done: BTreeMap<Action, Done>,
}

impl Stretch {
    fn seconds(&self) -> f64 {
        self.ended_ns.saturating_sub(self.began_ns) as f64 / 1e9
    }

    fn middle_s(&self) -> f64 {
        (self.began_ns as f64 + self.ended_ns as f64) / 2e9
    }

    /// Takes the one that follows.
    fn add(&mut self, next: Self) {
        self.ended_ns = next.ended_ns;
        self.failed = self.failed.saturating_add(next.failed);
        for (action, more) in next.done {
            let done = self.done.entry(action).or_default();
            done.operations = done.operations.saturating_add(more.operations);
            done.bytes = done.bytes.saturating_add(more.bytes);
            done.latency.merge(&more.latency);
        }
    }

    pub(crate) fn per_second(&self, count: impl Fn(&Done) -> u64) -> Option<f64> {
        let all: f64 = self.done.values().map(|done| count(done) as f64).sum();
        (self.seconds() > 0.0).then(|| all / self.seconds())
    }
}

/// The phases whose moments count from the record's own origin, in the order of time.
pub(crate) fn phases(record: &Record) -> Vec<&PhaseRecord> {
    let steps = record.actual.sweep_steps.iter().filter(|step| step.of_run.is_none());
    let mut phases: Vec<&PhaseRecord> = record.actual.phases.iter().collect();
    phases.extend(steps.flat_map(|step| &step.phases));
    phases.sort_by_key(|phase| began_ns(phase));
    phases
}

fn began_ns(phase: &PhaseRecord) -> u64 {
    phase.segments.first().map_or(0, |segment| segment.began_ns)
}

fn ended_ns(phase: &PhaseRecord) -> u64 {
    phase.segments.last().map_or(0, |segment| segment.ended_ns)
}

/// Slices put together, so that there are no more than so many of all phases.
pub(crate) fn stretches(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    let all: usize = phases.iter().map(|phase| phase.slices.len()).sum();
    let together = all.div_ceil(most).max(1);
    let mut stretches: Vec<Stretch> = Vec::new();
    for phase in phases {
        let (began_ns, ended_ns) = (began_ns(phase), ended_ns(phase));
        let slices: Vec<_> = phase.slices.iter().collect();
        let wide_ns = phase.slices.width_ns().saturating_mul(together as u64);
        for (number, slices) in (0_u64..).zip(slices.chunks(together)) {
            let from_ns = began_ns.saturating_add(number.saturating_mul(wide_ns));
            let mut stretch = Stretch {
                began_ns: from_ns,
                // The last one is cut short by the phase's end.
                ended_ns: from_ns.saturating_add(wide_ns).min(ended_ns.max(from_ns)),
                failed: 0,
                done: BTreeMap::new(),
            };
            for ((_, action), meter) in slices.iter().copied().flatten() {
                let done = stretch.done.entry(*action).or_default();
                done.operations = done.operations.saturating_add(meter.operations);
                done.bytes = done.bytes.saturating_add(meter.bytes);
                done.latency.merge(&meter.latency);
                stretch.failed = stretch.failed.saturating_add(meter.failed);
            }
            // So short a rest of a phase is no rate of its own.
            let is_rest = stretch.ended_ns - stretch.began_ns < wide_ns / 2;
            match stretches.last_mut() {
                Some(before) if is_rest && number > 0 => Stretch::add(before, stretch),
                _ => stretches.push(stretch),
            }
        }
        // Slices end with the last one in which something was done.
        let told_ns = began_ns.saturating_add((slices.len() as u64).saturating_mul(phase.slices.width_ns()));
        if !slices.is_empty() && ended_ns.saturating_sub(told_ns) >= phase.slices.width_ns() {
            stretches.push(Stretch {
                began_ns: told_ns,
                ended_ns,
                failed: 0,
                done: BTreeMap::new(),
            });
        }
    }
    stretches
}

/// The axis of time: seconds since the run's origin.
fn time(record: &Record) -> Axis {
    let ends = phases(record)
        .into_iter()
        .flat_map(|phase| [began_ns(phase), ended_ns(phase)]);
    let ends: Vec<f64> = ends.map(|ns| ns as f64 / 1e9).collect();
    Axis {
        name: "seconds since the start of the run".to_owned(),
        scale: Scale::over(ends.iter().copied()),
        label: second,
    }
}

fn second(value: f64) -> String {
    // Of what is short the fractions are worth something.
    if value.fract().abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}")
    }
}

/// Phases and warm-ups behind a line.
fn behind(record: &Record) -> Vec<Behind> {
    let mut behind = Vec::new();
    for (number, phase) in phases(record).into_iter().enumerate() {
        let seconds = |ns: u64| ns as f64 / 1e9;
        behind.push(Behind::Stretch {
            from: seconds(began_ns(phase)),
            to: seconds(ended_ns(phase)),
            name: phase.phase.name().to_owned(),
            class: if number % 2 == 0 { "phase" } else { "phase other" },
        });
        for segment in phase
            .segments
            .iter()
            .filter(|segment| segment.kind != SegmentKind::Measured)
        {
            behind.push(Behind::Stretch {
                from: seconds(segment.began_ns),
                to: seconds(segment.ended_ns),
                name: match segment.kind {
                    SegmentKind::WarmUp => "warm-up",
                    SegmentKind::Approach | SegmentKind::Measured => "approach",
                }
                .to_owned(),
                class: "warm-up",
            });
        }
    }
    behind
}

/// Stretches with failed operations.
fn failures(stretches: &[Stretch]) -> impl Iterator<Item = Behind> {
    let failed = stretches.iter().filter(|stretch| stretch.failed > 0);
    failed.map(|stretch| Behind::Stretch {
        from: stretch.began_ns as f64 / 1e9,
        to: stretch.ended_ns as f64 / 1e9,
        name: format!("{} failed", grouped(stretch.failed)),
        class: "failed",
    })
}

/// Slices of phases in which nothing was completed, those that follow one another as one, where they are wide enough to be seen.
fn stalls(phases: &[&PhaseRecord]) -> Vec<Behind> {
    let mut stalls: Vec<(u64, u64)> = Vec::new();
    let (mut widest_ns, mut whole_ns) = (0, 0);
    for phase in phases {
        let (began_ns, ended_ns, width_ns) = (began_ns(phase), ended_ns(phase), phase.slices.width_ns());
        let idle: Vec<bool> = phase
            .slices
            .iter()
            .map(|slice| slice.iter().all(|(_, meter)| meter.operations == 0))
            .collect();
        if idle.is_empty() || width_ns == 0 {
            continue;
        }
        widest_ns = widest_ns.max(width_ns);
        whole_ns = ended_ns;
        // Slices end with the last one in which something was done.
        for number in 0..ended_ns.saturating_sub(began_ns).div_ceil(width_ns) {
            if !idle.get(number as usize).copied().unwrap_or(true) {
                continue;
            }
            let from_ns = began_ns + number * width_ns;
            let to_ns = (from_ns + width_ns).min(ended_ns);
            match stalls.last_mut() {
                Some((_, before_ns)) if *before_ns == from_ns => *before_ns = to_ns,
                _ => stalls.push((from_ns, to_ns)),
            }
        }
    }
    let least_ns = widest_ns.max(whole_ns / POINTS_MAX as u64);
    let seen = stalls
        .into_iter()
        .filter(|(from_ns, to_ns)| to_ns - from_ns >= least_ns);
    seen.map(|(from_ns, to_ns)| Behind::Stretch {
        from: from_ns as f64 / 1e9,
        to: to_ns as f64 / 1e9,
        name: "no operation was completed".to_owned(),
        class: "stalled",
    })
    .collect()
}

/// Why there is nothing over time.
fn why_missing(record: &Record) -> &'static str {
    match (&record.actual.outcome, phases(record).is_empty()) {
        (_, true) if record.actual.sweep_steps.iter().any(|step| step.of_run.is_some()) => {
            "each step of the sweep was a run of its own"
        }
        (Outcome::Complete, true) => "the run has no phases",
        (_, true) => "the run ended before its first phase did",
        (_, false) => "the run was made with --no-series, or no operation was completed",
    }
}

/// Rate, throughput and latencies over time.
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
    heat_maps(document, record, &phases, &stretches, &kinds);
}

fn line(name: &str, stretches: &[Stretch], value: impl Fn(&Stretch) -> Option<f64>) -> Series {
    let point = |stretch: &Stretch| Some((stretch.middle_s(), value(stretch)?));
    let mut points = Vec::new();
    let mut before_ns = None;
    for stretch in stretches {
        // Between phases nothing was done, and nothing is drawn.
        if before_ns.is_some_and(|before_ns| before_ns != stretch.began_ns) {
            points.push(None);
        }
        points.push(point(stretch));
        before_ns = Some(stretch.ended_ns);
    }
    let name = name.to_owned();
    Series { name, points }
}

/// The values of all series.
fn values(series: &[Series]) -> impl Iterator<Item = f64> {
    let points = series.iter().flat_map(|series| series.points.iter().flatten());
    points.map(|(_, y)| *y)
}

fn rates(document: &mut Document, record: &Record, stretches: &[Stretch], kinds: &BTreeMap<Action, u64>) {
    let mut most: Vec<(&Action, &u64)> = kinds.iter().collect();
    most.sort_by_key(|(_, operations)| std::cmp::Reverse(**operations));
    let several = most.len() > 1;
    let shown: Vec<Action> = most
        .iter()
        .take(SERIES_MAX - 1)
        .filter(|_| several)
        .map(|(action, _)| **action)
        .collect();
    let of = |action: Action| {
        move |stretch: &Stretch| {
            let done = stretch.done.get(&action).map_or(0, |done| done.operations);
            (stretch.seconds() > 0.0).then(|| done as f64 / stretch.seconds())
        }
    };
    let mut series = vec![line("all operations", stretches, |stretch| {
        stretch.per_second(|done| done.operations)
    })];
    series.extend(shown.iter().map(|action| line(action.name(), stretches, of(*action))));
    let mut header = vec!["from, s".to_owned(), "failed".to_owned(), "all".to_owned()];
    header.extend(shown.iter().map(|action| action.name().to_owned()));
    let mut data = Table::new(0, &header);
    for stretch in stretches {
        let mut row: Vec<Cell> = vec![
            Number::Seconds(stretch.began_ns).into(),
            Number::Count(stretch.failed).into(),
            stretch.per_second(|done| done.operations).map(Number::Rate).into(),
        ];
        row.extend(shown.iter().map(|action| of(*action)(stretch).map(Number::Rate).into()));
        data.row(row);
    }
    let failed: u64 = stretches
        .iter()
        .fold(0, |sum, stretch| sum.saturating_add(stretch.failed));
    let title = "Rate over time";
    let caption = format!(
        "Completed operations/s in stretches of up to {}. Shaded: phases; red: stretches with failed operations ({failed} failed); grey: stretches in which no operation was completed.{}",
        latency(stretches.iter().map(Stretch::seconds).fold(0.0, f64::max) * 1e9),
        match most.len() > SERIES_MAX - 1 {
            true => " The operations with the highest counts are drawn.",
            false => "",
        }
    );
    let mut behind = behind(record);
    behind.extend(failures(stretches));
    behind.extend(stalls(&phases(record)));
    let chart = Chart {
        title,
        description: &caption,
        x: time(record),
        y: Axis {
            name: "operations/s".to_owned(),
            scale: Scale::from_zero(values(&series)),
            label: |value| rate_label(value),
        },
        behind,
        series,
    };
    document.figure(chart.picture(data));
}

/// With two digits behind the point at most.
pub(super) fn millions(value: f64) -> String {
    let text = format!("{:.2}", value / 1e6);
    format!("{}M", text.trim_end_matches('0').trim_end_matches('.'))
}

pub(super) fn rate_label(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 1e6 => millions(value),
        value if value.fract() == 0.0 => rate(Some(value)).trim_end_matches(".00").to_owned(),
        value => rate(Some(value)),
    }
}

fn throughputs(document: &mut Document, record: &Record, stretches: &[Stretch]) {
    let moved = |is_wanted: fn(Action) -> bool| {
        move |stretch: &Stretch| {
            let wanted = stretch.done.iter().filter(|(action, _)| is_wanted(**action));
            let sum: f64 = wanted.map(|(_, done)| done.bytes as f64).sum();
            (stretch.seconds() > 0.0).then(|| sum / stretch.seconds())
        }
    };
    let (read, written) = (moved(Action::moves_bytes_in), moved(Action::moves_bytes_out));
    let series = vec![line("read", stretches, read), line("written", stretches, written)];
    if values(&series).all(|value| value <= 0.0) {
        document.note("Throughput over time: not applicable (no operation moved bytes).");
        return;
    }
    let mut data = Table::new(0, &["from, s", "read", "written"]);
    for stretch in stretches {
        let cell = |value: Option<f64>| value.map(|value| Cell::Number(Number::Bytes(value), "/s")).into();
        data.row(vec![
            Number::Seconds(stretch.began_ns).into(),
            cell(read(stretch)),
            cell(written(stretch)),
        ]);
    }
    let title = "Throughput over time";
    let caption = "Bytes/s that operations read and wrote; who served them is below.".to_owned();
    let chart = Chart {
        title,
        description: &caption,
        x: time(record),
        y: Axis {
            name: "bytes/s".to_owned(),
            scale: Scale::of_bytes(values(&series)),
            label: throughput_label,
        },
        behind: behind(record),
        series,
    };
    document.figure(chart.picture(data));
}

pub(super) fn throughput_label(value: f64) -> String {
    let shown = throughput(value);
    match shown.split_once(' ') {
        _ if value == 0.0 => "0".to_owned(),
        Some((digits, unit)) if digits.contains('.') => {
            format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => shown,
    }
}

fn heat_maps(
    document: &mut Document,
    record: &Record,
    phases: &[&PhaseRecord],
    stretches: &[Stretch],
    kinds: &BTreeMap<Action, u64>,
) {
    document.heading("Latency over time");
    let durations = || stretches.iter().flat_map(|stretch| stretch.done.values());
    let ends = || {
        durations()
            .flat_map(|done| [done.latency.min_ns(), done.latency.max_ns()])
            .flatten()
    };
    if ends().next().is_none() {
        let why = if record.spec.latencies {
            "no operation was completed"
        } else {
            "the run was made with --no-latencies"
        };
        document.note(format!("Heat maps: not available ({why})."));
        return;
    }
    let levels = Scale::decades(ends().map(|ns| ns.max(1) as f64));
    let axis = time(record);
    let grids: Vec<(Action, Grid)> = kinds
        .keys()
        .map(|action| (*action, grid(*action, stretches, axis.scale, levels)))
        .collect();
    let values = || grids.iter().flat_map(|(_, grid)| grid.values());
    let colours = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let colour = format!(
        "Colour: operations/s in a cell, from {} (dark) to {} (bright), on a logarithmic scale.",
        rate(Some(colours.0)),
        rate(Some(colours.1))
    );
    document.words("All heat maps have the same scales.");
    let few = self::stretches(phases, ROWS_MAX);
    for (action, grid) in &grids {
        if grid.values().next().is_none() {
            continue;
        }
        let title = format!("Latency of {} over time", action.name());
        let caption = format!("How many operations had which latency, and when. {colour}");
        let chart = Chart {
            title: &title,
            description: &caption,
            x: time(record),
            y: Axis {
                name: "latency".to_owned(),
                scale: levels,
                label: short_latency,
            },
            behind: std::iter::once(Behind::Picture(grid.picture(colours)))
                .chain(percentiles(*action, &few).map(Behind::Unseen))
                .collect(),
            series: Vec::new(),
        };
        let data = latencies(*action, &few);
        document.figure(chart.picture(data));
    }
}

/// A latency at an axis, where it is a power of ten.
pub(crate) fn short_latency(ns: f64) -> String {
    let text = latency(ns);
    let (value, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let value = if value.contains('.') {
        value.trim_end_matches('0').trim_end_matches('.')
    } else {
        value
    };
    format!("{value} {unit}")
}

/// Operations a second by time and latency.
fn grid(action: Action, stretches: &[Stretch], time: Scale, levels: Scale) -> Grid {
    let mut grid = Grid::new(COLUMNS, ROWS);
    for stretch in stretches {
        let Some(done) = stretch.done.get(&action).filter(|_| stretch.seconds() > 0.0) else {
            continue;
        };
        let column = |ns: u64| time.place(ns as f64 / 1e9).unwrap_or(1.0) * COLUMNS as f64;
        let (from, to) = (column(stretch.began_ns), column(stretch.ended_ns));
        let first = (from as usize).min(COLUMNS - 1);
        let last = (to.ceil() as usize).clamp(first + 1, COLUMNS);
        for (ns, count) in done.latency.durations() {
            let Some(level) = levels.place(ns.max(1) as f64) else {
                continue;
            };
            let row = ((level * ROWS as f64) as usize).min(ROWS - 1);
            for column in first..last {
                // Of a column that two stretches share each has its part.
                let part = (to.min((column + 1) as f64) - from.max(column as f64)).clamp(0.0, 1.0);
                grid.add(column, row, count as f64 / stretch.seconds() * part);
            }
        }
    }
    grid
}

/// What a readout shows over a heat map: as in the table beside it.
fn percentiles(action: Action, stretches: &[Stretch]) -> impl Iterator<Item = Series> {
    ["p50", "p99", "max"].into_iter().map(move |name| {
        line(name, stretches, |stretch| {
            let of = stretch.done.get(&action)?.latency.summary();
            let ns = match name {
                "p50" => of.p50,
                "p99" => of.p99,
                _ => of.max,
            };
            ns.map(|ns| ns as f64)
        })
    })
}

fn latencies(action: Action, stretches: &[Stretch]) -> Table {
    let mut table = Table::new(0, &["from, s", "operations", "p50", "p99", "max"]);
    for stretch in stretches {
        let Some(done) = stretch.done.get(&action) else {
            continue;
        };
        let summary = done.latency.summary();
        let cell = |ns: Option<u64>| ns.map(|ns| Number::Latency(ns as f64)).into();
        table.row(vec![
            Number::Seconds(stretch.began_ns).into(),
            Number::Count(done.operations).into(),
            cell(summary.p50),
            cell(summary.p99),
            cell(summary.max),
        ]);
    }
    table
}

/// What the processors and the devices did under the rate.
pub(super) fn machine(document: &mut Document, record: &Record) {
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
    let together = counted
        .iter()
        .map(|(_, machine)| machine.index.len())
        .sum::<usize>()
        .div_ceil(POINTS_MAX)
        .max(1);
    processors(document, record, &counted, together);
    devices(document, record, &counted, together);
}

/// A number for each stretch of slices, with its middle in seconds and the stretch's seconds; a gap between phases.
fn points(
    counted: &[(Phase, &MachineOverTime)],
    together: usize,
    value: impl Fn(&MachineOverTime, std::ops::Range<usize>, f64) -> Option<f64>,
) -> Vec<Option<(f64, f64)>> {
    let mut points = Vec::new();
    for (_, machine) in counted {
        let slices = machine.ended_ns.len();
        for from in (0..slices).step_by(together) {
            let to = (from + together).min(slices);
            let began_ns = if from == 0 {
                machine.began_ns
            } else {
                machine.ended_ns[from - 1]
            };
            let ended_ns = machine.ended_ns[to - 1];
            let took = ended_ns.saturating_sub(began_ns) as f64 / 1e9;
            let middle = (began_ns as f64 + ended_ns as f64) / 2e9;
            points.push(
                (took > 0.0)
                    .then(|| value(machine, from..to, took))
                    .flatten()
                    .map(|value| (middle, value)),
            );
        }
        points.push(None);
    }
    points
}

/// The numbers of several lines beside one another.
fn data(series: &[Series], cell: impl Fn(f64) -> Cell) -> Table {
    let mut header = vec!["at, s".to_owned()];
    header.extend(series.iter().map(|series| series.name.clone()));
    let mut table = Table::new(0, &header);
    let places = series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    for place in 0..places {
        let at = |series: &Series| series.points.get(place).copied().flatten();
        let Some((x, _)) = series.iter().find_map(at) else {
            continue;
        };
        let mut row = vec![Number::Decimal(x, 3).into()];
        row.extend(
            series
                .iter()
                .map(|series| at(series).map_or(Cell::Missing, |(_, y)| cell(y))),
        );
        table.row(row);
    }
    table
}

fn processors(document: &mut Document, record: &Record, counted: &[(Phase, &MachineOverTime)], together: usize) {
    let share = |part: fn(&MachineOverTime) -> &record::machine::Counts| {
        points(counted, together, move |machine, slices, _| {
            let total = machine.system.total_ns.sum(&slices).filter(|total| *total > 0)?;
            Some(part(machine).sum(&slices)? as f64 / total as f64)
        })
    };
    let own = points(counted, together, |machine, slices, _| {
        let total = machine.system.total_ns.sum(&slices).filter(|total| *total > 0)?;
        let used = machine
            .process
            .user_ns
            .sum(&slices)?
            .saturating_add(machine.process.system_ns.sum(&slices)?);
        Some(used as f64 / total as f64)
    });
    let series = vec![
        Series {
            name: "busy".to_owned(),
            points: share(|machine| &machine.system.busy_ns),
        },
        Series {
            name: "this program".to_owned(),
            points: own,
        },
        Series {
            name: "waiting for I/O".to_owned(),
            points: share(|machine| &machine.system.iowait_ns),
        },
        Series {
            name: "CPU steal".to_owned(),
            points: share(|machine| &machine.system.steal_ns),
        },
    ];
    if series
        .iter()
        .all(|series| series.points.iter().flatten().next().is_none())
    {
        document.note("Processors over time: not available (the kernel's counters could not be read).");
        return;
    }
    let title = "Processors over time";
    let caption = "Shares of the time of all processors of the machine.".to_owned();
    let chart = Chart {
        title,
        description: &caption,
        x: time(record),
        y: Axis {
            name: "share of CPU time".to_owned(),
            scale: Scale::Linear { low: 0.0, high: 1.0 },
            label: |value| format!("{:.0} %", value * 100.0),
        },
        behind: behind(record),
        series,
    };
    let data = data(&chart.series, |value| Number::Share(value).into());
    document.figure(chart.picture(data));
}

fn devices(document: &mut Document, record: &Record, counted: &[(Phase, &MachineOverTime)], together: usize) {
    let mut names: Vec<&str> = Vec::new();
    let mut why = None;
    for (_, machine) in counted {
        match &machine.devices {
            Fact::Known(devices) => {
                for device in devices
                    .iter()
                    .filter(|device| !names.contains(&&*device.name))
                    .collect::<Vec<_>>()
                {
                    names.push(&device.name);
                }
            }
            Fact::Unavailable(reason) => why = Some(reason.as_str()),
            Fact::NotApplicable => {}
        }
    }
    if names.is_empty() {
        document.note(match why {
            Some(why) => format!("Devices over time: not available ({why})."),
            None => "Devices over time: not applicable (no block device lies under the target).".to_owned(),
        });
        return;
    }
    let more = names.len().saturating_sub(SERIES_MAX / 2);
    names.truncate(SERIES_MAX / 2);
    let of = |name: &str, part: fn(&record::machine::DeviceOverTime) -> &record::machine::Counts| {
        points(counted, together, |machine, slices, took| {
            let device = machine.devices.known()?.iter().find(|device| device.name == name)?;
            Some(part(device).sum(&slices)? as f64 / took)
        })
    };
    let mut series = Vec::new();
    for name in &names {
        series.push(Series {
            name: format!("{name} read"),
            points: of(name, |device| &device.read_bytes),
        });
        series.push(Series {
            name: format!("{name} written"),
            points: of(name, |device| &device.written_bytes),
        });
    }
    let title = "Devices over time";
    let mut caption = "Bytes/s that the devices under the target read and wrote, whoever asked for them.".to_owned();
    if more > 0 {
        caption += &format!(" {more} more devices are in the record.");
    }
    let chart = Chart {
        title,
        description: &caption,
        x: time(record),
        y: Axis {
            name: "bytes/s".to_owned(),
            scale: Scale::of_bytes(values(&series)),
            label: throughput_label,
        },
        behind: behind(record),
        series,
    };
    let data = data(&chart.series, |value| Cell::Number(Number::Bytes(value), "/s"));
    document.figure(chart.picture(data));
}

#[cfg(test)]
mod tests {
    use measure::Histogram;

    use super::*;

    /// Also where columns and stretches do not begin at the same moments.
    #[test]
    fn a_constant_rate_has_one_colour() {
        let mut latency = Histogram::default();
        for _ in 0..70 {
            latency.record(1_000_000);
        }
        let latency = latency.take_sparse();
        let stretch = |number: u64| Stretch {
            began_ns: number * 700_000_000,
            ended_ns: (number + 1) * 700_000_000,
            failed: 0,
            done: BTreeMap::from([(
                Action::Read,
                Done {
                    operations: 70,
                    bytes: 0,
                    latency: latency.clone(),
                },
            )]),
        };
        let stretches: Vec<Stretch> = (0..20).map(stretch).collect();
        let time = Scale::over([0.0, 14.0].into_iter());
        let cells: Vec<f64> = grid(Action::Read, &stretches, time, Scale::decades([1e5, 1e7].into_iter()))
            .values()
            .collect();
        assert_eq!(cells.len(), COLUMNS);
        let odd = cells.iter().find(|rate| (*rate / 100.0 - 1.0).abs() > 1e-6);
        assert_eq!(odd, None);
    }
}
