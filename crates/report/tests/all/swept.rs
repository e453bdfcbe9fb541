//! Reports and pages of load sweeps: offered and achieved rates, saturation, SLO, and charts.

use document::Picture;
use record::{Action, Climb, Load, Phase, Record, SweepStep};
use testkit::{Assert, Shows};
use verdict::{Headline, ListedRun, Summary};

use crate::golden::compare;
use crate::pages::{figures, kept, swept};

/// A sweep whose closed loop achieves 2,000/s. Three rates are sustained and two are not. The load
/// levels are not measured in the order of their loads.
fn sweep() -> Record {
    let mut record = swept();
    let transactions = kept().actual.phase(Phase::Transactions).unwrap().clone();
    record.actual.sweep_steps = [
        (Load::Closed, 2_000.0),
        (Load::Rate(500.0), 500.0),
        (Load::Rate(1_000.0), 998.0),
        (Load::Rate(2_000.0), 1_100.0),
        (Load::Rate(1_414.2), 1_090.0),
        (Load::Rate(1_112.0), 1_072.0),
    ]
    .map(|(load, achieved)| {
        let mut phase = transactions.clone();
        let count = phase.transactions() as f64;
        let measured = phase.segments.last_mut().unwrap();
        measured.ended_ns = measured.began_ns + (count * 1e9 / achieved) as u64;
        let is_sustained = load.rate().is_some_and(|rate| achieved > 0.96 * rate);
        phase.caught_up_ns = is_sustained.then_some(measured.ended_ns);
        phase.waiting = load.rate().map(|_| u64::from(!is_sustained) * 900);
        SweepStep {
            load,
            name: None,
            workers: 1,
            phases: vec![phase],
            of_run: None,
        }
    })
    .to_vec();
    record
}

/// The lines of the full report about the sweep.
fn full(record: &Record) -> String {
    let report = report::text::render(record);
    let lines = report.lines();
    let lines = lines.skip_while(|line| !line.trim_start().starts_with("Level "));
    let mut shown: Vec<&str> = Vec::new();
    for line in lines {
        shown.push(line);
        if line.starts_with("Knee ") {
            break;
        }
    }
    shown.join("\n")
}

#[test]
fn reports_of_a_sweep_match_their_golden_file() {
    let record = sweep();
    let document = report::text::short(&record);
    let mut all = String::new();
    for width in [60, 80, 120] {
        let screen = document::text(&document, width);
        all.push_str(&format!("==== short, {width} columns\n\n{screen}\n"));
    }
    all.push_str(&format!("==== full\n\n{}\n", full(&record)));
    compare("sweep.txt", include_str!("../golden/sweep.txt"), &all);
}

#[test]
fn saturation_is_an_achieved_and_an_offered_rate() {
    let mut record = sweep();
    let limit = Summary::of(&record).sweep.unwrap().limit.unwrap();
    assert_eq!(
        (limit.highest, limit.lowest_beyond),
        (Some(1_112.0), Some(1_414.2))
    );
    assert!((limit.achieved_per_second.unwrap() - 1_072.0).abs() < 0.5);
    let short = |record: &Record| document::text(&report::text::short(record), 200);
    short(&record).shows("saturates at 1,072 transactions/s achieved (1,112 offered)");
    full(&record).shows("; 1,414 offered was not sustained");
    record.actual.sweep_steps.truncate(3);
    short(&record).shows("saturates above 998 transactions/s achieved (1,000 offered)");
    let words = full(&record);
    let words: Vec<&str> = words.split_whitespace().collect();
    words
        .join(" ")
        .shows("the highest rate of the sweep (sweep higher rates)");
    record.actual.sweep_steps = sweep().actual.sweep_steps.split_off(3);
    record.actual.sweep_steps.truncate(2);
    short(&record).shows("saturates below 1,414 transactions/s offered");
}

/// A sweep of workers has no offered rate that could be sustained, so its result is the highest
/// rate, and whether more workers raise it.
#[test]
fn sweep_of_workers_ends_with_its_highest_rate() {
    let of_rates = |rates: &[f64]| {
        let mut record = sweep();
        record.spec.drive.sweep.as_mut().unwrap().climb = Climb::Workers(vec![1, 2, 4]);
        let template = record.actual.sweep_steps[0].clone();
        let levels = rates.iter().zip([1, 2, 4]).map(|(achieved, workers)| {
            let mut level = template.clone();
            level.load = Load::Workers(workers);
            let phase = &mut level.phases[0];
            let count = phase.transactions() as f64;
            let measured = phase.segments.last_mut().unwrap();
            measured.ended_ns = measured.began_ns + (count * 1e9 / achieved) as u64;
            level
        });
        record.actual.sweep_steps = levels.collect();
        record.spec.drive.sweep.as_mut().unwrap().slo_p99_ns = Some(10_000_000_000);
        let report = report::text::render(&record);
        report.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    of_rates(&[1_000.0, 1_900.0, 3_000.0])
        .shows("Maximum 3,000 transactions/s at 4 workers, the most workers of the sweep: ")
        .shows("it still rises (sweep more workers)")
        .shows("is met at all levels, the highest 4 workers (3,000 transactions/s achieved) ")
        .shows("(sweep more workers): one measurement of each level");
    of_rates(&[1_000.0, 1_900.0, 1_950.0])
        .shows("Maximum 1,950 transactions/s at 4 workers; more than 2 workers raise it by")
        .shows("by less than 5.0 %");
    of_rates(&[1_000.0, 800.0, 500.0])
        .shows("Maximum 1,000 transactions/s at 1 worker; more than 1 worker raise");
    assert!(!of_rates(&[1_000.0]).contains("Maximum"));
}

/// A closed loop that achieves a multiple of the saturation rate shows that the machine changed.
/// The column "kept up" shows until when each level was sustained.
#[test]
fn closed_loop_above_the_saturation_rate_is_explained() {
    let mut record = sweep();
    let full = |record: &Record| {
        let words = full(record);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    full(&record)
        .shows(" kept up ")
        .shows("100.0 %")
        .does_not_show("times the saturation rate")
        .does_not_show("the warm-up left waiting");
    let faster = |level: &mut SweepStep, factor: f64| {
        let measured = level.phases[0].segments.last_mut().unwrap();
        let ns = (measured.ended_ns - measured.began_ns) as f64;
        measured.ended_ns = measured.began_ns + (ns / factor) as u64;
    };
    faster(&mut record.actual.sweep_steps[0], 2.0);
    faster(&mut record.actual.sweep_steps[1], 1.1);
    full(&record)
        .shows("4,000/s were achieved at closed loop, 3.7 times the saturation rate")
        .shows("500 offered achieved 10.0 % more: transactions that the warm-up left waiting");
}

/// The kept run has fewer than 1,000 deletions.
#[test]
fn slo_of_too_few_operations_is_undecided() {
    let mut record = sweep();
    let asked = record.spec.drive.sweep.as_mut().unwrap();
    asked.slo_operation = Some(Action::Delete);
    asked.slo_p99_ns = Some(10_000_000_000);
    let short = document::text(&report::text::short(&record), 200);
    short
        .shows("not met from 1,414 offered, undecided below (too few delete operations)")
        .shows("  delete p99, ")
        .shows("latencies of all operations, but for delete p99");
    let words = |record: &Record| {
        let text = full(record);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    words(&record)
        .shows("delete p99 < 10 s is not met from 1,414 offered on, and undecided below: the level")
        .shows("of 1,112 transactions/s measured ")
        .shows(" delete operations, and a p99 needs 1,000 (use --for ");
    // The median shows that an SLO is not met, with few operations, too.
    record.spec.drive.sweep.as_mut().unwrap().slo_p99_ns = Some(1);
    let short = document::text(&report::text::short(&record), 200);
    short.shows("delete p99 < 1 ns not met");
    words(&record).shows("the lowest level, because half of the operations took longer (sweep");
    let entry = ListedRun {
        number: None,
        headline: Headline::of(&record),
        tags: Vec::new(),
        note: None,
    };
    let csv = report::export::csv(&entry, &record);
    let of_level = |line: &&str| line.contains(",rate,500") && line.contains(",delete,");
    assert_eq!(csv.lines().filter(of_level).count(), 1, "{csv}");
}

#[test]
fn slo_is_marked_as_one_measurement() {
    let mut record = sweep();
    let asked = record.spec.drive.sweep.as_mut().unwrap();
    asked.slo_p99_ns = Some(10_000_000_000);
    let short = document::text(&report::text::short(&record), 200);
    short.shows("p99 < 10 s up to 1,112 offered (one measurement)");
    full(&record).shows("p99 < 10 s is met at 1,072 transactions/s achieved (1,112 offered)");
    full(&record).shows(": one");
}

/// The circles of a chart: class, and position on the horizontal axis.
fn circles(figure: &Picture) -> Vec<(String, f64)> {
    let circle = |text: &str| {
        let of = |name: &str| {
            let (_, rest) = text.split_once(&format!("{name}=\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        Some((of("class")?, of("cx")?.parse().ok()?))
    };
    let parts = figure.svg.split("<circle ").skip(1);
    parts.map(|part| circle(part).unwrap()).collect()
}

#[test]
fn chart_joins_sustained_levels_by_load_and_shows_others_as_points() {
    let record = sweep();
    let document = report::page::document(&record);
    let all = figures(&document);
    let latency = all
        .iter()
        .find(|figure| figure.title == "Latency against the achieved rate")
        .unwrap();
    let circles = circles(latency);
    let median = circles.iter().filter(|(class, _)| class.starts_with("s0"));
    let (single, joined): (Vec<_>, Vec<_>) =
        median.partition(|(class, _)| class.ends_with(" single"));
    assert_eq!((joined.len(), single.len()), (3, 3), "{circles:?}");
    joined.assert(joined.is_sorted_by(|one, other| one.1 < other.1));
    // The line has one start and a segment for each further sustained load level.
    let (_, line) = latency
        .svg
        .split_once("<path class=\"line s0\" d=\"M")
        .unwrap();
    let (line, _) = line.split_once('"').unwrap();
    assert_eq!(
        (line.matches('M').count(), line.matches('L').count()),
        (0, 2),
        "{line}"
    );
    latency
        .caption
        .shows("The pale points are the closed loop and levels that were not sustained.");
}

#[test]
fn summary_of_a_sweep_has_a_line_for_each_result() {
    let page = report::page::document(&sweep());
    let text = document::text(&page, 200);
    for (key, value) in [
        (
            "Saturation",
            "at 1,072 transactions/s achieved (1,112 offered)",
        ),
        ("SLO", "p99 < 1 ms"),
    ] {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(key) && line.contains(value));
        text.assert(line.is_some());
    }
    text.shows(" at saturation");
}
