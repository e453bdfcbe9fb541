//! Checks submissions: directories with `submission.toml` and records. Every problem has its file,
//! its line, and what to do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use report::site::{Disclosure, SiteRun};
use serde::Serialize;
use study::{ResultClass, StrictBreach, StrictRule, StudyBlocks};
use verdict::check::ResolveCommandLine;

use super::disclosed;
use super::intake::{CheckedText, checked, texts};
use super::sources::{
    SUBMISSION, SourceFile, SourceKind, Sources, submission_directories, submission_of,
};
use crate::error::Error;

/// A problem of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubmissionProblem {
    /// The file, relative to the checked directory.
    pub file: String,
    /// The line of the problem, from 1.
    pub line: usize,
    /// What is wrong, and in brackets what to do.
    pub why: String,
}

/// A checked submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedSubmission {
    /// The directory, relative to the checked one; empty for itself.
    pub directory: String,
    pub class: ResultClass,
    pub records: usize,
    pub problems: Vec<SubmissionProblem>,
    /// Whether a file could not be read, so that a part of the submission is not checked.
    pub is_unreadable: bool,
}

/// Checks all submissions in a directory and below it.
///
/// # Errors
/// Returns an error if the directory cannot be read, or has no submission.
pub fn check(
    directory: &Path,
    resolve: &ResolveCommandLine<'_>,
) -> Result<Vec<CheckedSubmission>, Error> {
    let sources = Sources::find(directory, None)?;
    let directories = submission_directories(&sources.files);
    if directories.is_empty() {
        return Err(Error::refused(format_args!(
            "{} has no submission (write a file {SUBMISSION}; in the book: reference/sites)",
            document::sanitize::path(directory)
        )));
    }
    let places: BTreeMap<_, usize> = directories.iter().cloned().zip(0..).collect();
    let mut all = Vec::new();
    for (directory_of, place) in &places {
        let inside = directory_of.strip_prefix(directory).unwrap_or(directory_of);
        let is_own = |file: &&SourceFile| submission_of(&file.path, &places) == Some(*place);
        let files: Vec<&SourceFile> = sources.files.iter().filter(is_own).collect();
        let mut submission = Checker::new(inside);
        for file in files {
            submission.file(file, resolve);
        }
        for problem in &sources.problems {
            let is_inside = directory.join(&problem.file).starts_with(directory_of);
            if is_inside {
                let way_out = format!("{} (remove it, or submit the file itself)", problem.why);
                submission.problem(&problem.file, 1, way_out);
            }
        }
        all.push(submission.finish());
    }
    Ok(all)
}

struct Checker {
    checked: CheckedSubmission,
    disclosure: Option<Disclosure>,
    /// The file of the submission.
    file: String,
    runs: Vec<(String, usize, SiteRun)>,
    studies: BTreeMap<String, StudyBlocks>,
}

impl Checker {
    fn new(inside: &Path) -> Self {
        let directory = document::sanitize::path(inside).into_owned();
        let file = document::sanitize::path(&inside.join(SUBMISSION)).into_owned();
        Self {
            checked: CheckedSubmission {
                directory,
                class: ResultClass::Unclassified,
                records: 0,
                problems: Vec::new(),
                is_unreadable: false,
            },
            disclosure: None,
            file,
            runs: Vec::new(),
            studies: BTreeMap::new(),
        }
    }

    fn problem(&mut self, file: &str, line: usize, why: String) {
        let file = file.to_owned();
        self.checked
            .problems
            .push(SubmissionProblem { file, line, why });
    }

    fn unreadable(&mut self, file: &str, line: usize, why: String) {
        self.checked.is_unreadable = true;
        self.problem(file, line, why);
    }

    fn file(&mut self, file: &SourceFile, resolve: &ResolveCommandLine<'_>) {
        match file.kind {
            SourceKind::Submission => match disclosed::read(file) {
                Ok(disclosure) => self.disclosure = Some(disclosure),
                Err(problems) => {
                    for problem in problems {
                        self.unreadable(&file.name, problem.line, problem.why);
                    }
                }
            },
            SourceKind::Records => self.records(file, resolve),
            SourceKind::Archive => self.problem(
                &file.name,
                1,
                "an archive is no submission ('postmark export -o records.jsonl' writes its \
                 records)"
                    .to_owned(),
            ),
            SourceKind::Design => {}
        }
    }

    fn records(&mut self, file: &SourceFile, resolve: &ResolveCommandLine<'_>) {
        let all = match texts(file) {
            Ok(all) => all,
            Err(cause) => {
                let why = format!("cannot read it: {cause} (write it again)");
                return self.unreadable(&file.name, 1, why);
            }
        };
        let mut lines = LinesOf::new(file);
        for text in all.into_iter().flatten() {
            let line = lines.next(text.as_deref().unwrap_or_default());
            let found = match text {
                Ok(text) => checked(&text, resolve),
                Err(error) => Err(format!("not a record: {error}")),
            };
            match found {
                Ok(found) => self.record(&file.name, line, found),
                Err(why) => {
                    let line = line + line_of_error(&why).saturating_sub(1);
                    let why = format!("{why} (submit the file as 'postmark export' wrote it)");
                    self.unreadable(&file.name, line, why);
                }
            }
        }
    }

    fn record(&mut self, file: &str, line: usize, found: CheckedText) {
        let CheckedText { record, run } = found;
        self.checked.records += 1;
        if !run.check.is_right {
            let lines = run.check.lines.join("; ");
            let advice = StrictRule::RecordAgrees.advice();
            self.problem(file, line, format!("{lines} ({advice})"));
        }
        if let (Some(part), Some(of)) = (&record.study, &run.study) {
            let study = self.studies.entry(of.key.clone()).or_default();
            study.add(&of.cell_key, part, run.level);
        }
        self.runs.push((file.to_owned(), line, run));
    }

    fn finish(mut self) -> CheckedSubmission {
        if self.checked.records == 0 {
            let why = "the submission has no records (add a file that 'postmark export' or 'run \
                       --format json' wrote)";
            let file = self.file.clone();
            self.problem(&file, 1, why.to_owned());
        }
        if let Some(disclosure) = self.disclosure.take() {
            self.checked.class = disclosure.class;
            if disclosure.class == ResultClass::Strict {
                self.strict();
            }
        }
        self.checked.problems.sort_by(|one, other| {
            (&one.file, one.line, &one.why).cmp(&(&other.file, other.line, &other.why))
        });
        self.checked
    }

    /// Adds the breaches of all runs that count. An INVALID run of a study is shown and never
    /// compared.
    fn strict(&mut self) {
        for (file, line, run) in std::mem::take(&mut self.runs) {
            let of_study = match &run.study {
                None => Some(StudyBlocks::no_study()),
                Some(part) => {
                    let study = self.studies.get(&part.key);
                    study.and_then(|study| study.breach(&part.cell_key))
                }
            };
            if run.study.is_some() && !run.is_counted() {
                continue;
            }
            let breaches: Vec<StrictBreach> = run.breaches.into_iter().chain(of_study).collect();
            for breach in breaches {
                self.problem(&file, line, breach.to_string());
            }
        }
    }
}

/// The line that a message of the JSON parser names; 1 without one.
fn line_of_error(why: &str) -> usize {
    let line = why.rsplit_once(" at line ").map(|(_, rest)| rest);
    let digits = line.and_then(|rest| rest.split(' ').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

/// Finds the lines at which the documents of a file begin.
struct LinesOf {
    text: String,
    /// Where the last document ended.
    at: usize,
    /// The line at this place.
    line: usize,
}

impl LinesOf {
    /// Reads the file again, if it is small enough to be in memory. The lines of a longer file are
    /// not known, and count as the first.
    fn new(file: &SourceFile) -> Self {
        const BYTES_MAX: u64 = 256 << 20;
        let is_short = fs::symlink_metadata(&file.path).is_ok_and(|facts| facts.len() <= BYTES_MAX);
        let text = file
            .open()
            .ok()
            .filter(|_| is_short && !file.name.ends_with(".html"));
        let text = text.and_then(|file| std::io::read_to_string(file).ok());
        Self {
            text: text.unwrap_or_default(),
            at: 0,
            line: 1,
        }
    }

    /// The line of the next document.
    fn next(&mut self, document: &str) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(found) = rest.find(document) else {
            return self.line;
        };
        let lines = |text: &str| text.matches('\n').count();
        let begins = self.line + lines(&rest[..found]);
        self.line = begins + lines(document);
        self.at += found + document.len();
        begins
    }
}
