//! The supervising thread reads the kernel's counters before a phase, after each second of the
//! phase, and when all workers have ended the phase.
//!
//! Workers never wait for a reading, because they do not wait for the supervising thread during a
//! phase. A reading is late if the supervising thread is delayed. The interval that ends with a
//! late reading is longer than a second, and is recorded with its actual times.

use std::collections::VecDeque;
use std::time::Duration;

use measure::SLICE_NS;
use record::{MachineOverTime, MachineSlice};
use system::{Counters, Fact, Sources, WatchedDevices};

/// Maximum number of one-second intervals that wait to be sent as events. Intervals wait while no
/// operation completes. If more intervals wait, the oldest ones are never sent and are only in the
/// record.
const UNTOLD_MAX: usize = 60;

pub(super) struct MachineWatch {
    sources: Sources,
    /// The devices whose counters are read; `None` if no counters are read.
    devices: Option<Fact<WatchedDevices>>,
    going: Option<WatchedPhase>,
    /// Intervals that were not yet sent as events, in order.
    untold: VecDeque<MachineSlice>,
}

/// Counters over time in the current phase.
struct WatchedPhase {
    over_time: MachineOverTime,
    /// The latest counter values, and the time at which they were read.
    latest: Counters,
    read_ns: u64,
    /// End of the current second of the phase, in nanoseconds since the run's origin.
    due_ns: u64,
}

impl MachineWatch {
    /// `devices` are the devices whose counters are read. `None` means that no counters are read.
    pub(super) fn new(devices: Option<Fact<WatchedDevices>>) -> Self {
        Self::with(Sources::default(), devices)
    }

    fn with(sources: Sources, devices: Option<Fact<WatchedDevices>>) -> Self {
        Self {
            sources,
            devices,
            going: None,
            untold: VecDeque::new(),
        }
    }

    /// Reads the counters before a phase. All times are nanoseconds since the run's origin.
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.untold.clear();
        self.going = self.devices.as_ref().map(|devices| {
            let latest = Counters::read(&self.sources, devices);
            WatchedPhase {
                over_time: MachineOverTime::new(now_ns, &latest),
                latest,
                read_ns: now_ns,
                due_ns: now_ns.saturating_add(SLICE_NS),
            }
        });
    }

    /// Time from `now_ns` until the current second of the phase ends.
    pub(super) fn until_due(&self, now_ns: u64) -> Duration {
        match &self.going {
            Some(going) => Duration::from_nanos(going.due_ns.saturating_sub(now_ns)),
            None => Duration::MAX,
        }
    }

    /// Reads the counters if the current second of the phase has ended.
    pub(super) fn second(&mut self, now_ns: u64) {
        let Some(going) = self.going.as_mut().filter(|going| now_ns >= going.due_ns) else {
            return;
        };
        let seconds = (now_ns - going.over_time.began_ns) / SLICE_NS;
        going.due_ns = going
            .over_time
            .began_ns
            .saturating_add((seconds + 1).saturating_mul(SLICE_NS));
        // The interval belongs to the last complete second.
        self.read(now_ns, seconds - 1);
    }

    /// Reads the counters at the end of the phase, and returns all intervals of the phase.
    pub(super) fn end(&mut self, now_ns: u64) -> Option<MachineOverTime> {
        let began_ns = self.going.as_ref()?.over_time.began_ns;
        self.read(now_ns, now_ns.saturating_sub(began_ns) / SLICE_NS);
        self.going.take().map(|going| going.over_time)
    }

    fn read(&mut self, now_ns: u64, index: u64) {
        let (Some(going), Some(devices)) = (&mut self.going, &self.devices) else {
            return;
        };
        let read = Counters::read(&self.sources, devices);
        let slice = MachineSlice {
            index,
            began_ns: going.read_ns,
            ended_ns: now_ns.max(going.read_ns),
            counted: read.since(&going.latest),
        };
        going.read_ns = slice.ended_ns;
        going.latest = read.or_earlier(&going.latest);
        going.over_time.add(&slice);
        if self.untold.len() == UNTOLD_MAX {
            self.untold.pop_front();
        }
        self.untold.push_back(slice);
    }

    /// Removes and returns the next unsent interval, if its second is before `number`.
    pub(super) fn before(&mut self, number: u64) -> Option<MachineSlice> {
        let is_before = self
            .untold
            .front()
            .is_some_and(|slice| slice.index < number);
        is_before.then(|| self.untold.pop_front()).flatten()
    }

    /// Removes and returns the interval of second `number`, if the intervals before it were sent.
    pub(super) fn of(&mut self, number: u64) -> Option<MachineSlice> {
        let is_this = self
            .untold
            .front()
            .is_some_and(|slice| slice.index == number);
        is_this.then(|| self.untold.pop_front()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use system::counters::{DeviceRole, FlushCount, WatchedDevice};

    use super::*;

    /// Writes kernel counter files that report `count` context switches, device writes and device
    /// flushes.
    fn tell(root: &Path, count: u64) {
        let stat = format!(
            "cpu {count} 0 {count} {count} 0 0 0 0\nctxt {count}\nprocs_running 1\nprocs_blocked \
             0\n"
        );
        let memory = format!("Dirty: {count} kB\nWriteback: 0 kB\n");
        let device = format!("0 0 0 0 {count} 0 0 0 0 0 0 0 0 0 0 {count} 0\n");
        for (path, text) in [
            ("proc/stat", stat),
            ("proc/meminfo", memory),
            ("sys/class/block/vdx/stat", device),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn watch(root: &Path) -> MachineWatch {
        let device = WatchedDevice {
            name: "vdx".to_owned(),
            role: DeviceRole::Target,
            flushes: FlushCount::Counted,
        };
        let devices = WatchedDevices {
            list: vec![device],
            unseen: Vec::new(),
        };
        MachineWatch::with(Sources::beneath(root), Some(Fact::Known(devices)))
    }

    /// Returns the context switches and device flushes of each interval.
    fn counted(over_time: &MachineOverTime) -> Vec<(Option<u64>, Option<u64>)> {
        let flushes = &over_time.devices.known().unwrap()[0].flushes;
        let switches = over_time.system.context_switches.each().iter();
        switches
            .copied()
            .zip(flushes.each().iter().copied())
            .collect()
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn counters_are_read_each_second_and_at_end_of_phase() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = watch(root.path());
        tell(root.path(), 100);
        watch.begin(5_000 * MS);
        for (at_ms, count) in [(5_400, 110), (6_003, 120), (6_500, 130), (7_100, 150)] {
            tell(root.path(), count);
            watch.second(at_ms * MS);
        }
        assert_eq!(watch.until_due(7_100 * MS), Duration::from_millis(900));
        tell(root.path(), 151);
        let over_time = watch.end(7_250 * MS).unwrap();
        assert_eq!(
            counted(&over_time),
            [
                (Some(20), Some(20)),
                (Some(30), Some(30)),
                (Some(1), Some(1))
            ]
        );
        assert_eq!(over_time.index, [0, 1, 2]);
        assert_eq!(over_time.began_ns, 5_000 * MS);
        assert_eq!(over_time.ended_ns, [6_003 * MS, 7_100 * MS, 7_250 * MS]);
        assert_eq!(over_time.system.dirty_bytes.last[1], Some(150 * 1024));
        assert_eq!(
            watch.until_due(7_300 * MS),
            Duration::MAX,
            "nothing goes on"
        );
        assert!(watch.end(7_300 * MS).is_none());
    }

    #[test]
    fn late_reading_keeps_all_counts_and_actual_times() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = watch(root.path());
        tell(root.path(), 0);
        watch.begin(0);
        for (at_ms, count) in [(1_001, 7), (5_900, 40), (6_050, 41)] {
            tell(root.path(), count);
            watch.second(at_ms * MS);
        }
        tell(root.path(), 50);
        let over_time = watch.end(9_999 * MS).unwrap();
        assert_eq!(over_time.index, [0, 4, 5, 9]);
        assert_eq!(
            over_time.ended_ns,
            [1_001 * MS, 5_900 * MS, 6_050 * MS, 9_999 * MS]
        );
        let switches: Vec<Option<u64>> = counted(&over_time).into_iter().map(|of| of.0).collect();
        assert_eq!(switches, [Some(7), Some(33), Some(1), Some(9)]);
    }

    #[test]
    fn counts_missed_by_failed_reading_are_in_next_interval() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = watch(root.path());
        tell(root.path(), 10);
        watch.begin(0);
        fs::remove_file(root.path().join("proc/stat")).unwrap();
        watch.second(1_000 * MS);
        tell(root.path(), 25);
        let over_time = watch.end(1_500 * MS).unwrap();
        assert_eq!(counted(&over_time), [(None, Some(0)), (Some(15), Some(15))]);
        let why = over_time
            .unknown
            .iter()
            .find(|unknown| unknown.why.contains("/proc/stat"));
        assert!(
            why.unwrap()
                .columns
                .contains(&"system.context_switches".to_owned())
        );
    }

    #[test]
    fn number_of_unsent_intervals_is_limited() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = watch(root.path());
        tell(root.path(), 0);
        watch.begin(0);
        for second in 1..=4 {
            watch.second(second * 1_000 * MS);
        }
        assert_eq!(watch.of(2), None, "two are before it");
        assert_eq!(watch.before(2).map(|slice| slice.index), Some(0));
        assert_eq!(watch.before(2).map(|slice| slice.index), Some(1));
        assert_eq!(watch.before(2), None);
        assert_eq!(watch.of(2).map(|slice| slice.index), Some(2));
        for second in 5..100 {
            watch.second(second * 1_000 * MS);
        }
        assert_eq!(watch.untold.len(), UNTOLD_MAX);
        assert_eq!(watch.untold.back().map(|slice| slice.index), Some(98));
        assert_eq!(
            watch.end(99_100 * MS).unwrap().len(),
            100,
            "all are in the record"
        );
        watch.begin(0);
        assert!(watch.untold.is_empty(), "they are the last phase's");
    }

    #[test]
    fn no_counters_are_read_without_devices() {
        let mut watch = MachineWatch::new(None);
        watch.begin(0);
        watch.second(5_000 * MS);
        assert_eq!(watch.until_due(0), Duration::MAX);
        assert!(watch.end(6_000 * MS).is_none() && watch.untold.is_empty());
    }
}
