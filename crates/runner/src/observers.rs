//! Observers are ranks that perform no operations and read the counters of their machines during
//! the run. Usually these machines are servers.
//!
//! All ranks exchange data before and after the run. An observer reads counters once before the
//! run, every 100 ms during the run, and once after it. Then rank 0 sends the times of the phases,
//! and the observers return the changes of their counters in each phase.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use ranks::clocks::ClockAxis;
use ranks::{ClockOffset, CommunicationError, Ranks};
use record::observer::{ObservedStretch, align, cpu_busy_p99, stretches};
use record::ranks::{ObserverRecord, RankClockOffset};
use record::{HostId, Record, Sent};
use system::{FindServerCalls, Host, MachineReading, Sources, WatchedMachine};

use crate::clock::{Clock, SystemClock};
use crate::control::Control;
use crate::ranks::Processes;

const READ_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of stored readings of an observer. Beyond this number, every second stored
/// reading is dropped, and from then on only half as many readings are stored.
const READINGS_MAX: usize = 4_000;

/// The state of one rank in a run with observers.
#[derive(Debug)]
pub struct Observers {
    all: Ranks,
    begin: ClockOffset,
    /// The readings of an observer; `None` on a rank that performs operations.
    own: Option<Observer>,
}

#[derive(Debug)]
struct Observer {
    host: Host,
    watched: WatchedMachine,
    kept: KeptReadings<MachineReading>,
}

impl Observer {
    fn now() -> i64 {
        i64::try_from(SystemClock.now_ns()).unwrap_or(i64::MAX)
    }

    /// Reads the counters. The returned time is the middle between the start and the end of the
    /// reading.
    fn read(&self) -> (i64, MachineReading) {
        let began = Self::now();
        let reading = self.watched.read(&Sources::default());
        (began + (Self::now() - began) / 2, reading)
    }
}

impl Observers {
    /// Starts observing on all ranks before the run. Ranks numbered from `performing` on are
    /// observers. Observers also count the calls to NFS-Ganesha if `find_ganesha` finds a server.
    ///
    /// # Errors
    /// Returns an error if a rank is lost.
    pub fn begin(
        all: &Ranks,
        performing: u32,
        find_ganesha: Option<FindServerCalls>,
    ) -> Result<Self, CommunicationError> {
        let begin = all.clock_offset(Observer::now)?;
        let own = (all.rank() >= performing).then(|| {
            let sources = Sources::default();
            let mut own = Observer {
                host: Host::read(&sources),
                watched: WatchedMachine::find(&sources, find_ganesha),
                kept: KeptReadings::new(READINGS_MAX),
            };
            let (at_ns, reading) = own.read();
            own.kept.add(at_ns, reading);
            own
        });
        // Waits until all observers have read their counters, so that these readings precede all
        // operations.
        all.meet((), |(), ()| ())?;
        Ok(Self {
            all: all.clone(),
            begin,
            own,
        })
    }

    /// Called by a rank that observes: reads counters until the run ends for any reason, then sends
    /// the counts to rank 0. A change of `signal` from 0 to a signal number ends the run.
    ///
    /// # Errors
    /// Returns an error if a rank is lost.
    pub fn observe(mut self, signal: Arc<AtomicUsize>) -> Result<(), CommunicationError> {
        Control::stopped_by(signal).among(Processes(Some(self.all.clone())));
        let mut watch = self.all.watch();
        while watch.wait(READ_EVERY).transpose()?.is_none() {
            if let Some(own) = &mut self.own {
                let (at_ns, reading) = own.read();
                own.kept.add(at_ns, reading);
            }
        }
        if let Some(own) = &mut self.own {
            let (at_ns, reading) = own.read();
            own.kept.add_last(at_ns, reading);
        }
        self.tell(None).map(drop)
    }

    /// Called by a rank that performs operations: adds the observers' counts to the record.
    /// `record` is `None` if the run was refused.
    ///
    /// # Errors
    /// Returns an error if a rank is lost.
    pub fn end(self, record: Option<&mut Record>) -> Result<(), CommunicationError> {
        let stretches = (self.all.rank() == 0).then(|| record.as_deref().map(stretches));
        let found = self.tell(stretches)?;
        if let Some(cluster) = record.and_then(|record| record.cluster.as_mut()) {
            let mut known: Vec<HostId> = Vec::new();
            cluster.observers = found;
            cluster.observers.retain(|observer| {
                let id = HostId::of(&observer.host);
                let is_new = !known.contains(&id);
                known.push(id);
                is_new
            });
        }
        Ok(())
    }

    /// Exchanges the counts of all observers after the run.
    fn tell(
        self,
        stretches: Option<Option<Vec<ObservedStretch>>>,
    ) -> Result<Vec<ObserverRecord>, CommunicationError> {
        let Some(stretches) = self.all.broadcast(stretches)? else {
            return Ok(Vec::new());
        };
        let end = self.all.clock_offset(Observer::now)?;
        let axis = ClockAxis {
            begin: self.begin,
            end,
        };
        let rank = self.all.rank();
        let own = self
            .own
            .and_then(|own| own.into_record(rank, &axis, &stretches));
        let all = self.all.meet(Sent(Vec::from_iter(own)), |mut one, more| {
            one.0.extend(more.0);
            one
        });
        all.map(|all| all.0)
    }
}

impl Observer {
    fn into_record(
        self,
        rank: u32,
        axis: &ClockAxis,
        stretches: &[ObservedStretch],
    ) -> Option<ObserverRecord> {
        let count = self.kept.taken;
        let moved = self.kept.readings.into_iter();
        let readings: Vec<(i64, MachineReading)> = moved
            .map(|(at_ns, reading)| (axis.by_rank_0(at_ns), reading))
            .collect();
        let ((began_ns, first), (ended_ns, last)) = (readings.first()?, readings.last()?);
        let gaps = readings
            .windows(2)
            .map(|pair| pair[1].0.saturating_sub(pair[0].0));
        let ns = |ns: i64| ns.max(0).unsigned_abs();
        let recorded = |offset: ClockOffset| RankClockOffset {
            at_ns: offset.at_ns,
            offset_ns: offset.offset_ns,
            error_ns: offset.error_ns,
        };
        Some(ObserverRecord {
            rank,
            host: self.host,
            clock_begin: recorded(axis.begin),
            clock_end: recorded(axis.end),
            readings: count,
            interval_ns: ns(gaps.max().unwrap_or(0)),
            whole_ns: ns(ended_ns.saturating_sub(*began_ns)),
            whole: last.since(first),
            cpu_busy_p99: cpu_busy_p99(&readings, *began_ns, *ended_ns),
            phases: align(&readings, stretches),
        })
    }
}

/// A bounded list of timestamped readings: the first, the last, and evenly spaced ones between
/// them.
#[derive(Debug)]
struct KeptReadings<T> {
    readings: Vec<(i64, T)>,
    max: usize,
    /// Of every `of` consecutive readings, one is stored.
    of: u64,
    taken: u64,
}

impl<T> KeptReadings<T> {
    fn new(max: usize) -> Self {
        Self {
            readings: Vec::new(),
            max,
            of: 1,
            taken: 0,
        }
    }

    fn add(&mut self, at_ns: i64, reading: T) {
        let number = self.taken;
        self.taken += 1;
        if !number.is_multiple_of(self.of) {
            return;
        }
        self.readings.push((at_ns, reading));
        if self.readings.len() > self.max {
            let mut place = 0_u32;
            self.readings.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.of *= 2;
        }
    }

    /// Adds the final reading, which is always kept.
    fn add_last(&mut self, at_ns: i64, reading: T) {
        self.taken += 1;
        self.readings.push((at_ns, reading));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_readings_are_bounded_and_evenly_spaced() {
        let mut kept = KeptReadings::new(8);
        for number in 0..1_000 {
            kept.add(number * 100, number);
            assert!(kept.readings.len() <= 8);
        }
        kept.add_last(100_000, 1_000);
        assert_eq!(kept.taken, 1_001);
        let numbers: Vec<i64> = kept.readings.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, [0, 128, 256, 384, 512, 640, 768, 896, 1_000]);
        assert!(
            kept.readings
                .iter()
                .all(|(at_ns, number)| *at_ns == number * 100)
        );
    }
}
