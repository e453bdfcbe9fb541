//! Bytes as what an NFS server sends: a procedure, how long the pieces are in which the stream
//! comes, and the stream; then the same bytes as one reply.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nfs_client::{examine_reply, examine_stream};

fuzz_target!(|bytes: &[u8]| {
    let [procedure, piece, stream @ ..] = bytes else {
        return;
    };
    let procedure = usize::from(*procedure);
    if let Ok((records, contents)) = examine_stream(procedure, stream, usize::from(*piece)) {
        // Nothing is found that was not there: a record takes its mark, a byte or an entry at least
        // one.
        assert!(4 * records + contents <= stream.len());
    }
    if let Ok(contents) = examine_reply(procedure, stream) {
        assert!(contents <= stream.len());
    }
});
