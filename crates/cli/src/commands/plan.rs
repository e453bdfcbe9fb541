//! `postmark plan`: what a run would do.

use std::path::PathBuf;

use document::{Format, WIDTH};
use record::{Fact, PlanRecord};
use spec::RunSpec;
use system::{Host, ProcessTimes, Sources};
use workload::fingerprint::{self, INTENTS_IN_FINGERPRINT};
use workload::{Followed, Planner, Workload};

use crate::args::PlanArguments;
use crate::commands::calibration;
use crate::ui::problem::{Problem, USER, print};
use crate::ui::screen;
use campaign::run_spec::{Specified, specify, to_config};

/// Of transactions without end so many are planned for each worker.
const PLANNED: u64 = 1_000_000;

/// No more numbers are drawn before the first file, of all workers: it takes a few seconds, twice.
const DRAWS_MAX: u64 = 1 << 33;

/// No more operations are looked at for a fingerprint, of all workers: it takes a few seconds.
const FIRST_MAX: u64 = 100_000_000;

/// Plans and shows.
///
/// # Errors
/// Where what was said is wrong, or the plan cannot be delivered.
pub fn plan(mut arguments: PlanArguments) -> Result<u8, Problem> {
    arguments.work.like_in = arguments.archive.archive;
    print(&text(
        &specify(&arguments.work.request(), USER)?,
        arguments.format,
        true,
    )?)?;
    Ok(0)
}

/// The plan of what is meant.
///
/// # Errors
/// Where the workload has no stream, or the run would be refused.
pub fn text(specified: &Specified, format: Format, is_screen: bool) -> Result<String, Problem> {
    // A configuration file may be for another machine.
    if format != Format::Toml {
        calibration::judge(specified)?;
        // Whether root may work there is for the run to say.
        let spec = RunSpec {
            trusts_others: true,
            ..specified.spec.clone()
        };
        runner::dispatch::judge(&spec).map_err(|refused| specified.explain(refused))?;
    }
    Ok(match format {
        Format::Toml => to_config(specified)?,
        Format::Json => record(specified)?.to_json(),
        _ => {
            let mut plan = report::plan::plan(&record(specified)?);
            if specified.spec.workload.transactions() == Workload::ENDLESS {
                let planned = planned(&specified.spec.workload);
                plan.gap();
                plan.line(format!(
                    "The transactions end by time, so this plan covers the first {planned} \
                     transactions of each worker."
                ));
            }
            for note in &specified.notes {
                plan.gap();
                plan.line(note.to_string());
            }
            screen::laid_out(&plan, WIDTH, is_screen)
        }
    })
}

/// So many of transactions without end are planned.
fn planned(workload: &Workload) -> u64 {
    let followed = Followed::of(&workload.with_transactions(PLANNED));
    followed.map_or(PLANNED, |followed| followed.transactions)
}

fn record(specified: &Specified) -> Result<PlanRecord, Problem> {
    let directories: Vec<PathBuf> = specified
        .spec
        .targets
        .iter()
        .map(|target| spec::directory(target).to_owned())
        .collect();
    let workload = if specified.spec.workload.transactions() == Workload::ENDLESS {
        specified
            .spec
            .workload
            .with_transactions(planned(&specified.spec.workload))
    } else {
        specified.spec.workload.clone()
    };
    // The original's text takes draws before the first file, of every worker.
    let drawn = workload
        .classic()
        .map_or(0, |classic| 2 * classic.size_high_bytes);
    if drawn.saturating_mul(workload.streams().into()) > DRAWS_MAX {
        return Err(Problem::refused(format!(
            "cannot plan this workload in reasonable time: the classic generator draws {drawn} \
             numbers for the text of each of {} workers (use smaller files or fewer workers)",
            workload.streams()
        )));
    }
    let first = 2 * workload.files().min(INTENTS_IN_FINGERPRINT) + workload.transactions();
    let first = first
        .min(INTENTS_IN_FINGERPRINT)
        .saturating_mul(workload.workers.count().into());
    if first > FIRST_MAX {
        return Err(Problem::refused(format!(
            "cannot plan this workload in reasonable time: its fingerprint covers \
             {INTENTS_IN_FINGERPRINT} operations of each worker, {first} for all {} (use fewer \
             workers, or fewer files and transactions)",
            workload.workers.count()
        )));
    }
    let followed = Followed::of(&workload);
    let (mut plan, room, targets) = if !specified.spec.engine.makes_files() {
        let part = followed.map_or_else(|| workload.clone(), |followed| followed.part(&workload));
        let plan = Planner::new(&part).plan_with_hint(system::memory::prefer_huge_pages)?;
        let plan = match followed {
            Some(followed) => followed.extend(plan, &workload),
            None => plan,
        };
        (plan, Fact::NotApplicable, Vec::new())
    } else {
        let home = match specified.spec.engine.uses_urls() {
            true => runner::dispatch::namespace(&specified.spec),
            false => None,
        };
        let (plan, room, targets) =
            runner::free_space::plan(&workload, &directories, home.as_deref())?;
        (plan, Fact::Known(room), targets)
    };
    // Of the work that is meant, however much of it was gone through.
    if followed.is_some() || workload != specified.spec.workload {
        plan.fingerprint = fingerprint::fingerprint(&specified.spec.workload)?;
    }
    let shortage = room.known().and_then(runner::free_space::shortage);
    let shortage = shortage
        .or_else(|| runner::memory::shortage(&specified.spec, &Host::read(&Sources::default())));
    Ok(PlanRecord {
        tool: record::Tool::this(),
        spec: specified.spec.clone(),
        sizing: specified.sizing.clone(),
        plan,
        followed,
        shortage,
        room,
        targets,
        process: ProcessTimes::read(&Sources::default()),
    })
}
