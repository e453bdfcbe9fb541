//! A client of NFS version 3 (RFC 1813) over TCP, with portmapper and MOUNT. Calls reach the server
//! without a kernel client, a mount point or a cache.
//!
//! - [`mount()`] finds a server's ports, mounts an [`Export`] and opens its directory.
//! - [`Client`] makes one call at a time. If the connection is lost, the client repeats the call on
//!   a new connection. If no reply shows whether the server executed the first call, the client
//!   returns [`CallError::NotKnown`].
//! - [`Channel`] is for callers that keep several calls in flight and wait for replies themselves.
//!   Requests are collected in a buffer and sent together; received bytes are split into replies.
//! - [`arguments`] and [`results`] encode and decode the procedures of the RFC. Decoding copies no
//!   data, allocates no memory, and checks all lengths.
//! - [`Counters`] count calls, repetitions and bytes by procedure.
//!
//! The crate reads no clock: durations are measured with a timer of the kernel. Linux only.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use nfs_client::{AllCounters, Client, Export, mount};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let counters = AllCounters::default();
//! let own = counters.add();
//! let export = Export::new("server", b"/export/path");
//! let mounted = mount(&export, Duration::from_secs(20), &own)?;
//! let mut client = Client::new(mounted.endpoint, own)?;
//! let (_handle, attributes) = client.look_up(&mounted.directory, b"file")?;
//! println!("{} bytes", attributes.size_bytes);
//! for (procedure, calls) in counters.sum().procedures() {
//!     println!("{} {}", procedure.name(), calls.calls);
//! }
//! # Ok(())
//! # }
//! ```

// Other programs may use this crate, so every public item needs documentation.
#![warn(missing_docs)]

pub mod arguments;
pub mod results;
pub mod rpc;
pub mod xdr;

mod channel;
mod client;
mod counters;
mod data;
mod endpoint;
mod examine;
mod listing;
mod mount;
mod procedure;
mod records;
mod seek;
mod timer;

pub use channel::{Broken, Channel, LOOK_EVERY};
pub use client::{Backoff, CallError, Client, DELAY_MAX, DELAY_MIN, any_number};
pub use counters::{AllCounters, Calls, Count, Counters, Totals};
pub use data::{FileAttributes, FileKind, Handle, Stable, Stamp, Status, WriteVerifier};
pub use endpoint::Endpoint;
pub use examine::{PROCEDURES, examine_reply, examine_stream};
pub use listing::{ListingProgress, NoEnd};
pub use mount::{Export, MountError, Mounted, TransferSizes};
pub use procedure::{Procedure, Program};
pub use records::{MARK_BYTES, Record, Records, fragments, mark, read_record};
pub use rustix::io::Errno;
pub use seek::mount;
pub use timer::Timer;
pub use xdr::Garbled;
