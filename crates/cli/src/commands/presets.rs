//! `postmark presets`: lists the workloads that have a name, or shows one of them.

use std::collections::BTreeSet;

use campaign::run_spec;
use engine::OperationKind;
use engines::registry::ROWS;
use report::presets::{Missing, list, one};
use workload::presets::{self, Preset};
use workload::{Action, Phase};

use crate::args::PresetsArguments;
use crate::ui::problem::Problem;
use crate::ui::screen;

pub fn is_preset(name: &str) -> bool {
    presets::find(name).is_some()
}

/// The presets that an engine with URLs refuses, with the operations or settings that it lacks.
fn without_servers() -> Vec<Missing> {
    let engines = ROWS.iter().filter(|row| row.facts.uses_urls());
    let pairs = engines.flat_map(|row| presets::all().into_iter().map(move |of| (row, of)));
    let missing = pairs.filter_map(|(row, preset)| {
        let needs = needs(&preset);
        let lacks = needs.into_iter().filter(|kind| !row.facts.performs(*kind));
        let lacks: BTreeSet<String> = lacks.map(|kind| kind.to_string()).collect();
        (!lacks.is_empty()).then(|| Missing {
            preset: preset.full_name(),
            engine: row.facts.name,
            operations: lacks.into_iter().collect(),
        })
    });
    missing.collect()
}

/// The operations of a preset.
fn needs(preset: &Preset) -> Vec<OperationKind> {
    let phases = Phase::ALL.into_iter();
    let actions = phases.flat_map(|phase| preset.workload.actions(phase));
    actions.filter_map(Action::performs).collect()
}

/// Lists the presets, or shows all values of one preset with their sources.
///
/// # Errors
/// Returns an error if no preset has the name, or the text cannot be written.
pub fn show(arguments: &PresetsArguments) -> Result<u8, Problem> {
    let document = match &arguments.name {
        None => list(&presets::all(), &without_servers()),
        Some(name) => {
            let named = |why| Problem::refused(format!("cannot show the preset '{name}': {why}"));
            one(&run_spec::preset(name).map_err(named)?)
        }
    };
    screen::print(&screen::text(&document))?;
    Ok(0)
}
