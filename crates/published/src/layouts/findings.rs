//! What of a paper's differences a study finds again, and what not: every sentence follows from the
//! numbers of both.

use document::units::{counted, grouped};
use document::{Cell, Number, Table};

use super::results::{LayoutResults, PairedRatio};
use super::user_space;
use crate::compare_run::{WHOLE_SYSTEMS, amount};
use crate::number::Interval;
use crate::source::Figure;

/// A difference that the paper printed, and the cells of the study that stand for it.
struct Difference {
    /// Between what, in the paper and here.
    between: String,
    /// The same in a few words, of the paper alone.
    short: String,
    /// The part of the item that is its own: at which work, or of which system.
    of: String,
    /// How many times one number is the other in the paper.
    there: f64,
    /// What the printed digits leave open for that.
    there_open: Interval,
    /// Work and system of the one.
    over: (usize, usize),
    /// Work and system of the other.
    under: (usize, usize),
    figure: Figure,
}

/// What becomes of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// The interval lies on the same side of 1.
    Holds,
    /// The interval lies on the other side.
    Opposite,
    /// The interval has 1 in it.
    NotShown,
    /// The paper's digits leave 1 open, or it printed the same number twice.
    NoneThere,
    /// There are too few blocks for an interval, and the ratio lies on the same side.
    Same,
    /// There are too few blocks for an interval, and the ratio lies on the other side.
    Other,
}

/// Figures in which systems differ, with the verb and noun of a sentence.
fn compared(results: &LayoutResults) -> Vec<Figure> {
    let all = [Figure::TransactionsRate, Figure::Elapsed, Figure::Messages];
    let of_layout = super::results::figures_of(results.layout);
    let has_rates = of_layout.contains(&Figure::TransactionsRate);
    all.into_iter()
        .filter(|figure| {
            of_layout.contains(figure) && (!has_rates || *figure == Figure::TransactionsRate)
        })
        .collect()
}

const fn noun(figure: Figure) -> &'static str {
    match figure {
        Figure::Elapsed => "completion time",
        Figure::Messages => "messages",
        _ => "transactions/s",
    }
}

/// What is no rate of transactions.
const fn in_short(figure: Figure) -> &'static str {
    match figure {
        Figure::Elapsed => ", time",
        Figure::Messages => ", messages",
        _ => "",
    }
}

/// What holds today and what does not, as sentences; empty where the paper has nothing of the
/// study's works.
pub fn sentences(results: &LayoutResults) -> Vec<String> {
    let mut items = Vec::new();
    if results.published().next().is_none() {
        return vec![none(results)];
    }
    items.extend(scaled(results));
    items.extend(orders(results));
    items.extend(found_again(&judged(results)));
    items.extend(times_as_fast(results));
    items.extend(among(results));
    items.extend(user_space::sentences(results));
    items.extend(without_counterpart(results));
    items
}

fn none(results: &LayoutResults) -> String {
    let works: Vec<String> = results
        .works
        .iter()
        .map(super::results::StudiedWork::label)
        .collect();
    format!(
        "The source '{}' has no results of {} ('postmark published show {}' lists its \
         configurations).",
        results.source,
        works.join(", "),
        results.source
    )
}

/// Works that are smaller or otherwise unlike the published ones.
fn scaled(results: &LayoutResults) -> Vec<String> {
    let mut items = Vec::new();
    for work in results.works.iter().filter(|work| !work.is_as_published()) {
        let (Some(published), Some(shape)) = (work.published, work.shape) else {
            continue;
        };
        let mut unlike = Vec::new();
        if shape != published {
            unlike.push(format!(
                "{} in place of {}",
                shape.label(),
                published.label()
            ));
        }
        unlike.extend(work.differences.iter().cloned());
        let name = match work.name == shape.label() {
            true => String::new(),
            false => format!("{}: ", work.name),
        };
        items.push(format!(
            "Not the published work: {name}{}. Ratios between systems are compared below; the \
             numbers themselves are not.",
            unlike.join("; ")
        ));
    }
    items
}

/// The fastest first, at each work: systems of the paper that have a counterpart, and the study's.
fn orders(results: &LayoutResults) -> Vec<String> {
    let mut items = Vec::new();
    for figure in compared(results)
        .into_iter()
        .filter(|figure| *figure != Figure::Messages)
    {
        for (work, of) in results.works.iter().enumerate() {
            for variant in variants(results) {
                let pairs = counterparts(results, work, figure, variant.as_deref());
                if pairs.len() < 2 {
                    continue;
                }
                let is_time = figure == Figure::Elapsed;
                let sorted = |value: &dyn Fn(&(usize, usize)) -> f64| {
                    let mut order = pairs.clone();
                    order.sort_by(|one, other| {
                        let order = value(other).total_cmp(&value(one));
                        if is_time { order.reverse() } else { order }
                    });
                    order
                };
                let theirs = |(_, system): &(usize, usize)| {
                    results
                        .printed(work, *system, figure)
                        .map_or(0.0, |(value, _)| value)
                };
                let ours = |(system, _): &(usize, usize)| {
                    results.median(work, *system, figure).unwrap_or(0.0)
                };
                let (there, here) = (sorted(&theirs), sorted(&ours));
                let words = |order: &[(usize, usize)],
                             number: &dyn Fn(&(usize, usize)) -> f64,
                             is_ours: bool| {
                    let word = |pair: &(usize, usize)| {
                        let system = if is_ours { pair.0 } else { pair.1 };
                        format!("{} {}", results.systems[system].name, amount(number(pair)))
                    };
                    order.iter().map(word).collect::<Vec<_>>().join(", ")
                };
                let agrees = if there == here {
                    "the same order"
                } else {
                    "another order"
                };
                items.push(format!(
                    "Fastest first ({}) at {}{}: printed {}; medians here {}: {agrees}.",
                    noun(figure),
                    of.name,
                    of_variant(variant.as_deref()),
                    words(&there, &theirs, false),
                    words(&here, &ours, true),
                ));
            }
        }
    }
    items
}

/// The builds that the paper has, each once.
fn variants(results: &LayoutResults) -> Vec<Option<String>> {
    let mut variants = Vec::new();
    for system in results.published() {
        let variant = &results.systems[system].variant;
        if !variants.contains(variant) {
            variants.push(variant.clone());
        }
    }
    variants
}

fn of_variant(variant: Option<&str>) -> String {
    variant.map_or_else(String::new, |variant| format!(" ({variant})"))
}

/// The systems of the study with the paper's that they stand for, in the paper's order, where both
/// have the figure.
fn counterparts(
    results: &LayoutResults,
    work: usize,
    figure: Figure,
    variant: Option<&str>,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for theirs in results.published() {
        let system = &results.systems[theirs];
        if system.variant.as_deref() != variant || results.printed(work, theirs, figure).is_none() {
            continue;
        }
        let is_for =
            |ours: &usize| results.systems[*ours].counterpart.as_ref() == Some(&system.name);
        let ours = results.own().filter(is_for);
        pairs.extend(
            ours.filter(|ours| results.median(work, *ours, figure).is_some())
                .map(|ours| (ours, theirs)),
        );
    }
    pairs
}

/// Each system over each that stands before it, work by work.
fn between_systems(results: &LayoutResults, figure: Figure, differences: &mut Vec<Difference>) {
    for variant in variants(results) {
        let mut all: Vec<(usize, usize)> = Vec::new();
        for work in 0..results.works.len() {
            for pair in counterparts(results, work, figure, variant.as_deref()) {
                if !all.contains(&pair) {
                    all.push(pair);
                }
            }
        }
        all.sort_by_key(|(_, theirs)| *theirs);
        for (at, (ours, theirs)) in all.iter().enumerate() {
            for (other_ours, other_theirs) in &all[..at] {
                if other_theirs == theirs {
                    continue;
                }
                // As it is printed, where it is.
                let is_printed = |value: &super::results::StudiedValue| {
                    (value.system, value.over) == (*other_theirs, Some(*theirs))
                };
                let (one_of, other_of) = if results.values.iter().any(is_printed) {
                    ((*other_ours, *other_theirs), (*ours, *theirs))
                } else {
                    ((*ours, *theirs), (*other_ours, *other_theirs))
                };
                for work in 0..results.works.len() {
                    let printed = |system| results.printed(work, system, figure);
                    let (Some(one), Some(other)) = (printed(one_of.1), printed(other_of.1)) else {
                        continue;
                    };
                    let name = |system: usize| &results.systems[system].name;
                    differences.push(Difference {
                        between: format!(
                            "{} over {} in {}{}, here {} over {}",
                            name(one_of.1),
                            name(other_of.1),
                            noun(figure),
                            of_variant(variant.as_deref()),
                            name(one_of.0),
                            name(other_of.0)
                        ),
                        short: format!(
                            "{}/{}{}{}",
                            name(one_of.1),
                            name(other_of.1),
                            in_short(figure),
                            of_variant(variant.as_deref())
                        ),
                        of: results.works[work].name.clone(),
                        there: one.0 / other.0,
                        there_open: one.1.over(other.1),
                        over: (work, one_of.0),
                        under: (work, other_of.0),
                        figure,
                    });
                }
            }
        }
    }
}

/// Each work over the one before it, system by system: what more files or transactions do.
fn between_works(results: &LayoutResults, figure: Figure, differences: &mut Vec<Difference>) {
    for work in 1..results.works.len() {
        let (before, now) = (&results.works[work - 1], &results.works[work]);
        // Works that were made smaller, each by its own factor, are no steps of the paper's.
        if !(before.is_as_published() && now.is_as_published()) {
            continue;
        }
        let processes =
            |shape: Option<crate::shape::ConfigurationShape>| shape.map(|shape| shape.processes);
        if processes(before.published) != processes(now.published) {
            continue;
        }
        for variant in variants(results) {
            for (ours, theirs) in counterparts(results, work, figure, variant.as_deref()) {
                let printed = |work| results.printed(work, theirs, figure);
                let (Some(one), Some(other)) = (printed(work), printed(work - 1)) else {
                    continue;
                };
                differences.push(Difference {
                    between: format!(
                        "{} over {} in {}{}, here in brackets",
                        now.name,
                        before.name,
                        noun(figure),
                        of_variant(variant.as_deref())
                    ),
                    short: format!(
                        "{} to {}{}{}",
                        before.name,
                        now.name,
                        in_short(figure),
                        of_variant(variant.as_deref())
                    ),
                    of: format!(
                        "{} ({})",
                        results.systems[theirs].name, results.systems[ours].name
                    ),
                    there: one.0 / other.0,
                    there_open: one.1.over(other.1),
                    over: (work, ours),
                    under: (work - 1, ours),
                    figure,
                });
            }
        }
    }
}

/// Of the differences, what the study has of each. The intervals hold together at 95 %.
fn judged(results: &LayoutResults) -> Vec<(Difference, PairedRatio, Found)> {
    let mut differences = Vec::new();
    for figure in compared(results) {
        between_systems(results, figure, &mut differences);
        between_works(results, figure, &mut differences);
    }
    let alpha = results.alpha / differences.len().max(1) as f64;
    let judged = differences.into_iter().filter_map(|difference| {
        let here = results.ratio(difference.figure, difference.over, difference.under, alpha)?;
        let found = judge(&difference, &here);
        Some((difference, here, found))
    });
    judged.collect()
}

/// What becomes of the differences between two systems or works: each outcome with those that have
/// it.
struct PairOutcomes<'a> {
    between: &'a str,
    outcomes: Vec<(String, Vec<&'a str>)>,
}

/// An item for each pair of systems or works, and before them how many there are of each kind.
fn found_again(judged: &[(Difference, PairedRatio, Found)]) -> Vec<String> {
    let all: Vec<Found> = judged.iter().map(|(_, _, found)| *found).collect();
    let mut pairs: Vec<PairOutcomes<'_>> = Vec::new();
    for (difference, here, found) in judged {
        let at = match pairs
            .iter()
            .position(|pair| pair.between == difference.between)
        {
            Some(at) => at,
            None => {
                pairs.push(PairOutcomes {
                    between: &difference.between,
                    outcomes: Vec::new(),
                });
                pairs.len() - 1
            }
        };
        let outcome = outcome(*found, difference.there, here);
        let outcomes = &mut pairs[at].outcomes;
        match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, of)) => of.push(&difference.of),
            None => outcomes.push((outcome, vec![&difference.of])),
        }
    }
    let mut sentences: Vec<String> = summary(&all).into_iter().collect();
    sentences.extend(pairs.into_iter().map(|PairOutcomes { between, outcomes }| {
        let outcome = |(outcome, of): (String, Vec<&str>)| format!("{outcome}: {}", of.join(", "));
        let outcomes: Vec<String> = outcomes.into_iter().map(outcome).collect();
        format!("{between}: {}.", outcomes.join("; "))
    }));
    sentences
}

/// How many times one number is the other, in the paper and in the study; nothing where none can be
/// judged.
pub fn ratios(results: &LayoutResults) -> Option<Table> {
    let mut table = Table::new(
        2,
        &["ratio", "of", "printed", "here", "from", "to", "blocks"],
    )
    .folding();
    table.column("result", true);
    let mut last = String::new();
    for (difference, here, found) in judged(results) {
        let lead = match difference.between == last {
            true => Cell::Empty,
            false => Cell::ours(&difference.short),
        };
        last.clone_from(&difference.between);
        let end = |end: fn(&Interval) -> f64| {
            let end = here.interval.as_ref().map(end);
            end.map_or(Cell::Empty, |end| Cell::ours(factor(end)))
        };
        table.row(vec![
            lead,
            Cell::ours(&difference.of),
            Cell::ours(factor(difference.there)),
            Cell::ours(factor(here.ratio)),
            end(|interval| interval.low),
            end(|interval| interval.high),
            Number::Count(here.blocks.into()).into(),
            Cell::ours(outcome(found, difference.there, &here)),
        ]);
    }
    (!table.is_empty()).then_some(table)
}

fn judge(difference: &Difference, here: &PairedRatio) -> Found {
    if difference.there_open.contains(1.0) {
        return Found::NoneThere;
    }
    let is_up = difference.there > 1.0;
    match here.interval {
        Some(interval) if interval.contains(1.0) => Found::NotShown,
        Some(interval) if (interval.low > 1.0) == is_up => Found::Holds,
        Some(_) => Found::Opposite,
        None if (here.ratio > 1.0) == is_up => Found::Same,
        None => Found::Other,
    }
}

fn outcome(found: Found, there: f64, here: &PairedRatio) -> String {
    let size = match here.interval {
        Some(interval) if interval.contains(there) => ", with the same factor",
        _ if here.ratio.ln().abs() > there.ln().abs() => ", by more",
        _ => ", by less",
    };
    match found {
        Found::Holds => format!("holds{size}"),
        Found::Opposite => "does not hold".to_owned(),
        Found::NotShown => "not shown".to_owned(),
        Found::NoneThere => "no difference within the printed digits".to_owned(),
        Found::Same => format!("the same direction{size}"),
        Found::Other => "the other direction".to_owned(),
    }
}

/// How many differences hold.
fn summary(found: &[Found]) -> Option<String> {
    let count = |of: Found| found.iter().filter(|found| **found == of).count();
    let all = found.len();
    let [holds, opposite, not_shown, none, same, other] = [
        Found::Holds,
        Found::Opposite,
        Found::NotShown,
        Found::NoneThere,
        Found::Same,
        Found::Other,
    ]
    .map(count);
    if all == 0 {
        return None;
    }
    let mut parts = Vec::new();
    for (number, what) in [
        (holds, "holding today"),
        (opposite, "not holding"),
        (not_shown, "not shown by these blocks"),
        (none, "none within the printed digits"),
        (
            same,
            "with the same direction, but too few blocks for an interval",
        ),
        (
            other,
            "with the other direction, but too few blocks for an interval",
        ),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", grouped(number as u64)));
        }
    }
    let intervals = if holds + opposite + not_shown > 0 {
        " All intervals hold together at 95 %."
    } else {
        ""
    };
    Some(format!(
        "Printed differences that this study can judge: {all}; {}.{intervals}",
        parts.join(", ")
    ))
}

/// Whole systems, then and now: only of the same work.
fn times_as_fast(results: &LayoutResults) -> Vec<String> {
    let mut pairs: Vec<(String, f64, f64)> = Vec::new();
    for figure in speeds(results) {
        for (work, _) in results
            .works
            .iter()
            .enumerate()
            .filter(|(_, of)| of.is_as_published())
        {
            for variant in variants(results) {
                for (ours, theirs) in counterparts(results, work, figure, variant.as_deref()) {
                    let values = results
                        .median(work, ours, figure)
                        .zip(results.printed(work, theirs, figure));
                    let Some((now, (then, _))) = values else {
                        continue;
                    };
                    let times = if figure == Figure::Elapsed {
                        then / now
                    } else {
                        now / then
                    };
                    let name = format!(
                        "{} as {}",
                        results.systems[ours].name, results.systems[theirs].name
                    );
                    match pairs.iter_mut().find(|(known, ..)| *known == name) {
                        Some((_, least, most)) => {
                            (*least, *most) = (least.min(times), most.max(times))
                        }
                        None => pairs.push((name, times, times)),
                    }
                }
            }
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let pair = |(name, least, most): &(String, f64, f64)| match amount(*least) == amount(*most) {
        true => format!("{} times as fast: {name}", amount(*least)),
        false => format!(
            "{} to {} times as fast: {name}",
            amount(*least),
            amount(*most)
        ),
    };
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    vec![format!(
        "Today's systems and the printed ones: {}. {WHOLE_SYSTEMS}",
        pairs.join("; ")
    )]
}

/// Figures that say how fast a system is.
fn speeds(results: &LayoutResults) -> impl Iterator<Item = Figure> {
    compared(results)
        .into_iter()
        .filter(|figure| *figure != Figure::Messages)
}

/// How many of the published systems each of today's is faster than: only of the same work.
fn among(results: &LayoutResults) -> Vec<String> {
    let (mut all, mut items) = (Vec::new(), Vec::new());
    for figure in speeds(results) {
        for (work, of) in results
            .works
            .iter()
            .enumerate()
            .filter(|(_, of)| of.is_as_published())
        {
            let theirs: Vec<f64> = results
                .published()
                .filter_map(|system| Some(results.printed(work, system, figure)?.0))
                .collect();
            let ours: Vec<(&str, usize)> = results
                .own()
                .filter_map(|system| {
                    let median = results.median(work, system, figure)?;
                    let is_slower = |value: &&f64| match figure {
                        Figure::Elapsed => **value > median,
                        _ => **value < median,
                    };
                    Some((
                        results.systems[system].name.as_str(),
                        theirs.iter().filter(is_slower).count(),
                    ))
                })
                .collect();
            if ours.is_empty() || theirs.is_empty() {
                continue;
            }
            if ours.iter().all(|(_, slower)| *slower == theirs.len()) {
                all.push(format!("{} at {}", theirs.len(), of.name));
                continue;
            }
            let ours = ours
                .iter()
                .map(|(name, slower)| format!("{name} than {slower}"));
            items.push(format!(
                "Of the {} printed at {}, today's are faster: {}.",
                counted(theirs.len() as u64, "system"),
                of.name,
                ours.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    if !all.is_empty() {
        let all = all.join(", ");
        items.insert(
            0,
            format!("Each of today's systems is faster than all printed ones: {all}."),
        );
    }
    items
}

fn without_counterpart(results: &LayoutResults) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for system in results.published() {
        let name = results.systems[system].name.as_str();
        let has = results
            .own()
            .any(|ours| results.systems[ours].counterpart.as_deref() == Some(name));
        if !has && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "Not judged: the study has no counterpart of {} (name one in the study file: \
             counterparts = {{ TARGET = \"{}\" }}).",
            names.join(", "),
            names[0]
        )
    })
}

/// A factor with as many digits as it is likely to be worth.
fn factor(number: f64) -> String {
    if number < 0.1 {
        format!("{number:.4}")
    } else {
        amount(number)
    }
}
