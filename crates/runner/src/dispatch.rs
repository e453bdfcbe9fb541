//! Runs on the storage that their spec names, with the clock of the system.

use std::sync::Arc;

use engine::Engine;
use engine::namespace::Namespace;
use engines::registry;

use crate::clock::RunClock;
use crate::control::TakeControl;
use crate::error::Refused;
use crate::events::Events;
use crate::run::Run;
use crate::{RunSpec, preflight, run};

/// The storage that a spec names.
fn engine(spec: &RunSpec) -> Arc<dyn Engine> {
    let row = registry::named(spec.engine.name()).expect("a spec names engines of the registry");
    (row.make)(spec.depth as usize, &spec.targets)
}

/// Prepares a run, as [`run::prepare`] does.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn prepare<'e>(
    spec: &RunSpec,
    take_control: &mut dyn TakeControl,
    events: &'e mut dyn Events,
) -> Result<Run<'e>, Refused> {
    run::prepare_on(spec, engine(spec), RunClock::Machine, take_control, events)
}

/// Whether a run on its storage would be refused, as [`preflight::judge`] finds. Touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge(spec: &RunSpec) -> Result<(), Refused> {
    preflight::judge(spec, &*engine(spec))
}

/// Whether a run on its storage would be refused for want of room, as the look before a run finds.
/// Touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge_room(spec: &RunSpec) -> Result<(), Refused> {
    preflight::judge_room(spec, &*engine(spec))
}

/// Where the files of a run on its storage would live; nothing of one that makes none.
pub fn namespace(spec: &RunSpec) -> Option<Arc<dyn Namespace>> {
    engine(spec).namespace()
}
