//! Tests of the engine `nfs` with a server in this process: normal operation and failures.

mod faults;
mod files;
mod fuzzed;
mod lost;
pub mod memory;
mod namespace;
pub mod operations;
mod server;
mod trees;
mod wire;

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::server::{CallCount, ServerTraffic};
use engine::{Engine, Location, Session, Settings};
use engines::nfs::Nfs;

use server::Server;

/// The engine's time limit for replies in these tests.
pub const TIMEOUT: Duration = Duration::from_millis(700);

/// Procedure numbers of NFS version 3.
pub mod procedure {
    pub const GETATTR: u32 = 1;
    pub const SETATTR: u32 = 2;
    pub const LOOKUP: u32 = 3;
    pub const READLINK: u32 = 5;
    pub const READ: u32 = 6;
    pub const WRITE: u32 = 7;
    pub const CREATE: u32 = 8;
    pub const MKDIR: u32 = 9;
    pub const SYMLINK: u32 = 10;
    pub const REMOVE: u32 = 12;
    pub const RMDIR: u32 = 13;
    pub const RENAME: u32 = 14;
    pub const LINK: u32 = 15;
    pub const READDIR: u32 = 16;
    pub const READDIRPLUS: u32 = 17;
    pub const COMMIT: u32 = 21;
}

pub struct Fixture {
    pub server: Server,
    pub engine: Nfs,
    pub url: PathBuf,
}

impl Fixture {
    pub fn new(depth: usize, parameters: &str) -> Self {
        let server = Server::new();
        let url = server.url(parameters);
        let engine = Nfs::with_timeout(depth, std::slice::from_ref(&url), TIMEOUT);
        Self {
            server,
            engine,
            url,
        }
    }

    pub fn bare(&self) -> PathBuf {
        bare(&self.url)
    }

    pub fn settings(&self) -> Settings {
        Settings {
            locations: vec![location(&self.bare())],
            ..Settings::default()
        }
    }

    /// Opens a session on a new thread and calls `work` with it. The server's list of received
    /// calls is emptied before `work` is called.
    pub fn work<T: Send>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&mut Box<dyn Session>) -> T + Send,
    ) -> T {
        std::thread::scope(|scope| {
            let worked = scope.spawn(|| {
                let mut session = self.engine.open(settings).unwrap();
                self.server.take_calls();
                work(&mut session)
            });
            worked
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    pub fn traffic(&self) -> ServerTraffic {
        self.engine.namespace().unwrap().traffic().unwrap()
    }

    pub fn count(&self, name: &str) -> CallCount {
        let calls = self.traffic().calls;
        calls
            .into_iter()
            .find(|line| line.procedure == name)
            .unwrap_or_default()
    }
}

pub fn bare(url: &Path) -> PathBuf {
    let url = engines::registry::parse_url(url).unwrap();
    url.unwrap().bare()
}

pub fn location(directory: &Path) -> Location {
    Location {
        directory: directory.to_owned(),
        identity: None,
        below: None,
    }
}
