//! Results of each host and each rank, accuracy of their clocks, and differences between hosts.

use document::units::{counted, grouped, numbers, percent, rate};
use document::{Cell, Column, Document, Table, kept};
use record::Fact;
use verdict::Summary;
use verdict::summary::{HostFact, HostShare, HostsDiffer, RankShare, RanksSummary};

/// Maximum number of ranks for a table of ranks. If there are more, only the record contains the
/// result of each rank.
const RANKS_MAX: usize = 16;
/// Maximum number of hosts in the table, the slowest first.
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
    let columns: [Column<&&HostShare>; 9] = [
        ("host", |of| kept(&of.host).into()),
        ("ranks", |of| Cell::count(of.ranks)),
        ("workers", |of| Cell::count(of.workers)),
        ("share", |of| Cell::share(of.fraction)),
        ("per second", |of| Cell::rate(of.done.per_second)),
        ("of a worker/s", |of| Cell::rate(of.per_worker)),
        ("clock, µs", |of| {
            micros(&of.clock_offset_ns, |ns| *ns as f64)
        }),
        ("±, µs", |of| micros(&of.clock_error_ns, |ns| *ns as f64)),
        ("worker CPU", |of| Cell::share(of.worker_cpu)),
    ];
    let mut shown: Vec<&HostShare> = ranks.hosts.iter().collect();
    if shown.len() > HOSTS_MAX {
        let rate = |host: &HostShare| host.per_worker.unwrap_or(0.0);
        shown.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
        shown.truncate(HOSTS_MAX);
    }
    document.table(Table::of(1, &columns, &shown));
    let more = ranks.hosts.len() - shown.len();
    if more > 0 {
        document.line(format!(
            "The {} slowest hosts of {}; all are in the record.",
            grouped(shown.len() as u64),
            grouped(ranks.hosts.len() as u64)
        ));
    }
}

fn micros<T>(ns: &Fact<T>, number: fn(&T) -> f64) -> Cell {
    Cell::decimal(ns.known().map(|ns| number(ns) / 1e3), 1)
}

fn each_rank(document: &mut Document, ranks: &RanksSummary) {
    let columns: [Column<(&RankShare, &str)>; 6] = [
        ("rank", |(of, _)| of.rank.to_string().into()),
        ("host", |(_, host)| kept(host).into()),
        ("workers", |(of, _)| Cell::count(of.workers)),
        ("done", |(of, _)| Cell::count(of.done.count)),
        ("share", |(of, _)| Cell::share(of.fraction)),
        ("per second", |(of, _)| Cell::rate(of.done.per_second)),
    ];
    let host = |rank: &RankShare| ranks.hosts.get(rank.host as usize);
    let name = |rank| host(rank).map_or("", |host| &*host.host);
    let list = ranks.ranks.iter().map(|rank| (rank, name(rank)));
    document.table(Table::of(2, &columns, list));
}

fn difference(differ: &HostsDiffer) -> String {
    /// Maximum number of values that are listed. The record contains all values.
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
