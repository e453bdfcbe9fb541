//! `postmark list` and `postmark show`: print archived runs.

use std::collections::BTreeMap;
use std::path::Path;

use archive::ArchiveErrorKind;
use campaign::archive::place_of_one;
use campaign::publications::beside_run;
use campaign::study::found;
use document::units::counted;
use document::{Document, Format};
use record::Record;
use verdict::State;
use verdict::check::ResolveCommandLine;

use super::opened::{filter, newest_tagged, number, open};
use crate::args::{ListArguments, ShowArguments};
use crate::commands::run::delivery::{WRITTEN_WITHIN, deliver, render};
use crate::ui::output::{Outputs, is_standard_output};
use crate::ui::problem::{Problem, USER, refuse, tell};
use crate::ui::{screen, width};
use campaign::input::Input;
use campaign::record_source::{self, Called};

/// Lists the archived runs that meet the conditions of the options, such as `--host`.
///
/// # Errors
/// Returns an error if the archive cannot be read, or the list cannot be written.
pub fn list(arguments: &ListArguments) -> Result<u8, Problem> {
    let place = place_of_one(arguments.archive.archive.as_deref())?;
    let (archive, entries) = match place.open(false, USER) {
        Ok(archive) => {
            let entries = archive.list(&filter(&archive, &arguments.filters)?)?;
            (Some(archive), entries)
        }
        // The default archive does not exist before the first run, so its list is empty. A missing
        // archive that `--archive` names is an error.
        Err(error)
            if error.kind == ArchiveErrorKind::Missing && arguments.archive.archive.is_none() =>
        {
            (None, Vec::new())
        }
        Err(error) => return Err(error.into()),
    };
    // Only text shows the names of studies. Programs that read CSV or JSON need their IDs, which
    // are unique.
    let for_readers = || match &archive {
        Some(_) if entries.is_empty() && !arguments.filters.are_empty() => {
            let mut document = Document::default();
            document.line("No run meets these conditions");
            document
        }
        Some(archive) => {
            let cells = found::cells_of(archive, &entries);
            report::list::document(&found::with_names(archive, entries.clone()), &cells)
        }
        None => report::list::document(&[], &BTreeMap::new()),
    };
    screen::answer(
        arguments.format,
        for_readers,
        || report::list::csv(&entries),
        || report::list::json(&entries),
    )?;
    Ok(0)
}

/// Shows the report of an archived run, or of every record in a file. `resolve` derives the run
/// spec from the command line in a record.
///
/// # Errors
/// Returns an error if the run does not exist or cannot be read, or the report cannot be written.
pub fn show(arguments: &ShowArguments, resolve: &ResolveCommandLine<'_>) -> Result<u8, Problem> {
    if arguments.with_published && arguments.format != Format::Text {
        return refuse(
            "--with-published requires --format text ('postmark published beside' has other \
             formats)",
        );
    }
    let crash = super::crashes::find(&arguments.run, &arguments.archive)?;
    let is_screen = arguments.output.as_deref().is_none_or(is_standard_output);
    let shown = match crash {
        Some(crash) => vec![crash.text(arguments.format, is_screen)?],
        None => {
            let shown = records(arguments, resolve)?.map(|record| {
                let (record, head) = record?;
                text(arguments, &record, &head)
            });
            shown.collect::<Result<Vec<_>, _>>()?
        }
    };
    let between = match arguments.format {
        Format::Json => "",
        _ => "\n",
    };
    let text = shown.join(between);
    let (archive, inputs) = match record_source::name(&arguments.run) {
        Some(_) => (
            Some(place_of_one(arguments.archive.archive.as_deref())?),
            vec![],
        ),
        None => (None, vec![Input::new("RUN", &arguments.run)]),
    };
    let mut outputs = Outputs::new(arguments.force, archive.as_ref(), &inputs)?;
    let output = outputs.judge_and_open("--output", arguments.output.as_deref())?;
    deliver(WRITTEN_WITHIN, output, &text, arguments.format)?;
    Ok(0)
}

/// The report of a run in the chosen format. A text report starts with `head`, the tags and the
/// note of the run.
fn text(arguments: &ShowArguments, record: &Record, head: &Document) -> Result<String, Problem> {
    if arguments.format.is_classic() && record.actual.classic.is_none() {
        return refuse(
            "--format classic and terse can show only complete runs of the classic workload (use \
             --format text or json)",
        );
    }
    let is_screen = arguments.output.as_deref().is_none_or(is_standard_output);
    let mut text = render(record, arguments.format, arguments.full, is_screen);
    if arguments.format == Format::Text {
        text.insert_str(0, &screen::laid_out(head, is_screen));
        if let Some(width) = width::of_terminal().filter(|_| is_screen) {
            let charts = report::terminal::charts(record, width);
            text.push_str(&screen::text(&charts));
        }
    }
    if arguments.with_published {
        let beside = beside_run(record).document();
        text.push('\n');
        text.push_str(&screen::laid_out(&beside, is_screen));
    }
    Ok(text)
}

type Recorded = Result<(Record, Document), Problem>;

/// Returns the records to show. For an archived run, also returns its tags and note. Only one
/// record is in memory at a time.
fn records<'a>(
    arguments: &'a ShowArguments,
    resolve: &'a ResolveCommandLine<'a>,
) -> Result<Box<dyn Iterator<Item = Recorded> + 'a>, Problem> {
    let run = &arguments.run;
    let mut head = Document::default();
    let (archive, entry) = match (
        record_source::name(run),
        newest_tagged(run, &arguments.archive),
    ) {
        (Some(word), _) => {
            let archive = open(&arguments.archive)?;
            let entry = archive.called(word)?;
            (archive, entry)
        }
        (None, Some((archive, entry, runs))) => {
            head.line(format!(
                "Run {}, the newest of {} with this tag",
                number(&entry),
                counted(runs as u64, "run")
            ));
            (archive, entry)
        }
        (None, None) => {
            let records = record_source::texts(run)
                .map_err(|problem| study_in_place_of_run(arguments).unwrap_or(problem))?
                .map(|text| {
                    let text = text?;
                    let record = record_source::record(run, &text)?;
                    warn_of_changes(run, &text, resolve);
                    Ok((record, Document::default()))
                });
            return Ok(Box::new(records));
        }
    };
    if entry.headline.state == State::Going {
        return refuse(format_args!(
            "run {0} is running, so it has no report and no verdict yet (wait until it ends; \
             'postmark list' then has its verdict in place of 'running')",
            number(&entry)
        ));
    }
    if !entry.tags.is_empty() {
        head.line(format!("Tags: {}", entry.tags.join(" ")));
    }
    if let Some(note) = &entry.note {
        head.line(format!("Note: {note}"));
    }
    let record = archive.record(number(&entry))?;
    if let Some(part) = &record.study {
        head.line(report::study::place_of_run(part));
    }
    Ok(Box::new(std::iter::once(Ok((record, head)))))
}

/// Warns if the record of a file breaks rules, or contains another summary or verdict than the one
/// that follows from its measurements.
fn warn_of_changes(file: &Path, text: &str, resolve: &ResolveCommandLine<'_>) {
    let is_right = verdict::check::check(text, resolve).is_ok_and(|checked| checked.is_right());
    if !is_right {
        tell(format_args!(
            "warning: this record breaks rules, or was changed: postmark check {}",
            Called(file)
        ));
    }
}

/// The error for the name of a study in place of a run; `None` if there is no such study, or a file
/// has this name.
fn study_in_place_of_run(arguments: &ShowArguments) -> Option<Problem> {
    let word = arguments.run.to_str().filter(|word| *word != "-")?;
    if arguments.run.exists() {
        return None;
    }
    let archive = open(&arguments.archive).ok()?;
    let study = found::find(&archive, word).ok().flatten()?;
    let remedy = match study.repeats() {
        Some(_) => format!("'postmark report {word}' writes its page"),
        None => format!("'postmark compare {word}' shows it"),
    };
    Some(Problem::refused(format!(
        "{word} is a study, not a run ({remedy})"
    )))
}
