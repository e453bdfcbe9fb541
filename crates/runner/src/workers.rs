//! The workers of a run: each on a thread of its own, with its own source, session and meters; and
//! what they did together.

pub(crate) mod aggregate;
mod classic;
mod context;
mod performed;
mod pools;
mod start;
mod thread;

pub(crate) use performed::Performed;
pub(crate) use start::start;
