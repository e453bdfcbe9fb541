//! Tests of the crate's public interface. All suites are modules of one test program.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use engine::Engine;
use record::Record;
use runner::{Clock, Control, Events, Refused, RunSpec};

mod ranks;
mod site;
#[path = "../../../runner/tests/all/sleepy.rs"]
mod sleepy;
mod steps;
mod studies;
mod sweep;

/// Performs a run spec on an I/O engine. A signal number stored in `signal` ends the run.
fn run<S: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    spec: &RunSpec,
    engine: &S,
    clock: &C,
    signal: &Arc<AtomicUsize>,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let mut take_control = || Control::stopped_by(Arc::clone(signal));
    campaign::run(
        spec,
        &mut |spec, events| runner::prepare(spec, engine, clock, &mut take_control, events),
        events,
    )
}
