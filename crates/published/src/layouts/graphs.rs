//! Charts of the results of a study and of a paper. Transactions, file operations and throughput
//! follow the charts of the page on a log-structured file system. Improvements follow the VERITAS
//! brief. Times, messages and processor time follow the tables of the NFS and iSCSI study.

use document::{DotRow, DotValue, Dots};
use study::PaperLayout;
use study::statistics::ALPHA;

use super::arrangements;
use super::blocks::{MeasuredValue, percent};
use super::figures::label;
use super::results::{LayoutResults, ShownValue};
use crate::source::Figure;

/// The names of the two kinds of points in the legend, in the order of `DotValue::At::kind`.
const KINDS: [&str; 2] = ["this study", "published"];

/// The title, axis label and figures of a chart.
type Graph = (&'static str, &'static str, &'static [Figure]);

const TRANSACTIONS: Graph = ("Transactions", "per second", &[Figure::TransactionsRate]);
const OPERATIONS: Graph = (
    "File operations",
    "per second",
    &[
        Figure::CreatedRate,
        Figure::ReadRate,
        Figure::AppendedRate,
        Figure::DeletedRate,
    ],
);
const DATA: Graph = (
    "Throughput",
    "Kbytes per second",
    &[Figure::DataReadRate, Figure::DataWrittenRate],
);

/// Returns the charts of a layout that contain at least one value.
pub fn graphs(results: &LayoutResults) -> Vec<Dots> {
    let graphs: &[Graph] = match results.layout {
        PaperLayout::Sessions => &[TRANSACTIONS, OPERATIONS, DATA],
        PaperLayout::Tr3022 | PaperLayout::Submissions => &[TRANSACTIONS, DATA],
        PaperLayout::Veritas => &[(
            TRANSACTIONS.0,
            "per second, of each process",
            TRANSACTIONS.2,
        )],
        PaperLayout::Completion => &[
            ("Completion time", "seconds", &[Figure::Elapsed]),
            ("Messages", "messages", &[Figure::Messages]),
            ("Processor time", "seconds", &[Figure::CpuTime]),
        ],
    };
    let mut all: Vec<Dots> = graphs
        .iter()
        .map(|(title, axis, figures)| graph(results, title, axis, figures))
        .collect();
    if results.layout == PaperLayout::Veritas {
        all.push(improvements(results));
    }
    let has_value = |row: &DotRow| matches!(row.value, DotValue::At { .. });
    all.retain(|graph| graph.rows.iter().any(has_value));
    all
}

fn graph(results: &LayoutResults, title: &str, axis: &str, figures: &[Figure]) -> Dots {
    let mut rows = Vec::new();
    for (work, of) in results.works.iter().enumerate() {
        for figure in figures {
            let mut of_figure: Vec<DotRow> = Vec::new();
            for system in results.own().chain(results.published()) {
                of_figure.extend(row(results, work, system, *figure));
            }
            if !of_figure.is_empty() {
                rows.push(DotRow::heading(match figures {
                    [_] => of.label(),
                    _ => format!("{}: {}", of.label(), label(*figure)),
                }));
                rows.append(&mut of_figure);
            }
        }
    }
    let mut caption = "Points of the study: medians over its blocks, with bars from the least to \
                       the greatest. Published points are as printed, of machines of their time. \
                       The axis is logarithmic."
        .to_owned();
    if results
        .works
        .iter()
        .any(|work| work.published.is_some() && !work.is_as_published())
    {
        caption += " NOT ALIKE: the study's work differs from the published work, so that values \
                    cannot be compared.";
    }
    Dots {
        title: format!("{title} by system"),
        caption,
        axis: axis.to_owned(),
        is_logarithmic: true,
        kinds: KINDS.map(str::to_owned).to_vec(),
        rows,
    }
}

fn row(results: &LayoutResults, work: usize, system: usize, figure: Figure) -> Option<DotRow> {
    let value = match results.value(work, system, figure, None)? {
        ShownValue::Measured(MeasuredValue {
            median,
            least,
            greatest,
            blocks,
        }) => DotValue::At {
            kind: 0,
            value: *median,
            range: (*blocks > 1).then_some((*least, *greatest)),
        },
        ShownValue::Printed { value, .. } => DotValue::At {
            kind: 1,
            value: *value,
            range: None,
        },
        // The chart omits missing values of the paper, and of protocols that the study did not
        // measure. The tables already report that these values are missing.
        ShownValue::Missing { .. }
            if results.systems[system].is_expected || results.systems[system].is_published =>
        {
            return None;
        }
        ShownValue::Missing { why } => DotValue::Missing(why.clone()),
    };
    let name = name(results, system);
    // A logarithmic axis cannot show 0, so the value becomes a text.
    let value = match value {
        DotValue::At { value: 0.0, .. } => DotValue::Missing("0".to_owned()),
        value => value,
    };
    Some(DotRow { name, value })
}

fn name(results: &LayoutResults, system: usize) -> String {
    let of = &results.systems[system];
    match (&of.variant, of.is_published) {
        (_, false) => of.name.clone(),
        (None, true) => format!("{} [{}]", of.name, results.source),
        (Some(variant), true) => format!("{} [{variant}]", of.name),
    }
}

/// Returns the improvements of each system over each earlier one, and the paper's improvements.
fn improvements(results: &LayoutResults) -> Dots {
    let own: Vec<usize> = results.own().collect();
    let rate = Figure::TransactionsRate;
    let mut rows = Vec::new();
    for (work, of) in results.works.iter().enumerate() {
        let mut of_work = Vec::new();
        for (system, over) in arrangements::improvements(results, &own) {
            let value = match results.ratio(rate, (work, system), (work, over), ALPHA) {
                Some(ratio) => DotValue::At {
                    kind: 0,
                    value: percent(ratio.ratio),
                    range: ratio.interval_percent(),
                },
                None => DotValue::Missing("not measured".to_owned()),
            };
            let name = format!("{} over {}", name(results, system), name(results, over));
            of_work.push(DotRow { name, value });
        }
        for value in results.values.iter().filter(|value| value.work == work) {
            let over = value.over.map(|over| &results.systems[over].name);
            if let (Some(over), ShownValue::Printed { value: percent, .. }) = (over, &value.value) {
                let name = format!("{} over {over}", name(results, value.system));
                of_work.push(DotRow::at(name, 1, *percent));
            }
        }
        if !of_work.is_empty() {
            rows.push(DotRow::heading(of.name.clone()));
            rows.append(&mut of_work);
        }
    }
    Dots {
        title: "Improvements by series".to_owned(),
        caption: "By how much one system's transactions per second exceed another's, in percent. \
                  Points of the study: geometric means of pairs within blocks, with 95 % \
                  intervals where there are five blocks."
            .to_owned(),
        axis: "percent".to_owned(),
        is_logarithmic: false,
        kinds: KINDS.map(str::to_owned).to_vec(),
        rows,
    }
}
