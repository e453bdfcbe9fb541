//! Reads the records of all sources, one at a time: checks each, copies it into the site, and keeps
//! what lists need.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use archive::{Archive, Filter, JournalMode, Opening, Remarks};
use document::sanitize;
use record::Record;
use record::documents::Documents;
use report::page;
use report::site::{
    CheckResult, Site, SiteRun, SourceProblem, SystemEntry, WorkloadEntry, record_path,
};
use study::StudyBlocks;
use verdict::check::ResolveCommandLine;

use super::output::{SiteOutput, copy};
use super::sources::{SourceFile, SourceKind, open_regular};
use crate::error::Error;
use crate::import::is_submission;
use crate::record_source;

/// The records of a study.
#[derive(Default)]
pub(super) struct StudyRecords {
    /// The study's identity, as in its records.
    pub id: String,
    pub name: String,
    /// Bytes of all records.
    pub bytes: usize,
    pub blocks: StudyBlocks,
}

/// A record, before it is known whether the record can be used.
pub(super) struct CheckedText {
    pub record: Record,
    pub run: SiteRun,
}

/// Checks a record, and extracts what lists need.
///
/// # Errors
/// Returns why the text is not a record.
pub(super) fn checked(text: &str, resolve: &ResolveCommandLine<'_>) -> Result<CheckedText, String> {
    if is_submission(text) {
        return Err(
            "it is a submission of published results, which has no record ('postmark published \
             submissions' shows it)"
                .to_owned(),
        );
    }
    let record = Record::from_json(text).map_err(|error| error.to_string())?;
    let summary = verdict::Summary::of(&record);
    let found = verdict::check::check_read(text, (&record, &summary), resolve);
    let found = found.map_err(|error| error.to_string())?;
    let run = SiteRun::of(&record, &summary, CheckResult::of(&found));
    Ok(CheckedText { record, run })
}

/// Returns the documents in a file with records. A page without records has none.
///
/// # Errors
/// Returns the system's error, or an error if the records in a page are damaged.
pub(super) fn texts(file: &SourceFile) -> io::Result<Vec<Reading>> {
    let opened = file.open()?;
    if file.name.ends_with(".html") {
        return page_texts(opened);
    }
    Ok(vec![Documents::of(record_source::unpacked(opened)?)])
}

/// The documents of one file, read one at a time.
pub(super) type Reading = Documents<Box<dyn io::Read>>;

fn page_texts(file: File) -> io::Result<Vec<Reading>> {
    match record_source::unpacked(file) {
        Ok(source) => Ok(vec![Documents::of(source)]),
        Err(error) if error.to_string() == page::PageError::None.to_string() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

pub(super) struct Intake<'a> {
    pub site: Site,
    pub studies: BTreeMap<String, StudyRecords>,
    output: &'a mut SiteOutput,
    resolve: &'a ResolveCommandLine<'a>,
    /// Hashes of the records by identity, to tell copies of a record from conflicts.
    seen: BTreeMap<String, u128>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        site: Site,
        output: &'a mut SiteOutput,
        resolve: &'a ResolveCommandLine<'a>,
    ) -> Self {
        Self {
            site,
            studies: BTreeMap::new(),
            output,
            resolve,
            seen: BTreeMap::new(),
        }
    }

    /// Adds the records of a file. `submission` is the index of the submission that the file
    /// belongs to.
    ///
    /// # Errors
    /// Returns an error if the site cannot be written. Problems of the file become a part of the
    /// site.
    pub(super) fn add(
        &mut self,
        file: &SourceFile,
        submission: Option<usize>,
    ) -> Result<(), Error> {
        match file.kind {
            SourceKind::Archive => self.archive(file, submission),
            SourceKind::Records => self.records(file, submission),
            SourceKind::Design | SourceKind::Submission => Ok(()),
        }
    }

    fn records(&mut self, file: &SourceFile, submission: Option<usize>) -> Result<(), Error> {
        let all = match texts(file) {
            Ok(all) => all,
            Err(cause) => {
                self.reject(&file.name, &format!("cannot read it: {cause}"));
                return Ok(());
            }
        };
        for (place, text) in (1..).zip(all.into_iter().flatten()) {
            let problem = match text {
                Ok(text) => self.document(&text, submission)?,
                Err(error) => Some(format!("not a record: {error}")),
            };
            if let Some(why) = problem {
                self.reject(&file.name, &format!("document {place}: {why}"));
            }
        }
        Ok(())
    }

    fn reject(&mut self, name: &str, why: &str) {
        self.site.problems.push(SourceProblem::new(name, why));
    }

    /// Adds a record. Returns why it cannot be used.
    fn document(&mut self, text: &str, submission: Option<usize>) -> Result<Option<String>, Error> {
        let CheckedText { record, mut run } = match checked(text, self.resolve) {
            Ok(checked) => checked,
            Err(why) => return Ok(Some(why)),
        };
        let text = sanitize::json(text.trim()).into_owned() + "\n";
        let hash = hash(&record);
        match self.seen.insert(run.id.clone(), hash) {
            Some(other) if other == hash => return Ok(None),
            Some(other) => {
                self.seen.insert(run.id.clone(), other);
                return Ok(Some(format!(
                    "another record has the same identity, {} (remove the wrong one)",
                    run.id
                )));
            }
            None => {}
        }
        self.output.write(&record_path(&run.id), &text)?;
        run.submission = submission;
        if let (Some(part), Some(of)) = (&record.study, &run.study) {
            let study = self.studies.entry(of.key.clone()).or_default();
            study.id.clone_from(&part.study);
            study.name = document::units::shortened(&part.name, 80);
            study.bytes += text.len();
            study.blocks.add(&of.cell_key, part, run.level);
        }
        let systems = &mut self.site.systems;
        if !systems.contains_key(&run.system) {
            systems.insert(run.system.clone(), SystemEntry::of(&record));
        }
        let workloads = &mut self.site.workloads;
        if !workloads.contains_key(&run.workload) {
            workloads.insert(run.workload.clone(), WorkloadEntry::of(&record));
        }
        self.site.runs.push(run);
        Ok(None)
    }

    /// Adds the runs of an archive. A copy is opened, because SQLite may change the file, and write
    /// other files beside it.
    fn archive(&mut self, file: &SourceFile, submission: Option<usize>) -> Result<(), Error> {
        let copied = self.output.temporary();
        let result = copied_archive(file, &copied);
        let archive = match result {
            Ok(archive) => archive,
            Err(()) => {
                remove_copy(&copied);
                let why = "it is not an archive that can be read ('postmark list --archive FILE' \
                           shows the problem)";
                self.reject(&file.name, why);
                return Ok(());
            }
        };
        let added = self.archived(file, &archive, submission);
        drop(archive);
        remove_copy(&copied);
        added
    }

    fn archived(
        &mut self,
        file: &SourceFile,
        archive: &Archive,
        submission: Option<usize>,
    ) -> Result<(), Error> {
        let Ok(runs) = archive.list(&Filter::default()) else {
            self.reject(&file.name, "its list of runs cannot be read");
            return Ok(());
        };
        for entry in runs {
            let number = entry.number.unwrap_or_default();
            let problem = match archive.record(number) {
                Ok(record) => {
                    let text = Remarks::from(&entry).document(&record);
                    self.document(&text, submission)?
                }
                Err(_) => Some("its record cannot be read".to_owned()),
            };
            if let Some(why) = problem {
                self.reject(&file.name, &format!("run {number}: {why}"));
            }
        }
        Ok(())
    }
}

/// Hashes a record without its summary and remarks, so that the copies of a record in a file and in
/// an archive are equal.
fn hash(record: &Record) -> u128 {
    let text = serde_json::to_vec(record).unwrap_or_default();
    xxhash_rust::xxh3::xxh3_128(&text)
}

/// Copies an archive with its journals, and opens the copy.
fn copied_archive(file: &SourceFile, to: &Path) -> Result<Archive, ()> {
    let open = file.open().and_then(|mut from| copy(&mut from, to));
    open.map_err(|_| ())?;
    for end in ["-wal", "-journal"] {
        let mut beside = file.path.as_os_str().to_owned();
        beside.push(end);
        match open_regular(Path::new(&beside)) {
            Ok(mut from) => copy(&mut from, &with_end(to, end)).map_err(|_| ())?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return Err(()),
        }
    }
    let opening = Opening {
        path: to,
        journal: JournalMode::Rollback,
        owner: None,
        make: false,
        patience: std::time::Duration::from_secs(2),
    };
    Archive::open(&opening).map_err(|_| ())
}

fn with_end(path: &Path, end: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn remove_copy(path: &Path) {
    for end in ["", "-wal", "-journal", "-shm"] {
        // A file that does not exist needs no removal.
        let _ = std::fs::remove_file(with_end(path, end));
    }
}
