//! The content of a run's page, in order.

mod strip;

use document::sanitize::is_harmful;
use document::units::utc;
use document::{Block, Cell, Column, Document, Number, Table};
use record::{Record, words_again};
use verdict::summary::WorkerRate;
use verdict::{PhaseSummary, Summary};

pub(crate) use self::strip::strip;

use super::labels::{short_rate, whole};
use super::{calls, over_time, percentiles, served, sweep};
use crate::environment;
use crate::pictures::chart::{Axis, Chart, Series};
use crate::pictures::scale::Scale;
use crate::text;
use crate::text::quoted::for_shells;

/// The whole content of a run's page.
pub fn document(record: &Record) -> Document {
    let summary = Summary::of(record);
    let mut document = strip(record, &summary);
    document.append(rest(record, &summary));
    document
}

/// The conditions that every chart of a run depends on: the summary at the top of the page, and the
/// workload.
pub fn conditions(record: &Record) -> Document {
    let mut document = Document::default();
    document.sentence("Run", name(record));
    document.sentence("Identity", record.id.to_string());
    let summary = Summary::of(record);
    text::workload_lines(&mut document, &record.spec.workload, &summary.shares);
    document.sentence("Fingerprint", record.fingerprint.to_string());
    document.sentence("Host", record.host.hostname.clone());
    document.append(strip(record, &summary));
    document
}

/// The title of a run: workload, file systems, and time of the start.
pub(crate) fn name(record: &Record) -> String {
    let when = utc(record.origin.begun_unix_ns());
    format!(
        "{} on {}, {when} UTC",
        text::work(&record.spec),
        environment::places(record)
    )
}

/// All content below the summary at the top.
pub(crate) fn rest(record: &Record, summary: &Summary) -> Document {
    let mut document = Document::default();
    let all = &mut document;
    sweep::render(all, summary);
    over_time::work(all, record);
    percentiles::render(all, record, summary);
    all.title("Phases and operations");
    let before = all.blocks().len();
    text::phases::render(all, summary);
    if all.blocks().len() == before {
        all.note(
            "Phases: not available (the run ended before its first phase did, or each load level \
             of a sweep was a run of its own).",
        );
    }
    workers(all, summary);
    text::ranks::render(all, summary);
    text::observers::render(all, summary);
    calls::render(all, summary);
    text::times::render(all, record, summary);
    served::render(all, record, summary);
    over_time::machine::render(all, record);
    let mut machine = Document::default();
    text::machine::render(&mut machine, record, summary);
    all.folded("What the kernel counted", machine);
    all.title("Conditions");
    let mut workload = Document::default();
    text::heading::without_verdict(&mut workload, record, summary);
    all.folded("Workload", workload);
    let mut environment = Document::default();
    environment::render(&mut environment, record);
    text::overhead::render(&mut environment, record, summary);
    all.folded("Environment", environment);
    let mut findings = Document::default();
    text::findings::render(&mut findings, record, summary);
    text::outcome::notes(&mut findings, record);
    if !findings.is_empty() {
        all.title("Findings");
        all.append(findings);
    }
    all.title("Run it again");
    again(all, record);
    document
}

/// Adds a command that performs the same work in the working directory.
fn again(document: &mut Document, record: &Record) {
    /// Maximum length of the command. A longer command is not useful to copy.
    const LONGEST: usize = 4_000;
    let mut command = "postmark run".to_owned();
    for word in words_again(&record.spec) {
        command.push(' ');
        command += &for_shells(&word);
    }
    command += " --target .";
    if command.len() > LONGEST || command.contains(is_harmful) {
        document.words(
            "The same work, once this file is imported ('postmark import'), in the working \
             directory:",
        );
        command = format!("postmark run --like {} --target .", record.id);
    } else {
        document.words("The same work in the working directory:");
    }
    document.push(Block::Command(command));
}

/// Adds a chart of the workers' rates for each phase with more than two workers. For two workers,
/// the table of rates is sufficient.
fn workers(document: &mut Document, summary: &Summary) {
    let phases = summary.phases.iter();
    for phase in phases.filter(|phase| phase.workers.len() > 2) {
        of_phase(document, phase);
    }
}

fn of_phase(document: &mut Document, phase: &PhaseSummary) {
    let known = phase
        .workers
        .iter()
        .filter_map(|worker| Some((worker, worker.done.per_second?)));
    let points: Vec<(f64, f64)> = known
        .map(|(worker, rate)| (f64::from(worker.worker), rate))
        .collect();
    let title = format!("Spread of workers in {}", phase.phase.name());
    let caption = "Each worker's own rate: what it did over its own time.";
    let columns: [Column<&WorkerRate>; 3] = [
        ("worker", |of| Number::Ordinal(of.worker.into()).into()),
        ("done", |of| Cell::count(of.done.count)),
        ("per second", |of| Cell::rate(of.done.per_second)),
    ];
    let data = Table::of(0, &columns, &phase.workers);
    let rates = Scale::from_zero(points.iter().map(|(_, y)| *y));
    let axes = (
        Axis::new("worker", Scale::over(points.iter().map(|(x, _)| *x)), whole),
        Axis::new("per second", rates, short_rate),
    );
    // The order of the workers has no meaning, so the points are not connected.
    let points = points.into_iter().flat_map(|point| [Some(point), None]);
    let series = vec![Series::new("", points.collect())];
    document.figure(Chart::new(title, caption, axes, series).picture(data));
}
