//! Checks the parsers of message counters. The input consists of an earlier and a later text,
//! separated by a zero byte. For each counter, both texts are parsed, and the readings are
//! subtracted. `messages.rs` runs this check on texts of real kernels, and the fuzz target
//! `messages` on generated texts.

use system::MessageCounter::{IscsiSession, NfsClient, NfsServer, SmbClient};
use system::{MessagesReading, WatchedCounter};

/// Panics if a reading, or the difference of two readings, is inconsistent.
pub fn count(bytes: &[u8]) {
    let mut parts = bytes
        .splitn(2, |byte| *byte == 0)
        .map(String::from_utf8_lossy);
    let earlier = parts.next().unwrap_or_default();
    let later = parts.next().unwrap_or_else(|| earlier.clone());
    for (counter, protocol, of) in [
        (NfsClient, "nfs3", "/A"),
        (NfsClient, "nfs4.2", "/D"),
        (NfsClient, "nfs4.0", "/mnt/nfs/test"),
        (NfsServer, "nfs3", "this machine"),
        (NfsServer, "nfs4", "this machine"),
        (NfsClient, "nfs3", "/mnt/n3"),
        (SmbClient, "smb3.1.1", "//127.0.0.1/lab"),
        (SmbClient, "smb1.0", "//server1/share1"),
        (SmbClient, "smb3.1.1", "//server2/share2"),
        (IscsiSession, "iscsi", "sda"),
    ] {
        let watched = WatchedCounter {
            counter,
            protocol: protocol.to_owned(),
            of: of.to_owned(),
        };
        let (before, after) = (watched.parse(&earlier), watched.parse(&later));
        let grown = after.since(std::slice::from_ref(&before));
        // The growth of a count is at most the count in the later reading.
        if let (Some(grown), Some(all)) = (grown.requests().known(), after.requests().known()) {
            assert!(grown <= all);
        }
        let again = after.since(std::slice::from_ref(&after));
        assert!(again.kinds.known().is_none_or(Vec::is_empty), "{again:?}");
        for reading in [before, after, grown] {
            let json = serde_json::to_string(&reading).expect("it is data");
            assert_eq!(
                serde_json::from_str::<MessagesReading>(&json).expect("it was written"),
                reading
            );
        }
    }
}
