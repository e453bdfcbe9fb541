//! The figures of each layout, with their labels and units.

use study::PaperLayout;

use crate::number::Unit::{self, Files, KilobytesPerSecond, PerSecond, Percent, Seconds};
use crate::source::Figure::{self, *};

/// The figures in the report of the original PostMark, in the order of the report: figure, unit of
/// the study's numbers, and label.
pub(super) const SESSION: [(Figure, Unit, &str); 21] = [
    (Elapsed, Seconds, "seconds total"),
    (TransactionsTime, Seconds, "seconds of transactions"),
    (TransactionsRate, PerSecond, "transactions (per second)"),
    (Created, Files, "created"),
    (CreatedRate, PerSecond, "created (per second)"),
    (CreatedAlone, Files, "creation alone"),
    (CreatedAloneRate, PerSecond, "creation alone (per second)"),
    (CreatedMixed, Files, "created, mixed with transactions"),
    (CreatedMixedRate, PerSecond, "created, mixed (per second)"),
    (Read, Files, "read"),
    (ReadRate, PerSecond, "read (per second)"),
    (Appended, Files, "appended"),
    (AppendedRate, PerSecond, "appended (per second)"),
    (Deleted, Files, "deleted"),
    (DeletedRate, PerSecond, "deleted (per second)"),
    (DeletedAlone, Files, "deletion alone"),
    (DeletedAloneRate, PerSecond, "deletion alone (per second)"),
    (DeletedMixed, Files, "deleted, mixed with transactions"),
    (DeletedMixedRate, PerSecond, "deleted, mixed (per second)"),
    (
        DataReadRate,
        KilobytesPerSecond,
        "read (megabytes per second)",
    ),
    (
        DataWrittenRate,
        KilobytesPerSecond,
        "written (megabytes per second)",
    ),
];

pub fn figures_of(layout: PaperLayout) -> Vec<Figure> {
    match layout {
        PaperLayout::Tr3022 | PaperLayout::Submissions => {
            vec![TransactionsRate, DataReadRate, DataWrittenRate]
        }
        PaperLayout::Veritas => vec![TransactionsRate],
        PaperLayout::Sessions => SESSION.map(|(figure, ..)| figure).to_vec(),
        PaperLayout::Completion => vec![Elapsed, Messages, CpuTime],
    }
}

/// Returns the unit of a figure in the results of a study.
pub(super) fn unit_of(figure: Figure) -> Unit {
    match figure {
        Messages => Unit::Messages,
        CpuTime => Seconds,
        Improvement => Percent,
        figure => in_session(figure).1,
    }
}

/// Returns the label that papers use for a figure.
pub(crate) fn label(figure: Figure) -> &'static str {
    match figure {
        TransactionsRate => "Transactions per second",
        DataReadRate => "Data read (Kbytes/sec)",
        DataWrittenRate => "Data written (Kbytes/sec)",
        Elapsed => "Completion time (s)",
        Messages => "Messages",
        CpuTime => "CPU of the client (s)",
        other => in_session(other).2,
    }
}

fn in_session(figure: Figure) -> (Figure, Unit, &'static str) {
    let found = SESSION.into_iter().find(|(known, ..)| *known == figure);
    found.expect("no layout has another figure")
}
