//! Opens a session: looks up the directories of its locations, connects to their servers, and
//! allocates memory.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::server::Unreachable;
use engine::{Errno, Location, OpenError, OperationKind, Settings};
use nfs_client::{CallError, Client, Handle, Timer, any_number};

use super::NfsSession;
use super::directories::Directories;
use super::flight::NfsFlight;
use super::line::Line;
use crate::nfs::FACTS;
use crate::nfs::convert::identity;
use crate::nfs::durable::Durable;
use crate::nfs::shared::{NfsShared, PROTOCOL, Target};
use crate::nfs::url::connections;
use crate::system::kernel::own_table_of_files;

impl NfsSession {
    pub(crate) fn open(shared: &Arc<NfsShared>, settings: &Settings) -> Result<Self, OpenError> {
        let mut durable = Vec::with_capacity(OperationKind::ALL.len());
        for kind in OperationKind::ALL {
            let policy = settings.durability.of_kind(kind);
            durable.push(Durable::of(policy).ok_or_else(|| FACTS.lacks_durability(policy))?);
        }
        own_table_of_files();
        let timer = Timer::new().map_err(|errno| {
            OpenError::Server(Unreachable {
                doing: "set a timer for",
                of: PROTOCOL.to_owned(),
                why: errno.to_string(),
                is_silent: false,
            })
        })?;
        let depth = shared.depth;
        // From here on, dropping the session adds its counters to the totals.
        let mut session = Self {
            shared: Arc::clone(shared),
            counters: shared.counters.add(),
            durable,
            keep_bytes: settings.keep_contents_bytes,
            stopping: settings.stopping.clone(),
            depth,
            directories: Directories::default(),
            lines_of: Vec::with_capacity(settings.locations.len()),
            lines: Vec::new(),
            flights: Vec::with_capacity(depth + 1),
            free: (0..depth).rev().collect(),
            ended: VecDeque::with_capacity(depth + 1),
            last: None,
            serial: any_number() as u32,
            flight_bits: usize::BITS - depth.leading_zeros(),
            timer,
            now: core::time::Duration::ZERO,
            receives: 0,
            delayed: 0,
            polled: Vec::new(),
        };
        session.take_memory()?;
        session.open_locations(&settings.locations)?;
        session.polled.reserve(session.lines.len());
        Ok(session)
    }

    fn take_memory(&mut self) -> Result<(), OpenError> {
        for number in 0..=self.depth {
            // The last slot is only used for `names`, whose results are not verified.
            let keep = if number < self.depth {
                self.keep_bytes
            } else {
                0
            };
            let mut flight = NfsFlight::new();
            flight
                .kept
                .try_reserve_exact(keep)
                .map_err(|_| OpenError::NoMemory(keep))?;
            self.flights.push(flight);
        }
        Ok(())
    }

    fn open_locations(&mut self, locations: &[Location]) -> Result<(), OpenError> {
        let mut opened: Vec<(Arc<Target>, usize, usize)> = Vec::new();
        for location in locations {
            let url = self.shared.url_of(&location.directory)?;
            let (target, rest) = self.shared.target(&url, &self.counters)?;
            // Targets on one server share connections. A session renames a file from one target to
            // another only if the targets share connections.
            let known = opened
                .iter()
                .find(|(other, ..)| is_same_server(other, &target));
            let endpoint = target.mounted.endpoint.clone();
            let mut client = Client::new(endpoint, Arc::clone(&self.counters))
                .map_err(|errno| directory_error(location, errno))?;
            let directory = find(&mut client, &target, &rest, location)?;
            self.directories.add_location(directory);
            let lines = match known {
                Some((_, first, count)) => (*first, *count),
                None => {
                    let lines = self.connect(&target, client, location)?;
                    opened.push((target, lines.0, lines.1));
                    lines
                }
            };
            self.lines_of.push(lines);
        }
        Ok(())
    }

    /// Establishes the connections to a server; `first` is used for the first connection. Returns
    /// the index of the first connection and the number of connections.
    fn connect(
        &mut self,
        target: &Arc<Target>,
        first: Client,
        location: &Location,
    ) -> Result<(usize, usize), OpenError> {
        let begin = self.lines.len();
        let count = connections(&target.url) as usize;
        let mut next = Some(first);
        for _ in 0..count.max(1) {
            let client = match next.take() {
                Some(client) => Ok(client),
                None => Client::new(target.mounted.endpoint.clone(), Arc::clone(&self.counters)),
            };
            let channel = client.and_then(Client::into_channel);
            let channel = channel.map_err(|errno| directory_error(location, errno))?;
            self.lines.push(Line::new(Arc::clone(target), channel));
        }
        Ok((begin, self.lines.len() - begin))
    }
}

fn is_same_server(one: &Target, other: &Target) -> bool {
    let way = |target: &Target| {
        let endpoint = &target.mounted.endpoint;
        let address = (endpoint.address, endpoint.privileged);
        (address, connections(&target.url))
    };
    way(one) == way(other) && one.mounted.caller == other.mounted.caller
}

fn directory_error(location: &Location, errno: Errno) -> OpenError {
    OpenError::Directory {
        directory: location.path(),
        cause: errno.into(),
    }
}

/// Returns the handle of a location's directory after checking that the directory was not replaced.
fn find(
    client: &mut Client,
    target: &Target,
    rest: &[u8],
    location: &Location,
) -> Result<Handle, OpenError> {
    let error = |error: CallError| directory_error(location, error.errno());
    let root = &target.mounted.directory;
    let directory = client.open_directory(root, rest).map_err(error)?;
    // The attributes are requested even if there is no identity to compare, because the call also
    // checks that the handle is valid.
    let found = identity(&client.attributes(&directory).map_err(error)?);
    if location.identity.is_some_and(|expected| expected != found) {
        return Err(OpenError::Moved(location.directory.clone()));
    }
    let below = location.below.as_deref().unwrap_or_default();
    client
        .open_directory(&directory, below.to_bytes())
        .map_err(error)
}
