//! Reads traces of applications, and learns a profile from them.
//!
//! A trace is text of strace(1), or a capture of packets with calls of NFS version 3. Traces are
//! read as streams in bounded memory, and they are not trusted: what cannot be parsed is counted.
//! A trace is read twice if its directory is not given: first to find the directory that contains
//! the changes, then to learn what happens in it.

mod activity;
mod call;
mod capture;
mod concurrency;
mod connection;
mod done;
mod files;
mod kept;
mod learning;
mod line;
mod lines;
mod moved;
mod nfs;
mod own_time;
mod own_times;
mod processes;
mod reason;
mod recorder;
mod replaying;
mod rpc;
mod scope;
mod segment;
mod spent;
mod strace;
mod window;
mod world;

pub use learning::{Learned, TraceError, TraceRequest, learn_trace};
pub use replaying::{ReplayRequest, Replayable, read_for_replay};
pub use scope::Names;
