//! One pool for several workers. A file is published when its creation has closed it; who changes
//! it holds an exclusive claim, who reads it a shared one. Claims are taken before an operation is
//! issued and given back after it is completed, so that nothing fails because two workers meet, and
//! waiting is never latency.

mod draws;
mod pool;
mod source;

pub(crate) use pool::SharedPool;
pub(crate) use source::SharedSource;
