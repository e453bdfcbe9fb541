//! Evidence of what served each phase (cache, device or server): bytes read and written, and the
//! traffic to device or server.

use document::units::{counted, grouped, percent};
use document::{Cell, Column, Document, Number, Table};
use record::{Fact, MessageCounter, Residency, ResidencySample, ServerCounts};
use verdict::Summary;
use verdict::summary::{
    Behind, DurabilitySummary, DurabilityTier, EvidenceSummary, MessagesSent, ReadsServed,
    Surprise, WARM_MAX,
};

pub(crate) fn render(document: &mut Document, summary: &Summary) {
    let phases = summary.phases.iter();
    let phases: Vec<(&str, &EvidenceSummary)> = phases
        .filter_map(|phase| Some((phase.phase.name(), phase.evidence.as_ref()?)))
        .collect();
    if phases.is_empty() {
        return;
    }
    table(document, phases.iter().copied());
    for residency in phases.iter().filter_map(|(_, of)| of.residency.as_ref()) {
        self::residency(document, residency);
    }
    messages(
        document,
        phases.iter().map(|(name, of)| (*name, &of.messages[..])),
    );
    servers(document, &phases);
    if tests_cache(summary) {
        document.note("the pool fits in memory, so this run tests the page cache");
    }
    document.note(acknowledged(&summary.durability));
    if let Some(why) = summary.durability.tier.why() {
        document.note(format!("acknowledged: not available ({why})"));
    }
    unavailable(document, phases.iter().flat_map(|(_, of)| asked(of)));
    if let Some(surprise) = summary.reads.as_ref().and_then(|reads| reads.surprise) {
        document.note(self::surprise(surprise));
    }
    document.gap();
}

/// For an engine that calls servers itself, adds a note that the server answered all operations,
/// and the number of disturbances such as reconnections.
fn servers(document: &mut Document, phases: &[(&str, &EvidenceSummary)]) {
    let mut counts = phases
        .iter()
        .filter_map(|(_, evidence)| evidence.server.as_ref())
        .peekable();
    if counts.peek().is_none() {
        return;
    }
    document
        .note("all operations were served by the server: no cache of this machine lies between");
    let sum = counts.fold(ServerCounts::default(), ServerCounts::and);
    let mut words = Vec::new();
    for (count, what, happened) in [
        (sum.reconnections, "connection", " lost and opened again"),
        (sum.verifier_changes, "change", " of the write verifier"),
        (sum.not_known, "operation", " with an unknown outcome"),
        (sum.delayed, "call", " made again as the server wanted"),
        (sum.stray_replies, "repeated reply", ""),
    ] {
        if count > 0 {
            words.push(counted(count, what) + happened);
        }
    }
    if sum.rewritten_bytes > 0 {
        words.push(format!(
            "{} written again",
            Number::Bytes(sum.rewritten_bytes as f64)
        ));
    }
    if !words.is_empty() {
        document.note(words.join("; "));
    }
}

/// Adds a table of the bytes read and written in each named part of a run (a phase or a load
/// level).
pub(crate) fn table<'a>(
    document: &mut Document,
    stretches: impl Iterator<Item = (&'a str, &'a EvidenceSummary)>,
) {
    let columns: [Column<(&str, &EvidenceSummary)>; 9] = [
        ("Served by", |(name, _)| (*name).into()),
        ("read", |(_, of)| moved(of.reads.read_bytes)),
        ("from cache", |(_, of)| {
            Cell::share(of.reads.cached_fraction())
        }),
        ("device reads", |(_, of)| count(&of.device_reads.reads)),
        ("written", |(_, of)| moved(of.writes.written_bytes)),
        ("to device", |(_, of)| {
            Cell::bytes(of.writes.device_bytes.known().copied())
        }),
        ("device/written", |(_, of)| {
            Cell::decimal(of.writes.amplification, 2)
        }),
        ("flushes", |(_, of)| count(&of.flushes.flushes)),
        ("per durable", |(_, of)| {
            Cell::decimal(of.flushes.per_durable_operation, 2)
        }),
    ];
    document.table(Table::of(1, &columns, stretches));
    document.note(
        "device/written: write amplification; per durable: flushes for each operation that is \
         synced",
    );
    document.note(
        "device reads, to device, flushes: all activity of the whole devices, with the warm-up",
    );
    document.note("to device includes the sync after the phase; device reads and flushes do not");
}

fn moved(bytes: u64) -> Cell {
    Cell::bytes(Some(bytes).filter(|bytes| *bytes > 0))
}

pub(crate) fn count(fact: &Fact<u64>) -> Cell {
    fact.known().copied().map(Number::Count).into()
}

/// Whether the size of the pool made the run a test of the page cache: the pool fits in memory, and
/// the cache served nearly all bytes that the transactions read.
pub(crate) fn tests_cache(summary: &Summary) -> bool {
    let fraction = summary.pool.as_ref().and_then(|pool| pool.memory_fraction);
    let cached = summary
        .reads
        .as_ref()
        .and_then(ReadsServed::cached_fraction);
    fraction.is_some_and(|fraction| fraction <= 1.0)
        && cached.is_some_and(|cached| cached >= 1.0 - WARM_MAX)
}

/// The durability level of acknowledged changes and the durability policy, in a few words.
pub(crate) fn acknowledged(durability: &DurabilitySummary) -> String {
    let level = level(durability).unwrap_or_else(|| "not available".to_owned());
    match &durability.stability {
        Some(_) => format!("acknowledged: {level}"),
        None => format!("acknowledged: {level} ({})", durability.policy),
    }
}

/// The durability level of acknowledged changes; `None` if it is not known.
pub(crate) fn level(durability: &DurabilitySummary) -> Option<String> {
    if let Some(stability) = &durability.stability {
        let contents = match &durability.tier {
            Fact::Known(DurabilityTier::FlushAcknowledged) => {
                "on what the server says is stable storage"
            }
            _ => "in the server's memory",
        };
        return Some(format!(
            "contents {contents} ({}: {stability}), names on stable storage by the protocol's rule",
            durability.policy
        ));
    }
    let behind = if durability.is_server {
        "server"
    } else {
        "device"
    };
    Some(match durability.tier.known()? {
        DurabilityTier::Memory => "in memory".to_owned(),
        DurabilityTier::PageCache => "in the page cache".to_owned(),
        DurabilityTier::HandedOver => format!("by the {behind}, not flushed"),
        DurabilityTier::FlushAcknowledged => format!("after a {behind} flush"),
    })
}

/// The name of the storage behind the page cache.
pub(crate) fn behind(reads: &ReadsServed) -> &'static str {
    match &reads.fetched_from {
        Fact::Known(behind) => behind.name(),
        Fact::NotApplicable => Behind::Device.name(),
        Fact::Unavailable(_) => "layers below the page cache",
    }
}

/// Why it is not known what served the reads that the page cache did not serve; `None` if it is
/// known, or if the page cache served all reads.
pub(crate) fn rest(reads: &ReadsServed) -> Option<String> {
    let why = reads.fetched_from.why()?;
    let fetched = reads.fetched_bytes.known().filter(|bytes| **bytes > 0);
    fetched.map(|_| format!("what served the rest: not available ({why})"))
}

fn residency(document: &mut Document, residency: &Residency) {
    let said = |sample: &Fact<ResidencySample>| match sample {
        Fact::Known(sample) => Some(in_words(sample)),
        Fact::Unavailable(why) => Some(format!("not available ({why})")),
        Fact::NotApplicable => None,
    };
    for (when, sample) in [("before", &residency.before), ("after", &residency.after)] {
        if let Some(said) = said(sample) {
            document.note(format!("in the page cache {when} the transactions: {said}"));
        }
    }
}

pub(crate) fn in_words(sample: &ResidencySample) -> String {
    let share = |pages: u64| percent(pages as f64 / sample.pages.max(1) as f64);
    let mut words = format!(
        "{} of the pages of {} sampled files",
        share(sample.cached),
        grouped(sample.files)
    );
    if let Fact::Known(dirty) = sample.dirty {
        words += &format!(", {} dirty", share(dirty));
    }
    if let Fact::Known(written) = sample.under_write_back {
        words += &format!(", {} under write-back", share(written));
    }
    words
}

/// Maximum number of kinds of messages in the table. The record contains all kinds.
const KINDS_MAX: usize = 8;

/// Adds a table of the messages to servers in each named part of a run, by kind of message.
pub(crate) fn messages<'a>(
    document: &mut Document,
    stretches: impl Iterator<Item = (&'a str, &'a [MessagesSent])>,
) {
    let mut table = Table::new(
        3,
        &[
            "Messages",
            "",
            "",
            "requests",
            "per operation",
            "resent",
            "round trip, ms",
        ],
    );
    for (name, all) in stretches {
        for sent in all {
            table.row(vec![
                name.into(),
                sent.protocol.as_str().into(),
                sent.of.as_str().into(),
                count(&sent.requests),
                Cell::decimal(sent.per_done, 2),
                sent.retransmissions.map(Number::Count).into(),
                Cell::Empty,
            ]);
            let kinds_max = match sent.counter {
                // If the I/O engine itself counted the calls, all kinds are shown. Of the
                // kernel's counters, only `KINDS_MAX` kinds are shown.
                MessageCounter::Engine => usize::MAX,
                _ => KINDS_MAX,
            };
            for kind in sent.kinds.iter().take(kinds_max) {
                table.row(vec![
                    Cell::Empty,
                    kind.kind.as_str().into(),
                    Cell::Empty,
                    Cell::count(kind.requests),
                    Cell::decimal(kind.per_done, 2),
                    Cell::Empty,
                    Cell::decimal(kind.mean_round_trip_ms, 2),
                ]);
            }
        }
    }
    if !table.is_empty() {
        document.table(table);
        document.note(
            "a message is a request that left; replies are not counted, and retransmissions \
             (resent) are apart",
        );
    }
}

/// The names of the numbers that a phase should have, each with the reason if the number is
/// missing.
pub(crate) fn asked(evidence: &EvidenceSummary) -> impl Iterator<Item = (&str, Option<&str>)> {
    let EvidenceSummary {
        reads,
        device_reads,
        writes,
        flushes,
        ..
    } = evidence;
    let fetched = match reads.fetched_bytes.why() {
        Some(why) => ("reads from the cache", Some(why)),
        None => {
            let from = reads.fetched_from.why();
            let has_rest = self::rest(reads).is_some();
            (
                "what served the rest of the reads",
                from.filter(|_| has_rest),
            )
        }
    };
    let fetched = Some(fetched).filter(|_| reads.read_bytes > 0);
    let numbers = [
        ("device reads", device_reads.reads.why()),
        ("bytes to the device", writes.device_bytes.why()),
        ("flushes", flushes.flushes.why()),
    ];
    let sent = evidence.messages.iter();
    let sent = sent.map(|sent| ("messages", sent.requests.why()));
    fetched.into_iter().chain(numbers).chain(sent)
}

/// Adds the reasons why numbers are missing, each reason once.
pub(crate) fn unavailable<'a>(
    document: &mut Document,
    numbers: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) {
    let missing = numbers.filter_map(|(what, why)| Some((why?, what.to_owned())));
    for (why, missing) in by_reason(missing) {
        document.note(format!("{missing}: not available ({why})"));
    }
}

/// Groups missing numbers by reason, without duplicates.
pub(crate) fn by_reason<'a>(
    missing: impl Iterator<Item = (&'a str, String)>,
) -> impl Iterator<Item = (&'a str, String)> {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for (why, what) in missing {
        match told.iter_mut().find(|(known, _)| *known == why) {
            Some((_, missing)) if missing.contains(&what) => {}
            Some((_, missing)) => missing.push(what),
            None => told.push((why, vec![what])),
        }
    }
    told.into_iter()
        .map(|(why, missing)| (why, missing.join(", ")))
}

fn surprise(surprise: Surprise) -> &'static str {
    match surprise {
        Surprise::LittleThoughCold => {
            "the device served little for a cold cache: the cache still served files that were \
             read or created before"
        }
        Surprise::MuchThoughWarm => {
            "the device served much for a warm cache: the pool did not stay in memory"
        }
    }
}
