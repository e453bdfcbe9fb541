//! `postmark export` and `import`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use archive::{Archive, Imported};
use history::Submission;
use record::harmless::{harmless, path as shown};
use record::{Entry, Record};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{find, mark, number, open, place};
use crate::history::HistoryProblem;
use crate::meant::MeaningError;
use crate::output::OutputFile;
use crate::said::{ExportArguments, ExportFormat, ImportArguments};
use crate::{Problem, print, tell};

/// Writes runs for others.
///
/// # Errors
/// Where there is no such run, one cannot be read, or what was written cannot be delivered.
pub fn export(arguments: &ExportArguments) -> Result<u8, Problem> {
    if !arguments.runs.is_empty() && !arguments.filters.are_empty() {
        let told = "export: runs are named, or chosen by conditions (--since, --host …): leave one out";
        return Err(MeaningError::Contradiction(told.to_owned()).into());
    }
    let archive = open(&arguments.archive)?;
    if let (true, Some(by), Some(system)) = (arguments.submission, &arguments.by, &arguments.system) {
        return submit(&archive, arguments, by, system);
    }
    let entries = if arguments.runs.is_empty() {
        archive.list(&arguments.filters.filter(), &mark::is_alive)?
    } else {
        let found = arguments.runs.iter().map(|run| find(&archive, run));
        found.collect::<Result<_, _>>()?
    };
    let mut output = Output::open(arguments.output.as_deref())?;
    match arguments.format {
        ExportFormat::Json => each(&archive, &entries, &mut output, |_, record| record.to_json())?,
        ExportFormat::Csv => {
            output.write(report::export::CSV_HEADER)?;
            each(&archive, &entries, &mut output, report::export::csv)?;
        }
        ExportFormat::Markdown => output.write(&report::list::markdown(&entries))?,
    }
    output.end()?;
    Ok(0)
}

/// Writes runs as submissions: all of them, or none where one has nothing to compare.
fn submit(archive: &Archive, arguments: &ExportArguments, by: &str, system: &str) -> Result<u8, Problem> {
    let mut text = String::new();
    for run in &arguments.runs {
        let submission = Submission::of(&super::record(archive, run)?, by, system);
        let submission = submission.map_err(|problem| HistoryProblem::Submission {
            path: PathBuf::from(format!("run {run}")),
            problem,
        })?;
        text.push_str(&submission.to_json());
    }
    let mut output = Output::open(arguments.output.as_deref())?;
    output.write(&text)?;
    output.end()?;
    Ok(0)
}

/// Writes what every record comes to, one after another: no more than one is in memory.
fn each(
    archive: &Archive,
    entries: &[Entry],
    output: &mut Output<'_>,
    text: impl Fn(&Entry, &Record) -> String,
) -> Result<(), Problem> {
    for entry in entries {
        output.write(&text(entry, &archive.record(number(entry))?))?;
    }
    Ok(())
}

/// Where an export goes.
struct Output<'a> {
    path: Option<&'a Path>,
    to: Box<dyn Write>,
}

impl<'a> Output<'a> {
    fn open(path: Option<&'a Path>) -> Result<Self, Problem> {
        let to: Box<dyn Write> = match path {
            Some(path) => Box::new(std::io::BufWriter::new(OutputFile::open(path.to_owned())?.begin())),
            None => Box::new(std::io::BufWriter::new(std::io::stdout().lock())),
        };
        Ok(Self { path, to })
    }

    fn write(&mut self, text: &str) -> Result<(), Problem> {
        let written = self.to.write_all(text.as_bytes());
        self.told(written)
    }

    fn end(mut self) -> Result<(), Problem> {
        let written = self.to.flush();
        self.told(written)
    }

    fn told(&self, written: std::io::Result<()>) -> Result<(), Problem> {
        written.map_err(|cause| Problem::Report {
            to: self
                .path
                .map_or_else(|| "standard output".to_owned(), |path| path.display().to_string()),
            cause,
        })
    }
}

/// A file has something that is no record, or is another than the one that is there.
const NOT_ALL: u8 = 1;
/// So many records are written at once: each time costs as much as one of them.
const AT_ONCE: usize = 64;

/// Adds records of other machines, and submissions. One that is there already is left as it is.
///
/// # Errors
/// Where the archive cannot be opened or made, or what was done cannot be told.
pub fn import(arguments: &ImportArguments) -> Result<u8, Problem> {
    let archive = place::place_of_one(arguments.archive.archive.as_deref())?.open(true)?;
    let mut import = Import {
        archive,
        waiting: Vec::new(),
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
    waiting: Vec<Record>,
    code: u8,
}

impl Import {
    fn file(&mut self, path: &Path) -> Result<(), Problem> {
        let text = match read(path) {
            Ok(text) => text,
            Err(error) => {
                self.failed(path, &format!("cannot read it: {error}"));
                return Ok(());
            }
        };
        for (place, document) in documents(&text).enumerate() {
            let imported = match document {
                Ok(text) if is_submission(text) => self.submission(text)?,
                Ok(text) => Record::from_json(text)
                    .map(|record| self.waiting.push(record))
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error),
            };
            match imported {
                Ok(()) => {}
                Err(error) => self.failed(path, &format!("document {}: {}", place + 1, harmless(&error))),
            }
            if self.waiting.len() == AT_ONCE {
                self.write(path)?;
            }
        }
        self.write(path)
    }

    /// Adds a submission, or says why it is none.
    fn submission(&mut self, text: &str) -> Result<Result<(), String>, Problem> {
        let submission = match Submission::from_json(text) {
            Ok(submission) => submission,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let is_new = self.archive.add_submission(&submission.to_json())?;
        print(&format!(
            "Submission of {}: {}\n",
            harmless(&submission.contributor),
            if is_new { "new" } else { "there already" }
        ))?;
        Ok(Ok(()))
    }

    fn write(&mut self, path: &Path) -> Result<(), Problem> {
        let records = std::mem::take(&mut self.waiting);
        for (record, imported) in records.iter().zip(self.archive.import_all(&records)?) {
            match imported {
                Imported::New(number) => print(&format!("Run {number}: new, {}\n", told(record)))?,
                Imported::There(number) => print(&format!("Run {number}: there already, {}\n", told(record)))?,
                Imported::Conflict(number) => self.failed(
                    path,
                    &format!(
                        "CONFLICT: run {number} of the archive has the same identity, {}, and another record; it was left as it is: \
                         compare them with 'postmark show', and delete the one that is wrong",
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
    serde_json::from_str::<Named>(text).is_ok_and(|Named { submission: IgnoredAny }| true)
}

fn told(record: &Record) -> String {
    format!(
        "{} of {}",
        record::units::utc(record.origin.begun_unix_ns()),
        harmless(&record.host.hostname)
    )
}

fn read(path: &Path) -> std::io::Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path)
}

/// The documents of a text, one after another. Behind one that is none nothing is looked for.
pub fn documents(text: &str) -> impl Iterator<Item = Result<&str, String>> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let is_empty = text.trim().is_empty();
    let nothing = is_empty.then(|| Err("there is nothing in it".to_owned()));
    let found = std::iter::from_fn(move || {
        let began = stream.byte_offset();
        let document = stream.next()?;
        Some(match document {
            Ok(_) => Ok(&text[began..stream.byte_offset()]),
            Err(error) => Err(format!("no JSON: {error}")),
        })
    });
    found.chain(nothing)
}
