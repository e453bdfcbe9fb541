//! What was done over time: rate and throughput here, latencies and what the machine did meanwhile
//! in files of their own.

mod heat_maps;
pub(super) mod machine;

use std::collections::BTreeMap;

use document::units::{grouped, latency, rate, throughput};
use document::{Cell, Document, Number, Table};
use measure::{LATENCY_PRECISION_BITS, SparseHistogram};
use record::{Action, Outcome, PhaseRecord, Record, SegmentKind};

use crate::pictures::chart::{Axis, Behind, Chart, SERIES_MAX, Series};
use crate::pictures::scale::Scale;

/// No line has more points: a screen shows no more, and the file stays small.
const POINTS_MAX: usize = 240;

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
    let steps = record
        .actual
        .sweep_steps
        .iter()
        .filter(|step| step.of_run.is_none());
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

/// Slices put together, so that there are no more than so many of all phases, without their
/// latencies.
pub(crate) fn stretches(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    put_together(phases, slices(phases).div_ceil(most).max(1), false)
}

/// The same with latencies, of whole stretches that share them.
fn stretches_of_latencies(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    let sharing = phases
        .iter()
        .map(|phase| phase.slices.sharing())
        .max()
        .unwrap_or(1);
    // More than there are is all of them.
    let together = slices(phases).div_ceil(most).max(1);
    let together = together
        .checked_next_multiple_of(sharing)
        .unwrap_or(sharing);
    put_together(phases, together, true)
}

fn slices(phases: &[&PhaseRecord]) -> usize {
    phases.iter().map(|phase| phase.slices.len()).sum()
}

fn put_together(phases: &[&PhaseRecord], together: usize, with_latencies: bool) -> Vec<Stretch> {
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
                if with_latencies {
                    // Those of older records are finer than a picture shows, and take long to be
                    // merged.
                    done.latency
                        .merge(&meter.latency.coarse(LATENCY_PRECISION_BITS));
                }
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
        let told_ns =
            began_ns.saturating_add((slices.len() as u64).saturating_mul(phase.slices.width_ns()));
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
    document::units::trimmed(value, 3)
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
            class: if number % 2 == 0 {
                "phase"
            } else {
                "phase other"
            },
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

/// Slices of phases in which nothing was completed, those that follow one another as one, where
/// they are wide enough to be seen.
fn stalls(phases: &[&PhaseRecord]) -> Vec<Behind> {
    let mut stalls: Vec<(u64, u64)> = Vec::new();
    let (mut widest_ns, mut whole_ns) = (0, 0);
    for phase in phases {
        let (began_ns, ended_ns, width_ns) =
            (began_ns(phase), ended_ns(phase), phase.slices.width_ns());
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
        (_, true)
            if record
                .actual
                .sweep_steps
                .iter()
                .any(|step| step.of_run.is_some()) =>
        {
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
    heat_maps::render(document, record, &phases, &kinds);
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
    let points = series
        .iter()
        .flat_map(|series| series.points.iter().flatten());
    points.map(|(_, y)| *y)
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
    series.extend(
        shown
            .iter()
            .map(|action| line(action.name(), stretches, of(*action))),
    );
    let mut header = vec!["from, s".to_owned(), "failed".to_owned(), "all".to_owned()];
    header.extend(shown.iter().map(|action| action.name().to_owned()));
    let mut data = Table::new(0, &header);
    for stretch in stretches {
        let mut row: Vec<Cell> = vec![
            Number::Seconds(stretch.began_ns).into(),
            Number::Count(stretch.failed).into(),
            stretch
                .per_second(|done| done.operations)
                .map(Number::Rate)
                .into(),
        ];
        row.extend(
            shown
                .iter()
                .map(|action| of(*action)(stretch).map(Number::Rate).into()),
        );
        data.row(row);
    }
    let failed: u64 = stretches
        .iter()
        .fold(0, |sum, stretch| sum.saturating_add(stretch.failed));
    let title = "Rate over time";
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
    format!("{}M", document::units::trimmed(value / 1e6, 2))
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
            let wanted = stretch
                .done
                .iter()
                .filter(|(action, _)| is_wanted(**action));
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
        let cell = |value: Option<f64>| {
            value
                .map(|value| Cell::Number(Number::Bytes(value), "/s"))
                .into()
        };
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
            format!(
                "{} {unit}",
                digits.trim_end_matches('0').trim_end_matches('.')
            )
        }
        _ => shown,
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
