//! Evidence of what served a run (cache, device or server): a line for the summary, and tables. The
//! tables are by phase, by operation if available, and by load level of a sweep.

use document::units::{latency, percent};
use document::{Cell, Column, Document, Table};
use record::{Fact, Phase, Record};
use verdict::Summary;
use verdict::summary::{EvidenceSummary, ServedBy, phase_evidence};

use crate::environment::fact;
use crate::steps::by_load;
use crate::text;
use crate::text::evidence::{asked, behind, by_reason, in_words, messages, table, unavailable};
use crate::text::sweep::name;

/// A line on what served the transactions (cache, device or server), for the summary at the top of
/// the page.
pub(super) fn in_short(record: &Record, summary: &Summary) -> String {
    if !record.spec.engine.makes_files() {
        return "memory (the engine touches no file system)".to_owned();
    }
    if summary.sweep.is_some() {
        return "by load level, below".to_owned();
    }
    let transactions = summary.phase(Phase::Transactions);
    let Some(evidence) = transactions.and_then(|phase| phase.evidence.as_ref()) else {
        return "not available (no evidence was recorded of transactions)".to_owned();
    };
    let reads = &evidence.reads;
    let mut words = vec![match (
        reads.read_bytes,
        reads.cached_fraction(),
        reads.served_bytes(),
    ) {
        (0, ..) => "the transactions read no contents".to_owned(),
        (_, Some(share), _) => format!(
            "{} of what was read from the cache, the rest by the {}",
            percent(share),
            behind(reads)
        ),
        (_, None, Fact::Unavailable(why)) => format!("not available ({why})"),
        (_, None, _) => "not applicable".to_owned(),
    }];
    for sent in &evidence.messages {
        if let Some(each) = sent.per_done {
            words.push(format!(
                "{each:.2} messages per transaction ({})",
                sent.protocol
            ));
        }
    }
    words.join("; ")
}

pub(super) fn render(all: &mut Document, record: &Record, summary: &Summary) {
    all.title("Served by");
    let before = all.blocks().len();
    text::evidence::render(all, summary);
    by_operation(all, summary);
    if summary.sweep.is_some() {
        by_step(all, record, summary);
    }
    if all.blocks().len() == before {
        let why = if record.spec.engine.makes_files() {
            "no evidence was recorded"
        } else {
            "the engine touches no file system"
        };
        all.note(format!("Who served the operations: not available ({why})."));
    }
}

/// Adds the shares of cache, server and device for each kind of operation, or the reason why the
/// shares are not available.
fn by_operation(all: &mut Document, summary: &Summary) {
    let operations = summary.phases.iter().flat_map(|phase| {
        let evidence = phase.evidence.iter();
        let operations = evidence.flat_map(|evidence| &evidence.operations);
        operations.map(move |(name, served)| (phase.phase.name(), name.as_str(), served))
    });
    let columns: [Column<(&str, &str, &ServedBy)>; 5] = [
        ("Served by, by operation", |(phase, ..)| (*phase).into()),
        ("", |(_, name, _)| (*name).into()),
        ("cache", |(.., of)| Cell::share(Some(of.cache))),
        ("server", |(.., of)| Cell::share(Some(of.server))),
        ("device", |(.., of)| Cell::share(Some(of.device))),
    ];
    let known = operations.clone();
    let known = known.filter_map(|(phase, name, served)| Some((phase, name, served.known()?)));
    let shares = Table::of(2, &columns, known);
    if !shares.is_empty() {
        all.table(shares);
        all.note("shares of the bytes of an operation, or of the operations where they move none");
    }
    let missing = operations
        .filter_map(|(phase, name, served)| Some((served.why()?, format!("{name} in {phase}"))));
    for (why, names) in by_reason(missing) {
        all.note(format!("served by, of {names}: not available ({why})"));
    }
}

/// Adds the evidence of each load level of a sweep, ordered by load.
fn by_step(all: &mut Document, record: &Record, summary: &Summary) {
    let mut found: Vec<(String, EvidenceSummary)> = Vec::new();
    for (number, step) in by_load(summary) {
        let of_step = record.actual.sweep_steps.get(number);
        let phases = of_step.iter().flat_map(|step| &step.phases);
        let transactions = phases.filter(|phase| phase.phase == Phase::Transactions);
        let evidence = transactions.filter_map(|phase| phase_evidence(record, phase));
        found.extend(evidence.map(|evidence| (name(step), evidence)));
    }
    if found.is_empty() {
        all.note("Who served the load levels: not available (no evidence was recorded of them).");
        return;
    }
    let stretches = || {
        found
            .iter()
            .map(|(name, evidence)| (name.as_str(), evidence))
    };
    table(all, stretches());
    let mut sampled = Table::new(3, &["Level", "in the page cache before", "after"]);
    for (name, evidence) in stretches() {
        if let Some(residency) = &evidence.residency {
            let samples = [&residency.before, &residency.after];
            let samples = samples.map(|sample| fact(sample, in_words).to_string());
            let [before, after] = samples.map(Cell::from);
            sampled.row(vec![name.into(), before, after]);
        }
    }
    if !sampled.is_empty() {
        all.table(sampled);
    }
    messages(
        all,
        stretches().map(|(name, evidence)| (name, &evidence.messages[..])),
    );
    unavailable(all, stretches().flat_map(|(_, evidence)| asked(evidence)));
}

/// Formats the 99th percentile of the service time, which is shown next to response times.
pub(super) fn service(p99_ns: Option<u64>) -> String {
    match p99_ns {
        Some(ns) => latency(ns as f64),
        None => "not available".to_owned(),
    }
}
