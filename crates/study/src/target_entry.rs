//! An entry of `targets` in a study file.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::design::{TargetDesign, is_name};
use crate::flaw::{DesignError, Flaw, Lines};

/// An entry of `targets`: a directory, a URL or `make:KIND`, with or without a name.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a directory, make:KIND, or { name = \"…\", at = \"…\" }"
)]
pub(crate) enum TargetEntry {
    Word(String),
    Named(NamedTarget),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedTarget {
    name: String,
    at: String,
}

/// Converts an entry to a target, and checks its name and its path.
pub(crate) fn target_of(
    lines: &Lines<'_>,
    said: &Spanned<TargetEntry>,
) -> Result<TargetDesign, DesignError> {
    let line = lines.of(said.span().start);
    let (name, at) = match said.get_ref() {
        TargetEntry::Word(at) => (name_of(at), at.clone()),
        TargetEntry::Named(NamedTarget { name, at }) => (name.clone(), at.clone()),
    };
    let target = TargetDesign { name, at, line };
    if !is_name(&target.name) {
        let flaw = Flaw::name("target", &target.name);
        return Err(lines.error(said.span().start, flaw));
    }
    let is_url = target
        .at
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(|letter| letter.is_ascii_alphanumeric()));
    if !is_url && !target.at.starts_with('/') {
        let flaw = Flaw(format!(
            "the target {} must be an absolute path, because a study may be continued from another \
             directory",
            target.at
        ));
        return Err(lines.error(said.span().start, flaw));
    }
    Ok(target)
}

/// Default name of a target: its kind, its URL without parameters, or its path.
fn name_of(at: &str) -> String {
    match at.strip_prefix("make:") {
        Some(wish) => wish.split('?').next().unwrap_or(wish).to_owned(),
        // The parameters of a URL are options for its engine, and are not part of the name.
        None if spec::is_url(Path::new(at)) => at
            .split('?')
            .next()
            .unwrap_or(at)
            .chars()
            .take(60)
            .collect(),
        None if at.chars().count() <= 60 => at.to_owned(),
        None => {
            let from = at
                .char_indices()
                .rev()
                .nth(57)
                .map_or(0, |(index, _)| index);
            format!("…{}", &at[from..])
        }
    }
}
