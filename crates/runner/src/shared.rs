//! A pool that several workers share. A file is published after its creation has closed it. Workers
//! that change a file hold an exclusive claim, readers a shared one. Claims are taken before an
//! operation is issued and released after it completes. So operations of two workers never
//! conflict, and waiting for a claim is not part of a latency.

mod draws;
mod pool;
mod source;

pub(crate) use pool::SharedPool;
pub(crate) use source::SharedSource;
