//! The pages of studies: of those whose runs are in the site, and of study files.

use std::collections::BTreeMap;
use std::io::Read;

use document::Document;
use record::Record;
use report::page::{ComparedPage, PageRun};
use report::site::{self, Site, SiteRun, SourceProblem, StudyEntry, key, record_path};
use study::statistics::ALPHA;
use study::{Comparisons, Design, SideGroup, StudyComparisons, UnlikeWhat, unlike};

use super::intake::StudyRecords;
use super::output::SiteOutput;
use super::sources::{SourceFile, SourceKind};
use crate::error::Error;
use crate::study::found;
use crate::study::select::{Found, compared};

/// Largest size of the records of a study that are compared, in bytes. All of them are in memory.
const COMPARED_BYTES_MAX: usize = 64 << 20;
/// Largest size of a study file in bytes.
const DESIGN_BYTES_MAX: u64 = 1 << 20;

/// A study file without runs in the site.
pub(super) struct PlannedStudy {
    entry: StudyEntry,
    design: Design,
    file: String,
}

/// Adds all studies to the site. Returns the study files without runs.
pub(super) fn entries(
    site: &mut Site,
    studies: &BTreeMap<String, StudyRecords>,
    files: &[SourceFile],
) -> Vec<PlannedStudy> {
    for (key, study) in studies {
        let runs = site.runs.iter();
        let runs = runs.filter(|run| run.study.as_ref().is_some_and(|part| part.key == *key));
        let runs: Vec<&SiteRun> = runs.collect();
        let blocks = runs
            .iter()
            .filter_map(|run| Some(run.study.as_ref()?.block));
        let blocks: std::collections::BTreeSet<u32> = blocks.collect();
        let begun_unix_ns = runs.iter().map(|run| run.begun_unix_ns).max().unwrap_or(0);
        let entry = StudyEntry {
            key: key.clone(),
            name: study.name.clone(),
            runs: runs.len(),
            blocks: blocks.len(),
            begun_unix_ns,
        };
        site.studies.push(entry);
    }
    let mut planned = Vec::new();
    for file in files.iter().filter(|file| file.kind == SourceKind::Design) {
        match read_design(file) {
            Ok(None) => {}
            Ok(Some(design)) => {
                let entry = StudyEntry {
                    key: key(&design.text),
                    name: document::units::shortened(&design.name, 80),
                    runs: 0,
                    blocks: 0,
                    begun_unix_ns: 0,
                };
                let is_known = |other: &StudyEntry| other.key == entry.key;
                if !site.studies.iter().any(is_known) {
                    site.studies.push(entry.clone());
                    let file = document::units::shortened(&file.name, 160);
                    planned.push(PlannedStudy {
                        entry,
                        design,
                        file,
                    });
                }
            }
            Err(why) => site.problems.push(SourceProblem::new(&file.name, &why)),
        }
    }
    let newest_first = |one: &StudyEntry, other: &StudyEntry| {
        let time = other.begun_unix_ns.cmp(&one.begun_unix_ns);
        time.then_with(|| (&one.name, &one.key).cmp(&(&other.name, &other.key)))
    };
    site.studies.sort_by(newest_first);
    planned
}

/// Reads a study file. Returns `None` for another TOML file.
fn read_design(file: &SourceFile) -> Result<Option<Design>, String> {
    let mut text = String::new();
    let read = file
        .open()
        .and_then(|file| file.take(DESIGN_BYTES_MAX).read_to_string(&mut text));
    read.map_err(|cause| format!("cannot read it: {cause}"))?;
    let Ok(table) = text.parse::<toml::Table>() else {
        return Err("it is not TOML".to_owned());
    };
    if !table.contains_key("targets") || !table.contains_key("workload") {
        return Ok(None);
    }
    let design = Design::parse(&text);
    design
        .map(Some)
        .map_err(|error| format!("it is not a study file: {error}"))
}

/// Writes the pages of all studies.
pub(super) fn write(
    output: &mut SiteOutput,
    site: &Site,
    studies: &BTreeMap<String, StudyRecords>,
    planned: &[PlannedStudy],
) -> Result<(), Error> {
    for of in planned {
        let page = site::planned_study(site, &of.entry, &of.design, &of.file);
        output.write(&format!("study/{}.html", of.entry.key), &page)?;
        output.write(&format!("design/{}.toml", of.entry.key), &of.design.text)?;
    }
    for (key, study) in studies {
        let Some(entry) = site.studies.iter().find(|entry| entry.key == *key) else {
            continue;
        };
        let page = match study.bytes <= COMPARED_BYTES_MAX {
            true => page(output, site, entry, study)?,
            false => {
                let megabytes = COMPARED_BYTES_MAX >> 20;
                let why = format!("their records have more than {megabytes} MiB");
                site::study(site, entry, None, &why)
            }
        };
        output.write(&format!("study/{key}.html"), &page)?;
    }
    Ok(())
}

/// The page of a study with the comparisons of its runs.
fn page(
    output: &SiteOutput,
    site: &Site,
    entry: &StudyEntry,
    study: &StudyRecords,
) -> Result<String, Error> {
    let mut records = Vec::new();
    let runs = site.runs.iter().rev();
    for run in runs.filter(|run| run.study.as_ref().is_some_and(|part| part.key == entry.key)) {
        let text = output.read(&record_path(&run.id))?;
        if let Ok(record) = Record::from_json(&text) {
            records.push((record, Some(records.len() as u64 + 1)));
        }
    }
    let not_compared = |why: &Error| site::study(site, entry, None, &why.to_string());
    let found = match found::of_records(&study.id, &records, &[]) {
        Ok(found) => found,
        Err(why) => return Ok(not_compared(&why)),
    };
    let mut all = match compared(&found, &found.runs, &[]) {
        Ok(all) => all,
        Err(why) => return Ok(not_compared(&why)),
    };
    let more = keep_alike(&found.design, &found, &mut all);
    let numbered = records.iter().filter_map(|(record, number)| {
        let run = PageRun {
            record,
            json: "",
            remarks: Document::default(),
            more: Document::default(),
        };
        Some(((*number)?, run))
    });
    let page = ComparedPage {
        name: entry.name.clone(),
        groups: &all.groups,
        tables: &all.tables,
        metrics: &all.metrics,
        design: Some(&found.design),
        more,
        runs: numbered.collect(),
    };
    Ok(site::study(site, entry, Some(&page), ""))
}

/// Removes configurations with another fingerprint than their baseline, because a site compares
/// only equal work. Returns a note that names them.
fn keep_alike(design: &Design, found: &found::FoundStudy, all: &mut Found) -> Document {
    let mut note = Document::default();
    let mut removed = Vec::new();
    for SideGroup { baseline, sides } in &mut all.groups {
        sides.retain(|side| {
            let differences = unlike(side, &baseline.side);
            let is_alike = !differences
                .iter()
                .any(|of| of.what == UnlikeWhat::Fingerprint);
            if !is_alike {
                removed.push(document::units::shortened(&side.label, 80));
            }
            is_alike
        });
    }
    if removed.is_empty() {
        return note;
    }
    let alpha = design.cells().map_or(ALPHA, |cells| {
        StudyComparisons::of(design, &cells, &found.runs, &all.metrics).alpha
    });
    all.tables = Comparisons::of_groups(&all.groups, &all.metrics, alpha);
    all.tables.retain(|table| !table.rows.is_empty());
    note.words(format!(
        "Not compared, because their fingerprints differ from that of the baseline: {}",
        removed.join(", ")
    ));
    note
}
