//! `postmark presets`.

use campaign::run_spec::machine;
use document::WIDTH;
use workload::presets;

use crate::ui::problem::Problem;
use crate::ui::screen;

/// Lists the presets with where they come from, as they are on this machine.
///
/// # Errors
/// Where the list cannot be delivered.
pub fn list() -> Result<u8, Problem> {
    let document = report::presets::document(&presets::all(&machine()));
    screen::print(&screen::text(&document, WIDTH))?;
    Ok(0)
}
