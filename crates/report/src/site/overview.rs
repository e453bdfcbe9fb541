//! The overview, the lists of systems, workloads and studies, the rules, and the checks.

use std::collections::BTreeMap;

use document::sanitize::html;
use document::units::{counted, grouped};
use study::publication::{DOUBTS_ALLOWED, MEMORY_FACTOR};
use study::statistics::BLOCKS_MIN;
use study::{ResultClass, StrictRule};

use super::list::{SHORT_MAX, list};
use super::markup::{SiteCell, SiteColumn, SiteRow, anchor, moment, pairs, table};
use super::model::{
    Site, SiteRun, SourceProblem, StudyEntry, SystemEntry, WorkloadEntry, record_path, run_path,
};
use super::shell::{PageScript, page};

/// Number of runs on the overview.
const NEWEST: usize = 20;

/// The first page of the site.
pub fn index(site: &Site) -> String {
    let mut main = String::from("<section class=\"strip\" aria-label=\"In short\">\n");
    let wrong = site.runs.iter().filter(|run| !run.check.is_right).count() + site.problems.len();
    main += &pairs(&[
        ("Runs", grouped(site.runs.len() as u64)),
        ("Systems", grouped(site.systems.len() as u64)),
        ("Workloads", grouped(site.workloads.len() as u64)),
        ("Studies", grouped(site.studies.len() as u64)),
        ("Classes", classes(site)),
        (
            "Checks",
            anchor(
                &format!("{} with findings", counted(wrong as u64, "record")),
                "checks.html",
            ),
        ),
    ]);
    main += "</section>\n";
    if !site.collections.is_empty() {
        main += "<h2>Collections</h2>\n<ul>\n";
        for (name, title) in &site.collections {
            main += &format!(
                "<li>{}</li>\n",
                anchor(title, &format!("collection/{name}.html"))
            );
        }
        main += "</ul>\n";
    }
    main += "<h2>Newest runs</h2>\n";
    let newest: Vec<&SiteRun> = site.runs.iter().take(NEWEST).collect();
    main += &list(site, &newest, "", None);
    main += "<p><a href=\"runs.html\">All runs</a></p>\n";
    page(site, &site.title.clone(), "", &main, PageScript::None)
}

fn classes(site: &Site) -> String {
    let count = |class: ResultClass| site.runs.iter().filter(|run| run.class == class).count();
    let words = ResultClass::ALL
        .into_iter()
        .filter(|class| count(*class) > 0);
    let words = words.map(|class| format!("{} {}", count(class), class.name()));
    let words: Vec<String> = words.collect();
    match words.is_empty() {
        true => "none".to_owned(),
        false => words.join(", "),
    }
}

/// A page with one table, which the script of the page filters if it is long.
fn listed(
    site: &Site,
    title: &str,
    intro: &str,
    columns: &[SiteColumn],
    rows: &[SiteRow],
) -> String {
    let is_long = rows.len() > SHORT_MAX;
    let mut main = format!("<p>{intro}</p>\n");
    main += &table(title, columns, rows, is_long);
    let script = if is_long {
        PageScript::List
    } else {
        PageScript::None
    };
    page(site, title, "", &main, script)
}

/// How many runs have each value.
fn counts(site: &Site, of: fn(&SiteRun) -> &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for run in &site.runs {
        *counts.entry(of(run)).or_insert(0) += 1;
    }
    counts
}

pub fn systems(site: &Site) -> String {
    let counts = counts(site, |run| &run.system);
    let mut all: Vec<_> = site.systems.iter().collect();
    all.sort_by(|one, other| (&one.1.name, one.0).cmp(&(&other.1.name, other.0)));
    let row = |(key, entry): (&String, &SystemEntry)| -> SiteRow {
        vec![
            SiteCell::link(&entry.name, format!("system/{key}.html")),
            SiteCell::count(counts.get(key.as_str()).copied().unwrap_or(0)),
        ]
        .into()
    };
    let rows: Vec<SiteRow> = all.into_iter().map(row).collect();
    let columns = [SiteColumn::words("System"), SiteColumn::number("Runs")];
    let intro = "A system is a machine with its kernel and the kind of its file system, by name.";
    listed(site, "Systems", intro, &columns, &rows)
}

pub fn workloads(site: &Site) -> String {
    let counts = counts(site, |run| &run.workload);
    let mut all: Vec<_> = site.workloads.iter().collect();
    all.sort_by(|one, other| (&one.1.name, one.0).cmp(&(&other.1.name, other.0)));
    let row = |(key, entry): (&String, &WorkloadEntry)| -> SiteRow {
        vec![
            SiteCell::link(&entry.name, format!("workload/{key}.html")),
            SiteCell::Text(document::units::shortened(&entry.words, 200)),
            SiteCell::count(counts.get(key.as_str()).copied().unwrap_or(0)),
        ]
        .into()
    };
    let rows: Vec<SiteRow> = all.into_iter().map(row).collect();
    let columns = [
        SiteColumn::facet("Preset or kind"),
        SiteColumn::words("Work"),
        SiteColumn::number("Runs"),
    ];
    let intro = "Runs of one workload have the same fingerprint: they performed the same \
                 operations, and its page compares them. Presets with another number of files are \
                 other workloads.";
    listed(site, "Workloads", intro, &columns, &rows)
}

pub fn studies(site: &Site) -> String {
    let row = |study: &StudyEntry| -> SiteRow {
        let begun = match study.begun_unix_ns {
            0 => "no runs".to_owned(),
            begun => moment(begun),
        };
        vec![
            SiteCell::link(&study.name, format!("study/{}.html", study.key)),
            SiteCell::Text(begun),
            SiteCell::count(study.runs),
            SiteCell::count(study.blocks),
        ]
        .into()
    };
    let rows: Vec<SiteRow> = site.studies.iter().map(row).collect();
    let columns = [
        SiteColumn::words("Study"),
        SiteColumn::words("Last run (UTC)"),
        SiteColumn::number("Runs"),
        SiteColumn::number("Blocks"),
    ];
    let intro = "A study compares configurations in blocks of random order, with confidence \
                 intervals.";
    listed(site, "Studies", intro, &columns, &rows)
}

/// The page with the classes and their rules.
pub fn rules(site: &Site) -> String {
    let mut main = String::from(
        "<p>Results are compared only if their fingerprints and their classes are equal.</p>\n",
    );
    let allowed = DOUBTS_ALLOWED.join(" or ");
    let strict = format!(
        "A run of a submission that keeps all of these rules: a preset whose operations are \
         unchanged; the verdict VALID, or DOUBTFUL only by the rules {allowed}; at least \
         {BLOCKS_MIN} blocks of a study with its A/A control; a declared state of the cache; a \
         pool {MEMORY_FACTOR} times as large as the memory, or a cold cache; a record that agrees \
         with its own numbers."
    );
    for (class, words) in [
        (ResultClass::Strict, strict.as_str()),
        (
            ResultClass::Open,
            "A submission discloses who measured, the system, what was tuned, and the licence of \
             the data.",
        ),
        (
            ResultClass::Historic,
            "Printed from 1997 to 2004; part of the program that built this site.",
        ),
        (ResultClass::Unclassified, "A record without a submission."),
    ] {
        main += &format!("<h2>{}</h2>\n<p>{}</p>\n", class.name(), html(words));
    }
    main += "<h2>Rules of the class strict</h2>\n<dl>\n";
    for rule in [
        StrictRule::PresetUnchanged,
        StrictRule::VerdictAllowed,
        StrictRule::CacheDeclared,
        StrictRule::LargerThanMemory,
        StrictRule::BlocksWithControl,
        StrictRule::RecordAgrees,
    ] {
        main += &format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            rule.name(),
            html(rule.advice())
        );
    }
    main += "</dl>\n<p>'postmark site check' applies these rules to a submission.</p>\n";
    page(site, "Rules", "", &main, PageScript::None)
}

/// The page with the findings of `check`, and the files that could not be used.
pub fn checks(site: &Site) -> String {
    let mut main = String::from(
        "<p>Every record is checked: summary and verdict are derived again, and the numbers must \
         agree with one another.</p>\n<h2>Records with findings</h2>\n",
    );
    let wrong: Vec<&SiteRun> = site.runs.iter().filter(|run| !run.check.is_right).collect();
    let row = |run: &&SiteRun| -> SiteRow {
        vec![
            SiteCell::link(&run.id, run_path(&run.id)),
            SiteCell::link("record", record_path(&run.id)),
            SiteCell::Text(run.check.lines.join("; ")),
        ]
        .into()
    };
    let rows: Vec<SiteRow> = wrong.iter().map(row).collect();
    let columns = ["Run", "File", "Found"].map(SiteColumn::words);
    main += &match rows.is_empty() {
        true => "<p>None.</p>\n".to_owned(),
        false => table("Records with findings", &columns, &rows, false),
    };
    main += "<h2>Files that were not used</h2>\n";
    let problem = |problem: &SourceProblem| -> SiteRow {
        vec![
            SiteCell::Text(problem.file.clone()),
            SiteCell::Text(problem.why.clone()),
        ]
        .into()
    };
    let rows: Vec<SiteRow> = site.problems.iter().map(problem).collect();
    let columns = ["File", "Why"].map(SiteColumn::words);
    main += &match rows.is_empty() {
        true => "<p>None.</p>\n".to_owned(),
        false => table("Files that were not used", &columns, &rows, false),
    };
    page(site, "Checks", "", &main, PageScript::None)
}
