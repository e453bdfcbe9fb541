//! `postmark plan`: what a run would do.

use std::path::PathBuf;

use observe::{ProcessTimes, Sources};
use record::{Fact, PlanRecord};
use workload::Planner;

use crate::meant::{Meant, mean, to_config};
use crate::perform::judge;
use crate::said::{PlanArguments, PlanFormat, StorageName};
use crate::{Problem, print};

/// Plans and shows.
///
/// # Errors
/// Where what was said is wrong, or the plan cannot be delivered.
pub fn plan(arguments: &PlanArguments) -> Result<u8, Problem> {
    print(&text(&mean(&arguments.work)?, arguments.format)?)?;
    Ok(0)
}

/// The plan of what is meant.
///
/// # Errors
/// Where the workload has no stream, or the run would be refused.
pub fn text(meant: &Meant, format: PlanFormat) -> Result<String, Problem> {
    // A configuration file may be for another machine.
    if format != PlanFormat::Toml {
        judge(&meant.request(Vec::new()), meant.storage).map_err(|refused| meant.explain(refused))?;
    }
    Ok(match format {
        PlanFormat::Toml => to_config(meant)?,
        PlanFormat::Json => record(meant)?.to_json(),
        PlanFormat::Text => {
            let mut text = report::plan::render(&record(meant)?);
            for note in &meant.notes {
                text.push_str(&format!("\n{note}\n"));
            }
            text
        }
    })
}

fn record(meant: &Meant) -> Result<PlanRecord, Problem> {
    let directories: Vec<PathBuf> = meant
        .locations
        .iter()
        .map(|location| location.directory().to_owned())
        .collect();
    let (plan, room, targets) = if meant.storage == StorageName::Null {
        let planner = Planner::new(&meant.workload);
        (
            planner.plan_with_hint(observe::memory::prefer_huge_pages)?,
            Fact::NotApplicable,
            Vec::new(),
        )
    } else {
        let (plan, room, targets) = runner::room::plan(&meant.workload, &directories)?;
        (plan, Fact::Known(room), targets)
    };
    Ok(PlanRecord {
        tool: record::Tool::this(),
        workload: meant.workload.clone(),
        storage: meant.storage.name().to_owned(),
        plan,
        shortage: room.known().and_then(runner::room::shortage),
        room,
        targets,
        process: ProcessTimes::read(&Sources::default()),
    })
}
