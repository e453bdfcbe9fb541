//! A worker: the stages that it performs, and the loop that performs operations (`operation_loop`).

mod config;
mod directories;
mod flights;
mod in_flight;
mod name_check;
mod operation_loop;
mod other_pool;
mod pacing;
mod page_cache;
mod phase;
mod phase_stats;
mod pool_check;
mod rendezvous;
mod report;
mod reuse;
mod segments;
mod skips;
mod stages;
mod state;
mod tree_check;
mod verify;
mod visibility_retry;

pub(crate) use config::{
    OtherPool, OtherPools, Payload, PoolAt, PoolDirectory, Tools, WorkerConfig,
};
pub(crate) use phase_stats::SegmentReport;
pub(crate) use rendezvous::{Answer, Rendezvous};
pub(crate) use report::{PhaseReport, Report};
pub(crate) use stages::work;
