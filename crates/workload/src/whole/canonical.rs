//! Canonical texts of workloads, and copies of a workload with another number of files or
//! transactions. Canonical texts are hashed for fingerprints, and compared to decide whether a pool
//! can be reused.

use super::{Work, Workers, Workload};
use crate::classic::Classic;
use crate::contents::ContentSpec;
use crate::mix::Mix;

impl Workload {
    /// Returns the properties that determine a pool before its first transaction, as text in a
    /// fixed format.
    pub fn pool_canonical(&self) -> String {
        let mut pool = self.clone();
        match &mut pool.work {
            Work::Classic(classic) => {
                let plain = Classic::default();
                classic.transactions = 0;
                (classic.bias_read, classic.bias_create) = (plain.bias_read, plain.bias_create);
                classic.read_block_bytes = plain.read_block_bytes;
                classic.write_block_bytes = plain.write_block_bytes;
            }
            Work::Mix(mix) => {
                *mix = Mix {
                    files: mix.files,
                    transactions: 0,
                    sizes: mix.sizes.clone(),
                    layout: mix.layout,
                    names: mix.names,
                    align_bytes: mix.align_bytes,
                    location_weights: mix.location_weights.clone(),
                    seed: mix.seed,
                    size_max_bytes: mix.sizes.high(),
                    ..Mix::default()
                };
            }
        }
        if self.workers.is_shared() {
            // Before the first transaction, each shared pool equals the private pool of one worker.
            pool.workers = Workers::Private {
                workers: self.workers.pools(),
            };
        }
        pool.canonical()
    }

    /// Returns the workload without its number of transactions, as text in a fixed format. A used
    /// pool can continue with any workload that has the same text.
    pub fn endless_canonical(&self) -> String {
        self.with_transactions(0).canonical()
    }

    /// Returns the workload with `more` additional transactions for each worker.
    #[must_use]
    pub fn with_more_transactions(&self, more: u64) -> Self {
        self.with_transactions(self.transactions().saturating_add(more))
    }

    /// Returns the same workload with `transactions` transactions for each worker.
    #[must_use]
    pub fn with_transactions(&self, transactions: u64) -> Self {
        let mut other = self.clone();
        match &mut other.work {
            Work::Classic(classic) => classic.transactions = transactions,
            Work::Mix(mix) => mix.transactions = transactions,
        }
        other
    }

    /// Returns the same workload with `files` files in each pool.
    #[must_use]
    pub fn with_files(&self, files: u64) -> Self {
        let mut other = self.clone();
        match &mut other.work {
            Work::Classic(classic) => classic.files = files,
            Work::Mix(mix) => mix.files = files,
        }
        other
    }

    /// Returns all fields and their values in a fixed format, from which the fingerprint is
    /// computed.
    pub fn canonical(&self) -> String {
        let mut text = self
            .work
            .either(|classic| classic.canonical(), |mix| mix.canonical());
        let seeds = self.worker_seeds;
        match self.workers {
            Workers::ONE => {}
            Workers::Private { workers } => {
                text += &format!(" workers={workers} worker-seeds={seeds:?}");
            }
            Workers::Shared {
                writers,
                readers,
                pools,
            } => {
                text += &format!(" writers={writers} readers={readers} worker-seeds={seeds:?}");
                if pools > 1 {
                    text += &format!(" pools={pools}");
                }
            }
        }
        if let Some(ContentSpec { kind, dedup }) = self.contents {
            text += &format!(" contents={kind} dedup={dedup}");
        }
        text
    }
}
