//! A document with the tables of a layout, explanations and findings.

use document::Document;
use document::units::counted;
use record::Fact;
use study::PaperLayout;

use super::arrangements;
use super::figures::label;
use super::findings;
use super::ratios::ratios;
use super::results::{LayoutResults, ShownValue, UNKNOWN};
use super::rows::{LayoutView, header, systems};
use crate::cells::bracketed;

pub fn document(results: &LayoutResults, view: LayoutView) -> Document {
    let mut document = Document::default();
    document.title(title(results.layout));
    document.words(numbers(results));
    if results.is_doubtful {
        document.warning(
            "DOUBTFUL: a baseline of this study differs from itself in its A/A control; the \
             comparisons have the ratio.",
        );
    }
    document.gap();
    for (head, table) in arrangements::tables(results, view) {
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
        if let Some(table) = ratios(results) {
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

/// Returns sentences that explain the numbers in the tables: medians, units and rates.
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

/// Describes each system, with its contributor in brackets.
fn descriptions(results: &LayoutResults, view: LayoutView) -> Vec<String> {
    let one = |system: usize| {
        let named = header(results, system);
        let of = &results.systems[system];
        let description = match &of.description {
            Fact::Known(description) => description.clone(),
            Fact::Unavailable(why) => format!("not available ({why})"),
            Fact::NotApplicable => "not applicable".to_owned(),
        };
        format!("{named}: {description}{}", bracketed(&of.contributor))
    };
    systems(results, view).into_iter().map(one).collect()
}

/// Lists values that the study did not measure, with the reasons. Values of a system with the same
/// reason form one item.
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
        let reasons = of.into_iter();
        items.extend(reasons.map(|(why, all)| format!("{name}, {}: {why}.", all.join(", "))));
    }
    items
}
