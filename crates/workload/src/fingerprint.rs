//! The fingerprint of a workload. Two runs with equal fingerprints intended the same operations.
//!
//! The fingerprint is the 128-bit XXH3 hash of the canonical workload, the version of the
//! generators and the first intents of every worker. It does not protect against forgery.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::WorkloadError;
use crate::intent::{Intent, Phase};
use crate::mix::Mix;
use crate::mixer::Draft;
use crate::whole::{Work, Workers, Workload};

/// This version must be raised when a change of a generator, of an algorithm or of the encoding of
/// intents changes the fingerprint of a workload.
pub const GENERATORS_VERSION: u32 = 1;

/// The maximum number of intents per worker that a fingerprint includes.
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

            /// Returns `xxh3-128:` and 32 hexadecimal digits.
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
    /// The hash of all intents of a worker's stream.
    StreamHash
);

impl StreamHash {
    /// Combines the hashes of several streams; a single hash is returned unchanged.
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

/// The encoded size in bytes of an intent of the classic workload.
const NARROW_BYTES: usize = 21;
/// The encoded size in bytes of an intent of a mix.
const WIDE_BYTES: usize = 57;
const PENDING_BYTES: usize = 4096;

pub struct StreamHasher {
    hash: Xxh3,
    is_wide: bool,
    pending: [u8; PENDING_BYTES],
    filled: usize,
}

impl StreamHasher {
    /// Returns a hasher for intents of the classic workload, which have fewer fields.
    pub fn narrow() -> Self {
        Self::new(false)
    }

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

    /// Adds the next intent to the hash.
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
        bytes[49..57].copy_from_slice(&intent.pause.think_ns.to_le_bytes());
        self.filled += WIDE_BYTES;
    }

    /// Adds the next draft to the hash. A draft is an operation on a shared pool whose file is not
    /// chosen yet.
    pub fn take_draft(&mut self, draft: &Draft) {
        self.take(&Intent {
            action: draft.action,
            number: draft.pick,
            bytes: draft.amount,
            offset_bytes: draft.offset,
            pause: draft.pause,
            ..Intent::NOTHING
        });
    }

    fn flush(&mut self) {
        self.hash.update(&self.pending[..self.filled]);
        self.filled = 0;
    }

    pub fn finish(mut self) -> StreamHash {
        self.flush();
        StreamHash::new(self.hash.digest128())
    }
}

/// Returns the fingerprint of a workload. `first` contains one hasher per worker, with the hash of
/// the worker's first intents.
pub(crate) fn of_first_intents(
    workload: &Workload,
    first: impl IntoIterator<Item = StreamHasher>,
) -> Fingerprint {
    let mut hash = Xxh3::new();
    hash.update(
        format!(
            "postmark generators={GENERATORS_VERSION} {}",
            workload.canonical()
        )
        .as_bytes(),
    );
    for worker in first {
        hash.update(worker.finish().as_str().as_bytes());
    }
    Fingerprint::new(hash.digest128())
}

/// Hashes the first operations of a worker with a shared pool. The operations are drafts, because
/// their files are chosen only during the run.
pub(crate) fn first_drafts(workload: &Workload, mix: &Mix, worker: u32) -> StreamHasher {
    let mixer = workload.mixer(mix, worker);
    let mut first = StreamHasher::of(&workload.work);
    for index in 0..mix.transactions.min(INTENTS_IN_FINGERPRINT) {
        first.take_draft(&mixer.draft(index));
    }
    first
}

/// Returns the fingerprint of a workload. Draws only the intents that a fingerprint includes.
///
/// # Errors
/// Returns an error if the workload is invalid.
pub fn fingerprint(workload: &Workload) -> Result<Fingerprint, WorkloadError> {
    workload.validate()?;
    if workload.replay().is_some() {
        // The workload contains the digest of the trace, which determines all intents.
        return Ok(of_first_intents(workload, []));
    }
    let first = |worker: u32| match (workload.workers, workload.mix()) {
        (Workers::Shared { .. }, Some(mix)) => Ok(first_drafts(workload, mix, worker)),
        _ => first_intents(workload, worker),
    };
    let workers = workload.workers.count();
    // With thousands of workers, a single thread would need half a minute.
    let threads = if workers < 8 {
        1
    } else {
        std::thread::available_parallelism().map_or(1, |count| count.get().min(8) as u32)
    };
    let of_each = workers.div_ceil(threads);
    let parts: Vec<Result<Vec<StreamHasher>, WorkloadError>> = std::thread::scope(|scope| {
        let part = |thread: u32| {
            let part = thread * of_each..((thread + 1) * of_each).min(workers);
            part.map(first).collect()
        };
        // If the system refuses to start a thread, the current thread hashes that thread's part.
        let begun: Vec<_> = (1..threads)
            .map(|thread| {
                let spawned = std::thread::Builder::new().spawn_scoped(scope, move || part(thread));
                spawned.map_err(|_| thread)
            })
            .collect();
        let mut parts = vec![part(0)];
        for begun in begun {
            parts.push(match begun.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(part)) => part,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(thread) => part(thread),
            });
        }
        parts
    });
    let firsts: Vec<Vec<StreamHasher>> = parts.into_iter().collect::<Result<_, _>>()?;
    Ok(of_first_intents(workload, firsts.into_iter().flatten()))
}

/// Hashes the first intents of a worker with a private pool.
fn first_intents(workload: &Workload, worker: u32) -> Result<StreamHasher, WorkloadError> {
    // The first intents create files in the order of their numbers. A pool with only these files
    // has the same first intents, and its table needs less memory.
    let mut stream = match workload.files() > INTENTS_IN_FINGERPRINT {
        true => workload
            .with_files(INTENTS_IN_FINGERPRINT)
            .stream(worker, |_| ())?,
        false => workload.stream(worker, |_| ())?,
    };
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
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::Classic;
    use crate::plan::Planner;

    /// [`fingerprint`] uses several threads and a pool with fewer files than the workload's. The
    /// result must depend on neither.
    #[test]
    fn fingerprint_equals_that_of_the_complete_stream() {
        let files = INTENTS_IN_FINGERPRINT + 50_000;
        let mut bounded = Mix {
            files,
            transactions: 10,
            ..Mix::default()
        };
        bounded.layout.shape = crate::layout::Shape::Subdirectories(3);
        bounded.layout.entries_max = Some(files);
        let few = Mix {
            files: 20,
            transactions: 50,
            ..Mix::default()
        };
        let large = Classic {
            files,
            transactions: 10,
            ..Classic::default()
        };
        for (work, workers) in [
            (Workload::from(bounded), Workers::ONE),
            (large.into(), Workers::ONE),
            (few.clone().into(), Workers::Private { workers: 21 }),
            (Classic::default().into(), Workers::Private { workers: 9 }),
            (
                few.into(),
                Workers::Shared {
                    writers: 10,
                    readers: 3,
                    pools: 1,
                },
            ),
        ] {
            let workload = Workload { workers, ..work };
            let plan = Planner::new(&workload).plan().unwrap();
            assert_eq!(
                fingerprint(&workload).unwrap(),
                plan.fingerprint,
                "{workers:?}"
            );
        }
    }
}
