//! Tests of the engine `s3` with a server in this process: normal operation, failures, and hostile
//! answers. `crates/cli/tests/all/s3.rs` tests the engine with independent servers.

mod faults;
mod hostile;
mod memory;
mod namespace;
mod operations;
mod server;
mod trees;

use std::path::{Path, PathBuf};

use engine::server::ServerTraffic;
use engine::{Engine, Location, Session, Settings};
use engines::s3::S3;
use s3_client::Environment;

use server::Server;

pub struct Fixture {
    pub server: Server,
    pub engine: S3,
    pub url: PathBuf,
}

/// Creates an engine with the tests' credentials, which reads no other environment variables or
/// files.
pub fn engine(depth: usize, url: &Path) -> S3 {
    let environment = Environment {
        variable: &|name| match name {
            "AWS_ACCESS_KEY_ID" => Some("KEY".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("SECRET".to_owned()),
            _ => None,
        },
        file: &|_| None,
    };
    S3::in_environment(depth, &[url.to_owned()], &environment)
}

impl Fixture {
    pub fn new(depth: usize, parameters: &str) -> Self {
        let server = Server::new();
        let url = server.url(parameters);
        let engine = engine(depth, &url);
        Self {
            server,
            engine,
            url,
        }
    }

    pub fn bare(&self) -> PathBuf {
        let url = engines::registry::parse_url(&self.url).unwrap();
        url.unwrap().bare()
    }

    pub fn settings(&self) -> Settings {
        Settings {
            locations: vec![Location {
                directory: self.bare(),
                identity: None,
                below: None,
            }],
            ..Settings::default()
        }
    }

    /// Opens a session on a new thread and calls `work` with it. The server's list of received
    /// requests is emptied before `work` is called.
    pub fn work<T: Send>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&mut Box<dyn Session>) -> T + Send,
    ) -> T {
        std::thread::scope(|scope| {
            let worked = scope.spawn(|| {
                let mut session = self.engine.open(settings).unwrap();
                self.server.take_requests();
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
}
