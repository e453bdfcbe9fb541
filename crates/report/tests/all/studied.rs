//! Pages of studies and comparisons: charts show the values of the tables, and every configuration
//! links to its runs.

use std::io::Read;

use document::{Block, Document, Picture};
use record::study::StudyPart;
use record::{Action, Phase, Record};
use report::figures::{comparison_figures, run_figures};
use report::page::{ComparedPage, comparison_document, comparison_page, records};
use study::statistics::ALPHA;
use study::{
    Comparisons, Design, Metric, Observed, StudyComparisons, StudyRun, UnlikeWhat, groups,
};
use testkit::Shows;
use verdict::Level;

use crate::built;
use crate::noisy::noisy;
use crate::paged::{is_well_formed, without_script};
use crate::pages::{HOSTILE, run as on_page};

const RUN: &str = include_str!("../golden/run.json");
const DESIGN: &str = r#"
name = "pool"
blocks = 6
metrics = ["transactions", "create.p90"]
targets = [{ name = "ext4", at = "/mnt/ext4" }, { name = "xfs", at = "/mnt/xfs" }]

[axes]
files = [500, 2000, 8000]

[[workload]]
preset = "mail"
"#;

struct Made {
    design: Design,
    runs: Vec<StudyRun>,
    records: Vec<(u64, Record, String)>,
}

/// The runs of a study with `blocks` blocks: xfs achieves 0.7 of ext4's rate, and one run is
/// INVALID.
fn made(blocks: u32) -> Made {
    let design = Design::parse(DESIGN).unwrap();
    let cells = design.cells().unwrap();
    let kept = built::private(&Record::from_json(RUN).unwrap());
    let mut all = Made {
        design: design.clone(),
        runs: Vec::new(),
        records: Vec::new(),
    };
    for block in 1..=blocks {
        for (position, run) in (1..).zip(design.block(&cells, block, 1)) {
            let number = all.records.len() as u64 + 1;
            let cell = &cells[run.cell];
            let mut record = kept.clone();
            record.id = format!("{number:032x}").parse().unwrap();
            record.origin.unix_ns += number as i64 * 1_000_000_000;
            record.study = Some(StudyPart {
                study: "0123456789ab".to_owned(),
                name: design.name.clone(),
                design: design.text.clone(),
                cell: cell.label.clone(),
                coordinates: cell.coordinates.clone(),
                is_twin: run.is_twin,
                block,
                attempt: 1,
                position,
                side: None,
                quiet: None,
                made: None,
                age: None,
            });
            // The transactions are the same in all runs, so the duration determines the rate.
            let slower = if cell.target == 1 { 10 } else { 7 };
            let noise = u64::from(block * 7 + position) % 5;
            for phase in &mut record.actual.phases {
                if phase.phase != Phase::Transactions {
                    continue;
                }
                for segment in &mut phase.segments {
                    segment.ended_ns = segment.began_ns + (slower * 1_000 + noise * 40) * 10_000;
                }
            }
            let mut observed = Observed::of(&record, Some(number), &design.metrics);
            observed.level = if number == 3 {
                Level::Invalid
            } else {
                Level::Valid
            };
            let part = record.study.clone().unwrap();
            all.runs.push(StudyRun { part, observed });
            let json = verdict::to_json(&record);
            all.records.push((number, record, json));
        }
    }
    all
}

pub fn page_of_study() -> String {
    with_page(&made(5), comparison_page)
}

fn with_page<T>(made: &Made, use_page: impl FnOnce(&ComparedPage<'_>) -> T) -> T {
    let cells = made.design.cells().unwrap();
    let runs = made
        .records
        .iter()
        .map(|(number, record, json)| (*number, on_page(record, json)));
    use_page(&ComparedPage {
        name: "study pool".to_owned(),
        groups: &groups(&cells, &made.runs),
        tables: &StudyComparisons::of(&made.design, &cells, &made.runs, &made.design.metrics)
            .tables,
        metrics: &made.design.metrics,
        design: Some(&made.design),
        more: Document::default(),
        runs: runs.collect(),
    })
}

fn figures(document: &Document) -> Vec<&Picture> {
    let blocks = document.blocks().iter();
    blocks
        .filter_map(|block| match block {
            Block::Picture(figure) => Some(figure),
            _ => None,
        })
        .collect()
}

fn figure<'a>(document: &'a Document, title: &str) -> &'a Picture {
    let all = figures(document);
    let found = all
        .iter()
        .find(|figure| figure.title.starts_with(title))
        .copied();
    found.unwrap_or_else(|| {
        panic!(
            "{title}: {:?}",
            all.iter().map(|figure| &figure.title).collect::<Vec<_>>()
        )
    })
}

#[test]
fn page_of_a_study_matches_its_golden_file() {
    let made = made(6);
    let page = with_page(&made, comparison_page);
    assert_eq!(
        page,
        with_page(&made, comparison_page),
        "the same records give the same bytes"
    );
    let (_, shown) = page.split_once("<body>").unwrap();
    let (shown, _) = shown.split_once("<h2>Runs").unwrap();
    crate::pages::compare("study.html", include_str!("../golden/study.html"), shown);
    is_well_formed(&without_script(&page));
    let mut read = String::new();
    records(page.as_bytes())
        .unwrap()
        .read_to_string(&mut read)
        .unwrap();
    let jsons: Vec<&str> = made
        .records
        .iter()
        .map(|(_, _, json)| json.as_str())
        .collect();
    assert_eq!(read, jsons.concat());
}

#[test]
fn numbers_of_a_study_page_match_the_comparisons() {
    let made = made(6);
    let cells = made.design.cells().unwrap();
    let tables =
        StudyComparisons::of(&made.design, &cells, &made.runs, &made.design.metrics).tables;
    let document = with_page(&made, comparison_document);
    let plot = figure(&document, "Ratios");
    let drawn = document::csv(&plot.data, "\n");
    let text = document::html(&document);
    let mut intervals = 0;
    for table in &tables {
        for row in &table.rows {
            let ratio = row.estimate().unwrap().ratio;
            let begin = format!("{},{},{},{ratio},", row.side, row.baseline, row.metric);
            drawn.shows(&begin);
            let sentence =
                report::comparison::sentence(row, table.confidence).replace('\u{a0}', " ");
            text.shows(&document::sanitize::html(&sentence));
            intervals += usize::from(row.estimate().unwrap().interval.is_some());
        }
    }
    // The chart contains one range for each confidence interval. The legend contains no ranges.
    assert_eq!(plot.svg.matches("class=\"range").count(), intervals);
    assert_eq!(
        plot.svg.matches("class=\"noise").count(),
        intervals,
        "each baseline has a twin"
    );
}

#[test]
fn values_along_an_axis_are_medians_of_counted_runs() {
    let made = made(6);
    let document = with_page(&made, comparison_document);
    let along = figure(&document, "Transactions/s along files");
    let rows = document::csv(&along.data, "\n");
    let of_cell = made
        .runs
        .iter()
        .filter(|run| run.part.cell == "files=500 xfs" && run.observed.is_counted());
    let mut values: Vec<f64> = of_cell
        .map(|run| run.observed.values[&Metric::Transactions])
        .collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(rows.lines().count(), 7, "{rows}");
    let row = rows
        .lines()
        .find(|row| row.starts_with("files=500 xfs"))
        .unwrap();
    assert!(
        row.ends_with(&format!(",{},{}", values[0], values[values.len() - 1])),
        "{row} {values:?}"
    );
    assert_eq!(along.svg.matches("<circle").count(), 6);
    assert_eq!(along.svg.matches("class=\"range").count(), 6);
}

#[test]
fn every_configuration_links_to_its_runs() {
    let page = page_of_study();
    let links: Vec<&str> = page
        .split("href=\"#")
        .skip(1)
        .map(|part| part.split_once('"').unwrap().0)
        .collect();
    assert!(links.len() > 20, "{links:?}");
    for link in links {
        assert_eq!(page.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
    assert!(page.contains("run 3 of ") && page.contains(" is INVALID"));
    assert!(page.contains("1 INVALID"));
}

#[test]
fn configurations_with_different_conditions_are_marked() {
    let mut made = made(5);
    for run in &mut made.runs {
        if run.part.cell.ends_with("xfs") {
            run.observed
                .conditions
                .insert(UnlikeWhat::CacheState, "cold".to_owned());
        }
    }
    let document = with_page(&made, comparison_document);
    for title in ["Ratios", "Percentiles", "Transactions/s along"] {
        let caption = &figure(&document, title).caption;
        assert!(
            caption.contains("NOT ALIKE") || caption.contains('≠'),
            "{title}: {caption}"
        );
    }
    assert!(
        figure(&document, "Percentiles")
            .caption
            .contains("differ in cache state (cold, as-is)")
    );
}

#[test]
fn page_of_single_runs_outside_a_study_has_no_intervals() {
    let made = made(1);
    let mut groups = groups(&made.design.cells().unwrap(), &made.runs);
    groups.truncate(1);
    for side in groups
        .iter_mut()
        .flat_map(|group| std::iter::once(&mut group.baseline.side).chain(&mut group.sides))
    {
        side.runs.iter_mut().for_each(|run| run.block = None);
    }
    let metrics = [Metric::Transactions];
    let runs = made
        .records
        .iter()
        .map(|(number, record, json)| (*number, on_page(record, json)));
    let page = comparison_page(&ComparedPage {
        name: "<b>xfs".to_owned(),
        groups: &groups,
        tables: &Comparisons::of_groups(&groups, &metrics, ALPHA),
        metrics: &metrics,
        design: None,
        more: Document::default(),
        runs: runs.collect(),
    });
    is_well_formed(&without_script(&page));
    assert!(page.contains("PostMark: &lt;b&gt;xfs"));
    assert!(page.contains("no interval") && !without_script(&page).contains("NaN"));
}

/// The page of a study with markup in its name and in the names of its configurations.
pub fn hostile_study() -> String {
    let made = made(5);
    let mut groups = groups(&made.design.cells().unwrap(), &made.runs);
    for group in &mut groups {
        let twin = group.baseline.twin.iter_mut();
        let sides = std::iter::once(&mut group.baseline.side)
            .chain(twin)
            .chain(&mut group.sides);
        sides.for_each(|side| side.label.push_str(HOSTILE));
    }
    let metrics = &made.design.metrics;
    let runs = made.records.iter();
    comparison_page(&ComparedPage {
        name: HOSTILE.to_owned(),
        groups: &groups,
        tables: &Comparisons::of_groups(&groups, metrics, ALPHA),
        metrics,
        design: Some(&made.design),
        more: Document::default(),
        runs: runs
            .map(|(number, record, json)| (*number, on_page(record, json)))
            .collect(),
    })
}

#[test]
fn page_of_a_study_with_hostile_names_is_well_formed() {
    let page = hostile_study();
    is_well_formed(&without_script(&page));
    assert!(
        !page.contains("<img")
            && !page.contains('\u{202e}')
            && page.matches("<script").count() == 2
    );
}

/// Returns the page of a hundred runs of one minute, each with everything that is recorded over
/// time.
pub fn page_of_a_hundred() -> String {
    let mut made = made(12);
    made.records.truncate(100);
    for (number, record, json) in &mut made.records {
        *record = noisy(
            record,
            *number,
            60,
            &[Action::Read, Action::Append, Action::Create, Action::Delete],
            500,
        );
        *json = verdict::to_json(record);
    }
    with_page(&made, comparison_page)
}

#[test]
fn page_of_a_study_of_a_hundred_runs_is_below_6_megabytes() {
    let page = page_of_a_hundred();
    let (shown, _) = page.split_once("<script").unwrap();
    println!("{} bytes shown, {} in all", shown.len(), page.len());
    assert!(shown.len() < 1_000_000, "{}", shown.len());
    assert!(page.len() < 6_000_000, "{}", page.len());
    // The data is noise, so gzip cannot make it small.
    assert!(page.len() - shown.len() > 3_000_000, "{}", page.len());
}

#[test]
fn figures_for_papers_contain_the_conditions_of_the_runs() {
    let made = made(5);
    let figures = with_page(&made, comparison_figures);
    let ratios = &figures[0];
    let charts = figures
        .iter()
        .find(|figure| figure.name.contains("percentiles"))
        .unwrap();
    assert!(
        !charts.two_columns.contains("data-readings")
            && charts.two_columns.contains("<path class=\"line")
    );
    assert_eq!(ratios.name, "01-ratios-to-the-baseline");
    for (svg, width) in [(&ratios.one_column, "85mm"), (&ratios.two_columns, "178mm")] {
        svg.shows(&format!("<svg width=\"{width}\" height=\""));
        // Programs for writing papers do not support CSS variables. A figure is a separate file, so
        // it must contain its own style.
        assert!(svg.contains("<style>") && !svg.contains("var("));
        // A figure contains no data for a script.
        assert!(!svg.contains("data-readings") && !svg.contains("data-plane"));
    }
    assert!(
        ratios
            .data
            .starts_with("side,baseline,metric,ratio,from,to,A/A from,A/A to\r\n")
    );
    for words in [
        "95 % interval",
        "Fingerprint",
        "500 files",
        "read/append",
        "Durability",
        "Cache",
        "5 blocks",
    ] {
        assert!(
            ratios.caption.contains(words),
            "{words}: {}",
            ratios.caption
        );
    }
    let names: std::collections::BTreeSet<&str> =
        figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names.len(), figures.len(), "each has files of its own");
    let of_run = run_figures(&made.records[0].1, &Document::default());
    assert!(
        of_run
            .iter()
            .any(|figure| figure.caption.contains("Percentiles")
                && figure.caption.contains("Fingerprint"))
    );
}
