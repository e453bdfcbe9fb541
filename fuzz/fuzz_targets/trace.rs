//! Interprets bytes as a trace: text of strace, or captured packets with calls of NFS version 3.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use trace::{Names, TraceRequest, learn_trace};

fuzz_target!(|bytes: &[u8]| {
    for below in [None, Some(b"/".to_vec())] {
        let request = TraceRequest {
            below,
            names: Names::Hashed(1),
        };
        if let Ok(learned) = learn_trace(|| Ok(Cursor::new(bytes)), &request) {
            let mix = learned.profile.mix.unwrap_or_default();
            // Each operation takes some bytes of the trace.
            assert!(mix.values().sum::<u64>() <= bytes.len() as u64);
        }
    }
});
