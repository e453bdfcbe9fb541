//! Interprets bytes as the data of an NFS server. The first byte selects a procedure, and the
//! second is the size of the pieces in which the stream arrives. The rest is the stream, which is
//! then also interpreted as a single reply.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nfs_client::{examine_reply, examine_stream};

fuzz_target!(|bytes: &[u8]| {
    let [procedure, piece, stream @ ..] = bytes else {
        return;
    };
    let procedure = usize::from(*procedure);
    if let Ok((records, contents)) = examine_stream(procedure, stream, usize::from(*piece)) {
        // The result cannot contain more than the input. Each record has a mark of 4 bytes, and
        // each byte or entry of the contents takes at least one byte of the stream.
        assert!(4 * records + contents <= stream.len());
    }
    if let Ok(contents) = examine_reply(procedure, stream) {
        assert!(contents <= stream.len());
    }
});
