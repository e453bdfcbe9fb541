//! `postmark history` and `postmark gate --against history`.

use std::time::Duration;

use campaign::archive::place_of_one;
use campaign::history::{HistoryRequest, before};
use document::{Document, Format, WIDTH};
use study::{HistoryGate, Metric};

use crate::args::{GateArguments, HistoryArguments};
use crate::commands::archive::{filter, open};
use crate::ui::output::{Outputs, is_standard_output};
use crate::ui::problem::{self, Problem, refuse};
use crate::ui::{screen, width};

/// Time limit for writing the output file, because its file system may hang.
const WRITE_MAX: Duration = Duration::from_secs(60);

/// Shows a metric over the runs of a series, with its changes.
///
/// # Errors
/// Returns an error if no run or runs of several series are selected, if the archive cannot be
/// read, or if the answer cannot be written.
pub fn history(arguments: &HistoryArguments) -> Result<u8, Problem> {
    let place = place_of_one(arguments.archive.archive.as_deref())?;
    let mut outputs = Outputs::new(arguments.force, Some(&place), &[])?;
    let output = arguments.output.as_deref();
    let file = output.filter(|path| !is_standard_output(path));
    if let Some(path) = file {
        outputs.judge("--output", path)?;
    }
    let archive = open(&arguments.archive)?;
    let request = HistoryRequest {
        word: arguments.runs.as_deref(),
        filter: filter(&archive, &arguments.filters)?,
        metric: arguments.metric,
        by: arguments.by.clone(),
    };
    let history = request.find(&archive)?;
    let is_page = file.is_some_and(|path| path.extension().is_some_and(|end| end == "html"));
    let format = match arguments.format {
        Format::Text if is_page => Format::Html,
        format => format,
    };
    let text = match format {
        Format::Html => report::page::history_page(&history),
        Format::Csv => report::history::csv(&history),
        Format::Json => document::json(&history),
        Format::Otava => report::history::otava(&history),
        Format::Bencher => report::history::bencher(&history),
        Format::Text => {
            let chart = report::history::chart(&history, width::of_screens());
            let document = report::history::document(&history, chart);
            match file {
                Some(_) => document::text(&document, WIDTH),
                None => return screen::print(&screen::text(&document)).map(|()| 0),
            }
        }
        format => {
            let document = report::history::document(&history, Document::default());
            format.document(&document, WIDTH)
        }
    };
    match file {
        Some(path) => outputs.open("--output", path)?.write(&text, WRITE_MAX)?,
        None => problem::print(&text)?,
    }
    Ok(0)
}

/// Decides whether the noise of earlier runs explains the result of new runs.
///
/// # Errors
/// Returns an error if the argument names no runs of one series, if a run is INVALID, or if the
/// answer cannot be written.
pub fn gate(arguments: &GateArguments) -> Result<u8, Problem> {
    let [runs] = arguments.sides.as_slice() else {
        return refuse("--against history needs one argument: the new runs, like last or 3..5");
    };
    let archive = open(&arguments.archive)?;
    let metric = arguments.metric.unwrap_or(Metric::Transactions);
    let (history, new) = before(&archive, runs, metric)?;
    let gate = HistoryGate::of(&history, &new, arguments.allow_doubtful)?;
    screen::answer(
        arguments.format,
        || report::history::gate(&gate),
        String::new,
        || document::json(&gate),
    )?;
    Ok(gate.decision.exit_status())
}
