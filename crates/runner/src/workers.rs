//! The workers of a run: each on a thread of its own, with its own source, session and meters; and
//! what they did together.

pub(crate) mod aggregate;
mod context;
mod pools;
mod start;
mod thread;

pub(crate) use aggregate::Performed;
pub(crate) use start::start;
