//! A workload in a fixed form, which fingerprints and reused pools are compared by, and with other
//! numbers of files and transactions.

use super::{Work, Workers, Workload};
use crate::classic::Classic;
use crate::contents::ContentSpec;
use crate::mix::Mix;

impl Workload {
    /// What the pool is made of before its first transaction, in a fixed form.
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
            // Each is prepared as one worker's own would be.
            pool.workers = Workers::Private {
                workers: self.workers.pools(),
            };
        }
        pool.canonical()
    }

    /// The same work without its number of transactions, in a fixed form: what a pool that has
    /// transactions behind it can go on with.
    pub fn endless_canonical(&self) -> String {
        self.with_transactions(0).canonical()
    }

    /// The work with so many transactions more for each worker.
    #[must_use]
    pub fn with_more_transactions(&self, more: u64) -> Self {
        self.with_transactions(self.transactions().saturating_add(more))
    }

    /// The work with another number of transactions for each worker.
    #[must_use]
    pub fn with_transactions(&self, transactions: u64) -> Self {
        let mut other = self.clone();
        match &mut other.work {
            Work::Classic(classic) => classic.transactions = transactions,
            Work::Mix(mix) => mix.transactions = transactions,
        }
        other
    }

    /// The work with another number of files in each pool.
    #[must_use]
    pub fn with_files(&self, files: u64) -> Self {
        let mut other = self.clone();
        match &mut other.work {
            Work::Classic(classic) => classic.files = files,
            Work::Mix(mix) => mix.files = files,
        }
        other
    }

    /// Every field with its value, in a fixed form: what the fingerprint is made of.
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
