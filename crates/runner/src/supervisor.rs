//! The supervising thread. This thread leads workers through barriers between stages and syncs file
//! systems. It also checks that the run's directories still exist, detects stalled workers, and
//! reports progress.

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
