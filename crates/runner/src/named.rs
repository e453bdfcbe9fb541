//! Runs on the storage that their spec names, with the clock of the system. The one loop is compiled here for each of these
//! storages, so that the crates above need not be optimised.

use std::sync::Arc;

use contract::Storage as _;
use contract::home::Home;
use spec::StorageName;

use crate::clock::SystemClock;
use crate::control::TakeControl;
use crate::events::Events;
use crate::refused::Refused;
use crate::run::Run;
use crate::{RunSpec, looked, run};

/// Prepares a run, as [`run::prepare`] does.
///
/// # Errors
/// Where the run was refused: nothing was touched.
pub fn prepare<'e>(
    spec: &RunSpec,
    take_control: &mut dyn TakeControl,
    events: &'e mut dyn Events,
) -> Result<Run<'e>, Refused> {
    storage::named!(spec.storage, StorageName, depth: spec.depth as usize, targets: &spec.targets, storage => {
        run::prepare(spec, storage, &SystemClock, take_control, events)
    })
}

/// Whether a run on its storage would be refused, as [`looked::judge`] finds. Touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge(spec: &RunSpec) -> Result<(), Refused> {
    storage::named!(spec.storage, StorageName, depth: spec.depth as usize, targets: &spec.targets, storage => looked::judge(spec, storage))
}

/// Whether a run on its storage would be refused for want of room, as the look before a run finds. Touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge_room(spec: &RunSpec) -> Result<(), Refused> {
    storage::named!(spec.storage, StorageName, depth: spec.depth as usize, targets: &spec.targets, storage => {
        looked::judge_room(spec, storage)
    })
}

/// Where the files of a run on its storage would live; nothing of one that makes none.
pub fn home(spec: &RunSpec) -> Option<Arc<dyn Home>> {
    storage::named!(spec.storage, StorageName, depth: spec.depth as usize, targets: &spec.targets, storage => storage.home())
}
