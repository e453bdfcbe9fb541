//! A client of NFS version 3 (RFC 1813) over TCP, with the portmapper and MOUNT: no kernel client,
//! no mount point and no cache lies between a call and the server.
//!
//! - [`mount()`] finds a server's ports, mounts an [`Export`] and opens the directory in it.
//! - [`Client`] makes calls one at a time. A call whose connection was lost is sent again on
//!   another one; where the answer to that does not tell what the first had done, it says so
//!   ([`CallError::NotKnown`]).
//! - [`Channel`] is for callers with many calls in flight, which do their own waiting: requests are
//!   gathered in one buffer and sent together, replies are found in what was received.
//! - [`arguments`] and [`results`] have the procedures as the RFC does. Reading a reply copies
//!   nothing, allocates nothing and believes nothing that is longer than it may be.
//! - [`Counters`] count calls, repetitions and bytes, by procedure.
//!
//! Nothing reads the clock: lengths of time come from a timer of the kernel's. Linux only.
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

// Other programs may use it.
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
/// The system's number for an error.
pub use rustix::io::Errno;
pub use seek::mount;
pub use timer::Timer;
pub use xdr::Garbled;
