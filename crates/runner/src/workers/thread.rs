//! Starts the thread of a worker. The thread sends the worker's results to the supervisor.

use std::sync::Arc;
use std::thread;

use record::machine::WORKER_THREAD;
use rundir::worker_status::{Aside, Slot};
use workload::names::NameKind;

use super::context::RunContext;
use super::pools::Pools;
use crate::error::Refused;
use crate::source::Source;
use crate::stopwatch::Stopwatch;
use crate::supervisor::{Message, SupervisorLink};
use crate::worker::{self, OtherPools, Report, Tools};

impl RunContext<'_> {
    /// Starts the thread of a worker. The thread is not scoped, so that the record can be written
    /// even if the thread hangs in the kernel.
    pub(super) fn spawn(
        &self,
        worker: u32,
        link: SupervisorLink,
        slots: Vec<Arc<Slot>>,
        pools: Pools,
    ) -> Result<(), Refused> {
        let (source, payload) = pools.own;
        let config = self.config(worker, payload);
        let others = OtherPools {
            neighbour: pools.neighbour,
            checked: pools.checked,
            acknowledged: self.acknowledged.clone(),
            workers: self.request.workload.workers.count().max(1),
        };
        let tools = self.tools(worker, slots, source, others);
        let (index, messages) = (link.index, link.messages.clone());
        let thread = thread::Builder::new().name(format!("{WORKER_THREAD}{worker}"));
        let started = thread.spawn(move || {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Ok::<Report, String>(worker::work(tools()?, config, Box::new(link)))
            }));
            let report = worked.unwrap_or_else(|_| {
                Err(
                    "internal error in a worker (this is a bug in postmark: please report it with \
                     the text above)"
                        .to_owned(),
                )
            });
            // The error is ignored: the receiver no longer exists if the supervisor has abandoned
            // the run.
            let _ = messages.send((index, Message::Done(Box::new(report))));
        });
        // If a thread cannot be started, no supervisor is created. Workers that were already
        // started then end at their first barrier.
        started.map(drop).map_err(|error| {
            Refused::Unable(format!(
                "cannot start a thread for worker {worker}: {error} (use fewer workers, or raise \
                 the limit: ulimit -u, pids.max)"
            ))
        })
    }

    /// Returns a function that prepares the worker's thread and returns its tools. The function
    /// must be called on that thread.
    fn tools(
        &self,
        worker: u32,
        slots: Vec<Arc<Slot>>,
        source: Source,
        others: OtherPools,
    ) -> impl FnOnce() -> Result<Tools, String> + Send + use<> {
        let settings = self.settings(worker);
        let engine = self.engine.clone();
        let clock = self.clock.clone();
        // If a durability policy requests syncs, calls are always timed, because reports include
        // the cost of these syncs.
        let steps = self.request.steps || self.request.durability.sync();
        let latencies = self.request.latencies;
        let steps_of = (latencies && steps).then_some(slots.len());
        let control = self.control.clone();
        let log = self.ack_log.map(|ack_log| ack_log.log(worker));
        let origin_ns = self.origin_ns;
        let pin = self.request.pin;
        let pacer = self.pacer(worker);
        move || {
            if pin {
                system::processors::pin_to(worker).map_err(|error| {
                    format!("cannot pin worker {worker} to a processor: {error} (remove --pin)")
                })?;
            }
            if pacer.may_be_open() {
                // The error is ignored: without exact wake-ups, operations may be issued after they
                // are due, but response times include that delay.
                let _ = system::processors::wake_exactly();
            }
            let slot = &slots[0];
            let session = slot.aside(Aside::OpenSession, (0, NameKind::Directory, 0), || {
                engine.open(&settings)
            });
            Ok(Tools {
                worker,
                source,
                session: session.map_err(|error| error.to_string())?,
                stopwatch: Stopwatch::new(clock.clone(), latencies, steps_of),
                clock,
                control,
                slots,
                origin_ns,
                log,
                pacer,
                others,
            })
        }
    }
}
