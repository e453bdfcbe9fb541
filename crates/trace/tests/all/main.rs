//! Tests of traces.

#![allow(clippy::unwrap_used)]

mod hostile;
mod nfs;
mod replay;
mod strace;

use std::collections::BTreeMap;
use std::io::Cursor;

use learn::Profile;
use trace::{Names, TraceError, TraceRequest, learn_trace};

/// Learns a trace below a directory.
fn learned(trace: &[u8], below: &str) -> Result<Profile, TraceError> {
    let request = TraceRequest {
        below: Some(below.as_bytes().to_vec()),
        names: Names::Plain,
    };
    learn_trace(|| Ok(Cursor::new(trace)), &request).map(|learned| learned.profile)
}

/// Returns the mix of a profile as text, such as `create=1 read=2`.
fn mix(profile: &Profile) -> String {
    let empty = BTreeMap::new();
    let mix = profile.mix.as_ref().unwrap_or(&empty).iter();
    let words: Vec<String> = mix
        .map(|(action, count)| format!("{}={count}", action.name()))
        .collect();
    words.join(" ")
}

/// Returns what a profile leaves out as text, such as `calls that failed=1`.
fn left_out(profile: &Profile) -> String {
    let words: Vec<String> = profile
        .left_out
        .iter()
        .map(|left| format!("{}={}", left.what, left.count))
        .collect();
    words.join("; ")
}
