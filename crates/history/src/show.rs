//! What is known, shown: the list of sources and tables, and their contents in four formats.

use std::collections::BTreeMap;

use record::{Fact, harmless};
use serde::Serialize;

use crate::Interval;
use crate::editions::{Finding, Made, told_of_converted};
use crate::improvements::{Agreement, ClaimChecked, Recomputed};
use crate::library::{HistoryError, Library};
use crate::markup::{Block, Csv, Format, Markdown, Sheet, Text, render};
use crate::source::{Configuration, Place, Source, System, Table};

/// The version of the JSON that [`show`] writes.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that is shown.
#[derive(Serialize)]
struct Shown<'a> {
    schema: u32,
    sources: &'a [Source],
    findings: Vec<Finding>,
    improvements: Vec<Recomputed>,
    claims: Vec<ClaimChecked>,
}

/// The names of sources and tables, as text.
pub fn list(library: &Library) -> String {
    let mut blocks = vec![Block::Title(
        "Published results: postmark history show [NAME] [--format text|csv|json|markdown]".to_owned(),
    )];
    let mut sheet = Sheet::new(5, &["name", "what", "configurations", "systems", "cells"]);
    for source in &library.sources {
        blocks.push(Block::Item(format!("{}: {}", source.name, source.in_short())));
        for table in &source.tables {
            let configurations = configurations(source, table);
            sheet.rows.push(vec![
                table.name.clone(),
                shortened(&table.title),
                match configurations.as_slice() {
                    [one] => one.name.clone(),
                    several => format!("{} configurations", several.len()),
                },
                systems(source, table).len().to_string(),
                table.places().count().to_string(),
            ]);
        }
    }
    blocks.push(Block::Heading("Their tables".to_owned()));
    blocks.push(Block::Sheet(sheet));
    render(&blocks, &Text)
}

/// Of a title the beginning.
fn shortened(title: &str) -> String {
    const MAX: usize = 40;
    if title.chars().count() <= MAX {
        return title.to_owned();
    }
    let begin: String = title.chars().take(MAX - 3).collect();
    format!("{}...", begin.trim_end())
}

/// A source or a table, or all of them, with what was found about it.
///
/// # Errors
/// Where there is nothing of this name. Where a published configuration cannot be planned, which a test excludes.
pub fn show(library: &Library, name: Option<&str>, format: Format) -> Result<String, HistoryError> {
    let taken = match name {
        Some(name) => library.take(name)?,
        None => library.clone(),
    };
    let is_shown = |table: &str| taken.sources.iter().any(|source| source.table(table).is_some());
    let mut improvements = library.improvements();
    // They are computed of all tables, as claims are: one of ranges has no rates of its own.
    improvements.retain(|one| is_shown(&one.table));
    let mut claims = library.claims();
    claims.retain(|one| one.claim.tables.iter().any(|table| is_shown(table)));
    let shown = Shown {
        schema: SCHEMA_VERSION,
        sources: &taken.sources,
        findings: taken.findings()?,
        improvements,
        claims,
    };
    Ok(match format {
        Format::Json => {
            // Numbers are finite and keys are strings: writing to memory cannot fail.
            let text = serde_json::to_string_pretty(&shown).unwrap_or_default();
            let mut text = harmless::json(&text).into_owned();
            text.push('\n');
            text
        }
        Format::Csv => render(&[Block::Sheet(flat(&shown).ours_but(&[]))], &Csv),
        Format::Text => render(&blocks(&shown), &Text),
        Format::Markdown => render(&blocks(&shown), &Markdown),
    })
}

/// A fact in words.
pub(crate) fn told<T: std::fmt::Display>(fact: &Fact<T>) -> String {
    match fact {
        Fact::Known(value) => value.to_string(),
        Fact::NotApplicable => "does not apply".to_owned(),
        Fact::Unavailable(why) => format!("unavailable: {why}"),
    }
}

/// What was measured, with who measured it in brackets.
pub(crate) fn described(system: &System) -> String {
    let contributor = match &system.contributor {
        Fact::Known(name) => format!(" [{name}]"),
        other => format!("; contributor {}", told(other)),
    };
    format!("{}: {}{contributor}", system.column, told(&system.description))
}

/// What a table's cells are of, in the order of the source's list.
fn configurations<'a>(source: &'a Source, table: &Table) -> Vec<&'a Configuration> {
    let is_used = |configuration: &&Configuration| {
        let mut places = table.places();
        places.any(|place| place.of.configurations.contains(&configuration.name))
    };
    source.configurations.iter().filter(is_used).collect()
}

fn systems<'a>(source: &'a Source, table: &Table) -> Vec<&'a System> {
    let is_used = |system: &&System| {
        let names_it = |name: &Option<String>| name.as_deref() == Some(system.name.as_str());
        table
            .places()
            .any(|place| names_it(&place.of.system) || names_it(&place.of.over))
    };
    source.systems.iter().filter(is_used).collect()
}

fn blocks(shown: &Shown<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for source in shown.sources {
        about(&mut blocks, source);
        for table in &source.tables {
            blocks.push(Block::Heading(format!("{}: {}", table.name, table.title)));
            for configuration in configurations(source, table) {
                blocks.push(Block::Item(format!(
                    "{}: {}; edition {}; {}",
                    configuration.name,
                    configuration.in_short(),
                    told(&configuration.edition),
                    configuration.parameters
                )));
            }
            blocks.push(Block::Sheet(as_printed(table)));
            notes(&mut blocks, table);
            editions(&mut blocks, shown, table);
            improvements(&mut blocks, shown, table);
        }
        claims(&mut blocks, shown, source);
        blocks.push(Block::Words(String::new()));
    }
    blocks
}

fn about(blocks: &mut Vec<Block>, source: &Source) {
    blocks.push(Block::Title(format!("{}: {}", source.name, source.in_short())));
    blocks.push(Block::Words(source.what.clone()));
    for (what, fact) in [
        ("Title", &source.title),
        ("Authors", &source.authors),
        ("Publisher", &source.publisher),
        ("Program", &source.program),
    ] {
        blocks.push(Block::Item(format!("{what} {}", told(fact))));
    }
    blocks.push(Block::Item(format!("Year {}", told(&source.year))));
    let lines = source.environment.iter().chain(&source.notes);
    blocks.extend(lines.cloned().map(Block::Item));
    blocks.push(Block::Heading("Systems, with contributors in brackets".to_owned()));
    let used = |system: &&System| {
        let mut tables = source.tables.iter();
        tables.any(|table| systems(source, table).contains(system))
    };
    let systems = source.systems.iter().filter(used);
    blocks.extend(systems.map(|system| Block::Item(described(system))));
}

/// The table as it was printed.
fn as_printed(table: &Table) -> Sheet {
    let header = table.columns.iter().map(|column| match &column.group {
        Some(group) => format!("{group} {}", column.label),
        None => column.label.clone(),
    });
    let row = |line: &crate::source::Line| {
        let cells = line
            .cells
            .iter()
            .map(|cell| cell.0.known().map_or("?", |number| number.printed.as_str()));
        let labels = line.labels.iter().map(String::as_str);
        labels.chain(cells).map(str::to_owned).collect()
    };
    let stub = table
        .stub
        .iter()
        .enumerate()
        .map(|(at, label)| match &table.stub_group {
            Some(group) if at > 0 => format!("{group} {label}"),
            _ => label.clone(),
        });
    let mut sheet = Sheet::new(table.stub.len(), &[]);
    sheet.header = stub.chain(header).collect();
    sheet.rows = table.rows.iter().map(row).collect();
    sheet
}

/// What one has to know, and why cells are missing: the same reason once.
fn notes(blocks: &mut Vec<Block>, table: &Table) {
    let of_rows = table.rows.iter().flat_map(|line| &line.notes);
    blocks.extend(table.notes.iter().chain(of_rows).cloned().map(Block::Item));
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in table.places().filter(|place| !place.cell.0.is_known()) {
        let name = format!("{} of {}", place.column.label, first_label(&place));
        missing
            .entry(told(&place.cell.0.clone().map(|number| number.printed)))
            .or_default()
            .push(name);
    }
    for (why, cells) in missing {
        blocks.push(Block::Item(format!("?: {} {why}", cells.join(", "))));
    }
}

fn first_label<'a>(place: &Place<'a>) -> &'a str {
    let mut labels = place.line.labels.iter().map(String::as_str);
    labels.find(|label| !label.is_empty()).unwrap_or("the row")
}

fn editions(blocks: &mut Vec<Block>, shown: &Shown<'_>, table: &Table) {
    let findings: Vec<&Finding> = shown
        .findings
        .iter()
        .filter(|finding| finding.table == table.name)
        .collect();
    let Some(first) = findings.first() else {
        return;
    };
    let mut sheet = Sheet::new(1, &["data read over written", "printed", "from", "to"]);
    for planned in &first.planned {
        sheet.header.push(match planned.subdirectories {
            1 if first.planned.len() > 2 => format!("edition {} without subdirectories", planned.edition),
            _ => format!("edition {}", planned.edition),
        });
    }
    sheet.header.push("made by".to_owned());
    let number = |number: f64| format!("{number:.5}");
    for finding in &findings {
        let mut row = vec![
            finding.column.clone(),
            number(finding.printed_ratio),
            number(finding.ratio.low),
            number(finding.ratio.high),
        ];
        row.extend(finding.planned.iter().map(|planned| {
            let ratio = number(planned.ratio);
            if planned.fits { format!("{ratio} fits") } else { ratio }
        }));
        row.push(finding.made.in_short());
        sheet.rows.push(row);
    }
    blocks.push(Block::Words(String::new()));
    blocks.push(Block::Sheet(sheet));
    let wrong = findings.iter().filter(|finding| !finding.converted.is_empty());
    let wrong: Vec<&str> = wrong.map(|finding| finding.column.as_str()).collect();
    blocks.extend(told_of_converted(&wrong).map(Block::Item));
    for finding in findings {
        doubts(blocks, finding);
    }
}

/// What is known about a row that no edition has made, or whose times contradict one another.
fn doubts(blocks: &mut Vec<Block>, finding: &Finding) {
    let is_neither = if let Made::Neither { cause } = &finding.made {
        blocks.push(Block::Item(format!("{} fits neither edition. {cause}", finding.column)));
        true
    } else {
        false
    };
    for asked in finding.asked.iter().filter(|asked| is_neither || asked.is_impossible()) {
        let seconds = |interval: Interval| format!("{:.2} to {:.2} s", interval.low, interval.high);
        let transactions = asked.transactions.map_or_else(String::new, |transactions| {
            format!("; the transactions alone took {}", seconds(transactions))
        });
        let impossible = if asked.is_impossible() { ", which cannot be" } else { "" };
        blocks.push(Block::Item(format!(
            "{}, if edition {} made it: {} in all by the data read, {} by the data written{transactions}{impossible}",
            finding.column,
            asked.edition,
            seconds(asked.by_data_read),
            seconds(asked.by_data_written)
        )));
    }
    for misprint in &finding.misprints {
        blocks.push(Block::Item(format!(
            "{}: {} in place of {} would fit edition {}",
            finding.column, misprint.instead, misprint.printed, misprint.edition
        )));
    }
}

fn improvements(blocks: &mut Vec<Block>, shown: &Shown<'_>, table: &Table) {
    let of_table: Vec<&Recomputed> = shown
        .improvements
        .iter()
        .filter(|one| one.table == table.name)
        .collect();
    if of_table.is_empty() {
        return;
    }
    let (printed, missing): (Vec<&Recomputed>, Vec<&Recomputed>) =
        of_table.into_iter().partition(|one| one.printed.is_known());
    let exact = printed.iter().filter(|one| one.agreement == Agreement::Exact).count();
    blocks.push(Block::Item(format!(
        "Of {} printed improvements {exact} are what the printed rates give.",
        printed.len()
    )));
    for one in printed {
        let how = match &one.agreement {
            Agreement::Exact => continue,
            Agreement::WithinRounding => "within the rounding of the rates".to_owned(),
            Agreement::Differs { by } => format!("it differs by {by:+.2} percentage points"),
            Agreement::Unknown { why } => format!("it cannot be checked, since {why}"),
        };
        blocks.push(Block::Item(format!(
            "{}: printed {}; {}; {how}",
            one.what,
            one.printed.known().map_or("?", String::as_str),
            percents(one)
        )));
    }
    for one in missing {
        blocks.push(Block::Item(format!("{}: not in the copy; {}", one.what, percents(one))));
    }
}

fn percents(one: &Recomputed) -> String {
    if one.recomputed.is_empty() {
        return "a rate that it needs is not, either".to_owned();
    }
    let percents: Vec<String> = one.recomputed.iter().map(|percent| format!("{percent:.2}")).collect();
    format!("the rates that are known give {} %", percents.join(" to "))
}

/// What the source's text says of its tables, and what these say.
fn claims(blocks: &mut Vec<Block>, shown: &Shown<'_>, source: &Source) {
    let of_source: Vec<&ClaimChecked> = shown.claims.iter().filter(|one| one.source == source.name).collect();
    if of_source.is_empty() {
        return;
    }
    blocks.push(Block::Heading("What the text says of these tables".to_owned()));
    for checked in of_source {
        let ratios = checked.recomputed.iter().map(|ratio| {
            let Interval { low, high } = ratio.factor;
            format!(
                "{low:.2} to {high:.2} times ({} in {}, {})",
                ratio.what,
                ratio.table,
                kebab(ratio.figure)
            )
        });
        let ratios: Vec<String> = ratios.collect();
        blocks.push(Block::Item(format!(
            "{}: {}. {}: the rates give {}",
            checked.claim.words,
            checked.claim.printed,
            match &checked.agrees {
                Fact::Known(true) => "Agrees".to_owned(),
                Fact::Known(false) => "Differs".to_owned(),
                other => format!("Cannot be checked wholly ({})", other.why().unwrap_or("does not apply")),
            },
            ratios.join("; ")
        )));
    }
}

/// A line for each cell.
fn flat(shown: &Shown<'_>) -> Sheet {
    let mut sheet = Sheet::new(
        0,
        &[
            "source",
            "table",
            "system",
            "over",
            "variant",
            "contributor",
            "configuration",
            "files",
            "transactions",
            "subdirectories",
            "processes",
            "edition",
            "figure",
            "unit",
            "printed",
            "value",
            "to",
            "unavailable",
        ],
    );
    for source in shown.sources {
        for table in &source.tables {
            for place in table.places() {
                sheet.rows.push(flat_row(shown, source, table, &place));
            }
        }
    }
    sheet
}

fn flat_row(shown: &Shown<'_>, source: &Source, table: &Table, place: &Place<'_>) -> Vec<String> {
    let of = &place.of;
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    let system = of.system.as_deref().and_then(|name| source.system(name));
    // A range goes over several, and has no numbers of one.
    let configuration = match of.configurations.as_slice() {
        [name] => source.configuration(name),
        _ => None,
    };
    let count = |number: fn(&Configuration) -> u64| configuration.map_or(String::new(), |one| number(one).to_string());
    let finding = shown.findings.iter().find(|finding| {
        finding.table == table.name
            && Some(&finding.system) == of.system.as_ref()
            && of.configurations.contains(&finding.configuration)
    });
    let stated = configuration.and_then(|one| one.edition.known());
    let edition = finding
        .map(|finding| finding.made.in_short())
        .or_else(|| stated.map(|edition| edition.name().to_owned()));
    let number = place.cell.0.known();
    vec![
        source.name.clone(),
        table.name.clone(),
        text(&of.system),
        text(&of.over),
        text(&of.variant),
        system
            .and_then(|system| system.contributor.known())
            .cloned()
            .unwrap_or_default(),
        of.configurations.join(" "),
        count(|one| one.files),
        count(|one| one.transactions),
        count(|one| one.subdirectories.into()),
        count(|one| one.processes.into()),
        edition.unwrap_or_default(),
        of.figure.map_or_else(String::new, kebab),
        of.unit.map_or_else(String::new, |unit| unit.name().to_owned()),
        number.map_or_else(String::new, |number| number.printed.clone()),
        number.map_or_else(String::new, |number| number.value.to_string()),
        number
            .and_then(|number| number.to)
            .map_or_else(String::new, |to| to.to_string()),
        place.cell.0.why().unwrap_or_default().to_owned(),
    ]
}

/// The word for it in JSON.
pub(crate) fn kebab(value: impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
