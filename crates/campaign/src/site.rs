//! Builds a static site out of the records, archives and study files below a directory, and checks
//! submissions. Neither needs a server, a network or a clock, so the same files make the same site
//! on every machine.
//!
//! A build reads one record at a time: it checks the record, copies it into the site, and keeps
//! about 2 KiB for lists. When all records are known, it writes their pages from these copies.

mod check;
mod disclosed;
mod historic;
mod intake;
mod output;
mod sources;
mod studies;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use record::Record;
use report::site::{self, Order, Site, SourceProblem, record_path, run_path};
use study::{ResultClass, StrictBreach, StrictRule, StudyBlocks};
use verdict::check::ResolveCommandLine;

pub use self::check::{CheckedSubmission, SubmissionProblem, check};
use self::intake::{Intake, StudyRecords};
use self::output::SiteOutput;
use self::sources::{SourceFile, SourceKind, Sources, submission_of};
use crate::error::Error;

/// A request to build a site.
#[derive(Clone, Copy, Debug)]
pub struct SiteRequest<'a> {
    /// The directory with records, archives and study files.
    pub directory: &'a Path,
    pub output: &'a Path,
    pub title: &'a str,
    /// The address at which the site is published; used by the feed.
    pub url: Option<&'a str>,
}

/// What a build has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuiltSite {
    pub runs: usize,
    pub systems: usize,
    pub studies: usize,
    /// Files that were not used, and records with findings.
    pub problems: usize,
}

/// Builds a site, and replaces an earlier one.
///
/// # Errors
/// Returns an error if the directory cannot be read, or the site cannot be written. An earlier site
/// then remains.
pub fn build(
    request: SiteRequest<'_>,
    resolve: &ResolveCommandLine<'_>,
) -> Result<BuiltSite, Error> {
    let mut output = SiteOutput::begin(request.output)?;
    let place = output.place();
    let sources = Sources::find(request.directory, place)?;
    let url = request
        .url
        .map(|url| format!("{}/", url.trim_end_matches('/')));
    let site = Site {
        title: request.title.to_owned(),
        url,
        problems: sources.problems,
        ..Site::default()
    };
    let mut intake = Intake::new(site, &mut output, resolve);
    let directories = submissions(&sources.files, &mut intake.site);
    for file in &sources.files {
        intake.add(file, submission_of(&file.path, &directories))?;
    }
    let Intake {
        mut site, studies, ..
    } = intake;
    let newest_first = |one: &site::SiteRun, other: &site::SiteRun| {
        (other.begun_unix_ns, &other.id).cmp(&(one.begun_unix_ns, &one.id))
    };
    site.runs.sort_by(newest_first);
    classify(&mut site, &studies);
    let designs = studies::entries(&mut site, &studies, &sources.files);
    let published = historic::collections(&mut site);
    studies::write(&mut output, &site, &studies, &designs)?;
    historic::write(&mut output, &site, &published)?;
    write_pages(&mut output, &site)?;
    let wrong = site.runs.iter().filter(|run| !run.check.is_right).count();
    let built = BuiltSite {
        runs: site.runs.len(),
        systems: site.systems.len(),
        studies: site.studies.len(),
        problems: wrong + site.problems.len(),
    };
    output.finish()?;
    Ok(built)
}

/// Reads all submissions. Returns their directories with their indices.
fn submissions(files: &[SourceFile], site: &mut Site) -> BTreeMap<PathBuf, usize> {
    let mut directories = BTreeMap::new();
    for file in files
        .iter()
        .filter(|file| file.kind == SourceKind::Submission)
    {
        match disclosed::read(file) {
            Ok(disclosure) => {
                let directory = file.path.parent().unwrap_or(Path::new(""));
                directories.insert(directory.to_owned(), site.submissions.len());
                site.submissions.push(disclosure);
            }
            Err(problems) => {
                for problem in problems {
                    let name = format!("{}:{}", file.name, problem.line);
                    site.problems.push(SourceProblem::new(&name, &problem.why));
                }
            }
        }
    }
    directories
}

/// Determines the classes of all runs. All runs of a study have one class, the lowest of its runs
/// that count, because a study compares its runs.
fn classify(site: &mut Site, studies: &BTreeMap<String, StudyRecords>) {
    let mut of_studies: BTreeMap<String, ResultClass> = BTreeMap::new();
    for run in &mut site.runs {
        let of_study = match &run.study {
            None => Some(StudyBlocks::no_study()),
            Some(part) => studies
                .get(&part.key)
                .and_then(|study| study.blocks.breach(&part.cell_key)),
        };
        run.breaches.extend(of_study);
        if !run.check.is_right {
            let why = "its numbers do not agree with one another, or with its summary";
            run.breaches
                .push(StrictBreach::new(StrictRule::RecordAgrees, why));
        }
        let claimed = run.submission.and_then(|at| site.submissions.get(at));
        run.class = match claimed.map(|claimed| claimed.class) {
            None => ResultClass::Unclassified,
            Some(ResultClass::Strict) if run.breaches.is_empty() => ResultClass::Strict,
            Some(_) => ResultClass::Open,
        };
        if let Some(part) = &run.study {
            let lowest = of_studies
                .entry(part.key.clone())
                .or_insert(ResultClass::Strict);
            if run.is_counted() || run.class == ResultClass::Unclassified {
                *lowest = run.class.max(*lowest);
            }
        }
    }
    for run in &mut site.runs {
        let lowest = run
            .study
            .as_ref()
            .and_then(|part| of_studies.get(&part.key));
        run.class = lowest.copied().unwrap_or(run.class);
    }
}

/// Writes the pages of runs, systems and workloads, the lists, and the feed.
fn write_pages(output: &mut SiteOutput, site: &Site) -> Result<(), Error> {
    for run in &site.runs {
        let text = output.read(&record_path(&run.id))?;
        let record = Record::from_json(&text).map_err(|cause| {
            Error::failed(format_args!(
                "cannot read the record {} again: {cause} (build the site again)",
                run.id
            ))
        })?;
        output.write(&run_path(&run.id), &site::run(site, run, &record))?;
    }
    for key in site.systems.keys() {
        if let Some(page) = site::system(site, key) {
            output.write(&format!("system/{key}.html"), &page)?;
        }
    }
    for key in site.workloads.keys() {
        if let Some(page) = site::workload(site, key) {
            output.write(&format!("workload/{key}.html"), &page)?;
        }
    }
    for order in Order::ALL {
        if let Some(page) = site::runs(site, order) {
            output.write(order.file(), &page)?;
        }
    }
    let pages = [
        ("index.html", site::index(site)),
        ("systems.html", site::systems(site)),
        ("workloads.html", site::workloads(site)),
        ("studies.html", site::studies(site)),
        ("rules.html", site::rules(site)),
        ("checks.html", site::checks(site)),
        ("feed.xml", site::feed(site)),
    ];
    for (name, page) in pages {
        output.write(name, &page)?;
    }
    Ok(())
}
