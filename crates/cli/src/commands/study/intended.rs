//! Determines the design of the requested study, and finds its runs in the archive.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;

use campaign::archive::ArchivePlace;
use campaign::study::design_file::of_file;
use campaign::study::found::{self, FoundStudy};
use document::sanitize;
use study::Design;

use super::design_args;
use crate::args::StudyArguments;
use crate::ui::problem::{Problem, USER, refuse};

pub(super) fn intended(
    arguments: &StudyArguments,
    place: &ArchivePlace,
) -> Result<FoundStudy, Problem> {
    if let Some(word) = &arguments.resume {
        design_args::refuse_options(arguments, "--resume")?;
        return resumed(arguments, place, word);
    }
    let text = match &arguments.file {
        Some(path) => text_of_file(path, arguments)?,
        None => design_args::of_words(arguments)?,
    };
    let design = Design::parse(&text).map_err(|error| match &arguments.file {
        Some(path) => of_file(path, error),
        None => Problem::refused(format!("cannot make this study: {}", error.flaw)),
    })?;
    let joined = match (&arguments.side, arguments.remarks.tag.first()) {
        (Some(_), Some(tag)) if place.path().exists() => {
            found::find_tagged(&place.open(true, USER)?, tag)?
        }
        _ => None,
    };
    let Some(found) = joined else {
        return Ok(FoundStudy {
            id: new_identity(),
            design,
            runs: Vec::new(),
            namesakes: Vec::new(),
            going: None,
            mounted: BTreeMap::new(),
        });
    };
    let differences = design_args::differences(&found.design.text, &design.text);
    if !differences.is_empty() {
        return refuse(format_args!(
            "the tag belongs to the study {} with another design: {} (use the same options as for \
             its other sides, or another --tag)",
            found.id,
            differences.join("; ")
        ));
    }
    Ok(FoundStudy {
        design,
        // With `--side`, candidate and baseline may be on different file systems. So the file
        // systems of archived runs are not compared with those of the next runs.
        mounted: BTreeMap::new(),
        ..found
    })
}

/// The text of a study file, changed by the arguments.
fn text_of_file(path: &Path, arguments: &StudyArguments) -> Result<String, Problem> {
    design_args::refuse_options(arguments, "a study file")?;
    let text = campaign::run_spec::text_of(path).map_err(|cause| {
        let shown = sanitize::path(path);
        let remedy = match path.is_dir() {
            true => format!(" (for a target, use --target {shown})"),
            false => String::new(),
        };
        Problem::refused(format!(
            "cannot read the study file {shown}: {cause}{remedy}"
        ))
    })?;
    design_args::changed(&text, arguments, design_args::targets(arguments)?)
        .map_err(|error| of_file(path, error))
}

fn resumed(
    arguments: &StudyArguments,
    place: &ArchivePlace,
    word: &str,
) -> Result<FoundStudy, Problem> {
    let found = found::find(&place.open(false, USER)?, word)?.ok_or_else(|| {
        Problem::refused(format!(
            "there is no study '{word}' in the archive (expected its identity, its name or last; \
             'postmark list' shows the tag study:IDENTITY of runs of studies)"
        ))
    })?;
    if !found.namesakes.is_empty() {
        return Err(found::several_called(word, &found));
    }
    if let Some(run) = found.going {
        return refuse(format_args!(
            "the study {} is still running: run {run} has not ended (wait for it, or end it)",
            found.id
        ));
    }
    if found.design.until.is_some() && arguments.blocks.is_some() {
        return refuse(
            "the looks of a study with until are spread over its blocks, which therefore stay as \
             they are (remove --blocks)",
        );
    }
    let text = design_args::changed(&found.design.text, arguments, Vec::new())
        .unwrap_or_else(|_| found.design.text.clone());
    let design = Design::parse(&text)
        .map_err(|error| Problem::refused(format!("cannot continue this study: {}", error.flaw)))?;
    Ok(FoundStudy { design, ..found })
}

/// A new random identity of a study: 12 hexadecimal digits.
fn new_identity() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:012x}", random >> 16)
}
