//! Ranks that perform no work, and read the counters of their machines while others do: of a
//! server, as a rule.
//!
//! All ranks take part in it before and behind the work. The observers read once before anybody
//! works, about every 100 ms while the others do, and once when nobody works any more; then rank 0
//! tells when the phases were, and they tell what they counted in each.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use ranks::clocks::ClockAxis;
use ranks::{ClockOffset, CommunicationError, Ranks};
use record::observer::{ObservedStretch, align, cpu_busy_p99, stretches};
use record::ranks::{ObserverRecord, RankClockOffset};
use record::{HostId, Record, Sent};
use system::{Host, MachineReading, Sources, WatchedMachine};

use crate::clock::{Clock, SystemClock};
use crate::control::Control;
use crate::ranks::Processes;

/// So often counters are read.
const READ_EVERY: Duration = Duration::from_millis(100);
/// Of more readings every second one is dropped, and only every second one is kept from then on.
const READINGS_MAX: usize = 4_000;

/// The part that one rank has in observing.
#[derive(Debug)]
pub struct Observers {
    all: Ranks,
    begin: ClockOffset,
    /// What an observer reads; nothing on the others.
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

    /// A reading with the moment in the middle of it.
    fn read(&self) -> (i64, MachineReading) {
        let began = Self::now();
        let reading = self.watched.read(&Sources::default());
        (began + (Self::now() - began) / 2, reading)
    }
}

impl Observers {
    /// Before anybody works, on all ranks: those from `performing` on observe.
    ///
    /// # Errors
    /// Where a rank is lost.
    pub fn begin(all: &Ranks, performing: u32) -> Result<Self, CommunicationError> {
        let begin = all.clock_offset(Observer::now)?;
        let own = (all.rank() >= performing).then(|| {
            let sources = Sources::default();
            let mut own = Observer {
                host: Host::read(&sources),
                watched: WatchedMachine::find(&sources),
                kept: KeptReadings::new(READINGS_MAX),
            };
            let (at_ns, reading) = own.read();
            own.kept.add(at_ns, reading);
            own
        });
        // Nobody works before all have read.
        all.meet((), |(), ()| ())?;
        Ok(Self {
            all: all.clone(),
            begin,
            own,
        })
    }

    /// On an observer: reads until the others have done their work, however that ended, and tells
    /// them what it counted. Their run ends when a signal's number appears in `signal`, where
    /// there is 0 before.
    ///
    /// # Errors
    /// Where a rank is lost.
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

    /// On a rank that has performed: what observers counted is added to the record. Nothing where
    /// the run was refused.
    ///
    /// # Errors
    /// Where a rank is lost.
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

    /// Behind the work: all get what each observer counted.
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

/// Readings with their moments, in a bounded room: the first and the last, and of those between one
/// every so often.
#[derive(Debug)]
struct KeptReadings<T> {
    readings: Vec<(i64, T)>,
    max: usize,
    /// Of so many readings one is kept.
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
        if number % self.of != 0 {
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

    /// The one that is kept whatever was kept before.
    fn add_last(&mut self, at_ns: i64, reading: T) {
        self.taken += 1;
        self.readings.push((at_ns, reading));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_bounded_and_even() {
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
