//! A client of object storage that speaks S3 over HTTP/1.1, on connections of its own. The client
//! repeats no request, follows no redirect, and keeps no cache, so that every request and its time
//! is visible to the caller.
//!
//! - [`Server`] is a bucket at an endpoint, with [`Credentials`] and a region. [`Requests`] writes
//!   the heads of requests to a server, signed with Signature Version 4.
//! - [`Connection`] performs one request at a time and never blocks, so that a caller may drive
//!   many connections with one poll(2). Heads, bodies and times are bounded.
//! - [`Client`] makes one blocking request after the other.
//! - [`xml`] reads listings, errors and the results of uploads.
//! - [`Counters`] count requests and bytes by kind.
//!
//! Linux only. The feature `tls` encrypts the connections to `https://` endpoints.

// Other programs may use this crate, so every public item needs documentation.
#![warn(missing_docs)]

pub mod date;
pub mod sign;
pub mod xml;

mod body;
mod client;
mod connection;
mod counters;
mod credentials;
mod encode;
mod error;
mod examine;
mod head;
mod request;
mod server;
mod transport;

#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;

pub use body::{Framing, Taken};
pub use client::{Client, Collected, Found, Requests, Stopwatch, check, list_query};
pub use connection::{Broken, Connection, Progress, Sink, Wants};
pub use counters::{AllCounters, Count, Counters, KindCounts, Totals};
pub use credentials::{Credentials, CredentialsError, Environment};
pub use error::{CallError, Failed, Reason, ServerError, TlsError};
pub use examine::{examine_answer, examine_xml};
pub use head::{Garbled, HEAD_BYTES_MAX, Head, Tag};
pub use request::{Condition, Kind, Request};
pub use rustix::io::Errno;
pub use server::{Endpoint, Server, Style};
pub use xml::Page;
