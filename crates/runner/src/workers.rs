//! The workers of a run and their merged results. Each worker has its own thread, source, session
//! and meters.

pub(crate) mod aggregate;
mod classic;
mod context;
mod performed;
mod pools;
mod start;
mod thread;

pub(crate) use performed::Performed;
pub(crate) use start::start;
