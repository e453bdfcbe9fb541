//! Results as tables, each layout arranged as its paper has it.

use document::units::{counted, grouped};
use document::{Cell, Document, Number, Table};
use study::PaperLayout;

use super::findings;
use super::results::{LayoutResults, MeasuredValue, SESSION, ShownValue, UNKNOWN, figures_of};
use crate::compare_run::amount;
use crate::number::{KILOBYTE_BYTES, Unit};
use crate::show::kebab;
use crate::source::Figure;

/// What stands in place of a number that no run has.
const NOT_MEASURED: &str = "not measured";
/// What the row below a row of medians is called.
const SPREAD: &str = "least to greatest";

/// Which numbers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutView {
    /// Those of the paper, too, and what of it holds.
    pub is_with_published: bool,
}

/// The tables of a layout, and what has to be known of them.
pub fn document(results: &LayoutResults, view: LayoutView) -> Document {
    let mut document = Document::default();
    document.title(title(results.layout));
    document.words(numbers(results));
    if results.is_doubtful {
        document.warning(
            "DOUBTFUL: a baseline of this study and its twin, the same system, differ; the \
             comparisons have the ratio.",
        );
    }
    document.gap();
    let tables = match results.layout {
        PaperLayout::Tr3022 | PaperLayout::Submissions => by_configuration(results, view),
        PaperLayout::Veritas => by_series(results, view),
        PaperLayout::Sessions => sessions(results, view),
        PaperLayout::Completion => vec![(String::new(), by_pool(results, view))],
    };
    for (head, table) in tables {
        if !head.is_empty() {
            document.head(head);
        }
        document.table(table);
        document.gap();
    }
    if results.layout == PaperLayout::Submissions {
        document.heading("Systems");
        document.items(descriptions(results, view));
        document.gap();
    }
    let missing = missing(results);
    if !missing.is_empty() {
        document.items(missing);
        document.gap();
    }
    if view.is_with_published {
        document.heading("What holds today");
        document.items(findings::sentences(results));
        if let Some(table) = findings::ratios(results) {
            document.gap();
            document.table(table);
        }
    }
    document
}

const fn title(layout: PaperLayout) -> &'static str {
    match layout {
        PaperLayout::Tr3022 => "Results in the tables of TR3022",
        PaperLayout::Veritas => "Results in the tables of the VERITAS brief",
        PaperLayout::Sessions => "Sessions side by side",
        PaperLayout::Submissions => "Results of many systems",
        PaperLayout::Completion => "Completion time, messages and processor time",
    }
}

/// What the numbers are.
fn numbers(results: &LayoutResults) -> String {
    let what = match results.blocks_max() {
        0 => "Nothing has been measured yet".to_owned(),
        1 => "Numbers of the study are of one block: they have no spread".to_owned(),
        blocks => format!(
            "Numbers of the study are medians of {}, and below them the least and the greatest \
             block",
            counted(blocks.into(), "block")
        ),
    };
    let of_layout = match results.layout {
        PaperLayout::Tr3022 | PaperLayout::Submissions => {
            "Transactions per second are of the transactions' time, data rates of the whole run's; \
             Kbytes have 1,024 bytes."
        }
        PaperLayout::Veritas => {
            "Files, transactions, subdirectories and rates are of each process. Improvements of \
             the study are geometric means of pairs within blocks."
        }
        PaperLayout::Sessions => {
            "A factor says how many times as fast the first system is as the second: of the study \
             the geometric mean of pairs within blocks. Megabytes have 1,048,576 bytes."
        }
        PaperLayout::Completion => {
            "Messages are requests to the server, and without a server commands to the device \
             during the phases; CPU is the processor time of the program. All are of the whole run."
        }
    };
    format!("{what}. {of_layout}")
}

/// The systems whose numbers are shown.
fn systems(results: &LayoutResults, view: LayoutView) -> Vec<usize> {
    let published = results.published().filter(|_| view.is_with_published);
    results.own().chain(published).collect()
}

/// What stands over a column: `UFS [NetApp, paper]`.
fn header(results: &LayoutResults, system: usize) -> String {
    let system = &results.systems[system];
    if !system.is_published {
        return system.name.clone();
    }
    match &system.variant {
        Some(variant) => format!("{} [{}, {variant}]", system.name, results.source),
        None => format!("{} [{}]", system.name, results.source),
    }
}

/// What a number of the study is multiplied with to be in the unit of the layout's table.
fn scale(layout: PaperLayout, figure: Figure) -> f64 {
    match (layout, figure) {
        (PaperLayout::Sessions, Figure::DataReadRate | Figure::DataWrittenRate) => {
            1.0 / KILOBYTE_BYTES
        }
        _ => 1.0,
    }
}

/// A number in a table for people.
fn cell(results: &LayoutResults, work: usize, system: usize, figure: Figure) -> Cell {
    let scale = scale(results.layout, figure);
    match results.value(work, system, figure, None) {
        Some(ShownValue::Measured(measured)) => Cell::ours(number(measured.median * scale, figure)),
        Some(ShownValue::Printed { printed, .. }) => Cell::ours(printed),
        Some(ShownValue::Missing { why }) if !results.systems[system].is_published => {
            match why.as_str() {
                UNKNOWN => Cell::Unavailable(why.clone()),
                _ => Cell::ours(NOT_MEASURED),
            }
        }
        Some(ShownValue::Missing { why }) => Cell::Unavailable(why.clone()),
        None => Cell::Empty,
    }
}

fn number(value: f64, figure: Figure) -> String {
    match unit_of(figure) {
        Unit::Files | Unit::Messages => grouped(value.round() as u64),
        _ => amount(value),
    }
}

/// The row below a row of medians: nothing where no number of the row is of several blocks.
fn spread(
    results: &LayoutResults,
    leads: Vec<Cell>,
    places: &[(usize, usize, Figure)],
) -> Option<Vec<Cell>> {
    let range = |(work, system, figure): &(usize, usize, Figure)| {
        let scale = scale(results.layout, *figure);
        match results.value(*work, *system, *figure, None) {
            Some(ShownValue::Measured(MeasuredValue {
                least,
                greatest,
                blocks: 2..,
                ..
            })) => Cell::ours(format!(
                "{} to {}",
                number(least * scale, *figure),
                number(greatest * scale, *figure)
            )),
            _ => Cell::Empty,
        }
    };
    let cells: Vec<Cell> = places.iter().map(range).collect();
    let is_some = cells.iter().any(|cell| *cell != Cell::Empty);
    is_some.then(|| leads.into_iter().chain(cells).collect())
}

/// Systems side by side, figures below one another, for each configuration: the study's, and those
/// of the paper below.
fn by_configuration(results: &LayoutResults, view: LayoutView) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for (work, of) in results.works.iter().enumerate() {
        let own: Vec<usize> = results.own().collect();
        tables.push((
            head(results, work),
            side_by_side(results, work, of.label(), &own),
        ));
        let is_there = |system: &usize| {
            results
                .value(work, *system, Figure::TransactionsRate, None)
                .is_some()
        };
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
        let mut row = vec![Cell::ours(label(*figure))];
        row.extend(
            systems
                .iter()
                .map(|system| cell(results, work, *system, *figure)),
        );
        table.row(row);
        let places: Vec<_> = systems
            .iter()
            .map(|system| (work, *system, *figure))
            .collect();
        if let Some(row) = spread(results, vec![Cell::ours(SPREAD)], &places) {
            table.row(row);
        }
    }
    table
}

/// `Table 1, Table 4: 1,000 files, 50,000 transactions`.
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
        // The page's tables have their configuration for a title.
        PaperLayout::Submissions => return what,
        _ => of.tables.join(", "),
    };
    format!("{as_table}{tables}: {what}")
}

/// A line for each series, as the brief has it; the brief's own below, for each build.
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
    for (work, of) in results.works.iter().enumerate() {
        let is_there = |system: &usize| {
            results
                .value(work, *system, Figure::TransactionsRate, None)
                .is_some()
        };
        if !systems.iter().any(is_there) {
            continue;
        }
        let is_published = systems
            .iter()
            .any(|system| results.systems[*system].is_published);
        let shape = if is_published { of.published } else { of.shape };
        let mut row = vec![Cell::ours(&of.name)];
        row.extend(match shape {
            Some(shape) => [
                shape.processes.into(),
                shape.subdirectories.into(),
                shape.files,
                shape.transactions,
            ]
            .map(|count: u64| Cell::from(Number::Count(count))),
            None => [const { Cell::Missing }; 4],
        });
        row.extend(
            systems
                .iter()
                .map(|system| cell(results, work, *system, Figure::TransactionsRate)),
        );
        row.extend(
            improvements
                .iter()
                .map(|(system, over)| improvement(results, work, *system, *over)),
        );
        table.row(row);
        let places: Vec<_> = systems
            .iter()
            .map(|system| (work, *system, Figure::TransactionsRate))
            .collect();
        let mut leads = vec![Cell::ours(SPREAD)];
        leads.resize(5, Cell::Empty);
        if let Some(row) = spread(results, leads, &places) {
            table.row(row);
        }
    }
    table
}

/// Each system over each before it; of the brief those that it prints.
fn improvements(results: &LayoutResults, systems: &[usize]) -> Vec<(usize, usize)> {
    let is_published = systems
        .iter()
        .any(|system| results.systems[*system].is_published);
    let mut pairs = Vec::new();
    if is_published {
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
        Some(ratio) => Cell::ours(document::units::fixed((ratio.ratio - 1.0) * 100.0, 2)),
        None => Cell::ours(NOT_MEASURED),
    }
}

/// Two systems side by side with the factor, in the lines of the original's report; a table for
/// each work.
fn sessions(results: &LayoutResults, view: LayoutView) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for work in 0..results.works.len() {
        let own: Vec<usize> = results.own().collect();
        let published: Vec<usize> = results
            .published()
            .filter(|_| view.is_with_published)
            .collect();
        let base = own.first().copied();
        let counterpart = base.and_then(|base| results.systems[base].counterpart.clone());
        let is_counterpart =
            |system: &&usize| Some(&results.systems[**system].name) == counterpart.as_ref();
        let base_there = published
            .iter()
            .find(is_counterpart)
            .or(published.last())
            .copied();
        let mut table = Table::new(1, &[""]).folding();
        for (systems, base) in [(&own, base), (&published, base_there)] {
            for system in systems {
                table.column(header(results, *system), false);
            }
            for (system, base) in factors(systems, base) {
                table.column(
                    format!("{}/{}", header(results, system), results.systems[base].name),
                    false,
                );
            }
        }
        for figure in SESSION {
            let mut row = vec![Cell::ours(label_of_session(figure))];
            let mut places = Vec::new();
            for (systems, base) in [(&own, base), (&published, base_there)] {
                row.extend(
                    systems
                        .iter()
                        .map(|system| cell(results, work, *system, figure)),
                );
                places.extend(systems.iter().map(|system| (work, *system, figure)));
                for (system, base) in factors(systems, base) {
                    row.push(factor(results, work, figure, system, base));
                    // An improvement has no least and greatest block: an empty cell.
                    places.push((work, system, Figure::Improvement));
                }
            }
            table.row(row);
            // What is counted is the same in every block.
            let is_counted = unit_of(figure) == Unit::Files;
            if let Some(row) =
                spread(results, vec![Cell::ours(SPREAD)], &places).filter(|_| !is_counted)
            {
                table.row(row);
            }
        }
        tables.push((head(results, work), table));
    }
    tables
}

fn factors(systems: &[usize], base: Option<usize>) -> Vec<(usize, usize)> {
    let Some(base) = base else { return Vec::new() };
    let others = systems.iter().filter(|system| **system != base);
    others.map(|system| (*system, base)).collect()
}

/// How many times as fast: rates over rates, and times the other way round.
fn factor(
    results: &LayoutResults,
    work: usize,
    figure: Figure,
    system: usize,
    base: usize,
) -> Cell {
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

/// A line for each size of the pool; times, messages and processor time of each system beside one
/// another.
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
        let mut row: Vec<Cell> = match of.shape.or(of.published) {
            Some(shape) => vec![
                Number::Count(shape.files).into(),
                Number::Count(shape.transactions).into(),
            ],
            None => vec![Cell::ours(&of.name), Cell::Empty],
        };
        row.extend(
            columns
                .iter()
                .map(|(system, figure)| cell(results, work, *system, *figure)),
        );
        table.row(row);
        let places: Vec<_> = columns
            .iter()
            .map(|(system, figure)| (work, *system, *figure))
            .collect();
        if let Some(row) = spread(
            results,
            vec![Cell::ours("least to"), Cell::ours("greatest")],
            &places,
        ) {
            table.row(row);
        }
    }
    table
}

/// Each system with its machine, and the contributor in brackets.
fn descriptions(results: &LayoutResults, view: LayoutView) -> Vec<String> {
    let one = |system: usize| {
        let named = header(results, system);
        let of = &results.systems[system];
        let description = match (of.description.known(), of.description.why()) {
            (Some(description), _) => description.clone(),
            (None, Some(why)) => format!("not available ({why})"),
            (None, None) => "not applicable".to_owned(),
        };
        let contributor = of
            .contributor
            .known()
            .map_or_else(String::new, |name| format!(" [{name}]"));
        format!("{named}: {description}{contributor}")
    };
    systems(results, view).into_iter().map(one).collect()
}

/// What the study did not measure, and why, each system once.
fn missing(results: &LayoutResults) -> Vec<String> {
    let mut items = Vec::new();
    for system in results.own() {
        let mut of: Vec<(String, Vec<String>)> = Vec::new();
        for value in results.values.iter().filter(|value| value.system == system) {
            let ShownValue::Missing { why } = &value.value else {
                continue;
            };
            let work = &results.works[value.work].name;
            let what = match why.as_str() {
                UNKNOWN => format!("{} at {work}", label(value.figure)),
                _ => work.clone(),
            };
            match of.iter_mut().find(|(known, _)| known == why) {
                Some((_, all)) if all.contains(&what) => {}
                Some((_, all)) => all.push(what),
                None => of.push((why.clone(), vec![what])),
            }
        }
        let name = &results.systems[system].name;
        let invalid = results
            .invalid
            .iter()
            .filter(|one| one.system == system && one.invalid < one.all);
        items.extend(invalid.map(|one| {
            format!(
                "{name}, {}: {} of {} are INVALID and in no number.",
                results.works[one.work].name,
                one.invalid,
                counted(one.all.into(), "block")
            )
        }));
        items.extend(
            of.into_iter()
                .map(|(why, all)| format!("{name}, {}: {why}.", all.join(", "))),
        );
    }
    items
}

/// What a number of the study counts.
const fn unit_of(figure: Figure) -> Unit {
    match figure {
        Figure::DataReadRate | Figure::DataWrittenRate => Unit::KilobytesPerSecond,
        Figure::Elapsed | Figure::TransactionsTime | Figure::CpuTime => Unit::Seconds,
        Figure::Created
        | Figure::CreatedAlone
        | Figure::CreatedMixed
        | Figure::Read
        | Figure::Appended
        | Figure::Deleted
        | Figure::DeletedAlone
        | Figure::DeletedMixed => Unit::Files,
        Figure::Messages => Unit::Messages,
        Figure::Improvement => Unit::Percent,
        // Sums of data are in no layout.
        Figure::DataRead | Figure::DataWritten => Unit::Megabytes,
        _ => Unit::PerSecond,
    }
}

/// A figure as the paper calls it.
pub(super) const fn label(figure: Figure) -> &'static str {
    match figure {
        Figure::TransactionsRate => "Transactions per second",
        Figure::DataReadRate => "Data read (Kbytes/sec)",
        Figure::DataWrittenRate => "Data written (Kbytes/sec)",
        Figure::Elapsed => "Completion time (s)",
        Figure::Messages => "Messages",
        Figure::CpuTime => "CPU of the client (s)",
        other => label_of_session(other),
    }
}

/// A figure as sessions call it.
const fn label_of_session(figure: Figure) -> &'static str {
    match figure {
        Figure::Elapsed => "seconds total",
        Figure::TransactionsTime => "seconds of transactions",
        Figure::TransactionsRate => "transactions (per second)",
        Figure::Created => "created",
        Figure::CreatedRate => "created (per second)",
        Figure::CreatedAlone => "creation alone",
        Figure::CreatedAloneRate => "creation alone (per second)",
        Figure::CreatedMixed => "created, mixed with transactions",
        Figure::CreatedMixedRate => "created, mixed (per second)",
        Figure::Read => "read",
        Figure::ReadRate => "read (per second)",
        Figure::Appended => "appended",
        Figure::AppendedRate => "appended (per second)",
        Figure::Deleted => "deleted",
        Figure::DeletedRate => "deleted (per second)",
        Figure::DeletedAlone => "deletion alone",
        Figure::DeletedAloneRate => "deletion alone (per second)",
        Figure::DeletedMixed => "deleted, mixed with transactions",
        Figure::DeletedMixedRate => "deleted, mixed (per second)",
        Figure::DataReadRate => "read (megabytes per second)",
        Figure::DataWrittenRate => "written (megabytes per second)",
        Figure::DataRead => "megabytes read",
        Figure::DataWritten => "megabytes written",
        Figure::Messages => "messages",
        Figure::CpuTime => "processor time",
        Figure::Improvement => "improvement",
    }
}

/// A line for each number, for spreadsheets.
pub fn csv(results: &LayoutResults, view: LayoutView) -> Table {
    let mut sheet = Table::new(
        0,
        &[
            "layout",
            "work",
            "files",
            "transactions",
            "subdirectories",
            "processes",
            "system",
            "source",
            "variant",
            "contributor",
            "description",
            "figure",
            "over",
            "unit",
            "value",
            "least",
            "greatest",
            "low",
            "high",
            "blocks",
            "printed",
            "unavailable",
        ],
    );
    for value in &results.values {
        if results.systems[value.system].is_published && !view.is_with_published {
            continue;
        }
        let unit = match &value.value {
            ShownValue::Printed { unit, .. } => *unit,
            ShownValue::Measured(_) | ShownValue::Missing { .. } => unit_of(value.figure),
        };
        let mut row = leads(
            results,
            value.work,
            value.system,
            value.figure,
            value.over,
            unit,
        );
        row.extend(match &value.value {
            ShownValue::Measured(measured) => vec![
                Number::Rate(measured.median).into(),
                Number::Rate(measured.least).into(),
                Number::Rate(measured.greatest).into(),
                Cell::Empty,
                Cell::Empty,
                Number::Count(measured.blocks.into()).into(),
            ],
            ShownValue::Printed { printed, value, .. } => {
                let mut cells = vec![Number::Rate(*value).into()];
                cells.resize(6, Cell::Empty);
                cells.push(Cell::ours(printed));
                cells
            }
            ShownValue::Missing { why } => {
                let mut cells = vec![Cell::Empty; 7];
                cells.push(Cell::ours(why));
                cells
            }
        });
        sheet.row(row);
    }
    if matches!(results.layout, PaperLayout::Veritas | PaperLayout::Sessions) {
        improvements_of_study(results, &mut sheet);
    }
    sheet
}

/// A line for each improvement of the study, with its 95 % interval.
fn improvements_of_study(results: &LayoutResults, sheet: &mut Table) {
    let own: Vec<usize> = results.own().collect();
    let percent = |ratio: f64| Cell::from(Number::Rate((ratio - 1.0) * 100.0));
    for work in 0..results.works.len() {
        for (system, over) in improvements(results, &own) {
            let ratio = results.ratio(
                Figure::TransactionsRate,
                (work, system),
                (work, over),
                results.alpha,
            );
            let Some(ratio) = ratio else { continue };
            let mut row = leads(
                results,
                work,
                system,
                Figure::Improvement,
                Some(over),
                Unit::Percent,
            );
            row.extend([percent(ratio.ratio), Cell::Empty, Cell::Empty]);
            row.extend(match ratio.interval {
                Some(interval) => [percent(interval.low), percent(interval.high)],
                None => [Cell::Empty, Cell::Empty],
            });
            row.push(Number::Count(ratio.blocks.into()).into());
            sheet.row(row);
        }
    }
}

fn leads(
    results: &LayoutResults,
    work: usize,
    system: usize,
    figure: Figure,
    over: Option<usize>,
    unit: Unit,
) -> Vec<Cell> {
    let of = &results.works[work];
    let by = &results.systems[system];
    let shape = if by.is_published {
        of.published
    } else {
        of.shape
    };
    let count = |number: Option<u64>| Cell::from(number.map(Number::Count));
    let text = |text: Option<&String>| text.map_or(Cell::Empty, |text| Cell::from(text.as_str()));
    vec![
        Cell::ours(results.layout.name()),
        Cell::from(of.name.as_str()),
        count(shape.map(|shape| shape.files)),
        count(shape.map(|shape| shape.transactions)),
        count(shape.map(|shape| shape.subdirectories.into())),
        count(shape.map(|shape| shape.processes.into())),
        Cell::from(by.name.as_str()),
        Cell::ours(if by.is_published {
            results.source.as_str()
        } else {
            "study"
        }),
        text(by.variant.as_ref()),
        text(by.contributor.known()),
        text(by.description.known()),
        Cell::ours(kebab(figure)),
        text(over.map(|over| &results.systems[over].name)),
        Cell::ours(unit.name()),
    ]
}
