//! Interprets bytes as the XML documents that an S3 server sends: listings, errors and uploads.

#![no_main]

use libfuzzer_sys::fuzz_target;
use s3_client::examine_xml;

fuzz_target!(|document: &[u8]| {
    // Each listed entry takes at least the bytes of its element.
    assert!(examine_xml(document) * "<Contents><Key>k</Key></Contents>".len() <= document.len());
});
