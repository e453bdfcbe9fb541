//! Arranges results in tables with the layout of each paper.

use document::{Cell, Number, Table};
use study::PaperLayout;

use super::blocks::percent;
use super::figures::{SESSION, figures_of, label, unit_of};
use super::results::{LayoutResults, ShownValue};
use super::rows::{
    LayoutView, NOT_MEASURED, Place, SPREAD, add_row, add_spread, cell, header, systems,
};
use crate::compare_tables::amount;
use crate::number::Unit;
use crate::source::Figure;

pub(super) fn tables(results: &LayoutResults, view: LayoutView) -> Vec<(String, Table)> {
    match results.layout {
        PaperLayout::Tr3022 | PaperLayout::Submissions => by_configuration(results, view),
        PaperLayout::Veritas => by_series(results, view),
        PaperLayout::Sessions => (0..results.works.len())
            .map(|work| (head(results, work), session(results, view, work)))
            .collect(),
        PaperLayout::Completion => vec![(String::new(), by_pool(results, view))],
    }
}

/// Returns whether the results have an entry for the transaction rate of a system with a workload.
/// The entry contains the rate, or the reason why it is not available.
fn has_rate(results: &LayoutResults, work: usize, system: usize) -> bool {
    let rate = results.value(work, system, Figure::TransactionsRate, None);
    rate.is_some()
}

/// Returns one or two tables for each configuration: a table of the study's systems, and a table of
/// the paper's systems. Each table has a column for each system and a row for each figure.
fn by_configuration(results: &LayoutResults, view: LayoutView) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for (work, of) in results.works.iter().enumerate() {
        let own: Vec<usize> = results.own().collect();
        tables.push((
            head(results, work),
            side_by_side(results, work, of.label(), &own),
        ));
        let is_there = |system: &usize| has_rate(results, work, *system);
        let published: Vec<usize> = results.published().filter(is_there).collect();
        if view.is_with_published && !published.is_empty() {
            let label = of
                .published
                .map_or_else(|| of.label(), |shape| shape.label());
            let table = side_by_side(
                results,
                work,
                format!("{}: {label}", results.source),
                &published,
            );
            tables.push((String::new(), table));
        }
    }
    tables
}

fn side_by_side(results: &LayoutResults, work: usize, head: String, systems: &[usize]) -> Table {
    let mut table = Table::new(1, &[head]).folding();
    for system in systems {
        table.column(results.systems[*system].name.clone(), false);
    }
    for figure in figures_of(results.layout) {
        let places: Vec<Place> = systems.iter().map(|at| (work, *at, figure)).collect();
        let leads = (vec![Cell::ours(label(figure))], vec![Cell::ours(SPREAD)]);
        add_row(&mut table, results, leads, &places, Vec::new());
    }
    table
}

/// Returns a table's title, such as `Table 1, Table 4: 1,000 files, 50,000 transactions`.
fn head(results: &LayoutResults, work: usize) -> String {
    let of = &results.works[work];
    let what = of
        .shape
        .map_or_else(|| of.name.clone(), |shape| shape.in_short());
    if of.tables.is_empty() {
        return what;
    }
    let as_table = if of.is_as_published() { "" } else { "As " };
    let tables = match results.layout {
        // The tables of this source are not numbered. The title of a table is the configuration.
        PaperLayout::Submissions => return what,
        _ => of.tables.join(", "),
    };
    format!("{as_table}{tables}: {what}")
}

/// Returns tables with a row for each series, as in the VERITAS brief. The study's table comes
/// first, then the brief's table for each build of the operating system.
fn by_series(results: &LayoutResults, view: LayoutView) -> Vec<(String, Table)> {
    let mut groups: Vec<(String, Vec<usize>)> =
        vec![("This study".to_owned(), results.own().collect())];
    if view.is_with_published {
        for system in results.published() {
            let variant = results.systems[system]
                .variant
                .as_deref()
                .unwrap_or_default();
            let name = format!("The brief, {variant}");
            match groups.iter_mut().find(|(group, _)| *group == name) {
                Some((_, systems)) => systems.push(system),
                None => groups.push((name, vec![system])),
            }
        }
    }
    groups
        .into_iter()
        .map(|(name, systems)| (name, series(results, &systems)))
        .collect()
}

fn series(results: &LayoutResults, systems: &[usize]) -> Table {
    let name = |system: usize| results.systems[system].name.as_str();
    let stub = [
        "Series",
        "Processes",
        "Subdirectories",
        "Files",
        "Transactions",
    ];
    let mut table = Table::new(1, &stub).folding().leading(1);
    for system in systems {
        table.column(name(*system), false);
    }
    let improvements = improvements(results, systems);
    for (system, over) in &improvements {
        table.column(format!("{} over {}, %", name(*system), name(*over)), false);
    }
    let is_published = are_published(results, systems);
    for (work, of) in results.works.iter().enumerate() {
        if !systems
            .iter()
            .any(|system| has_rate(results, work, *system))
        {
            continue;
        }
        let shape = if is_published { of.published } else { of.shape };
        let mut leads = vec![Cell::ours(&of.name)];
        leads.extend(match shape {
            Some(shape) => [
                shape.processes.into(),
                shape.subdirectories.into(),
                shape.files,
                shape.transactions,
            ]
            .map(|count: u64| Cell::from(Number::Count(count))),
            None => [const { Cell::Missing }; 4],
        });
        let mut below = vec![Cell::ours(SPREAD)];
        below.resize(leads.len(), Cell::Empty);
        let rates = systems
            .iter()
            .map(|system| (work, *system, Figure::TransactionsRate));
        let rest = improvements
            .iter()
            .map(|(system, over)| improvement(results, work, *system, *over));
        let (rates, rest): (Vec<Place>, Vec<Cell>) = (rates.collect(), rest.collect());
        add_row(&mut table, results, (leads, below), &rates, rest);
    }
    table
}

fn are_published(results: &LayoutResults, systems: &[usize]) -> bool {
    let mut systems = systems.iter();
    systems.any(|system| results.systems[*system].is_published)
}

/// Returns the pairs of systems whose improvements have a column. In a study, each system is paired
/// with each earlier one. In the VERITAS brief, only pairs with a printed improvement are included.
pub(super) fn improvements(results: &LayoutResults, systems: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    if are_published(results, systems) {
        for value in &results.values {
            let pair = value.over.map(|over| (value.system, over));
            pairs.extend(pair.filter(|pair| systems.contains(&pair.0) && !pairs.contains(pair)));
        }
        return pairs;
    }
    for (at, system) in systems.iter().enumerate() {
        pairs.extend(systems[..at].iter().map(|over| (*system, *over)));
    }
    pairs
}

fn improvement(results: &LayoutResults, work: usize, system: usize, over: usize) -> Cell {
    match results.value(work, system, Figure::Improvement, Some(over)) {
        Some(ShownValue::Printed { printed, .. }) => return Cell::ours(printed),
        Some(ShownValue::Missing { why }) => return Cell::Unavailable(why.clone()),
        Some(ShownValue::Measured(_)) | None => {}
    }
    let ratio = results.ratio(
        Figure::TransactionsRate,
        (work, system),
        (work, over),
        results.alpha,
    );
    match ratio {
        Some(ratio) => Cell::ours(document::units::fixed(percent(ratio.ratio), 2)),
        None => Cell::ours(NOT_MEASURED),
    }
}

/// Returns a table with the lines of the original PostMark's report, a column for each system, and
/// columns with the factors between systems.
fn session(results: &LayoutResults, view: LayoutView, work: usize) -> Table {
    let own: Vec<usize> = results.own().collect();
    let published = results.published().filter(|_| view.is_with_published);
    let published: Vec<usize> = published.collect();
    let base = own.first().copied();
    let counterpart = base.and_then(|base| results.systems[base].counterpart.clone());
    let is_counterpart =
        |system: &&usize| Some(&results.systems[**system].name) == counterpart.as_ref();
    let base_there = published.iter().find(is_counterpart);
    let base_there = base_there.or(published.last()).copied();
    let groups = [(&own, base), (&published, base_there)];
    let mut table = Table::new(1, &[""]).folding();
    for (systems, base) in groups {
        for system in systems {
            table.column(header(results, *system), false);
        }
        for (system, base) in factors(systems, base) {
            let base = &results.systems[base].name;
            table.column(format!("{}/{base}", header(results, system)), false);
        }
    }
    for (figure, unit, label) in SESSION {
        let mut row = vec![Cell::ours(label)];
        let mut places = Vec::new();
        for (systems, base) in groups {
            for system in systems {
                row.push(cell(results, (work, *system, figure)));
                places.push((work, *system, figure));
            }
            for (system, base) in factors(systems, base) {
                row.push(factor(results, (work, system, figure), base));
                // A factor has no minimum and maximum, so its cell in the row of minima and maxima
                // must be empty. The figure `Improvement` does not occur in sessions, so it gives
                // an empty cell.
                places.push((work, system, Figure::Improvement));
            }
        }
        table.row(row);
        // Counts are equal in all blocks, so they have no minimum and maximum.
        if unit != Unit::Files {
            add_spread(&mut table, results, vec![Cell::ours(SPREAD)], &places);
        }
    }
    table
}

fn factors(systems: &[usize], base: Option<usize>) -> Vec<(usize, usize)> {
    let Some(base) = base else { return Vec::new() };
    let others = systems.iter().filter(|system| **system != base);
    others.map(|system| (*system, base)).collect()
}

/// Returns how many times as fast a system is as the system `base`: the ratio of rates, or the
/// inverse ratio of times.
fn factor(results: &LayoutResults, (work, system, figure): Place, base: usize) -> Cell {
    let is_time = match unit_of(figure) {
        Unit::Seconds => true,
        Unit::Files => return Cell::Empty,
        _ => false,
    };
    let ratio = if results.systems[system].is_published {
        let printed = |system| {
            results
                .printed(work, system, figure)
                .map(|(value, _)| value)
        };
        printed(system)
            .zip(printed(base))
            .map(|(one, other)| one / other)
    } else {
        let ratio = results.ratio(figure, (work, system), (work, base), results.alpha);
        ratio.map(|ratio| ratio.ratio)
    };
    match ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0) {
        Some(ratio) if is_time => Cell::ours(amount(1.0 / ratio)),
        Some(ratio) => Cell::ours(amount(ratio)),
        None if results.systems[system].is_published => Cell::Empty,
        None => Cell::ours(NOT_MEASURED),
    }
}

/// Returns a table with a row for each size of the pool. The columns are the times, messages and
/// processor times of all systems.
fn by_pool(results: &LayoutResults, view: LayoutView) -> Table {
    let mut table = Table::new(0, &["Files", "Transactions"])
        .folding()
        .leading(1);
    let systems = systems(results, view);
    let mut columns: Vec<(usize, Figure)> = Vec::new();
    for (figure, name) in [
        (Figure::Elapsed, "time (s)"),
        (Figure::Messages, "messages"),
        (Figure::CpuTime, "CPU (s)"),
    ] {
        for system in &systems {
            let is_there = (0..results.works.len())
                .any(|work| results.value(work, *system, figure, None).is_some());
            if is_there {
                table.column(format!("{} {name}", header(results, *system)), false);
                columns.push((*system, figure));
            }
        }
    }
    for (work, of) in results.works.iter().enumerate() {
        let leads = match of.shape.or(of.published) {
            Some(shape) => vec![
                Number::Count(shape.files).into(),
                Number::Count(shape.transactions).into(),
            ],
            None => vec![Cell::ours(&of.name), Cell::Empty],
        };
        let below = vec![Cell::ours("least to"), Cell::ours("greatest")];
        let places: Vec<Place> = columns.iter().map(|at| (work, at.0, at.1)).collect();
        add_row(&mut table, results, (leads, below), &places, Vec::new());
    }
    table
}
