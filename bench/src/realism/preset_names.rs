//! The names of presets in data files. A name contains a digest of the preset's run spec. A preset
//! that was changed, or is sized for another machine, therefore has no earlier rounds.

use crate::result::Result;
use std::collections::BTreeMap;
use std::path::Path;

use workload::presets::{self, PhaseText};
use xxhash_rust::xxh3::xxh3_64;

use super::applications::PAIRINGS;
use crate::process::{command, output};

/// The names in data files of all presets that claim to predict an application. The key is the
/// name of the preset.
pub type PresetNames = BTreeMap<&'static str, String>;

pub fn preset_names(ours: &Path, run_for: &str) -> Result<PresetNames> {
    let mut names = PresetNames::new();
    for pairing in &PAIRINGS {
        let preset = pairing.preset;
        if !names.contains_key(preset) {
            let end = end_of(preset, run_for);
            let words = format!("plan --preset {preset} --format json{end}");
            let plan: serde_json::Value =
                serde_json::from_str(&output(&mut command(ours, &words))?)?;
            names.insert(preset, with_digest(preset, &plan["spec"]));
        }
    }
    Ok(names)
}

fn with_digest(preset: &str, spec: &serde_json::Value) -> String {
    let digest = xxh3_64(spec.to_string().as_bytes());
    format!("{preset}@{:08x}", digest >> 32)
}

/// The option that ends a preset; empty if all its phases have their own ends.
pub fn end_of(preset: &str, run_for: &str) -> String {
    let has_end = |phase: &PhaseText| {
        let mut ends = ["walk=", "transactions=", "for="].into_iter();
        ends.any(|key| phase.keys.contains(key))
    };
    let phases = presets::find(preset).map_or_else(Vec::new, |preset| preset.how.phases);
    match !phases.is_empty() && phases.iter().all(has_end) {
        true => String::new(),
        false => format!(" --for {run_for}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn name_changes_with_the_run_spec() {
        let name = |files: u32| with_digest("mail", &json!({ "files": files }));
        assert_eq!(name(10), name(10));
        assert_ne!(name(10), name(11));
        assert!(
            name(10).starts_with("mail@") && name(10).len() == 13,
            "{}",
            name(10)
        );
    }
}
