//! Opens a session: checks the directories of its locations, connects to their servers, and
//! allocates memory.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::{Errno, Location, Need, OpenError, Settings};
use s3_client::{Client, Connection, Requests};

use super::flight::Flight;
use super::{Place, S3Session, Served};
use crate::s3::FACTS;
use crate::s3::shared::S3Shared;
use crate::s3::url::{part_bytes, prefix};
use crate::system::kernel::own_table_of_files;

impl S3Session {
    pub(crate) fn open(shared: &Arc<S3Shared>, settings: &Settings) -> Result<Self, OpenError> {
        FACTS.supports(&Need::of_settings(settings))?;
        own_table_of_files();
        let depth = shared.depth;
        // From here on, dropping the session adds its counters to the totals.
        let mut session = Self {
            shared: Arc::clone(shared),
            counters: shared.counters.add(),
            keep_bytes: settings.keep_contents_bytes,
            stopping: settings.stopping.clone(),
            depth,
            places: Vec::with_capacity(settings.locations.len()),
            servers: Vec::new(),
            flights: Vec::with_capacity(depth + 1),
            free: (0..depth).rev().collect(),
            ended: VecDeque::with_capacity(depth + 1),
            last: None,
            polled: Vec::with_capacity(depth + 1),
            polled_slots: Vec::with_capacity(depth + 1),
            waits: 0,
        };
        for location in &settings.locations {
            session.add_place(location)?;
        }
        session.add_flights(&settings.locations)?;
        Ok(session)
    }

    fn add_place(&mut self, location: &Location) -> Result<(), OpenError> {
        let url = self.shared.url_of(&location.directory)?;
        let target = self.shared.target(&url)?;
        let mut path = prefix(&url).to_vec();
        if let Some(below) = &location.below {
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(below.to_bytes());
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        let mut client = Client::new(&target.server, Arc::clone(&self.counters));
        let first = client.list(&path, false, None, 1, &mut |_| ());
        first.map_err(|error| directory_error(location, error.errno()))?;
        let known = self
            .servers
            .iter()
            .position(|served| Arc::ptr_eq(&served.target, &target));
        let server = known.unwrap_or(self.servers.len());
        if known.is_none() {
            let requests = Requests::new(&target.server);
            self.servers.push(Served { target, requests });
        }
        self.places.push(Place {
            prefix: path,
            server,
        });
        Ok(())
    }

    /// Creates the slots, and connects each slot except the last to each server.
    fn add_flights(&mut self, locations: &[Location]) -> Result<(), OpenError> {
        for number in 0..=self.depth {
            let mut flight = Flight::new(self.servers.len());
            // The last slot is only used for `names`, which is not measured. This slot keeps no
            // contents, and connects on its first use.
            if number < self.depth {
                flight.answer.keep_bytes = self.keep_bytes;
                let kept = &mut flight.answer.kept;
                kept.try_reserve_exact(self.keep_bytes)
                    .map_err(|_| OpenError::NoMemory(self.keep_bytes))?;
                for (server, served) in self.servers.iter().enumerate() {
                    let connection = Connection::connect(&served.target.server);
                    let connection = connection
                        .map_err(|error| directory_error(&locations[0], error.errno()))?;
                    flight.connections[server] = Some(connection);
                    self.counters.connections.add(1);
                }
            }
            self.flights.push(flight);
        }
        let parts = self
            .servers
            .iter()
            .map(|served| part_bytes(&served.target.url));
        let part_bytes = parts.min().unwrap_or(usize::MAX);
        for flight in &mut self.flights {
            flight.parameters.part_bytes = part_bytes;
        }
        Ok(())
    }
}

fn directory_error(location: &Location, errno: Errno) -> OpenError {
    OpenError::Directory {
        directory: location.path(),
        cause: errno.into(),
    }
}
