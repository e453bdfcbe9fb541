//! A pool that several workers share. A new file is published in the pool once the operation that
//! creates the file has closed it. A worker that changes a file holds an exclusive claim on it, and
//! a reader holds a shared claim. Claims are taken before an operation is issued and released after
//! it completes. As a result, operations of two workers never conflict, and waiting for a claim is
//! not part of a latency.

mod draws;
mod pool;
mod source;

pub(crate) use pool::SharedPool;
pub(crate) use source::SharedSource;
