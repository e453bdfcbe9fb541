//! Counts of messages to servers: the kernel's counters of NFS, SMB and iSCSI for the file systems
//! of the benchmark's targets.
//!
//! A message is a request that was sent: an RPC call, an SMB command, or a SCSI command. Replies
//! are not counted. A retransmission is not counted as a message; it has its own counter.
//! Operations of this machine's own devices are in [`crate::counters`].
//!
//! How it works: [`WatchedMessages::of`] finds the counters of the targets once. A reading reads
//! each kernel file once for all counters. Each protocol has a module that parses the kernel's
//! text. If a text is truncated or not understood, its counters are unavailable with the reason.
//! Fields that a newer kernel adds are ignored.

pub use self::nfs_server::{ALL_CLIENTS, NFS_VERSIONS};
pub use self::reading::{
    CompoundOperation, MessageCounter, MessageKind, MessagesReading, WatchedCounter,
    WatchedMessages,
};
use self::search::CounterSearch;
use crate::fact::Fact;
use crate::sources::Sources;
use crate::target::Target;

mod iscsi;
mod nfs_client;
mod nfs_server;
mod reading;
mod search;
mod smb_client;

impl WatchedMessages {
    /// Finds the counters of the targets' mounts (nfs, nfs4, cifs, smb3), of the iSCSI disks below
    /// them, and of this machine's NFS server. The server is included if a target is mounted from
    /// it or exported by it.
    ///
    /// Not applicable if no target has a counter; unavailable if no counter is known. If some
    /// counters are missing from the list, `unseen` contains the reasons.
    pub fn of<'target>(
        sources: &Sources,
        targets: impl IntoIterator<Item = &'target Target>,
    ) -> Fact<WatchedMessages> {
        let mut search = CounterSearch::new(sources);
        for target in targets {
            search.add(target);
        }
        search.finish()
    }

    /// Finds the counters of the kernel's NFS server for all clients. Unavailable if no server
    /// runs.
    pub fn of_nfs_server(sources: &Sources) -> Fact<WatchedMessages> {
        sources.text(nfs_server::NFSD).and_then(|_| {
            if !nfs_server::serves(sources) {
                let why = "the kernel's NFS server has no threads";
                return sources.unavailable(nfs_server::NFSD, why);
            }
            let mut search = CounterSearch::new(sources);
            search.add_server(nfs_server::ALL_CLIENTS);
            search.finish()
        })
    }

    pub fn read(&self, sources: &Sources) -> Vec<MessagesReading> {
        let text_of = |counter: MessageCounter, path: &str| {
            let is_needed = self.list.iter().any(|watched| watched.counter == counter);
            if is_needed {
                sources.whole_text(path)
            } else {
                Fact::NotApplicable
            }
        };
        let mountstats = text_of(MessageCounter::NfsClient, nfs_client::MOUNTSTATS);
        let nfsd = text_of(MessageCounter::NfsServer, nfs_server::NFSD);
        let cifs = text_of(MessageCounter::SmbClient, smb_client::STATS);
        let read = |watched: &WatchedCounter| match watched.counter {
            MessageCounter::NfsClient => watched.of_text(&mountstats),
            MessageCounter::NfsServer => watched.of_text(&nfsd),
            MessageCounter::SmbClient => watched.of_text(&cifs),
            MessageCounter::IscsiSession => iscsi::read(sources, watched),
            MessageCounter::NfsGanesha | MessageCounter::Engine => watched.of_program(),
        };
        self.list.iter().map(read).collect()
    }
}

impl WatchedCounter {
    /// Parses a reading from the text of the kernel's file for this counter.
    pub fn parse(&self, text: &str) -> MessagesReading {
        match self.counter {
            MessageCounter::NfsClient => nfs_client::parse(self, text),
            MessageCounter::NfsServer => nfs_server::parse(self, text),
            MessageCounter::SmbClient => smb_client::parse(self, text),
            MessageCounter::IscsiSession => iscsi::parse(self, text),
            MessageCounter::NfsGanesha | MessageCounter::Engine => self.of_program(),
        }
    }

    /// Returns an unavailable reading for a counter of NFS-Ganesha, or of a client that is built
    /// into this program (NFS, S3). No kernel file contains these counters.
    fn of_program(&self) -> MessagesReading {
        self.reading(Fact::Unavailable("a program counts that itself".to_owned()))
    }

    fn of_text(&self, text: &Fact<String>) -> MessagesReading {
        match text {
            Fact::Known(text) => self.parse(text),
            Fact::NotApplicable => self.reading(Fact::NotApplicable),
            Fact::Unavailable(why) => self.parse("").unavailable(why),
        }
    }
}

#[cfg(test)]
mod tests;
