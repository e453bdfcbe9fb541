//! Prepares the page cache before the transactions, file by file.

use engine::{Failure, Operation};
use rundir::worker_status::Aside;
use spec::Cache;
use workload::names::NameKind;
use workload::{End, Kept};

use super::state::{Left, Worker, submit_aside};
use crate::events::Stage;
use crate::failures::Failed;

impl Worker {
    /// Returns the number of files in this worker's share of the pool, and a sample spread evenly
    /// over this share. The sample contains at most `most` files, and at most a hundredth of the
    /// share, rounded up.
    pub(super) fn sample(&self, most: u64) -> (u64, Vec<(u32, u64)>) {
        let pool = |each: &mut dyn FnMut(Kept)| {
            self.tools.source.pool(false, &mut |kept| {
                if kept.kind == NameKind::File {
                    each(kept);
                }
            });
        };
        let mut files = 0_u64;
        pool(&mut |_| files += 1);
        let wanted = most.min(files.div_ceil(100));
        let mut sample = Vec::new();
        let mut seen = 0;
        pool(&mut |kept| {
            // Takes a file whenever the sample lags behind the visited part of the share. The
            // sample is then spread evenly over the share.
            if (sample.len() as u64) < wanted && seen * wanted >= sample.len() as u64 * files {
                sample.push((kept.place, kept.number));
            }
            seen += 1;
        });
        (files, sample)
    }

    /// Reads the files (`--cache warm`), or advises the kernel to drop them (`--cache cold-data`).
    pub(super) fn prepare_cache(&mut self, cache: Cache) -> Result<(), Left> {
        let stage = match cache {
            Cache::Warm => Stage::Warm,
            Cache::ColdData => Stage::Cool,
            Cache::AsIs | Cache::Cold => return Ok(()),
        };
        self.begins(stage, 0)?;
        let Self {
            tools,
            config,
            tickets,
            ..
        } = self;
        let (source, session, control) = (&tools.source, &mut tools.session, &tools.control);
        let slot = &tools.slots[0];
        let mut failed = None;
        let mut done = 0;
        source.pool(false, &mut |kept| {
            if kept.kind != NameKind::File || failed.is_some() || control.is_stopping() {
                return;
            }
            let name = config.namer.name(kept.place, kept.kind, kept.number);
            let bytes = kept.size_bytes;
            let (aside, operation) = match stage {
                Stage::Warm => (Aside::Warm, Operation::Read { name, bytes }),
                _ => (Aside::Cool, Operation::Evict { name }),
            };
            let (_, outcome) = submit_aside(
                &mut **session,
                slot,
                tickets,
                (aside, (kept.place, kept.kind, kept.number)),
                &operation,
            );
            // A failure that a stop request caused is not counted.
            if let Err(failure) = outcome.or_else(Failure::unless_stopped) {
                let path = name.path.to_string_lossy().into_owned();
                failed = Some(Failed::operation("prepare the cache for", path, failure));
            }
            done += 1;
            slot.publish(done, done);
        });
        if let Some(failed) = failed {
            self.config.failures.count(failed)?;
        }
        self.unless_stopping()?;
        self.rendezvous.ended(stage, (done, done), End::Complete);
        Ok(())
    }
}
