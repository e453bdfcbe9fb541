//! `postmark compare` and `postmark gate`: comparisons of archived runs.

use std::path::Path;

use campaign::study::select::{Found, need_archive, one_study, sides};
use document::{Document, Format, sanitize};
use published::layouts::LayoutView;
use study::{
    Comparisons, CrashGate, CrashRequirement, Gate, GateRules, MayDiffer, Metric, Requirement,
};

use crate::args::{ArchiveArgument, CompareArguments, GateArguments, GateRequirement};
use crate::commands::archive::{crashes, open};
use crate::commands::history;
use crate::commands::study::layout;
use crate::ui::problem::{Problem, refuse};
use crate::ui::screen;

/// Compares configurations, and shows the ratio of each metric with its confidence interval.
///
/// # Errors
/// Returns an error if an argument names no run or study, or the configurations are not comparable.
/// Also returns an error if the archive cannot be read, or the answer cannot be written.
pub fn compare(arguments: &CompareArguments) -> Result<u8, Problem> {
    if let Some(layout) = arguments.layout {
        let archive = open(&arguments.archive)?;
        let view = LayoutView {
            is_with_published: arguments.with_published,
        };
        let found = one_study(&archive, &arguments.sides)?;
        let shown = (layout, view, arguments.format);
        layout::show(&archive, &found.design, &found.runs, shown)?;
        return Ok(0);
    }
    let named = (&arguments.sides[..], &arguments.conditions.unlike);
    let found = found(&arguments.archive, named, &arguments.metric)?;
    show(&found.tables, &found.notes, arguments.format)?;
    Ok(0)
}

/// Finds the runs that the arguments name. The archive is not opened if all arguments are files.
fn found(
    archive: &ArchiveArgument,
    (words, unlike): (&[String], &Option<MayDiffer>),
    metrics: &[Metric],
) -> Result<Found, Problem> {
    let archive = need_archive(words).then(|| open(archive)).transpose()?;
    let unlike = unlike.clone().unwrap_or_default();
    sides(archive.as_ref(), words, metrics, &unlike)
}

/// Prints comparisons. Text formats also contain the notes about names.
pub fn show(tables: &[Comparisons], notes: &[String], format: Format) -> Result<(), Problem> {
    screen::answer(
        format,
        || with_notes(report::comparison::documents(tables), notes),
        || report::comparison::as_csv(tables),
        || document::json(&tables),
    )
}

fn with_notes(mut document: Document, notes: &[String]) -> Document {
    for note in notes {
        document.words(note.clone());
    }
    document
}

/// Decides whether the compared runs meet requirements. Returns the exit status of the decision.
///
/// # Errors
/// Returns an error if an argument names no run or study, or the configurations are not comparable.
/// Also returns an error if runs are missing or INVALID, or the answer cannot be written.
pub fn gate(arguments: &GateArguments) -> Result<u8, Problem> {
    if arguments.against.is_some() {
        return history::gate(arguments);
    }
    let (ratios, of_crashes) = by_kind(&arguments.require);
    if !of_crashes.is_empty() {
        return crash_gate(arguments, &ratios, &of_crashes);
    }
    let mut metrics: Vec<Metric> = ratios.iter().map(Requirement::metric).collect();
    metrics.sort();
    metrics.dedup();
    let named = (&arguments.sides[..], &arguments.conditions.unlike);
    let found = found(&arguments.archive, named, &metrics)?;
    let rules = GateRules {
        after: arguments.confirm,
        allows_doubtful: arguments.allow_doubtful,
    };
    let planned = found.tables.first().and_then(|table| table.blocks_planned);
    let mut gate = Gate::of(found.groups, &ratios, rules)?;
    for table in &mut gate.comparisons {
        table.blocks_planned = planned.filter(|_| rules.after.is_none());
    }
    screen::answer(
        arguments.format,
        || with_notes(report::gate::document(&gate), &found.notes),
        String::new,
        || document::json(&gate),
    )?;
    Ok(gate.decision.exit_status())
}

fn by_kind(all: &[GateRequirement]) -> (Vec<Requirement>, Vec<CrashRequirement>) {
    let (mut ratios, mut crashes) = (Vec::new(), Vec::new());
    for requirement in all {
        match requirement {
            GateRequirement::Ratio(one) => ratios.push(*one),
            GateRequirement::Crash(one) => crashes.push(*one),
        }
    }
    (ratios, crashes)
}

/// Decides whether crash rounds meet requirements.
fn crash_gate(
    arguments: &GateArguments,
    ratios: &[Requirement],
    requirements: &[CrashRequirement],
) -> Result<u8, Problem> {
    let ([word], []) = (&arguments.sides[..], ratios) else {
        return refuse(
            "requirements of crash rounds, like 'lost == 0', need one result of crash rounds, and \
             no ratio beside them (use a gate for each)",
        );
    };
    let Some(crash) = crashes::find(Path::new(word), &arguments.archive)? else {
        return refuse(format_args!(
            "{} is not a result of crash rounds ('postmark list' shows their numbers; 'postmark \
             crash --format json' writes a file)",
            sanitize::sanitize(word)
        ));
    };
    let figures = report::crash::gate::figures(&crash.report);
    let gate = CrashGate::of(crash.report.summary(), &figures, requirements);
    screen::answer(
        arguments.format,
        || report::crash::gate::document(&gate),
        String::new,
        || document::json(&gate),
    )?;
    Ok(gate.decision.exit_status())
}
