//! The thread that looks on while workers work: lets them pass the borders of stages together, has
//! file systems sync, watches that the place is still the same and that nobody is stalled, and
//! tells those who watch how far it is.

mod barrier;
mod completed;
mod evidence;
mod evidence_watch;
mod machine_watch;
mod message_loop;
mod messages;
mod observations;
mod rounds;
mod stages;
mod stalled;
mod state;
mod time;
mod wait_times;
mod watch;

pub(crate) use messages::{Message, SupervisorLink};
pub(crate) use observations::{PhaseObservations, RunObservations};
pub(crate) use state::Supervisor;
pub(crate) use watch::{PoolOfWorker, Watch, watch_mounts};
