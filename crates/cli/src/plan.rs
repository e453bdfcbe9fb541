//! `postmark plan`: what a run would do.

use std::path::PathBuf;

use observe::{ProcessTimes, Sources};
use record::{Fact, How, PlanRecord};
use workload::{Planner, Workload, fingerprint};

use crate::meant::{Meant, mean, to_config};
use crate::perform::judge;
use crate::said::{PlanArguments, PlanFormat, StorageName};
use crate::{Problem, print, sizing};

/// Of transactions without end so many are planned for each worker.
const PLANNED: u64 = 1_000_000;

/// Plans and shows.
///
/// # Errors
/// Where what was said is wrong, or the plan cannot be delivered.
pub fn plan(mut arguments: PlanArguments) -> Result<u8, Problem> {
    arguments.work.like_in = arguments.archive.archive;
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
        sizing::judge(meant)?;
        judge(&meant.request(Vec::new()), meant.storage).map_err(|refused| meant.explain(refused))?;
    }
    Ok(match format {
        PlanFormat::Toml => to_config(meant)?,
        PlanFormat::Json => record(meant)?.to_json(),
        PlanFormat::Text => {
            let mut text = report::plan::render(&record(meant)?);
            if meant.workload.transactions() == Workload::ENDLESS {
                text.push_str(&format!(
                    "\nThe transactions have no end of their own: this is of the first {PLANNED} of each worker.\n"
                ));
            }
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
    let workload = if meant.workload.transactions() == Workload::ENDLESS {
        meant.workload.with_transactions(PLANNED)
    } else {
        meant.workload.clone()
    };
    let (mut plan, room, targets) = if meant.storage == StorageName::Null {
        let planner = Planner::new(&workload);
        (
            planner.plan_with_hint(observe::memory::prefer_huge_pages)?,
            Fact::NotApplicable,
            Vec::new(),
        )
    } else {
        let (plan, room, targets) = runner::room::plan(&workload, &directories)?;
        (plan, Fact::Known(room), targets)
    };
    // Of the work that is meant, however much of it was gone through.
    plan.fingerprint = fingerprint::fingerprint(&meant.workload)?;
    Ok(PlanRecord {
        tool: record::Tool::this(),
        workload: meant.workload.clone(),
        how: How {
            sizing: meant.sizing.clone(),
            ..meant.request(Vec::new()).how()
        },
        storage: meant.storage.name().to_owned(),
        plan,
        shortage: room.known().and_then(runner::room::shortage),
        room,
        targets,
        process: ProcessTimes::read(&Sources::default()),
    })
}
