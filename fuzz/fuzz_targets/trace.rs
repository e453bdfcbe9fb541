//! Interprets bytes as a trace: text of strace, or captured packets with calls of NFS version 3.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use trace::{Names, ReplayRequest, TraceRequest, learn_trace, read_for_replay};
use workload::replay::{Built, Timing};

fuzz_target!(|bytes: &[u8]| {
    for below in [None, Some(b"/".to_vec())] {
        let replay = ReplayRequest {
            below: below.clone(),
            operations_max: 1_000_000,
        };
        if let Ok(mut read) = read_for_replay(|| Ok(Cursor::new(bytes)), &replay)
            && let Ok(built) = Built::new(&mut read.trace, Timing::Pauses)
        {
            // A renaming over a file becomes two operations.
            assert!(built.steps.all.len() <= 2 * bytes.len());
        }
        let request = TraceRequest {
            below,
            names: Names::Hashed(1),
        };
        if let Ok(learned) = learn_trace(|| Ok(Cursor::new(bytes)), &request) {
            let options = learn::workload_options(&learned.profile);
            learn::resolve(&options).expect("a run accepts every learned workload");
            let mix = learned.profile.mix.unwrap_or_default();
            // Each operation takes some bytes of the trace.
            assert!(mix.values().sum::<u64>() <= bytes.len() as u64);
        }
    }
});
