//! The summary at the top of a run's page, without which the numbers below could be misunderstood.

use document::units::{grouped, latency, percent, rate};
use document::{Document, Tone};
use record::{Fact, Record, ResidencySample};
use verdict::{Summary, SweepSummary};

use crate::environment::fact;
use crate::page::{served, sweep};
use crate::text;

/// The summary: verdict, rates, durability, cache, errors and overhead.
pub(crate) fn strip(record: &Record, summary: &Summary) -> Document {
    let mut strip = Document::default();
    let level = summary.verdict.level;
    strip.pair(0, "Verdict", level.name());
    strip.paint(vec![text::reasons::painted(level)]);
    achieved(&mut strip, summary);
    durability(&mut strip, record, summary);
    cache(&mut strip, record, summary);
    strip.sentence("Served by", served::in_short(record, summary));
    errors(&mut strip, record, summary);
    let overhead = summary.overhead.and_then(|own| own.fraction);
    let shown = match (overhead, &record.actual.overhead) {
        (Some(fraction), _) => percent(fraction),
        (None, Fact::Unavailable(why)) => format!("not available ({why})"),
        (None, Fact::Known(_)) => "not available (the transactions took no time)".to_owned(),
        (None, Fact::NotApplicable) => "not measured (--no-overhead, or no time for it)".to_owned(),
    };
    strip.sentence("Overhead of the program", shown);
    text::outcome::outcome(&mut strip, record);
    if summary.verdict.reasons.is_empty() {
        strip.list("Checks", "", &text::reasons::looked_at(summary));
    } else {
        text::reasons::reasons(&mut strip, summary, usize::MAX);
    }
    strip
}

/// Adds the requested and achieved rates.
fn achieved(strip: &mut Document, summary: &Summary) {
    if let Some(arrivals) = &summary.arrivals {
        let requested = rate(Some(arrivals.requested_per_second));
        strip.sentence(
            "Requested rate",
            format!("{requested} transactions/s ({} arrivals)", arrivals.form),
        );
    }
    if let Some(sweep) = &summary.sweep {
        return self::sweep(strip, summary, sweep);
    }
    let transactions = summary.transactions.as_ref();
    let achieved = transactions.and_then(|transactions| transactions.rate.per_second);
    let p99 = transactions.and_then(|transactions| transactions.latency_ns.p99);
    let words = match achieved {
        Some(_) => format!("{} transactions/s", rate(achieved)),
        None => "not available (no transactions were measured)".to_owned(),
    };
    strip.sentence("Achieved rate", words);
    strip.paint(vec![(rate(achieved), Tone::Headline)]);
    self::p99(strip, summary.arrivals.is_some(), p99, "");
}

/// Adds the 99th percentile of the latency, or of the response time if operations have a due time.
fn p99(strip: &mut Document, is_response: bool, p99_ns: Option<u64>, more: &str) {
    let what = match is_response {
        true => "p99 response time",
        false => "p99 latency",
    };
    let why = "not available (fewer than ten operations lie beyond, or none was timed)";
    let shown = p99_ns.map(|ns| format!("{}{more}", latency(ns as f64)));
    strip.sentence(what, shown.unwrap_or_else(|| why.to_owned()));
}

/// Adds the rate and the 99th percentile of each phase of the workload.
fn phases(strip: &mut Document, sweep: &SweepSummary) {
    for step in &sweep.sweep_steps {
        let name = step.name.as_deref().unwrap_or_default();
        let mut words = vec![format!("{} transactions/s", rate(step.achieved_per_second))];
        words.extend(step.p99_ns.map(|ns| format!("p99 {}", latency(ns as f64))));
        strip.sentence(&format!("Phase {name}"), words.join(", "));
    }
}

/// Adds the results of a sweep, and the 99th percentile at the last sustained load level.
fn sweep(strip: &mut Document, summary: &Summary, sweep: &SweepSummary) {
    if sweep.is_of_phases() {
        return phases(strip, sweep);
    }
    let last = sweep::last_sustained(summary).map(|(_, step)| step);
    let achieved = last.and_then(|step| step.achieved_per_second);
    let limit = sweep.limit.and_then(|limit| limit.highest);
    if limit.is_none() {
        let words = match last {
            Some(step) => format!("{} transactions/s ({})", rate(achieved), sweep::which(step)),
            None => "not available (no complete level measured a transaction)".to_owned(),
        };
        strip.sentence("Achieved rate", words);
        strip.paint(vec![(rate(achieved), Tone::Headline)]);
    }
    for (name, words) in text::sweep::results(sweep) {
        strip.sentence(name, words);
        if name == "Saturation" {
            strip.paint(vec![(rate(achieved), Tone::Headline)]);
        }
    }
    let is_response = last.is_some_and(|step| step.load.rate().is_some());
    let place = match limit {
        Some(_) => " at saturation",
        None => " there",
    };
    let service = last.and_then(|step| step.service_p99_ns);
    let service = service.map(|ns| format!("; p99 service time {}", latency(ns as f64)));
    let more = format!("{place}{}", service.unwrap_or_default());
    p99(strip, is_response, last.and_then(|step| step.p99_ns), &more);
}

fn durability(strip: &mut Document, record: &Record, summary: &Summary) {
    let tier = if record.spec.engine.makes_files() {
        match summary.durability.tier.why() {
            Some(why) => format!("not available ({why})"),
            None => text::evidence::acknowledged(&summary.durability),
        }
    } else {
        "in memory (the engine touches no file system)".to_owned()
    };
    strip.sentence(
        "Durability",
        tier.replace("acknowledged: ", "acknowledged "),
    );
}

/// Adds how much of the pool was in the page cache before and after the transactions, according to
/// a sample of its files.
fn cache(strip: &mut Document, record: &Record, summary: &Summary) {
    let mut phases = summary.phases.iter();
    let residency = phases.find_map(|phase| phase.evidence.as_ref()?.residency.as_ref());
    let said = |sample: &Fact<ResidencySample>| {
        fact(sample, |sample| match sample.pages {
            0 => "no pages".to_owned(),
            pages => percent(sample.cached as f64 / pages as f64),
        })
    };
    let asked = record.spec.cache.name();
    let words = match residency {
        Some(residency) => format!(
            "{asked}; of a sample of the pool in memory before: {}, after: {}",
            said(&residency.before),
            said(&residency.after)
        ),
        None if summary.sweep.is_some() => {
            format!("{asked}; before and after each load level: below")
        }
        None => {
            format!("{asked}; before and after: not available (no sample of the pool was taken)")
        }
    };
    strip.sentence("Cache", words);
}

fn errors(strip: &mut Document, record: &Record, summary: &Summary) {
    let errors = record.actual.errors.iter().map(|error| error.count);
    let errors = errors.fold(0, u64::saturating_add);
    let stalled = record.actual.stalled.len() as u64;
    let skipped = summary.phases.iter().map(|phase| phase.skipped.total());
    let skipped = skipped.fold(0, u64::saturating_add);
    let mut words = vec![match errors {
        0 => "none".to_owned(),
        errors => grouped(errors),
    }];
    for (count, what) in [(skipped, "operations skipped"), (stalled, "stalls")] {
        if count > 0 {
            words.push(format!("{} {what}", grouped(count)));
        }
    }
    strip.sentence("Errors", words.join(", "));
    if errors > 0 {
        strip.paint(vec![(grouped(errors), Tone::Bad)]);
    }
}
