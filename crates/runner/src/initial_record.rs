//! The record of a run as it is before anything is done: who looks on while the run goes on begins
//! with it.

use record::{
    Actual, Fingerprint, Host, LocationRecord, Origin, Record, Room, RunId, SystemDuring, Tool,
};
use spec::RunSpec;
use xxhash_rust::xxh3::xxh3_128;

use crate::clock::{Clock, SystemClock};

/// What was found before the first stage.
pub(crate) struct Found {
    pub locations: Vec<LocationRecord>,
    pub fingerprint: Fingerprint,
    pub origin: Origin,
    pub host: Host,
    pub during: SystemDuring,
    pub room: Option<Room>,
}

impl Found {
    /// The record as it would be if nothing else were done.
    pub(crate) fn into_record(self, request: &RunSpec) -> Record {
        Record {
            schema: record::run::SCHEMA_VERSION,
            id: self.identity(),
            tool: Tool::this(),
            spec: request.clone(),
            sizing: None,
            locations: self.locations,
            fingerprint: self.fingerprint,
            origin: self.origin,
            host: self.host,
            during: self.during,
            room: self.room,
            actual: Actual::unfinished(request.check, request.overhead),
            cluster: None,
            hints: Vec::new(),
            study: None,
        }
    }

    /// A hash of what no two runs share: the machine's boot, the process, and the moment on two
    /// clocks.
    fn identity(&self) -> RunId {
        let boot = self.host.boot_id.known().map_or("", String::as_str);
        let (process, now_ns) = (std::process::id(), SystemClock.now_ns());
        let all = format!(
            "{boot} {} {process} {} {now_ns}",
            self.host.hostname, self.origin.unix_ns
        );
        RunId::new(xxh3_128(all.as_bytes()))
    }
}
