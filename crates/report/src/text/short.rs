//! The short report on one screen: what was measured, its rates, and the verdict. The full report
//! contains everything else.

use document::units::{bound, latency, percent, rate, throughput};
use document::{Cell, Document, Number, Table, Tone, kept};
use engine::OperationKind;
use record::durability::FlushAnswer;
use record::{Fact, Phase, Record};
use verdict::summary::{DurabilityTier, OperationTotal, TransactionsSummary};
use verdict::{Level, Summary};
use workload::Action;

use super::evidence;
use super::findings::{self, clean_up};
use super::first_line::first_line;
use super::{limit, outcome, phases, reasons, replay, sweep};
use crate::latencies;

/// Maximum number of reasons of a verdict. The full report contains all reasons.
const REASONS_MAX: usize = 4;
/// Maximum number of kinds of errors. The full report contains all kinds.
const ERRORS_MAX: usize = 3;

/// The duration of phases below this is shown beside their rate, in nanoseconds.
const SHORT_PHASE_NS: u64 = 1_000_000_000;

pub fn short(record: &Record) -> Document {
    let summary = Summary::of(record);
    let mut report = Document::default();
    let document = &mut report;
    document.words(bound(&first_line(record, &summary)));
    outcome::outcome(document, record);
    document.words(answer(&summary));
    document.paint(emphasis(&summary));
    if summary.verdict.level == Level::Valid {
        document.note("VALID covers this run; one run does not show how much runs vary");
        reasons::load_not_judged(document, record, &summary);
    } else {
        reasons::reasons(document, &summary, REASONS_MAX);
    }
    document.gap();
    sweep::render(document, &summary, false);
    phases::arrivals(document, &summary);
    operations(document, &summary);
    others(document, &summary);
    replay::comparison(document, summary.replay.as_ref());
    facts(document, record, &summary);
    findings::skipped_noticeably(document, &summary);
    findings::errors(document, record, ERRORS_MAX);
    for stalled in &record.actual.stalled {
        findings::stalled(document, stalled);
    }
    let removed = record.actual.clean_up.as_ref();
    if let Some(removed) = removed.filter(|removed| removed.incomplete) {
        clean_up(document, "", removed);
    }
    outcome::notes_of_run(document, record);
    report
}

/// The transactions, if any were measured.
fn measured(summary: &Summary) -> Option<&TransactionsSummary> {
    let transactions = summary.transactions.as_ref();
    transactions.filter(|of| of.duration_ns > 0 && of.rate.count > 0)
}

/// The line with the results: rates, latency, limits of a sweep, and verdict.
fn answer(summary: &Summary) -> String {
    let mut words = Vec::new();
    if let Some(transactions) = measured(summary) {
        words.push(phases::rate_in_words(transactions));
        for (what, moved) in [
            ("read", transactions.read_bytes),
            ("written", transactions.written_bytes),
        ] {
            if let Some(per_second) = moved.per_second.filter(|_| moved.count > 0) {
                words.push(format!("{what} {}", throughput(per_second)));
            }
        }
        let times = &transactions.latency_ns;
        let times = [("p50", times.p50), ("p99", times.p99)].into_iter();
        let times = times.filter_map(|(name, ns)| Some(format!("{name} {}", latency(ns? as f64))));
        let times: Vec<String> = times.collect();
        let of_all = match summary.operations.len() {
            0 | 1 => "",
            _ => " (all operations)",
        };
        words.extend((!times.is_empty()).then(|| times.join(", ") + of_all));
    }
    words.extend(summary.sweep.iter().flat_map(sweep::found));
    words.push(summary.verdict.level.name().to_owned());
    apart(&words)
}

/// Whether the measured operations change files. True without measured operations, because the
/// creation of the pool changed files.
fn has_changes(summary: &Summary) -> bool {
    let is_change = |action: &&Action| action.performs().is_some_and(OperationKind::changes);
    let mut changes = Action::ALL.iter().filter(is_change);
    let operations = &summary.operations;
    operations.is_empty() || changes.any(|action| operations.contains_key(action.name()))
}

/// The emphasized parts of [`answer`].
fn emphasis(summary: &Summary) -> Vec<(String, Tone)> {
    let done =
        measured(summary).map(|transactions| (rate(transactions.rate.per_second), Tone::Headline));
    let level = summary.verdict.level;
    done.into_iter().chain([reasons::painted(level)]).collect()
}

/// Joins facts into one line. Two spaces separate the facts, and the line can break only at the
/// second space.
fn apart(facts: &[String]) -> String {
    let facts: Vec<String> = facts.iter().map(|fact| kept(fact)).collect();
    facts.join("\u{a0} ")
}

/// Adds a table of the operations, sorted by their share of the workers' time.
fn operations(document: &mut Document, summary: &Summary) {
    if summary.operations.is_empty() {
        return;
    }
    let mut all: Vec<_> = summary.operations.iter().collect();
    let time = |total: &OperationTotal| total.time_fraction.unwrap_or(0.0);
    all.sort_by(|(_, one), (_, other)| time(other).total_cmp(&time(one)));
    let columns = ["mean", "p50", "p99", "p99.9", "max"];
    let mut table = Table::new(1, &[&["", "of time", "ops/s"][..], &columns].concat());
    for (name, total) in all {
        let mut cells = vec![
            name.as_str().into(),
            Cell::share(total.time_fraction),
            Cell::rate(total.rate.per_second),
        ];
        let times = latencies::cells(&total.latency_ns, columns, Number::Latency);
        cells.extend(times);
        table.row(cells);
        if let Some(per_file) = &total.per_file_ns {
            let times = latencies::cells(per_file, columns, Number::Latency);
            let cells = ["  per file".into(), Cell::Empty, Cell::Empty].into_iter();
            table.row(cells.chain(times).collect());
        }
    }
    document.table(table);
    document.gap();
}

/// Adds a line with the rates of the phases other than the transactions.
fn others(document: &mut Document, summary: &Summary) {
    let phases = summary.phases.iter();
    let words: Vec<String> = phases
        .filter(|phase| phase.phase != Phase::Transactions)
        .map(|phase| {
            let last = &phase.last_done;
            let (name, rate) = (phase.phase.name(), rate(last.done.per_second));
            // The rate of a short phase is inaccurate.
            let within = match last.ns < SHORT_PHASE_NS {
                true => format!(" (in {})", latency(last.ns as f64)),
                false => String::new(),
            };
            format!("{name} {rate} files/s{within}")
        })
        .collect();
    if !words.is_empty() {
        document.words(apart(&words));
    }
}

/// A warning that data may be in memory after a flush, because the device is not of this machine.
fn flushed_by(record: &Record, summary: &Summary) -> &'static str {
    if summary.durability.tier != Fact::Known(DurabilityTier::FlushAcknowledged) {
        return "";
    }
    let facts = record.locations.iter().flat_map(|of| &of.durability);
    let devices = facts.flat_map(|facts| facts.devices.known().into_iter().flatten());
    let answers: Vec<FlushAnswer> = devices.map(|device| device.flush_answer).collect();
    if answers.contains(&FlushAnswer::Hypervisor) {
        " (virtual device: the hypervisor may keep data in memory)"
    } else if answers.contains(&FlushAnswer::OtherMachine) {
        " (device of another machine, which may keep data in memory)"
    } else {
        ""
    }
}

/// Adds the page-cache hit rate, the durability level of writes, and the overhead of the program.
fn facts(document: &mut Document, record: &Record, summary: &Summary) {
    if let Some(reads) = summary.reads.as_ref().filter(|reads| reads.read_bytes > 0) {
        match (&reads.fetched_bytes, reads.cached_fraction()) {
            (Fact::Known(_), Some(cached)) => {
                let tests_cache = match evidence::tests_cache(summary) {
                    true => " (the pool fits in memory: a test of the cache)",
                    false => "",
                };
                let rest = evidence::rest(reads).map(|rest| format!("; {rest}"));
                document.words(format!(
                    "reads: {} from page cache{tests_cache}{}",
                    percent(cached),
                    rest.unwrap_or_default()
                ));
            }
            (Fact::Unavailable(why), _) => {
                document.words(format!("reads: what served them is not available ({why})"));
            }
            (Fact::Known(_) | Fact::NotApplicable, _) => {}
        }
    }
    if record.spec.engine.makes_files() && has_changes(summary) {
        document.words(match evidence::level(&summary.durability) {
            Some(level) if summary.durability.stability.is_some() => {
                format!("writes: acknowledged, {level}")
            }
            Some(level) => format!(
                "writes: acknowledged {level}{}",
                flushed_by(record, summary)
            ),
            None => "durability: not available".to_owned(),
        });
    }
    let mut words = Vec::from_iter(limit::limited_by(document, summary));
    if let Some(fraction) = summary.overhead.and_then(|own| own.fraction) {
        words.push(format!("overhead {}", percent(fraction)));
    }
    if !words.is_empty() {
        document.words(apart(&words));
    }
}
