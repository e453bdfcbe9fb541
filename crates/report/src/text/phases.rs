//! Operations and rates of each phase, the time until completion, and the spread of the workers.

use document::units::{grouped, percent, rate, seconds};
use document::{Cell, Column, Document, Number, Table};
use record::{Fact, Phase, Role};
use verdict::summary::{Spread, TransactionsSummary, Until};
use verdict::{PhaseSummary, Rate, Summary};

pub(crate) fn render(document: &mut Document, summary: &Summary) {
    if summary.phases.is_empty() {
        // If each load level of a sweep has its own pool, the record contains phases of the levels,
        // but none of the whole run.
        return;
    }
    operations(document, summary);
    document.gap();
    arrivals(document, summary);
    moments(document, summary);
    spread(document, summary);
}

fn operations(document: &mut Document, summary: &Summary) {
    let mut table = Table::new(
        2,
        &[
            "Phase",
            "",
            "seconds",
            "operations",
            "per second",
            "bytes",
            "per second",
        ],
    );
    for phase in &summary.phases {
        let partial = if phase.complete { "" } else { " (partial)" };
        let name = format!("{}{partial}", phase.phase.name());
        for (name, stretch) in [("warm-up", &phase.warm_up), ("approach", &phase.approach)] {
            if let Some(stretch) = stretch {
                let duration = Number::Seconds(stretch.duration_ns).into();
                let mut cells = vec![name.into(), "transactions".into(), duration];
                cells.extend(counts(&stretch.transactions));
                table.row(cells);
            }
        }
        let duration = Number::Seconds(phase.duration_ns).into();
        let mut cells = vec![name.into(), Cell::Empty, duration];
        if let Some(transactions) = &phase.transactions {
            cells[1] = "transactions".into();
            cells.extend(counts(transactions));
        }
        table.row(cells);
        for operation in &phase.operations {
            let action = operation.action.name().into();
            let mut cells = vec![role(operation.role).into(), action, Cell::Empty];
            cells.extend(counts(&operation.operations));
            if operation.action.moves_bytes_in() || operation.action.moves_bytes_out() {
                let moved = &operation.bytes;
                cells.push(Cell::bytes(Some(moved.count)));
                cells.push(Cell::throughput(moved.per_second));
            }
            table.row(cells);
        }
    }
    document.table(table);
    let transactions = summary.transactions.as_ref();
    if let Some(of) = transactions.filter(|of| of.rate_dispersion.is_some()) {
        document.note(rate_in_words(of));
    }
}

/// The rate of transactions, with its dispersion within the run if that is available.
pub(super) fn rate_in_words(transactions: &TransactionsSummary) -> String {
    let done = format!("{} transactions/s", rate(transactions.rate.per_second));
    match transactions.rate_dispersion {
        Some(dispersion) => format!("{done} ± {} within the run", percent(dispersion)),
        None => done,
    }
}

/// Adds the requested and the achieved rate of an open loop.
pub(crate) fn arrivals(document: &mut Document, summary: &Summary) {
    let Some(found) = &summary.arrivals else {
        return;
    };
    let of_requested = found.achieved_per_second.map_or_else(
        || "achieved none".to_owned(),
        |achieved| {
            format!(
                "achieved {}/s, {} of the arrivals",
                rate(Some(achieved)),
                found.done_fraction.map_or_else(|| "-".to_owned(), percent)
            )
        },
    );
    document.below(format!(
        "Requested {}/s ({} arrivals); {of_requested};",
        rate(Some(found.requested_per_second)),
        found.form
    ));
    document.below(format!(
        "{} due but not started at the end",
        grouped(found.waiting)
    ));
    document.gap();
}

fn counts(rate: &Rate) -> [Cell; 2] {
    [Cell::count(rate.count), Cell::rate(rate.per_second)]
}

/// The unit of the rate of a whole phase.
fn unit(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare | Phase::Delete => "files",
        Phase::Transactions => "transactions",
    }
}

/// Adds the rates of each phase until its workers ended, and until all data was on the device. With
/// several workers, the end of the first worker and the end of the last worker have separate rows.
fn moments(document: &mut Document, summary: &Summary) {
    let mut table = Table::new(2, &["Until", "", "seconds", "done", "per second"]);
    if summary.phases.iter().any(|phase| phase.sync_ns.is_some()) {
        table.column("sync, s", false);
    }
    for phase in &summary.phases {
        let mut name = phase.phase.name();
        let mut row = |words: &str, until: &Until, sync: Option<u64>| {
            let mut cells = vec![
                std::mem::take(&mut name).into(),
                words.into(),
                Number::Seconds(until.ns).into(),
                format!("{} {}", grouped(until.done.count), unit(phase.phase)).into(),
                Cell::rate(until.done.per_second),
            ];
            cells.extend(sync.map(|ns| Number::Seconds(ns).into()));
            table.row(cells);
        };
        let is_alone = phase.workers.is_empty();
        if let Some(first) = phase.first_done.as_ref().filter(|_| !is_alone) {
            row("the first worker ended", first, None);
        }
        let last = match is_alone {
            true => "the worker ended",
            false => "the last worker ended",
        };
        row(last, &phase.last_done, None);
        if let (Some(durable), Some(sync_ns)) = (&phase.until_durable, phase.sync_ns) {
            row("all data was synced", durable, Some(sync_ns));
        }
    }
    if !table.is_empty() {
        document.table(table);
        for phase in &summary.phases {
            space_back(document, phase);
        }
        document.gap();
    }
}

fn space_back(document: &mut Document, phase: &PhaseSummary) {
    match &phase.space_back_ns {
        Some(Fact::Known(ns)) => {
            document.note(format!("space was free again after {} s", seconds(*ns)))
        }
        Some(Fact::Unavailable(why)) => document.note(format!(
            "time until the space was free: not available ({why})"
        )),
        Some(Fact::NotApplicable) | None => {}
    }
}

/// Adds the spread of the workers' own rates, if there are several workers.
fn spread(document: &mut Document, summary: &Summary) {
    let columns: [Column<Part<'_, Spread>>; 9] = [
        ("Workers' own rates", |(name, ..)| (*name).into()),
        ("", |(.., of)| match of.role {
            Role::Worker => "".into(),
            role => format!("{}s", role.name()).into(),
        }),
        ("", |(_, phase, _)| {
            format!("{}/s", unit(phase.phase)).into()
        }),
        ("workers", |(.., of)| Cell::count(of.workers)),
        ("sum", |(.., of)| Cell::rate(Some(of.sum_per_second))),
        ("mean", |(.., of)| Cell::rate(Some(of.mean_per_second))),
        ("min", |(.., of)| Cell::rate(Some(of.min_per_second))),
        ("median", |(.., of)| Cell::rate(Some(of.median_per_second))),
        ("max", |(.., of)| Cell::rate(Some(of.max_per_second))),
    ];
    let table = Table::of(3, &columns, by_phase(summary, |phase| &phase.spread));
    if !table.is_empty() {
        document.table(table);
        document.note("each worker's operations / its own time");
        for phase in &summary.phases {
            of_each(document, phase);
        }
        document.gap();
    }
}

/// One row of a table about phases: the name of the phase (empty after its first row), the phase,
/// and the part of the phase that the row shows.
pub(super) type Part<'a, T> = (&'static str, &'a PhaseSummary, &'a T);

/// Returns a row for each part that `parts` selects from the phases, in order.
pub(super) fn by_phase<T: 'static>(
    summary: &Summary,
    parts: fn(&PhaseSummary) -> &[T],
) -> impl Iterator<Item = Part<'_, T>> {
    summary.phases.iter().flat_map(move |phase| {
        let names = std::iter::once(phase.phase.name()).chain(std::iter::repeat(""));
        names
            .zip(parts(phase))
            .map(move |(name, part)| (name, phase, part))
    })
}

/// Adds the rate of each worker if the phase has at most `WORKERS_MAX` workers.
fn of_each(document: &mut Document, phase: &PhaseSummary) {
    /// With more workers, only the record contains the rates.
    const WORKERS_MAX: usize = 16;
    const PER_LINE: usize = 8;
    if phase.workers.len() > WORKERS_MAX {
        return;
    }
    for (index, workers) in phase.workers.chunks(PER_LINE).enumerate() {
        let name = if index == 0 { phase.phase.name() } else { "" };
        let rates = workers.iter().map(|worker| rate(worker.done.per_second));
        let rates: Vec<String> = rates.collect();
        document.below(format!(
            "{name:12}  worker {:>2} on: {}",
            workers[0].worker,
            rates.join("  ")
        ));
    }
}

pub(super) fn role(role: Role) -> String {
    match role {
        Role::Worker => String::new(),
        Role::Writer | Role::Reader => format!("  {}", role.name()),
    }
}
