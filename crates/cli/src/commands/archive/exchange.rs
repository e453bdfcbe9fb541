//! `postmark export` and `import`: exchange records with other archives.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use archive::{Archive, NoteText, Remarks};
use campaign::archive::place_of_one;
use campaign::study::named_runs::named_runs;
use document::Format;
use document::sanitize::path as shown;
use published::Submission;
use record::Record;
use verdict::ListedRun;
use verdict::check::ResolveCommandLine;

use super::crashes::archived;
use super::opened::{filter, number, open};
use crate::args::{ExportArguments, ImportArguments};
use crate::ui::output::{OutputFile, Outputs};
use crate::ui::problem::{Problem, USER, print, refuse, tell};

/// Exports runs as JSON, CSV, Markdown or submissions.
///
/// # Errors
/// Returns an error if a run does not exist, no record can be read, or the output cannot be
/// written.
pub fn export(arguments: &ExportArguments) -> Result<u8, Problem> {
    if !arguments.runs.is_empty() && !arguments.filters.are_empty() {
        return refuse("runs and conditions (--since, --host and so on) cannot be combined");
    }
    let archive = open(&arguments.archive)?;
    if let (true, Some(by), Some(system)) = (arguments.submission, &arguments.by, &arguments.system)
    {
        return submit(&archive, arguments, by, system);
    }
    let entries = if arguments.runs.is_empty() {
        let found = archive.list(&filter(&archive, &arguments.filters)?)?;
        if found.is_empty() && !arguments.filters.are_empty() {
            return refuse(
                "no run in the archive matches the conditions ('postmark list' shows the runs)",
            );
        }
        found
    } else {
        let words = arguments.runs.iter();
        let found = words.map(|word| named_runs(&archive, word));
        found.collect::<Result<Vec<_>, _>>()?.concat()
    };
    let mut output = output(arguments)?;
    let written = match arguments.format {
        Format::Json => export_json(&archive, &entries, &mut output),
        Format::Csv => {
            // A row is a phase's operation of a run.
            let entries = runs_only(entries);
            let header = report::export::CSV_HEADER;
            each(&archive, &entries, header, &mut output, report::export::csv)
        }
        _ => output.write(&report::list::markdown(&entries)).map(|()| 0),
    };
    let code = written?;
    output.end().map(|()| code)
}

/// Opens the output file of an export, which must not be the archive.
fn output(arguments: &ExportArguments) -> Result<Output, Problem> {
    let archive = place_of_one(arguments.archive.archive.as_deref())?;
    let mut outputs = Outputs::new(arguments.force, Some(&archive), &[])?;
    let path = arguments.output.as_deref().unwrap_or(Path::new("-"));
    outputs.judge("--output", path)?;
    let waiting = outputs.open("--output", path)?;
    Ok(Output {
        shown: waiting.shown(),
        waiting: Some(waiting),
        file: None,
    })
}

/// Writes runs as submissions to the published results: all of them, or none if one run has no
/// comparable result.
fn submit(
    archive: &Archive,
    arguments: &ExportArguments,
    by: &str,
    system: &str,
) -> Result<u8, Problem> {
    let mut text = String::new();
    for word in &arguments.runs {
        for run in named_runs(archive, word)? {
            let number = number(&run);
            let submission = Submission::of(&archive.record(number)?, by, system);
            let submission = submission
                .map_err(|problem| Problem::refused(format_args!("run {number}: {problem}")))?;
            text.push_str(&submission.to_json());
        }
    }
    let mut output = output(arguments)?;
    output.write(&text)?;
    output.end()?;
    Ok(0)
}

/// Writes crash rounds and then runs, one on each line.
fn export_json(
    archive: &Archive,
    entries: &[ListedRun],
    output: &mut Output,
) -> Result<u8, Problem> {
    let (crashes, runs): (Vec<_>, Vec<_>) = entries
        .iter()
        .cloned()
        .partition(|entry| entry.headline.crash.is_some());
    for entry in &crashes {
        if let Some(crash) = archived(archive, entry)? {
            output.write(&(crash.json() + "\n"))?;
        }
    }
    match runs.is_empty() && !crashes.is_empty() {
        true => Ok(0),
        false => each(archive, &runs, "", output, exported),
    }
}

/// The entries that are runs. A message names the others.
fn runs_only(entries: Vec<ListedRun>) -> Vec<ListedRun> {
    let (crashes, runs): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| entry.headline.crash.is_some());
    if !crashes.is_empty() {
        let numbers: Vec<String> = crashes.iter().map(|of| number(of).to_string()).collect();
        tell(format_args!(
            "not exported: the crash rounds {} (use --format json)",
            numbers.join(", ")
        ));
    }
    runs
}

/// Writes the text of each record, with only one record in memory at a time. If a record is
/// damaged, prints a message and continues with the next one. Returns the exit status.
fn each(
    archive: &Archive,
    entries: &[ListedRun],
    header: &str,
    output: &mut Output,
    text: impl Fn(&ListedRun, &Record) -> String,
) -> Result<u8, Problem> {
    let mut failed = Vec::new();
    let mut has_header = false;
    for entry in entries {
        match archive.record(number(entry)) {
            Ok(record) => {
                if !has_header {
                    output.write(header)?;
                    has_header = true;
                }
                output.write(&text(entry, &record))?;
            }
            Err(problem) => failed.push(problem),
        }
    }
    // If no record can be read, the error is returned, and the old contents of the output file
    // remain.
    let last = if has_header { None } else { failed.pop() };
    for problem in &failed {
        tell(format_args!("not exported: {problem}"));
    }
    if let Some(last) = last {
        return Err(last.into());
    }
    if !has_header {
        output.write(header)?;
    }
    Ok(if failed.is_empty() { 0 } else { NOT_ALL })
}

/// The JSON document of a run: its record with summary, tags and note. An archive that another
/// program or an earlier version wrote may contain tags and notes that an import would reject. The
/// document does not contain such tags and notes, and a message reports that.
fn exported(entry: &ListedRun, record: &Record) -> String {
    let remarks = Remarks::from(entry);
    let run = number(entry);
    if let (Some(note), None) = (&entry.note, &remarks.note) {
        tell(format_args!(
            "not exported: the note of run {run}, which has {} bytes (at most {} are exported; \
             'postmark note {run} TEXT' sets a shorter one)",
            note.len(),
            NoteText::LENGTH_MAX
        ));
    }
    let tags = entry.tags.len() - remarks.tags.len();
    if tags > 0 {
        tell(format_args!(
            "not exported: {tags} of the tags of run {run}, which no run can have any more \
             ('postmark tag {run} WORD' adds others)"
        ));
    }
    remarks.document(record)
}

/// The output file of an export. Its old contents remain until the first write.
struct Output {
    shown: String,
    /// `None` after the first write.
    waiting: Option<OutputFile>,
    file: Option<BufWriter<File>>,
}

impl Output {
    fn write(&mut self, text: &str) -> Result<(), Problem> {
        if let Some(waiting) = self.waiting.take() {
            self.file = Some(BufWriter::new(waiting.begin()));
        }
        self.told(|file| file.write_all(text.as_bytes()))
    }

    fn end(mut self) -> Result<(), Problem> {
        // An export without runs must still empty the file.
        self.write("")?;
        self.told(BufWriter::flush)
    }

    fn told(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<(), Problem> {
        let written = self.file.as_mut().map_or(Ok(()), write);
        written.map_err(|cause| Problem::undelivered(&self.shown, &cause))
    }
}

/// Exit status if a record could not be exported or imported.
const NOT_ALL: u8 = 1;

/// Imports records and submissions from files, for example of other machines. A complete record
/// that the archive already contains is not changed. `resolve` derives the run spec from
/// the command
/// line in a record.
///
/// # Errors
/// Returns an error if the archive cannot be opened or created, or the result cannot be printed.
pub fn import(
    arguments: &ImportArguments,
    resolve: &ResolveCommandLine<'_>,
) -> Result<u8, Problem> {
    let mut archive = place_of_one(arguments.archive.archive.as_deref())?.open(true, USER)?;
    let mut code = 0;
    for path in &arguments.files {
        campaign::import::import(&mut archive, path, resolve, &mut |became| match became {
            Ok(line) => print(&line),
            Err(why) => {
                code = NOT_ALL;
                tell(format_args!("{}: {why}", shown(path)));
                Ok(())
            }
        })?;
    }
    Ok(code)
}
