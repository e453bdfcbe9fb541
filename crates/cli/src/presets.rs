//! `postmark presets`.

use workload::{Crew, Work, presets};

use crate::meant::machine;
use crate::{Problem, print};

/// Lists the presets with where they come from, as they are on this machine.
///
/// # Errors
/// Where the list cannot be delivered.
pub fn list() -> Result<u8, Problem> {
    let mut text = String::from("Workloads that have a name: postmark run --preset NAME\n");
    for preset in presets::all(&machine()) {
        let workload = &preset.workload;
        text.push_str(&format!("\n{}\n  {}\n", preset.name, preset.what));
        if let Work::Classic(classic) = &workload.work {
            text.push_str(&format!("  edition {}; from {}\n", classic.edition, preset.source));
            continue;
        }
        let (files, transactions) = (workload.files(), workload.transactions());
        let crew = match workload.crew {
            Crew::Private { workers } => {
                let workers = several(workers, "worker");
                format!("{workers}, each with {files} files and {transactions} transactions")
            }
            Crew::Shared { writers, readers } => {
                let (writers, readers) = (several(writers, "writer"), several(readers, "reader"));
                format!("{files} files, {writers} and {readers}, each with {transactions} transactions")
            }
        };
        let durability = preset
            .how
            .durability
            .map_or(String::new(), |policy| format!(", {policy}"));
        text.push_str(&format!(
            "  on this machine: {crew}{durability}\n  from {}\n",
            preset.source
        ));
    }
    print(&text)?;
    Ok(0)
}

fn several(count: u32, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
