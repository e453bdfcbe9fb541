//! The name of a piece of work: two runs with equal fingerprints intended the same operations.
//!
//! XXH3 with 128 bits over the canonical workload, the version of the generators and the first intents of
//! every worker. It is no protection against forgery.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::intent::{Intent, Phase};
use crate::mix::Mix;
use crate::mixer::Draft;
use crate::stream::StreamError;
use crate::whole::{Crew, Work, Workload};

/// Raised whenever a generator, an algorithm or the encoding of intents changes what a workload intends.
pub const GENERATORS_VERSION: u32 = 1;

/// Intents of each worker that go into a fingerprint, at most.
pub const INTENTS_IN_FINGERPRINT: u64 = 100_000;

macro_rules! hash_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(extend("pattern" = "^xxh3-128:[0-9a-f]{32}$"))]
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

impl StreamHash {
    /// The hash of several streams: of one, its own.
    pub fn of_all(mut hashes: Vec<Self>) -> Self {
        if hashes.len() == 1 {
            return hashes.remove(0);
        }
        let mut hash = Xxh3::new();
        for one in hashes {
            hash.update(one.0.as_bytes());
        }
        Self::new(hash.digest128())
    }
}

/// An intent of the classic editions.
const NARROW_BYTES: usize = 21;
/// An intent of a mix.
const WIDE_BYTES: usize = 57;
const PENDING_BYTES: usize = 4096;

/// Hashes intents as they come.
pub struct StreamHasher {
    hash: Xxh3,
    is_wide: bool,
    pending: [u8; PENDING_BYTES],
    filled: usize,
}

impl StreamHasher {
    /// For intents of the classic editions, which need few fields.
    pub fn narrow() -> Self {
        Self::new(false)
    }

    /// For intents of mixes.
    pub fn wide() -> Self {
        Self::new(true)
    }

    /// For the intents of a workload.
    pub fn of(work: &Work) -> Self {
        Self::new(matches!(work, Work::Mix(_)))
    }

    fn new(is_wide: bool) -> Self {
        Self {
            hash: Xxh3::new(),
            is_wide,
            pending: [0; PENDING_BYTES],
            filled: 0,
        }
    }

    /// Takes the next intent in.
    #[inline]
    pub fn take(&mut self, intent: &Intent) {
        if self.filled > PENDING_BYTES - WIDE_BYTES {
            self.flush();
        }
        let bytes = &mut self.pending[self.filled..self.filled + WIDE_BYTES];
        bytes[0] = intent.action as u8 | u8::from(intent.ends_transaction) << 7;
        bytes[1..5].copy_from_slice(&intent.place.to_le_bytes());
        bytes[5..13].copy_from_slice(&intent.number.to_le_bytes());
        bytes[13..21].copy_from_slice(&intent.bytes.to_le_bytes());
        if !self.is_wide {
            self.filled += NARROW_BYTES;
            return;
        }
        bytes[21..29].copy_from_slice(&intent.offset_bytes.to_le_bytes());
        bytes[29..37].copy_from_slice(&intent.other.to_le_bytes());
        bytes[37..45].copy_from_slice(&intent.file.to_le_bytes());
        bytes[45..49].copy_from_slice(&intent.version.to_le_bytes());
        bytes[49..57].copy_from_slice(&intent.think_ns.to_le_bytes());
        self.filled += WIDE_BYTES;
    }

    /// Takes the next draft in: what a worker of a shared pool intends before it meets a file.
    pub fn take_draft(&mut self, draft: &Draft) {
        self.take(&Intent {
            action: draft.action,
            number: draft.pick,
            bytes: draft.amount,
            offset_bytes: draft.offset,
            think_ns: draft.think_ns,
            ..Intent::NOTHING
        });
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

/// The fingerprint of a workload whose workers' first intents are these.
pub(crate) fn of_first_intents(workload: &Workload, first: impl IntoIterator<Item = StreamHasher>) -> Fingerprint {
    let mut hash = Xxh3::new();
    hash.update(format!("postmark generators={GENERATORS_VERSION} {}", workload.canonical()).as_bytes());
    for worker in first {
        hash.update(worker.finish().as_str().as_bytes());
    }
    Fingerprint::new(hash.digest128())
}

/// The first intents of a worker of a shared pool: drafts, since they meet their files only in the run.
pub(crate) fn first_drafts(workload: &Workload, mix: &Mix, worker: u32) -> StreamHasher {
    let mixer = workload.mixer(mix, worker);
    let mut first = StreamHasher::wide();
    for index in 0..mix.transactions.min(INTENTS_IN_FINGERPRINT) {
        first.take_draft(&mixer.draft(index));
    }
    first
}

/// The fingerprint of a workload, from streams of its own that are taken as far as it needs.
///
/// # Errors
/// Where the workload has no stream.
pub fn fingerprint(workload: &Workload) -> Result<Fingerprint, StreamError> {
    let mut firsts = Vec::new();
    if let (Crew::Shared { .. }, Some(mix)) = (workload.crew, workload.mix()) {
        workload.validate()?;
        firsts.extend((0..workload.crew.workers()).map(|worker| first_drafts(workload, mix, worker)));
    } else {
        for number in 0..workload.streams() {
            let mut stream = workload.stream(number, |_| ())?;
            let mut first = StreamHasher::of(&workload.work);
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
            firsts.push(first);
        }
    }
    Ok(of_first_intents(workload, firsts))
}
