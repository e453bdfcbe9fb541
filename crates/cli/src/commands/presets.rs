//! `postmark presets`: lists the workloads that have a name, or shows one of them.

use campaign::run_spec;
use report::presets::{list, one};
use workload::presets;

use crate::args::PresetsArguments;
use crate::ui::problem::Problem;
use crate::ui::screen;

pub fn is_preset(name: &str) -> bool {
    presets::find(name).is_some()
}

/// Lists the presets, or shows all values of one preset with their sources.
///
/// # Errors
/// Returns an error if no preset has the name, or the text cannot be written.
pub fn show(arguments: &PresetsArguments) -> Result<u8, Problem> {
    let document = match &arguments.name {
        None => list(&presets::all()),
        Some(name) => {
            let named = |why| Problem::refused(format!("cannot show the preset '{name}': {why}"));
            one(&run_spec::preset(name).map_err(named)?)
        }
    };
    screen::print(&screen::text(&document))?;
    Ok(0)
}
