//! What each host and each rank contributed, how their clocks stood, and what hosts do not have in
//! common.

use document::units::{counted, grouped, numbers, percent, rate};
use document::{Cell, Document, Number, Table, kept};
use record::Fact;
use verdict::Summary;
use verdict::summary::{HostFact, HostShare, HostsDiffer, RanksSummary};

/// With more ranks they are in the record only.
const RANKS_MAX: usize = 16;
/// Of more hosts these are shown, the slowest first.
const HOSTS_MAX: usize = 32;

pub(crate) fn render(document: &mut Document, summary: &Summary) {
    let Some(ranks) = &summary.ranks else { return };
    let phase = ranks
        .phase
        .map_or_else(String::new, |phase| format!(" in {}", phase.name()));
    document.head(format!("Ranks{phase}"));
    hosts(document, ranks);
    if ranks.ranks.len() <= RANKS_MAX {
        each_rank(document, ranks);
    }
    if let Some(spread) = &ranks.ranks_spread {
        document.line(format!(
            "Rates of {}: least {}/s, median {}/s, greatest {}/s ({} apart).",
            counted(ranks.ranks.len() as u64, "rank"),
            rate(Some(spread.min_per_second)),
            rate(Some(spread.median_per_second)),
            rate(Some(spread.max_per_second)),
            percent(spread.apart_fraction)
        ));
    }
    if let Some(slowest) = &ranks.slowest_rank {
        document.line(format!(
            "The slowest: rank {} on {}, {}/s.",
            slowest.rank,
            kept(&slowest.host),
            rate(Some(slowest.per_second))
        ));
    }
    document.line(match &ranks.clock_error_ns {
        Fact::Known(ns) => format!(
            "Clocks: moments of two ranks are within {:.1} µs.",
            *ns as f64 / 1e3
        ),
        Fact::NotApplicable => "Clocks: not compared.".to_owned(),
        Fact::Unavailable(why) => format!("Clocks: not available ({why})."),
    });
    for differ in &ranks.differences {
        document.warning(difference(differ));
    }
    if !ranks.missing.is_empty() {
        document.warning(format!(
            "The parts of {} of {} are missing: {}.",
            counted(ranks.missing.len() as u64, "rank"),
            grouped(ranks.launched.into()),
            numbers(&ranks.missing)
        ));
    }
    document.gap();
}

fn hosts(document: &mut Document, ranks: &RanksSummary) {
    let header = [
        "host",
        "ranks",
        "workers",
        "share",
        "per second",
        "of a worker/s",
        "clock, µs",
        "±, µs",
        "worker CPU",
    ];
    let mut table = Table::new(1, &header);
    let mut shown: Vec<&HostShare> = ranks.hosts.iter().collect();
    if shown.len() > HOSTS_MAX {
        let rate = |host: &HostShare| host.per_worker.unwrap_or(0.0);
        shown.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
        shown.truncate(HOSTS_MAX);
    }
    for host in &shown {
        let microseconds =
            |ns: Option<f64>| -> Cell { ns.map(|ns| Number::Decimal(ns / 1e3, 1)).into() };
        table.row(vec![
            kept(&host.host).into(),
            Number::Count(host.ranks.into()).into(),
            Number::Count(host.workers.into()).into(),
            host.fraction.map(Number::Share).into(),
            host.done.per_second.map(Number::Rate).into(),
            host.per_worker.map(Number::Rate).into(),
            microseconds(host.clock_offset_ns.known().map(|ns| *ns as f64)),
            microseconds(host.clock_error_ns.known().map(|ns| *ns as f64)),
            host.worker_cpu.map(Number::Share).into(),
        ]);
    }
    document.table(table);
    let more = ranks.hosts.len() - shown.len();
    if more > 0 {
        document.line(format!(
            "The {} slowest hosts of {}; all are in the record.",
            grouped(shown.len() as u64),
            grouped(ranks.hosts.len() as u64)
        ));
    }
}

fn each_rank(document: &mut Document, ranks: &RanksSummary) {
    let mut table = Table::new(
        2,
        &["rank", "host", "workers", "done", "share", "per second"],
    );
    for rank in &ranks.ranks {
        let host = ranks
            .hosts
            .get(rank.host as usize)
            .map_or("", |host| &host.host);
        table.row(vec![
            rank.rank.to_string().into(),
            kept(host).into(),
            Number::Count(rank.workers.into()).into(),
            Number::Count(rank.done.count).into(),
            rank.fraction.map(Number::Share).into(),
            rank.done.per_second.map(Number::Rate).into(),
        ]);
    }
    document.table(table);
}

fn difference(differ: &HostsDiffer) -> String {
    /// More values are in the record only.
    const VALUES_MAX: usize = 4;
    let what = match differ.fact {
        HostFact::Program => "the program",
        HostFact::Kernel => "the kernel",
        HostFact::ClockSource => "the clock source",
        HostFact::Processor => "the processor",
        HostFact::Processors => "the number of processors",
        HostFact::WallClock => "the wall clock",
    };
    let value = |alike: &verdict::summary::HostsAlike| match alike.count {
        1 => format!("{} ({})", kept(&alike.value), kept(&alike.first)),
        count => format!(
            "{} ({} hosts, the first is {})",
            kept(&alike.value),
            grouped(count),
            kept(&alike.first)
        ),
    };
    let mut values: Vec<String> = differ.values.iter().take(VALUES_MAX).map(value).collect();
    let more = differ.values.len().saturating_sub(VALUES_MAX);
    if more > 0 {
        values.push(format!("{more} more"));
    }
    format!("Hosts differ in {what}: {}.", values.join(", "))
}
