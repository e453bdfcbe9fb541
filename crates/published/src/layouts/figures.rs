//! The figures of layouts: which, what they are called, and what they count.

use study::PaperLayout;

use crate::number::Unit;
use crate::source::Figure;

/// What a session of the original reports, in its order.
pub const SESSION: [Figure; 21] = [
    Figure::Elapsed,
    Figure::TransactionsTime,
    Figure::TransactionsRate,
    Figure::Created,
    Figure::CreatedRate,
    Figure::CreatedAlone,
    Figure::CreatedAloneRate,
    Figure::CreatedMixed,
    Figure::CreatedMixedRate,
    Figure::Read,
    Figure::ReadRate,
    Figure::Appended,
    Figure::AppendedRate,
    Figure::Deleted,
    Figure::DeletedRate,
    Figure::DeletedAlone,
    Figure::DeletedAloneRate,
    Figure::DeletedMixed,
    Figure::DeletedMixedRate,
    Figure::DataReadRate,
    Figure::DataWrittenRate,
];

/// The figures of a layout, in order.
pub const fn figures_of(layout: PaperLayout) -> &'static [Figure] {
    match layout {
        PaperLayout::Tr3022 | PaperLayout::Submissions => &[
            Figure::TransactionsRate,
            Figure::DataReadRate,
            Figure::DataWrittenRate,
        ],
        PaperLayout::Veritas => &[Figure::TransactionsRate],
        PaperLayout::Sessions => &SESSION,
        PaperLayout::Completion => &[Figure::Elapsed, Figure::Messages, Figure::CpuTime],
    }
}

/// What a number of the study counts.
pub(super) const fn unit_of(figure: Figure) -> Unit {
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
pub(super) const fn label_of_session(figure: Figure) -> &'static str {
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
