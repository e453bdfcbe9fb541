//! The page of a study or of compared configurations: results first, then the details, down to each
//! run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use document::sanitize::html as escaped;
use document::units::{counted, grouped, rate};
use document::{Cell, Document, Tone, html};
use study::{Comparisons, Design, Metric, SideGroup, SideSummary, UnlikeWhat, VerdictCounts};
use verdict::Summary;

use super::file::{PageRun, whole};
use super::sides::{PageSide, all, anchor, in_words};
use super::{cells, ratios, run};
use crate::comparison::{
    self, aa_control_in_words, add_notes, doubts, finding, linked_table, metric_name, noun,
};
use crate::text;

/// The content of the page of a study or of compared configurations.
pub struct ComparedPage<'a> {
    /// A short title, which follows `PostMark:` in the heading of the page.
    pub name: String,
    /// The groups of configurations. Each group has a baseline.
    pub groups: &'a [SideGroup],
    /// The comparisons, for each group that contains configurations.
    pub tables: &'a [Comparisons],
    pub metrics: &'a [Metric],
    /// The design of the study; `None` if the compared runs do not belong to a study.
    pub design: Option<&'a Design>,
    /// Further tables and charts for the page, for example with the results of a paper.
    pub more: Document,
    /// All runs with their archive numbers.
    pub runs: Vec<(u64, PageRun<'a>)>,
}

pub fn comparison_page(page: &ComparedPage<'_>) -> String {
    let title = format!("PostMark: {}", page.name);
    let jsons: Vec<&str> = page.runs.iter().map(|(_, run)| run.json).collect();
    whole(&title, &comparison_main(page), &jsons)
}

/// The content of a comparison page as HTML.
pub(crate) fn comparison_main(page: &ComparedPage<'_>) -> String {
    let sides = all(page.groups, &page.runs);
    let mut main = String::from("<section class=\"strip\" aria-label=\"In short\">\n");
    main += &html(&strip(page, &sides));
    main += "</section>\n";
    if !page.tables.is_empty() {
        main += "<h2>Comparisons</h2>\n<section class=\"ratios\">\n";
        let (mut plot, mut sentences) = (Document::default(), Document::default());
        ratios::plot(&mut plot, page.tables);
        ratios::sentences(&mut sentences, page.tables);
        let _ = writeln!(
            main,
            "<div>\n{}</div>\n<div>\n{}</div>\n</section>",
            html(&plot),
            html(&sentences)
        );
    }
    main += &html(&tables(page, &sides));
    main += &html(&page.more);
    main += &html(&pictures(page, &sides));
    main += "<h2>Runs</h2>\n";
    for side in &sides {
        runs(&mut main, side, page.metrics);
    }
    main
}

/// The content of a comparison page, without the sections of its single runs.
pub fn comparison_document(page: &ComparedPage<'_>) -> Document {
    let sides = all(page.groups, &page.runs);
    let mut document = strip(page, &sides);
    if !page.tables.is_empty() {
        document.title("Comparisons");
        ratios::plot(&mut document, page.tables);
        ratios::sentences(&mut document, page.tables);
    }
    document.append(tables(page, &sides));
    document.append(page.more.clone());
    document.append(pictures(page, &sides));
    document
}

/// The conditions that every chart of the page depends on: the summary at the top, the sentences of
/// the comparisons, and the workloads.
pub fn comparison_conditions(page: &ComparedPage<'_>) -> Document {
    let mut document = strip(page, &all(page.groups, &page.runs));
    document.gap();
    ratios::sentences(&mut document, page.tables);
    let mut works = BTreeMap::new();
    for (_, run) in &page.runs {
        works.insert(run.record.fingerprint.to_string(), run.record);
    }
    for (fingerprint, record) in works {
        let shares = Summary::of(record).shares;
        text::workload_lines(&mut document, &record.spec.workload, &shares);
        document.sentence("Fingerprint", fingerprint);
    }
    document
}

/// The summary at the top of the page, without which the ratios below could be misunderstood.
fn strip(page: &ComparedPage<'_>, sides: &[PageSide<'_>]) -> Document {
    let mut strip = Document::default();
    result(&mut strip, page.tables);
    findings(&mut strip, page.tables);
    size(&mut strip, page, sides);
    aa_control(&mut strip, page.tables);
    levels(&mut strip, sides);
    for (key, what) in [
        ("Durability", UnlikeWhat::DurabilityTier),
        ("Cache", UnlikeWhat::CacheState),
        ("Host", UnlikeWhat::Host),
    ] {
        let mut found: Vec<String> = sides.iter().map(|side| side.conditions(what)).collect();
        found.sort();
        found.dedup();
        found.retain(|condition| !condition.is_empty());
        let is_one = found.len() < 2;
        let words = match found.is_empty() {
            true => "not available (no run is counted)".to_owned(),
            false => found.join(" and "),
        };
        strip.sentence(key, words);
        if !is_one {
            strip.paint(vec![(found.join(" and "), Tone::Doubtful)]);
        }
    }
    let runs = page.runs.iter();
    let errors = runs.flat_map(|(_, run)| &run.record.actual.errors);
    let errors = errors.fold(0_u64, |sum, error| sum.saturating_add(error.count));
    let words = match errors {
        0 => "none".to_owned(),
        errors => grouped(errors),
    };
    strip.sentence("Errors", words);
    let mut all: Vec<String> = page.tables.iter().flat_map(doubts).collect();
    all.dedup();
    for doubt in all {
        strip.warning(doubt);
    }
    strip
}

fn result(strip: &mut Document, tables: &[Comparisons]) {
    let rows = || tables.iter().flat_map(|table| &table.rows);
    let all = rows().count() as u64;
    let shown = rows()
        .filter(|row| row.estimate().is_some_and(|estimate| estimate.is_shown))
        .count() as u64;
    let none = rows().filter(|row| row.estimate().is_none()).count() as u64;
    if all == 0 {
        strip.sentence("Differences", "not available (there is nothing to compare)");
        return;
    }
    let found = format!("{} of {}", grouped(shown), grouped(all));
    let (mut words, tone) = match tables.iter().any(|table| table.is_doubtful) {
        true => (format!("{found}, DOUBTFUL"), Tone::Doubtful),
        false => (found, Tone::Headline),
    };
    let painted = words.clone();
    words += " comparisons show a difference";
    if none > 0 {
        words += &format!("; {} without a ratio", grouped(none));
    }
    strip.sentence("Differences", words);
    strip.paint(vec![(painted, tone)]);
}

/// Adds the findings of the first comparisons that have a ratio.
fn findings(strip: &mut Document, tables: &[Comparisons]) {
    /// Maximum number of findings in the summary.
    const SHOWN: usize = 4;
    let of_table = |of: &Comparisons| {
        let rows = of.rows.iter().filter(|row| row.estimate().is_some());
        let words = rows.map(|row| {
            // With several tables, only the whole name distinguishes the configurations.
            let side = of.side(&row.side).filter(|_| tables.len() == 1);
            let name = side.map_or(&row.side, |side| &side.name);
            format!("{}: {}", metric_name(row.metric), finding(row, Some(name)))
        });
        words.collect::<Vec<String>>()
    };
    let mut all: Vec<String> = tables.iter().flat_map(of_table).collect();
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    if more > 0 {
        all.push(format!("and {more} more below"));
    }
    if !all.is_empty() {
        strip.sentence("Findings", all.join("; "));
    }
}

fn size(strip: &mut Document, page: &ComparedPage<'_>, sides: &[PageSide<'_>]) {
    let blocks: BTreeSet<u32> = sides
        .iter()
        .flat_map(|side| side.compared.runs.iter())
        .filter_map(|run| Some(run.block.as_ref()?.number))
        .collect();
    let runs: usize = sides.iter().map(|side| side.runs.len()).sum();
    let cells = sides.iter().filter(|side| !side.is_twin).count() as u64;
    let name = if page.design.is_some() {
        "cell"
    } else {
        "side"
    };
    let mut words = format!("{}, {}", counted(cells, name), counted(runs as u64, "run"));
    match blocks.len() {
        0 => words += ", not in blocks",
        blocks => words += &format!(", {}", counted(blocks as u64, "block")),
    }
    if let Some(design) = page.design.filter(|design| {
        (design.blocks as usize) > blocks.len()
            && design.until.is_none()
            && design.time_limit.is_none()
    }) {
        words += &format!(" of {} that are planned", design.blocks);
    }
    strip.sentence("Size", words);
}

fn aa_control(strip: &mut Document, tables: &[Comparisons]) {
    let controls: Vec<String> = tables.iter().map(aa_control_in_words).collect();
    let words = match controls.split_first() {
        None => return,
        Some((first, [])) => first.clone(),
        Some((first, rest)) => format!("{first}; and {} more below", rest.len()),
    };
    strip.sentence("A/A control", words);
}

/// Adds the number of runs with each verdict, and the reasons of the verdicts.
fn levels(strip: &mut Document, sides: &[PageSide<'_>]) {
    let runs = sides.iter().flat_map(|side| &side.runs);
    let counts = VerdictCounts::of(runs.map(|run| run.observed));
    strip.sentence("Verdicts of the runs", comparison::verdicts(&counts));
    let levels = comparison::levels(&counts).into_iter();
    let painted = levels.map(|(level, words)| (words, text::reasons::painted(level).1));
    strip.paint(painted.collect());
}

/// Returns a table of each group of comparisons with its notes, and a table of all configurations.
fn tables(page: &ComparedPage<'_>, sides: &[PageSide<'_>]) -> Document {
    let mut document = Document::default();
    let explained = comparison::first_with_ratio_note(page.tables);
    for (number, of) in page.tables.iter().enumerate() {
        document.heading(comparison::subject(of));
        document.words(comparison::size(of));
        let linked = |summary: &SideSummary| {
            let mut sides = sides.iter();
            let side = sides.find(|side| !side.is_twin && side.compared.label == summary.label);
            let name = summary.name.clone();
            match side {
                Some(side) => Cell::Linked(name, side.anchor.clone()),
                None => name.into(),
            }
        };
        document.table(linked_table(of, linked));
        if explained == Some(number) {
            document.words(comparison::ratio_note(of).unwrap_or_default());
        }
        add_notes(&mut document, of);
    }
    document.heading(match page.design {
        Some(_) => "Cells",
        None => "Configurations",
    });
    cells::table(&mut document, sides, page.metrics);
    document
}

fn pictures(page: &ComparedPage<'_>, sides: &[PageSide<'_>]) -> Document {
    let mut document = Document::default();
    let mut groups: Vec<Vec<&PageSide<'_>>> = vec![Vec::new(); page.groups.len()];
    for side in sides {
        groups[side.group].push(side);
    }
    groups.retain(|group| !group.is_empty());
    let mut along = Document::default();
    if let Some(design) = page.design {
        cells::along(&mut along, sides, design, page.metrics);
    }
    if !along.is_empty() {
        document.title("Along the axes");
        document.append(along);
    }
    document.title("Distributions");
    cells::distributions(&mut document, &groups, page.metrics);
    document.title("Order of the runs");
    cells::order(&mut document, &groups, page.metrics);
    document
}

/// Adds the runs of a configuration, each in a collapsed section with its results and its summary.
fn runs(main: &mut String, side: &PageSide<'_>, metrics: &[Metric]) {
    let runs = counted(side.runs.len() as u64, "run");
    let _ = writeln!(
        main,
        "<details><summary>{}: {runs}</summary>\n<div id=\"{}\" class=\"runs\">",
        escaped(&side.name),
        side.anchor
    );
    for one in &side.runs {
        let record = one.run.record;
        let summary = Summary::of(record);
        let number = one.observed.run.unwrap_or_default();
        let mut head = format!("Run {number}: {}", one.observed.level.name());
        let values = metrics.iter().filter_map(|metric| {
            let value = one.observed.values.get(metric)?;
            Some(format!("{} {}", noun(*metric), in_words(*metric, *value)))
        });
        let values: Vec<String> = values.collect();
        let transactions = summary.transactions.as_ref();
        let achieved = transactions.and_then(|all| all.rate.per_second);
        head += &match (values.is_empty(), achieved) {
            (false, _) => format!(", {}", values.join(", ")),
            (true, Some(_)) => format!(", {} transactions/s", rate(achieved)),
            (true, None) => ", no transactions".to_owned(),
        };
        if let Some(block) = &one.observed.block {
            head += &format!(" (block {}, attempt {})", block.number, block.attempt);
        }
        let mut inside = Document::default();
        inside.sentence("Run", run::name(record));
        inside.sentence("Identity", record.id.to_string());
        inside.append(one.run.remarks.clone());
        inside.append(run::strip(record, &summary));
        let _ = writeln!(
            main,
            "<details><summary>{}</summary>\n<div id=\"{}\">\n{}</div>\n</details>",
            escaped(&head),
            anchor(number),
            html(&inside)
        );
    }
    main.push_str("</div>\n</details>\n");
}
