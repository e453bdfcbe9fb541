//! Performs studies from papers on file systems and protocols that the kernel of this machine
//! lacks.

use serde_json::Value;

use super::{Results, Script, is_all, tell};

/// Returns an error unless each system in `systems` has a value for every workload and figure.
fn are_measured(results: &Value, systems: &[&str], figures: &[&str]) -> Result<(), String> {
    let names: Vec<&str> = results["systems"]
        .as_array()
        .unwrap()
        .iter()
        .map(name)
        .collect();
    let works = results["works"].as_array().unwrap().len();
    let values = results["values"].as_array().unwrap();
    for system in systems {
        let Some(place) = names.iter().position(|known| known == system) else {
            return Err(format!("{system} is none of {names:?}"));
        };
        for figure in figures {
            let of = |value: &&Value| value["system"] == place && value["figure"] == *figure;
            let found = values.iter().filter(of);
            let measured = found.filter(|value| value["value"]["measured"]["median"].is_number());
            if measured.count() != works {
                return Err(format!("{system} has no {figure} of every work"));
            }
        }
    }
    Ok(())
}

fn name(system: &Value) -> &str {
    system["name"].as_str().unwrap()
}

pub(super) fn script() -> Script {
    let numbers = if is_all() {
        ["5", "1000", "5000"]
    } else {
        ["1", "20", "150"]
    };
    Script {
        name: "studies",
        disks: vec!["512M"; 3],
        arguments: numbers.map(str::to_owned).to_vec(),
        check: studies_fill_the_tables_of_their_papers,
    }
}

fn studies_fill_the_tables_of_their_papers(results: &Results) {
    for (study, systems, figures) in [
        (
            "sessions",
            &["ext3", "ext4", "nilfs2", "f2fs"][..],
            &["transactions-rate", "created", "data-read-rate"][..],
        ),
        (
            "completion",
            &["NFS v3", "NFS v4.2", "iSCSI"],
            &["elapsed", "messages", "cpu-time"],
        ),
    ] {
        let found = are_measured(&results.json(&format!("{study}.json")), systems, figures);
        // On a busy machine, a run in the emulated guest may be INVALID in all its attempts.
        let is_without = !is_all() && results.guest.said.contains("(attempt 3 of 3)");
        results.assert(found.is_ok() || is_without, &format!("{study}: {found:?}"));
        let text = results.text(&format!("{study}.txt"));
        let has_words = text.contains("What holds today") && text.contains("emulated");
        results.assert(has_words, &text);
        if is_all() {
            tell(&text);
        }
    }
}
