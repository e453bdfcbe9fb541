//! `postmark presets`.

use crate::{Problem, print};

/// Lists the presets with where they come from.
///
/// # Errors
/// Where the list cannot be delivered.
pub fn list() -> Result<u8, Problem> {
    let mut text = String::from("Workloads that have a name: postmark run --preset NAME\n");
    for preset in workload::presets::all() {
        text.push_str(&format!(
            "\n{}\n  {}\n  edition {}; from {}\n",
            preset.name, preset.what, preset.workload.edition, preset.source
        ));
    }
    print(&text)?;
    Ok(0)
}
