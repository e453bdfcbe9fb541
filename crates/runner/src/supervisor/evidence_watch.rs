//! Evidence of which component served a phase: counters at the start and end of the phase, and the
//! page-cache residency of a sample of the pool.

use std::mem::ManuallyDrop;
use std::thread;

use engine::namespace::{CachedPages, Held};
use engine::server::ServerTraffic;
use record::{Fact, PhaseEvidence, Residency, ResidencySample, ServerCounts};
use system::{Accounted, Sources, WatchedAccount};

use crate::events::Stage;
use crate::servers::WatchedServers;

/// Maximum number of files whose page-cache residency is sampled.
pub(super) const SAMPLE_MAX: usize = 100;

/// The open files of a sample. Dropping this value closes the files in a separate thread, because
/// closing a file may never return.
pub(super) struct HeldFiles(Vec<Box<dyn Held>>);

impl HeldFiles {
    pub(super) fn new(files: Vec<Box<dyn Held>>) -> Self {
        Self(files)
    }

    pub(super) fn close(mut self) {
        self.0.clear();
    }
}

impl Drop for HeldFiles {
    fn drop(&mut self) {
        if self.0.is_empty() {
            return;
        }
        let files = ManuallyDrop::new(std::mem::take(&mut self.0));
        // If the system cannot start a thread, the files are closed when the process ends.
        let _ = thread::Builder::new().spawn(move || drop(ManuallyDrop::into_inner(files)));
    }
}

/// Reads the evidence of which component served a phase.
pub(super) struct EvidenceWatch {
    sources: Sources,
    /// The counters to read; `None` if no evidence is read.
    watched: Option<WatchedAccount>,
    /// The servers whose messages are counted; `None` if the engine has no network client.
    servers: Option<WatchedServers>,
    /// Counters at the start of the current phase or sync.
    began: Option<(Accounted, Option<ServerTraffic>)>,
    /// The stage that starts after the sample; `None` while no sample is being taken.
    pub(super) sampling: Option<Stage>,
    /// Worker, directory index and number of each file that workers have reported for the sample.
    sample: Vec<(u32, u32, u64)>,
    /// Number of files in the pools of the workers.
    pool_files: u64,
    /// The open files for the sample before the next transactions, or the reason why no file is
    /// open.
    pub(super) held: Option<Fact<HeldFiles>>,
    /// Page-cache residency at the start of the current transactions.
    pub(super) before: Option<Fact<ResidencySample>>,
}

impl EvidenceWatch {
    /// `watched` selects the counters to read. `None` means that no evidence is read.
    pub(super) fn new(watched: Option<WatchedAccount>, servers: Option<WatchedServers>) -> Self {
        Self {
            sources: Sources::default(),
            watched,
            servers,
            began: None,
            sampling: None,
            sample: Vec::new(),
            pool_files: 0,
            held: None,
            before: None,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.watched.is_some()
    }

    /// Reads the counters at the start of a phase or sync.
    pub(super) fn begin(&mut self) {
        let traffic = self.servers.as_ref().map(WatchedServers::read);
        self.began = self
            .watched
            .as_ref()
            .map(|watched| (watched.read(&self.sources), traffic));
    }

    /// Returns the counters' changes since [`Self::begin`].
    pub(super) fn counted(&mut self) -> Option<(Accounted, Option<ServerCounts>)> {
        let (watched, (began, traffic)) = (self.watched.as_ref()?, self.began.take()?);
        let mut accounted = watched.read(&self.sources).since(&began);
        let counts = self
            .servers
            .as_ref()
            .zip(traffic)
            .map(|(servers, earlier)| {
                let (messages, counts) = servers.since(&servers.read(), &earlier);
                accounted.messages = Fact::Known(vec![messages]);
                counts
            });
        Some((accounted, counts))
    }

    /// Returns the evidence of a phase that has ended or was aborted.
    pub(super) fn end(&mut self) -> Option<PhaseEvidence> {
        let (performing, server) = self.counted()?;
        Some(PhaseEvidence {
            performing,
            server,
            syncing: None,
            residency: self.before.take().map(|before| Residency {
                before,
                after: Fact::Unavailable("the run ended before the sample was taken".to_owned()),
            }),
        })
    }

    /// Adds the number of files in a worker's pool and the worker's sample.
    pub(super) fn take_sample(&mut self, worker: u32, (files, some): (u64, Vec<(u32, u64)>)) {
        self.pool_files += files;
        self.sample.extend(
            some.into_iter()
                .map(|(place, number)| (worker, place, number)),
        );
    }

    /// Selects files evenly from the workers' samples: at most [`SAMPLE_MAX`], and at most a
    /// hundredth of the pool.
    pub(super) fn whole_sample(&mut self) -> Vec<(u32, u32, u64)> {
        let sample = std::mem::take(&mut self.sample);
        let most = (std::mem::take(&mut self.pool_files) / 100).min(SAMPLE_MAX as u64) as usize;
        let wanted = most.min(sample.len());
        (0..wanted)
            .map(|index| sample[index * sample.len() / wanted])
            .collect()
    }
}

pub(super) fn look(held: &HeldFiles) -> Fact<ResidencySample> {
    let mut sum = ResidencySample {
        files: held.0.len() as u64,
        pages: 0,
        cached: 0,
        dirty: Fact::Known(0),
        under_write_back: Fact::Known(0),
    };
    let more = |sum: &Fact<u64>, more: Option<u64>| match more {
        Some(more) => sum.clone().map(|sum| sum + more),
        None => Fact::Unavailable("the kernel tells only what is cached (mincore(2))".to_owned()),
    };
    for file in &held.0 {
        let CachedPages {
            pages,
            cached,
            dirty,
            under_write_back,
        } = match file.cached() {
            Ok(found) => found,
            Err(errno) => {
                return Fact::Unavailable(format!("cannot look at the page cache: {errno}"));
            }
        };
        sum.pages += pages;
        // Pages beyond the end of a file are not counted, because no file data is in them.
        sum.cached += cached.min(pages);
        sum.dirty = more(&sum.dirty, dirty);
        sum.under_write_back = more(&sum.under_write_back, under_write_back);
    }
    Fact::Known(sum)
}
