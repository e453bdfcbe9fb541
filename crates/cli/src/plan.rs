//! `postmark plan`: what a run would do.

use std::path::PathBuf;

use observe::{ProcessTimes, Sources};
use record::{Fact, PlanRecord};
use workload::Planner;

use crate::meant::{Meant, mean, to_config};
use crate::said::{PlanArguments, PlanFormat, StorageName};
use crate::{Problem, print};

/// Plans and shows.
///
/// # Errors
/// Where what was said is wrong.
pub fn plan(arguments: &PlanArguments) -> Result<u8, Problem> {
    show(&mean(&arguments.work)?, arguments.format)
}

/// Shows the plan of what is meant.
///
/// # Errors
/// Where the workload has no stream, or the plan cannot be delivered.
pub fn show(meant: &Meant, format: PlanFormat) -> Result<u8, Problem> {
    if format == PlanFormat::Toml {
        print(&to_config(meant))?;
        return Ok(0);
    }
    let record = record(meant)?;
    print(&match format {
        PlanFormat::Json => record.to_json(),
        PlanFormat::Text | PlanFormat::Toml => report::plan::render(&record),
    })?;
    Ok(0)
}

fn record(meant: &Meant) -> Result<PlanRecord, Problem> {
    let directories: Vec<PathBuf> = meant
        .locations
        .iter()
        .map(|location| if location.path.as_os_str().is_empty() { PathBuf::from(".") } else { location.path.clone() })
        .collect();
    let (plan, room, targets) = if meant.storage == StorageName::Null {
        let planner = Planner::new(&meant.workload);
        (planner.plan_with_hint(observe::memory::prefer_huge_pages)?, Fact::NotApplicable, Vec::new())
    } else {
        let (plan, room, targets) = runner::room::plan(&meant.workload, &directories)?;
        (plan, Fact::Known(room), targets)
    };
    Ok(PlanRecord {
        tool: record::Tool {
            name: "postmark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        workload: meant.workload.clone(),
        storage: meant.storage.name().to_owned(),
        plan,
        shortage: room.known().and_then(runner::room::shortage),
        room,
        targets,
        process: ProcessTimes::read(&Sources::default()),
    })
}
