//! `postmark presets`: lists the workloads that have a name.

use campaign::run_spec::machine;
use workload::presets;

use crate::ui::problem::Problem;
use crate::ui::screen;

pub fn is_preset(name: &str) -> bool {
    presets::find(name, &machine()).is_some()
}

/// Lists the presets with their sources, and with the values they have on this machine.
///
/// # Errors
/// Returns an error if the list cannot be written.
pub fn list() -> Result<u8, Problem> {
    let document = report::presets::document(&presets::all(&machine()));
    screen::print(&screen::text(&document))?;
    Ok(0)
}
