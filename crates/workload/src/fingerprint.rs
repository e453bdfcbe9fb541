//! The name of a piece of work: two runs with equal fingerprints intended the same operations.
//!
//! XXH3 with 128 bits over the canonical workload, the version of the generators and the first intents of
//! every worker. It is no protection against forgery.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::classic::Classic;
use crate::intent::{Intent, Phase, Stream};
use crate::stream::{ClassicStream, StreamError};

/// Raised whenever a generator, an algorithm or the encoding of intents changes what a workload intends.
pub const GENERATORS_VERSION: u32 = 1;

/// Intents of each worker that go into a fingerprint, at most.
pub const INTENTS_IN_FINGERPRINT: u64 = 100_000;

macro_rules! hash_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            fn new(hash: u128) -> Self {
                Self(format!("xxh3-128:{hash:032x}"))
            }

            /// The hash's name, a colon, and 32 hexadecimal digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

hash_name!(
    /// The hash of a workload and of the first intents of its workers.
    Fingerprint
);
hash_name!(
    /// The hash of every intent of a worker's whole stream.
    StreamHash
);

const INTENT_BYTES: usize = 21;
const INTENTS_AT_ONCE: usize = 195;

/// Hashes intents as they come.
pub struct StreamHasher {
    hash: Xxh3,
    pending: [u8; INTENT_BYTES * INTENTS_AT_ONCE],
    filled: usize,
}

impl Default for StreamHasher {
    fn default() -> Self {
        Self {
            hash: Xxh3::new(),
            pending: [0; INTENT_BYTES * INTENTS_AT_ONCE],
            filled: 0,
        }
    }
}

impl StreamHasher {
    /// Takes the next intent in.
    #[inline]
    pub fn take(&mut self, intent: &Intent) {
        if self.filled == self.pending.len() {
            self.flush();
        }
        let bytes = &mut self.pending[self.filled..self.filled + INTENT_BYTES];
        bytes[0] = intent.action as u8 | u8::from(intent.ends_transaction) << 7;
        bytes[1..5].copy_from_slice(&intent.place.to_le_bytes());
        bytes[5..13].copy_from_slice(&intent.number.to_le_bytes());
        bytes[13..21].copy_from_slice(&intent.bytes.to_le_bytes());
        self.filled += INTENT_BYTES;
    }

    fn flush(&mut self) {
        self.hash.update(&self.pending[..self.filled]);
        self.filled = 0;
    }

    /// The hash of all intents taken in.
    pub fn finish(mut self) -> StreamHash {
        self.flush();
        StreamHash::new(self.hash.digest128())
    }
}

/// The fingerprint of a workload whose one worker's first intents are these.
pub(crate) fn of_first_intents(workload: &Classic, first: StreamHasher) -> Fingerprint {
    let mut hash = Xxh3::new();
    hash.update(format!("postmark generators={GENERATORS_VERSION} {}", workload.canonical()).as_bytes());
    hash.update(first.finish().as_str().as_bytes());
    Fingerprint::new(hash.digest128())
}

/// The fingerprint of a workload, from a stream of its own that is taken as far as it needs.
///
/// # Errors
/// Where the workload has no stream.
pub fn fingerprint(workload: &Classic) -> Result<Fingerprint, StreamError> {
    let mut stream = ClassicStream::new(workload)?;
    let mut first = StreamHasher::default();
    let mut left = INTENTS_IN_FINGERPRINT;
    for phase in Phase::ALL {
        while left > 0 {
            let Some(intent) = stream.next(phase) else {
                break;
            };
            first.take(&intent);
            left -= 1;
        }
    }
    Ok(of_first_intents(workload, first))
}
