//! `postmark export` and `import`.

use std::io::{BufWriter, Write};
use std::path::Path;

use archive::{Archive, Imported, NoteText, Remarks, SubmissionOutcome, is_alive};
use campaign::archive::place_of_one;
use document::Format;
use document::sanitize::{path as shown, sanitize};
use published::Submission;
use record::Record;
use record::documents::Documents;
use serde::Deserialize;
use serde::de::IgnoredAny;
use verdict::ListedRun;

use super::opened::{number, open, record, remarks};
use crate::args::{ExportArguments, ImportArguments};
use crate::ui::output::{OutputFile, Outputs};
use crate::ui::problem::{Problem, USER, print, refuse, tell};
use campaign::record_source;

/// Writes runs for others.
///
/// # Errors
/// Where there is no such run, one cannot be read, or what was written cannot be delivered.
pub fn export(arguments: &ExportArguments) -> Result<u8, Problem> {
    if !arguments.runs.is_empty() && !arguments.filters.are_empty() {
        let told = "runs and conditions (--since, --host and so on) cannot be combined";
        return refuse(told);
    }
    let archive = open(&arguments.archive)?;
    if let (true, Some(by), Some(system)) = (arguments.submission, &arguments.by, &arguments.system)
    {
        return submit(&archive, arguments, by, system);
    }
    let entries = if arguments.runs.is_empty() {
        archive.list(&arguments.filters.filter(), &is_alive)?
    } else {
        let found = arguments.runs.iter().map(|run| archive.called(run));
        found.collect::<Result<_, _>>()?
    };
    let mut output = output(arguments)?;
    let written = match arguments.format {
        Format::Json => each(&archive, &entries, "", &mut output, exported),
        Format::Csv => {
            let header = report::export::CSV_HEADER;
            each(&archive, &entries, header, &mut output, report::export::csv)
        }
        _ => output.write(&report::list::markdown(&entries)).map(|()| 0),
    };
    match written {
        Ok(code) => output.end().map(|()| code),
        Err(problem) => {
            output.discard();
            Err(problem)
        }
    }
}

/// Where an export goes; not into the archive that it comes from.
fn output(arguments: &ExportArguments) -> Result<Output<'_>, Problem> {
    let archive = place_of_one(arguments.archive.archive.as_deref())?;
    let mut outputs = Outputs::new(arguments.force, Some(&archive), &[])?;
    let path = arguments.output.as_deref();
    Ok(Output::to(path, outputs.judge_and_open("--output", path)?))
}

/// Writes runs as submissions: all of them, or none where one has nothing to compare.
fn submit(
    archive: &Archive,
    arguments: &ExportArguments,
    by: &str,
    system: &str,
) -> Result<u8, Problem> {
    let mut text = String::new();
    for run in &arguments.runs {
        let submission = Submission::of(&record(archive, run)?, by, system);
        let submission = submission.map_err(|problem| {
            let run = shown(Path::new(run));
            Problem::refused(format_args!("run {run}: {problem}"))
        })?;
        text.push_str(&submission.to_json());
    }
    let mut output = output(arguments)?;
    output.write(&text)?;
    output.end()?;
    Ok(0)
}

/// Writes what every record comes to, one after another: no more than one is in memory. One that is
/// damaged is told of, and the others are written: the exit status.
fn each(
    archive: &Archive,
    entries: &[ListedRun],
    header: &str,
    output: &mut Output<'_>,
    text: impl Fn(&ListedRun, &Record) -> String,
) -> Result<u8, Problem> {
    let mut failed = None;
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
            Err(problem) => {
                if let Some(former) = failed.replace(problem) {
                    tell(format_args!("not exported: {former}"));
                }
            }
        }
    }
    match failed {
        // Nothing was written: what was in the file stays.
        Some(problem) if !has_header => Err(problem.into()),
        Some(problem) => {
            tell(format_args!("not exported: {problem}"));
            Ok(NOT_ALL)
        }
        None => {
            if !has_header {
                output.write(header)?;
            }
            Ok(0)
        }
    }
}

/// The document of a run: its record with the summary, and its remarks. An archive of another
/// program or of an earlier version may have remarks that no import would take: they stay there,
/// and that is told.
fn exported(entry: &ListedRun, record: &Record) -> String {
    let remarks = remarks(entry);
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

/// Where an export goes.
struct Output<'a> {
    path: Option<&'a Path>,
    /// A file that nothing was written to yet: what was in it stays until then.
    waiting: Option<OutputFile>,
    to: Box<dyn Write>,
}

impl<'a> Output<'a> {
    fn to(path: Option<&'a Path>, waiting: Option<OutputFile>) -> Self {
        let to: Box<dyn Write> = match waiting {
            Some(_) => Box::new(std::io::sink()),
            None => Box::new(BufWriter::new(std::io::stdout().lock())),
        };
        Self { path, waiting, to }
    }

    fn write(&mut self, text: &str) -> Result<(), Problem> {
        if let Some(file) = self.waiting.take() {
            self.to = Box::new(BufWriter::new(file.begin()));
        }
        let written = self.to.write_all(text.as_bytes());
        self.told(written)
    }

    fn end(mut self) -> Result<(), Problem> {
        // Of no run at all an empty file is what was asked for.
        self.write("")?;
        let written = self.to.flush();
        self.told(written)
    }

    /// There is nothing to write: leaves things as they were.
    fn discard(self) {
        if let Some(file) = self.waiting {
            file.discard();
        }
    }

    fn told(&self, written: std::io::Result<()>) -> Result<(), Problem> {
        let to = self.path.map_or("standard output".into(), shown);
        written.map_err(|cause| Problem::undelivered(to, &cause))
    }
}

/// A file has something that is no record, or is another than the one that is there.
const NOT_ALL: u8 = 1;
/// So many records are written at once: each time costs as much as one of them.
const AT_ONCE: usize = 64;
/// Or fewer, where their texts have so many bytes together.
const BYTES_AT_ONCE: usize = 16 << 20;

/// Adds records of other machines, and submissions. One that is there already is left as it is.
///
/// # Errors
/// Where the archive cannot be opened or made, or what was done cannot be told.
pub fn import(arguments: &ImportArguments) -> Result<u8, Problem> {
    let archive = place_of_one(arguments.archive.archive.as_deref())?.open(true, USER)?;
    let mut import = Import {
        archive,
        waiting: Vec::new(),
        waiting_bytes: 0,
        code: 0,
    };
    for path in &arguments.files {
        import.file(path)?;
    }
    Ok(import.code)
}

struct Import {
    archive: Archive,
    /// What was read and not written yet.
    waiting: Vec<(Record, Remarks)>,
    /// The bytes of their texts.
    waiting_bytes: usize,
    code: u8,
}

impl Import {
    fn file(&mut self, path: &Path) -> Result<(), Problem> {
        let source = match record_source::source(path) {
            Ok(source) => source,
            Err(error) => {
                self.failed(path, &format!("cannot read it: {error}"));
                return Ok(());
            }
        };
        for (place, document) in Documents::of(source).enumerate() {
            let imported = match document {
                Ok(text) if is_submission(&text) => self.submission(&text)?,
                Ok(text) => self.record(&text),
                Err(error) => Err(error.to_string()),
            };
            match imported {
                Ok(()) => {}
                Err(error) => self.failed(
                    path,
                    &format!("document {}: {}", place + 1, sanitize(&error)),
                ),
            }
            if self.waiting.len() == AT_ONCE || self.waiting_bytes >= BYTES_AT_ONCE {
                self.write(path)?;
            }
        }
        self.write(path)
    }

    /// Takes a record, or says why it is none.
    fn record(&mut self, text: &str) -> Result<(), String> {
        let record = Record::from_json(text).map_err(|error| error.to_string())?;
        self.waiting.push((record, Remarks::of_document(text)?));
        self.waiting_bytes += text.len();
        Ok(())
    }

    /// Adds a submission, or says why it is none.
    fn submission(&mut self, text: &str) -> Result<Result<(), String>, Problem> {
        let submission = match Submission::from_json(text) {
            Ok(submission) => submission,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let when = submission.when_unix_ns.to_string();
        let is_of_same_run = |other: &str| {
            // Most are of other moments, and are not read for it.
            other.contains(&when)
                && Submission::from_json(other).is_ok_and(|other| other.is_of_same_run(&submission))
        };
        let submitted = self
            .archive
            .add_submission(&submission.to_json(), &is_of_same_run)?;
        print(&format!(
            "Submission of {}: {}\n",
            sanitize(&submission.contributor),
            match submitted {
                SubmissionOutcome::New => "new",
                SubmissionOutcome::There => "there already",
                SubmissionOutcome::Replaced => "new, replaces an earlier one of the same run",
            }
        ))?;
        Ok(Ok(()))
    }

    fn write(&mut self, path: &Path) -> Result<(), Problem> {
        let runs = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let runs: Vec<(&Record, &Remarks)> = runs
            .iter()
            .map(|(record, remarks)| (record, remarks))
            .collect();
        let imported = self.archive.import_all(&runs)?;
        for ((record, _), imported) in runs.into_iter().zip(imported) {
            match imported {
                Imported::New(number) => print(&format!("Run {number}: new, {}\n", told(record)))?,
                Imported::There(number) => {
                    print(&format!("Run {number}: there already, {}\n", told(record)))?
                }
                Imported::Completed(number) => {
                    print(&format!("Run {number}: completed, {}\n", told(record)))?;
                }
                Imported::Unreadable(number) => self.failed(
                    path,
                    &format!(
                        "run {number} of the archive has the same identity, {}, but its record \
                         cannot be read ('postmark show {number}' shows the problem; delete that \
                         run, then import this one again)",
                        record.id
                    ),
                ),
                Imported::Conflict(number) => self.failed(
                    path,
                    &format!(
                        "CONFLICT: run {number} of the archive has the same identity, {}, but \
                         another record (compare them with 'postmark show', and delete the wrong \
                         one)",
                        record.id
                    ),
                ),
            }
        }
        Ok(())
    }

    fn failed(&mut self, path: &Path, what: &str) {
        self.code = NOT_ALL;
        tell(format_args!("{}: {what}", shown(path)));
    }
}

/// Whether a document says that it is a submission. Nothing else of it is read.
pub fn is_submission(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        submission: IgnoredAny,
    }
    serde_json::from_str::<Named>(text).is_ok_and(
        |Named {
             submission: IgnoredAny,
         }| true,
    )
}

fn told(record: &Record) -> String {
    format!(
        "{} of {}",
        document::units::utc(record.origin.begun_unix_ns()),
        sanitize(&record.host.hostname)
    )
}
