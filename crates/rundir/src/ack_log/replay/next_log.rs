//! The end of a log after which another run continued on the same files.

use super::Replay;
use crate::ack_log::begun::Begun;
use crate::ack_log::key::Key;

impl Replay {
    /// The operations that a worker has begun, in all logs.
    pub(crate) fn begun(&self, worker: u32) -> Begun {
        self.begun.get(&worker).copied().unwrap_or_default()
    }

    /// Counts every operation in flight as done, and nothing as acknowledged: the files are in this
    /// state after their repair, and the next log begins with it.
    pub(crate) fn begin_next_log(&mut self) -> Result<(), String> {
        let mut flights: Vec<(u32, u64)> = self.flights.keys().copied().collect();
        flights.sort_unstable();
        for (worker, sequence) in flights {
            self.acknowledges(worker, sequence)?;
        }
        self.names.values_mut().for_each(|name| name.may.clear());
        let objects = self.objects.iter_mut();
        objects.for_each(|object| object.may.clear());
        self.acknowledged.clear();
        self.begun.values_mut().for_each(Begun::begin_next_log);
        Ok(())
    }

    /// Temporary names: second paths of operations that no file has kept.
    pub(crate) fn temporary_names(&self) -> impl Iterator<Item = &Key> {
        let seconds = self.seconds.iter();
        seconds.filter(|key| !self.names.contains_key(*key))
    }
}
