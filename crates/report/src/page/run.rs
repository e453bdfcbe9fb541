//! What the page of a run shows, and in which order.

use std::borrow::Cow;

use document::sanitize::is_harmful;
use document::units::{grouped, percent, rate, utc};
use document::{Block, Document, Number, Table, Tone, units::latency};
use record::{Fact, PhaseSummary, Record, ResidencySample, Summary, words_again};

use super::{calls, over_time, percentiles, served, sweep};
use crate::environment;
use crate::pictures::chart::{Axis, Chart, Series};
use crate::pictures::scale::Scale;
use crate::text;

/// Everything that the page of a run shows.
pub fn document(record: &Record) -> Document {
    let summary = Summary::of(record);
    let mut document = strip(record, &summary);
    document.append(rest(record, &summary));
    document
}

/// What has to be known of every picture of a run: what its page begins with, and the work.
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

/// What a run is called.
pub(super) fn name(record: &Record) -> String {
    let when = utc(record.origin.begun_unix_ns());
    format!(
        "{} on {}, {when} UTC",
        text::work(&record.spec),
        environment::places(record)
    )
}

/// What nobody should read the numbers without.
pub(super) fn strip(record: &Record, summary: &Summary) -> Document {
    let mut strip = Document::default();
    let level = summary.verdict.level;
    strip.pair(0, "Verdict", level.name());
    strip.paint(vec![text::verdict::painted(level)]);
    achieved(&mut strip, summary);
    durability(&mut strip, record, summary);
    cache(&mut strip, record, summary);
    strip.sentence("Served by", served::in_short(record, summary));
    errors(&mut strip, record, summary);
    let overhead = summary
        .overhead
        .as_ref()
        .and_then(|overhead| overhead.fraction);
    strip.sentence(
        "Overhead of the program",
        match (overhead, &record.actual.overhead) {
            (Some(fraction), _) => percent(fraction),
            (None, Fact::Unavailable(why)) => format!("not available ({why})"),
            (None, Fact::Known(_)) => "not available (the transactions took no time)".to_owned(),
            (None, Fact::NotApplicable) => {
                "not measured (--no-overhead, or no time for it)".to_owned()
            }
        },
    );
    text::outcome(&mut strip, record);
    if summary.verdict.reasons.is_empty() {
        let mut rules = Document::default();
        text::verdict::render(&mut rules, summary);
        // Behind the level, which stands above already.
        let said = rules.blocks().iter().filter_map(|block| match block {
            Block::Painted(inside, _) => Some(&**inside),
            _ => None,
        });
        for block in said {
            if let Block::Pair { value, .. } = block {
                strip.words(value.clone());
            }
        }
    } else {
        text::verdict::reasons(&mut strip, summary, usize::MAX);
    }
    strip
}

/// The rates, requested and achieved.
fn achieved(strip: &mut Document, summary: &Summary) {
    if let Some(arrivals) = &summary.arrivals {
        let requested = rate(Some(arrivals.requested_per_second));
        strip.sentence(
            "Requested rate",
            format!("{requested} transactions/s ({} arrivals)", arrivals.form),
        );
    }
    if let Some(sweep) = &summary.sweep {
        let found = text::sweep::found(sweep);
        strip.sentence(
            "Found",
            if found.is_empty() {
                "no limit and no knee".to_owned()
            } else {
                found.join(", ")
            },
        );
        at_last_sustained(strip, summary);
        return;
    }
    let transactions = summary.transactions.as_ref();
    let achieved = transactions.and_then(|transactions| transactions.rate.per_second);
    strip.sentence(
        "Achieved rate",
        match achieved {
            Some(_) => format!("{} transactions/s", rate(achieved)),
            None => "not available (no transactions were measured)".to_owned(),
        },
    );
    strip.paint(vec![(rate(achieved), Tone::Headline)]);
    let p99 = transactions.and_then(|transactions| transactions.latency_ns.p99);
    strip.sentence(
        // Counted from the due time, where loads are requested.
        match summary.arrivals {
            Some(_) => "p99 response time",
            None => "p99 latency",
        },
        match p99 {
            Some(ns) => latency(ns as f64),
            None => {
                "not available (fewer than ten operations lie beyond, or none was timed)".to_owned()
            }
        },
    );
}

/// What was achieved at the last step that was sustained.
fn at_last_sustained(strip: &mut Document, summary: &Summary) {
    let last = sweep::last_sustained(summary).map(|(_, step)| step);
    strip.sentence(
        "Achieved rate",
        match last {
            Some(step) => format!(
                "{} transactions/s ({})",
                rate(step.achieved_per_second),
                sweep::which(step)
            ),
            None => "not available (no complete step measured a transaction)".to_owned(),
        },
    );
    strip.paint(vec![(
        rate(last.and_then(|step| step.achieved_per_second)),
        Tone::Headline,
    )]);
    let is_response = last.is_some_and(|step| step.load.rate().is_some());
    let p99 = last.and_then(|step| step.p99_ns);
    strip.sentence(
        if is_response {
            "p99 response time"
        } else {
            "p99 latency"
        },
        match (p99, last.and_then(|step| step.service_p99_ns)) {
            (Some(ns), Some(service)) => format!(
                "{} there; p99 service time {}",
                latency(ns as f64),
                latency(service as f64)
            ),
            (Some(ns), None) => format!("{} there", latency(ns as f64)),
            (None, _) => {
                "not available (fewer than ten operations lie beyond, or none was timed)".to_owned()
            }
        },
    );
}

fn durability(strip: &mut Document, record: &Record, summary: &Summary) {
    let tier = if record.spec.storage.touches() {
        match summary.durability.tier.why() {
            Some(why) => format!("not available ({why})"),
            None => text::evidence::acknowledged(&summary.durability),
        }
    } else {
        "in memory (the storage touches no file system)".to_owned()
    };
    strip.sentence(
        "Durability",
        tier.replace("acknowledged: ", "acknowledged "),
    );
}

/// How much of a sample of the pool was in the page cache, before and after.
fn cache(strip: &mut Document, record: &Record, summary: &Summary) {
    let residency = summary
        .phases
        .iter()
        .filter_map(|phase| phase.evidence.as_ref()?.residency.as_ref())
        .next();
    let said = |sample: &Fact<ResidencySample>| match sample {
        Fact::Known(sample) if sample.pages > 0 => {
            percent(sample.cached as f64 / sample.pages as f64)
        }
        Fact::Known(_) => "no pages".to_owned(),
        Fact::Unavailable(why) => format!("not available ({why})"),
        Fact::NotApplicable => "not applicable".to_owned(),
    };
    let asked = record.spec.cache.name();
    strip.sentence(
        "Cache",
        match residency {
            Some(residency) => format!(
                "{asked}; of a sample of the pool in memory before: {}, after: {}",
                said(&residency.before),
                said(&residency.after)
            ),
            None if summary.sweep.is_some() => {
                format!("{asked}; before and after each step: below")
            }
            None => format!(
                "{asked}; before and after: not available (no sample of the pool was taken)"
            ),
        },
    );
}

fn errors(strip: &mut Document, record: &Record, summary: &Summary) {
    let errors = record
        .actual
        .errors
        .iter()
        .fold(0_u64, |sum, error| sum.saturating_add(error.count));
    let stalled = record.actual.stalled.len() as u64;
    let skipped: u64 = summary
        .phases
        .iter()
        .fold(0, |sum, phase| sum.saturating_add(phase.skipped.total()));
    let mut words = vec![if errors == 0 {
        "none".to_owned()
    } else {
        grouped(errors)
    }];
    if skipped > 0 {
        words.push(format!("{} operations skipped", grouped(skipped)));
    }
    if stalled > 0 {
        words.push(format!("{} stalls", grouped(stalled)));
    }
    strip.sentence("Errors", words.join(", "));
    if errors > 0 {
        strip.paint(vec![(grouped(errors), Tone::Bad)]);
    }
}

/// Everything below the strip.
pub(super) fn rest(record: &Record, summary: &Summary) -> Document {
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
            "Phases: not available (the run ended before its first phase did, or each step of a \
             sweep was a run of its own).",
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
    text::heading::render(&mut workload, record, summary);
    all.folded("Workload", workload);
    let mut environment = Document::default();
    environment::render(&mut environment, record);
    text::overhead::render(&mut environment, record, summary);
    all.folded("Environment", environment);
    let mut findings = Document::default();
    text::findings::render(&mut findings, record, summary);
    for note in &record.hints {
        findings.line(format!("Note: {note}"));
    }
    for advice in text::advice(record) {
        findings.line(format!("Note: {advice}"));
    }
    if !findings.is_empty() {
        all.title("Findings");
        all.append(findings);
    }
    all.title("Run it again");
    again(all, record);
    document
}

/// A command that does the same work in the directory in which it is given, from wherever it is
/// copied.
fn again(document: &mut Document, record: &Record) {
    /// A longer one is no command that anybody copies.
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

/// A word as POSIX shells take it.
fn for_shells(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,:/%+@".contains(letter);
    match word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}

/// How the workers shared in the work. Of two the table of rates says it all.
fn workers(document: &mut Document, summary: &Summary) {
    for phase in summary
        .phases
        .iter()
        .filter(|phase| phase.workers.len() > 2)
    {
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
    let caption = "Each worker's own rate: what it did over its own time.".to_owned();
    let mut data = Table::new(0, &["worker", "done", "per second"]);
    for worker in &phase.workers {
        data.row(vec![
            Number::Ordinal(worker.worker.into()).into(),
            Number::Count(worker.done.count).into(),
            worker.done.per_second.map(Number::Rate).into(),
        ]);
    }
    let chart = Chart {
        title: &title,
        description: &caption,
        x: Axis {
            name: "worker".to_owned(),
            scale: Scale::over(points.iter().map(|(x, _)| *x)),
            label: |value| {
                if value.fract() == 0.0 {
                    document::units::fixed(value, 0)
                } else {
                    String::new()
                }
            },
        },
        y: Axis {
            name: "per second".to_owned(),
            scale: Scale::from_zero(points.iter().map(|(_, y)| *y)),
            label: |value| rate(Some(value)).replace(".00", ""),
        },
        behind: Vec::new(),
        // Workers are not on a line: points alone, with nothing between them.
        series: vec![Series {
            name: String::new(),
            points: points
                .into_iter()
                .flat_map(|point| [Some(point), None])
                .collect(),
        }],
    };
    document.figure(chart.picture(data));
}
