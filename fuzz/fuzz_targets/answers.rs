//! Interprets bytes as an HTTP answer of an S3 server. The first byte is the size of the pieces in
//! which the answer arrives; the head and the body of the answer follow.

#![no_main]

use libfuzzer_sys::fuzz_target;
use s3_client::examine_answer;

fuzz_target!(|bytes: &[u8]| {
    let [piece, answer @ ..] = bytes else {
        return;
    };
    let whole = examine_answer(answer, answer.len());
    if let Some(data) = whole {
        assert!(data <= answer.len() as u64);
    }
    // The result does not depend on the pieces in which the answer arrives.
    assert_eq!(examine_answer(answer, usize::from(*piece)), whole);
});
