//! Checks the load levels of a sweep against the requested ones.

use spec::Climb;

use super::scope::{Findings, Rule};
use record::run::{Load, Record};

/// Checks that the load levels are the requested ones, in their order. A sweep may then have added
/// levels whose rates lie between two requested rates.
pub(super) fn check(record: &Record, found: &mut Findings) {
    let Some(sweep) = &record.spec.drive.sweep else {
        return;
    };
    let mut at = found.at(Rule::Parts, "record.actual.sweep_steps");
    let steps = &record.actual.sweep_steps;
    let loads = steps.iter().map(|step| step.load);
    let are_rates = loads.clone().all(|load| matches!(load, Load::Rate(_)));
    let are = |asked: &mut dyn Iterator<Item = Load>| {
        loads.clone().all(|load| asked.next() == Some(load))
    };
    let is_right = match &sweep.climb {
        Climb::Rates(rates) => {
            let asked = rates.iter().map(|rate| Load::Rate(*rate));
            are_rates && loads.clone().zip(asked).all(|(load, asked)| load == asked)
        }
        Climb::OfClosedLoop(_) => {
            let mut rates = loads.clone();
            rates.next().is_none_or(|first| first == Load::Closed)
                && rates.all(|load| matches!(load, Load::Rate(_)))
        }
        Climb::Workers(workers) => are(&mut workers.iter().map(|count| Load::Workers(*count))),
        Climb::Ranks(ranks) => are(&mut ranks.iter().map(|count| Load::Ranks(*count))),
        Climb::Phases(_) => are(&mut (0..).map(Load::Phase)) && has_names(record),
    };
    if !is_right {
        at.broken("", "their loads are not those of the sweep");
    }
    let workers = record.spec.workload.workers.count();
    let ranks = record.spec.ranks.max(1);
    for (index, step) in steps.iter().enumerate() {
        let expected = match step.load {
            Load::Closed | Load::Rate(_) | Load::Phase(_) => workers,
            Load::Workers(each) => each.saturating_mul(ranks),
            Load::Ranks(some) => workers / ranks * some,
        };
        let field = format!("[{index}].workers");
        at.same(&field, step.workers, expected, "by the sweep");
    }
}

/// Whether the load levels have the names of the workload's phases.
fn has_names(record: &Record) -> bool {
    let names = record.spec.phases().iter().map(|phase| Some(&phase.name));
    let mut steps = record.actual.sweep_steps.iter();
    let are = steps
        .by_ref()
        .zip(names)
        .all(|(step, name)| step.name.as_ref() == name);
    are && steps.next().is_none()
}
