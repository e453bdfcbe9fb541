//! Starts the workers of a run, and collects the inputs of the supervisor.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use engine::Engine;
use record::Origin;
use rundir::AckLog;
use rundir::worker_status::Slot;
use spec::{Cache, RunSpec};
use workload::Mix;

use super::context::RunContext;
use super::pools::SharedPools;
use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::error::Refused;
use crate::pauses::PauseWatch;
use crate::run_target::Taken;
use crate::supervisor::{Message, PoolOfWorker, SupervisorLink, Watch, watch_mounts};
use crate::worker::Answer;

/// Starts the workers, which wait for the supervisor at their first barrier. Timestamps are
/// relative to `origin`, a time of `clock`.
pub(crate) fn start(
    request: &RunSpec,
    (engine, clock, control): (&Arc<dyn Engine>, &RunClock, &Control),
    taken: &Taken,
    ack_log: Option<&AckLog>,
    origin: Origin,
) -> Result<Watch, Refused> {
    let workers = request.workers_of(control.processes().number());
    let slots = taken.owned.life().slots();
    control.engage(&slots.concat());
    let context = RunContext::new(request, (engine, clock, control), taken, ack_log, origin)?;
    let (messages, from_workers) = mpsc::channel();
    let mut answers = Vec::new();
    let is_shared = request.workload.workers.is_shared();
    let is_drawn = |mix: &&Mix| is_shared && mix.replay.is_none();
    let shared = request.workload.mix().filter(is_drawn);
    let shared = shared.map(SharedPools::new);
    for (index, worker) in workers.clone().enumerate() {
        let (answer, from_supervisor) = mpsc::channel();
        answers.push(answer);
        let link = SupervisorLink {
            index: index as u32,
            messages: messages.clone(),
            answers: from_supervisor,
        };
        let slots = slots[index].clone();
        let pools = context.pools(worker, slots.len(), shared.as_ref())?;
        context.spawn(worker, link, slots, pools)?;
    }
    Ok(context.watch(workers, taken, from_workers, answers, slots))
}

fn is_cold(cache: &Cache) -> bool {
    matches!(cache, Cache::Cold | Cache::ColdData)
}

impl RunContext<'_> {
    /// Collects the inputs of the supervisor.
    fn watch(
        &self,
        workers: Range<u32>,
        taken: &Taken,
        messages: Receiver<(u32, Message)>,
        answers: Vec<Sender<Answer>>,
        slots: Vec<Vec<Arc<Slot>>>,
    ) -> Watch {
        let request = self.request;
        let pools = |is_any: bool, of: &dyn Fn(u32) -> u32| -> Vec<PoolOfWorker> {
            let workers = workers.clone().filter(|_| is_any);
            workers.map(|worker| self.pool_of(of(worker))).collect()
        };
        let landmarks = taken.owned.landmarks();
        let now_ns = self.clock.clone();
        Watch {
            messages,
            first_worker: workers.start,
            answers,
            slots,
            pools: pools(true, &|worker| worker),
            neighbours: pools(request.neighbour != 0, &|worker| {
                request.neighbour_of(worker)
            }),
            checked: pools(request.checks_across(), &|worker| {
                request.checked_by(worker).0
            }),
            owned: Arc::clone(&taken.owned),
            // Mount changes on this machine do not affect directories on a server. A check after
            // each mount change would add server calls to those that the run counts.
            mounts: match request.engine.uses_directories() {
                true => watch_mounts(self.control.clone(), landmarks.clone()),
                false => None,
            },
            landmarks,
            sync: request.sync_phases || request.caches().iter().any(is_cold),
            drop_caches: request.cache == Cache::Cold,
            reuse: request.keeping.reuse,
            drive: request.drive.clone(),
            devices: request.series.then(|| taken.devices.clone()),
            pauses: self.clock.is_of_machine().then(PauseWatch::start).flatten(),
            account: None,
            servers: None,
            host: None,
            acknowledged: self.acknowledged.clone(),
            now_ns: Box::new(move || now_ns.now_ns()),
            origin_ns: self.origin_ns,
            since: None,
            merged: None,
        }
    }
}
