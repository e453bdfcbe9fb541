//! Performs runs on the I/O engine that their spec names, with the machine's clock.

use std::sync::Arc;

use engine::Engine;
use engine::namespace::Namespace;
use engines::registry;

use crate::clock::RunClock;
use crate::control::TakeControl;
use crate::error::Refused;
use crate::events::Events;
pub use crate::preflight::judge_planned_room;
use crate::run::Run;
use crate::{RunSpec, preflight, run};

fn engine(spec: &RunSpec) -> Arc<dyn Engine> {
    let row = registry::named(spec.engine.name()).expect("a spec names engines of the registry");
    (row.make)(spec.depth as usize, &spec.targets)
}

/// Prepares a run on the engine of its spec, as [`run::prepare`] does.
///
/// # Errors
/// Returns an error if the run was refused.
pub fn prepare<'e>(
    spec: &RunSpec,
    take_control: &mut dyn TakeControl,
    events: &'e mut dyn Events,
) -> Result<Run<'e>, Refused> {
    run::prepare_on(spec, engine(spec), RunClock::Machine, take_control, events)
}

/// Checks whether a run on the engine of its spec would be refused, as [`preflight::judge`] does.
/// Changes nothing.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn judge(spec: &RunSpec) -> Result<(), Refused> {
    preflight::judge(spec, &*engine(spec))
}

/// Checks whether the engine of a spec supports it. Changes nothing, and accesses no target.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn judge_engine(spec: &RunSpec) -> Result<(), Refused> {
    preflight::able(spec, &*engine(spec)).map(drop)
}

/// Checks whether a run on the engine of its spec would be refused for lack of memory or free
/// space. Changes nothing.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn judge_room(spec: &RunSpec) -> Result<(), Refused> {
    preflight::judge_room(spec, &*engine(spec))
}

/// The namespace of the engine that a spec names; `None` if the engine creates no files.
pub fn namespace(spec: &RunSpec) -> Option<Arc<dyn Namespace>> {
    engine(spec).namespace()
}
