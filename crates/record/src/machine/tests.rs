//! Tests of counters over time: merging, sizes, missing numbers, and reading.

use proptest::prelude::*;
use system::counters::{DeviceReading, DeviceRole, SystemCounters, ThreadTimes};
use system::{DeviceCounters, ProcessTimes, SystemTimes};

use super::*;

/// A simulated machine. All of its counters and states are functions of one number, `much`.
struct Machine {
    threads: usize,
    devices: usize,
}

impl Machine {
    fn after(&self, much: u64) -> Counters {
        Counters {
            process: Fact::Known(ProcessTimes {
                user_ns: much * 7,
                system_ns: much * 11,
                voluntary_context_switches: much / 5,
                involuntary_context_switches: much / 50,
                max_resident_bytes: Fact::Known(1 << 24),
                minor_faults: much / 3,
                major_faults: 0,
            }),
            resident_bytes: Fact::Known(much % 1_000_003),
            threads: Fact::Known(Threads {
                count: Fact::Known(self.threads as u64),
                each: (0..self.threads)
                    .map(|thread| thread_after(thread, much))
                    .collect(),
                rest_cpu_ns: Fact::Known(0),
            }),
            system: SystemCounters {
                times: times_after(much),
                context_switches: Fact::Known(much * 3),
                running_tasks: Fact::Known(much % 5),
                blocked_tasks: Fact::Known(much % 3),
                dirty_bytes: Fact::Known(much % 7_919 * 4_096),
                write_back_bytes: Fact::Known(much % 17 * 4_096),
            },
            devices: Fact::Known(
                (0..self.devices)
                    .map(|device| device_after(device, much))
                    .collect(),
            ),
        }
    }

    /// Growth of the counters while `much` grows from `from` to `to`.
    fn between(&self, from: u64, to: u64) -> CountersDifference {
        self.after(to).since(&self.after(from))
    }

    /// Returns the series of `readings`. Each reading is a pair: the second, counted from 1, and
    /// the value of `much` at its end.
    fn over_time(&self, readings: &[(u64, u64)]) -> MachineOverTime {
        let mut over_time = MachineOverTime::new(0, &self.after(0));
        let mut before = (0, 0);
        for (second, much) in readings {
            over_time.add(&MachineSlice {
                index: second - 1,
                began_ns: before.0 * SLICE_NS,
                ended_ns: second * SLICE_NS,
                counted: self.between(before.1, *much),
            });
            before = (*second, *much);
        }
        over_time
    }
}

fn times_after(much: u64) -> Fact<SystemTimes> {
    let [user, system, idle] = [much * 20, much * 30, much * 10];
    let columns = format!(
        "cpu {user} 0 {system} {idle} {much} 0 {} {}",
        much / 9,
        much / 7
    );
    Fact::Known(SystemTimes::parse(&columns, SLICE_NS).unwrap())
}

fn thread_after(thread: usize, much: u64) -> ThreadTimes {
    ThreadTimes {
        tid: 100 + thread as u32,
        name: Fact::Known(match thread {
            0 => "postmark".to_owned(),
            _ => format!("{WORKER_THREAD}{}", thread - 1),
        }),
        cpu_ns: Fact::Known(much * (thread as u64 + 1)),
        waiting_ns: Fact::Known(much / 4),
    }
}

fn device_after(device: usize, much: u64) -> DeviceReading {
    let count = |factor: u64| Fact::Known(much / 1_000 * factor);
    DeviceReading {
        name: format!("vd{device}"),
        role: DeviceRole::Beneath,
        counters: Fact::Known(DeviceCounters {
            reads: count(1),
            reads_merged: count(0),
            read_bytes: count(4_096),
            reading_ms: count(2),
            writes: count(3),
            writes_merged: count(2),
            written_bytes: count(12_288),
            writing_ms: count(5),
            in_flight: Fact::Known(much % 33),
            busy_ms: count(1),
            queued_ms: count(7),
            discards: count(0),
            discards_merged: count(0),
            discarded_bytes: count(0),
            discarding_ms: count(0),
            flushes: match device {
                0 => Fact::Unavailable("flushes are counted of the whole disk only".to_owned()),
                _ => count(1),
            },
            flushing_ms: count(1),
        }),
    }
}

/// Checks the numbers of all slices. Each counter must be the difference of the readings at the
/// ends of the slice. Each state must be the maximum and the last of the readings in the slice.
fn assert_is(over_time: &mut MachineOverTime, machine: &Machine, readings: &[(u64, u64)]) {
    let width = over_time.width_ns / SLICE_NS;
    let mut rows: Vec<(u64, Vec<(u64, u64)>)> = Vec::new();
    for reading in readings {
        let index = (reading.0 - 1) / width;
        match rows.last_mut().filter(|row| row.0 == index) {
            Some(row) => row.1.push(*reading),
            None => rows.push((index, vec![*reading])),
        }
    }
    let indices: Vec<u64> = rows.iter().map(|row| row.0).collect();
    assert_eq!(over_time.index, indices);
    let ends: Vec<u64> = rows
        .iter()
        .map(|row| row.1.last().unwrap().0 * SLICE_NS)
        .collect();
    assert_eq!(over_time.ended_ns, ends);
    let mut before = 0;
    let mut expected = MachineOverTime::new(0, &machine.after(0));
    for (number, (_, readings)) in rows.iter().enumerate() {
        let last = readings.last().unwrap();
        expected.add(&MachineSlice {
            index: number as u64,
            began_ns: 0,
            ended_ns: last.0 * SLICE_NS,
            counted: machine.between(before, last.1),
        });
        before = last.1;
    }
    let dirty = |much: u64| *machine.after(much).system.dirty_bytes.known().unwrap();
    let greatest: Vec<Option<u64>> = rows
        .iter()
        .map(|row| row.1.iter().map(|reading| dirty(reading.1)).max())
        .collect();
    assert_eq!(over_time.system.dirty_bytes.max, greatest);
    // Maxima of states depend on all readings within a slice; all other numbers depend on the
    // readings at its ends only.
    for (expected, state) in states(&mut expected).into_iter().zip(states(over_time)) {
        expected.max.clone_from(&state.max);
    }
    expected.index.clone_from(&over_time.index);
    expected.width_ns = over_time.width_ns;
    assert_eq!(*over_time, expected);
}

fn states(over_time: &mut MachineOverTime) -> Vec<&mut States> {
    let system = &mut over_time.system;
    let mut states = vec![
        &mut over_time.process.resident_bytes,
        &mut system.running_tasks,
        &mut system.blocked_tasks,
        &mut system.dirty_bytes,
        &mut system.write_back_bytes,
    ];
    if let Fact::Known(devices) = &mut over_time.devices {
        states.extend(devices.iter_mut().map(|device| &mut device.in_flight));
    }
    states
}

/// Readings at ascending seconds, close together or far apart. Each reading is a pair: the second
/// and the value of `much`.
fn readings() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let steps = (0_u32..13).prop_flat_map(|bits| {
        prop::collection::vec((1..=1_u64 << bits, 0_u64..5_000_000_000), 1..80)
    });
    steps.prop_map(|steps| {
        let mut at = (0, 0);
        let reading = |(seconds, much): (u64, u64)| {
            at = (at.0 + seconds, at.1 + much);
            at
        };
        steps.into_iter().map(reading).collect()
    })
}

const SMALL: Machine = Machine {
    threads: 3,
    devices: 2,
};

proptest! {
    #[test]
    fn widened_slices_equal_slices_of_the_same_readings(readings in readings()) {
        let mut over_time = SMALL.over_time(&readings);
        prop_assert!(over_time.len() <= SLICES_MAX);
        let last = readings.last().unwrap().0 - 1;
        let width = over_time.width_ns / SLICE_NS;
        prop_assert!(last / width < SLICES_MAX as u64);
        prop_assert!(width == 1 || last / (width / 2) >= SLICES_MAX as u64,
            "{last} would have fitted");
        assert_is(&mut over_time, &SMALL, &readings);
    }

    #[test]
    fn series_survives_json(readings in readings()) {
        let over_time = SMALL.over_time(&readings);
        let json = serde_json::to_string(&over_time).unwrap();
        prop_assert_eq!(serde_json::from_str::<MachineOverTime>(&json).unwrap(), over_time);
    }

    #[test]
    fn missing_counts_are_included_in_later_slices(readings in readings(),
        missing in prop::collection::vec(any::<bool>(), 80)) {
        // As in a run, each difference is computed from the last known reading.
        let mut over_time = MachineOverTime::new(0, &SMALL.after(0));
        let mut base = 0;
        for ((second, much), is_missing) in readings.iter().zip(&missing) {
            let mut counted = SMALL.between(base, *much);
            if *is_missing {
                counted.process = Fact::Unavailable("no".to_owned());
            } else {
                base = *much;
            }
            over_time.add(&MachineSlice {
                index: second - 1,
                began_ns: 0,
                ended_ns: second * SLICE_NS,
                counted,
            });
        }
        let all = 0..over_time.len();
        let expected = (base > 0).then_some(base * 7);
        prop_assert_eq!(over_time.process.user_ns.sum(&all).filter(|sum| *sum > 0), expected);
        let is_told = over_time.unknown.iter().any(|unknown| unknown.why == "no");
        prop_assert_eq!(is_told, missing.iter().zip(&readings).any(|(is_missing, _)| *is_missing));
    }
}

#[test]
fn slice_width_doubles_above_the_maximum_number_of_slices() {
    let mut readings: Vec<(u64, u64)> =
        (1..=1_800).map(|second| (second, second * 1_000)).collect();
    let over_time = SMALL.over_time(&readings);
    assert_eq!((over_time.len(), over_time.width_ns), (1_800, SLICE_NS));
    readings.push((1_801, 1_801_000));
    let over_time = SMALL.over_time(&readings);
    assert_eq!((over_time.len(), over_time.width_ns), (901, 2 * SLICE_NS));
    let spans: Vec<Range<u64>> = over_time.spans().collect();
    assert_eq!(spans[0], 0..2 * SLICE_NS);
    assert_eq!(spans[900], 1_800 * SLICE_NS..1_801 * SLICE_NS);
    assert_eq!(over_time.process.user_ns.each()[0], Some(14_000));
    assert_eq!(over_time.process.user_ns.each()[900], Some(7_000));
}

/// Two runs with 64 workers, each of which uses a whole processor. One run takes a day. The other
/// takes half an hour, the longest time for which slices keep their width of one second.
#[test]
fn series_of_a_day_with_64_workers_needs_less_than_4_megabytes() {
    let machine = Machine {
        threads: 66,
        devices: 3,
    };
    for seconds in [1_800, 86_400] {
        // The last thread's processor time grows by 66 × 15,111,999 ns per second: a little less
        // than a second.
        let readings: Vec<(u64, u64)> = (1..=seconds)
            .map(|second| (second, second * 15_111_999))
            .collect();
        let over_time = machine.over_time(&readings);
        assert!(over_time.len() >= 1_350, "{}", over_time.len());
        let bytes = serde_json::to_string(&over_time).unwrap().len();
        assert!(bytes < 4_000_000, "{bytes} bytes for {seconds} s");
        assert!(
            bytes > 1_000_000,
            "{bytes} bytes for {seconds} s: is that all of it?"
        );
        let all = 0..over_time.len();
        let threads = over_time.threads.known().unwrap();
        let (last, much) = (threads.last().unwrap(), readings.last().unwrap().1);
        assert_eq!(last.cpu_ns.sum(&all), Some(much * 66));
    }
}

#[test]
fn unknown_numbers_are_null_with_one_reason_per_column() {
    let mut over_time = SMALL.over_time(&[(1, 1_000_000), (2, 2_000_000), (3, 3_000_000)]);
    let flushes = &over_time.devices.known().unwrap()[0].flushes;
    assert_eq!(flushes.each(), [None, None, None]);
    assert_eq!(flushes.sum(&(0..3)), None, "not 0");
    let of_flushes = Unknown {
        why: "flushes are counted of the whole disk only".to_owned(),
        columns: vec!["devices.vd0.flushes".to_owned()],
    };
    assert_eq!(over_time.unknown, std::slice::from_ref(&of_flushes));
    // In the last slice, one thread has ended, and `/proc/stat` cannot be read.
    let mut counted = SMALL.between(3_000_000, 4_000_000);
    if let Fact::Known(threads) = &mut counted.threads {
        threads.each.pop();
    }
    counted.system.times = Fact::Unavailable("/proc/stat: gone".to_owned());
    over_time.add(&MachineSlice {
        index: 3,
        began_ns: 3 * SLICE_NS,
        ended_ns: 4 * SLICE_NS,
        counted,
    });
    let thread = over_time.threads.known().unwrap().last().unwrap();
    assert_eq!(
        thread.cpu_ns.each(),
        [Some(3_000_000), Some(3_000_000), Some(3_000_000), None]
    );
    assert_eq!(over_time.system.steal_ns.each()[3], None);
    assert_eq!(over_time.unknown[0], of_flushes);
    let find = |why: &str| {
        over_time
            .unknown
            .iter()
            .find(|unknown| unknown.why == why)
            .unwrap()
    };
    assert_eq!(find("/proc/stat: gone").columns.len(), 9);
    assert_eq!(
        find("the thread had ended").columns,
        ["threads.102.cpu_ns", "threads.102.waiting_ns"]
    );
    // A series without slices is valid.
    let nothing = MachineOverTime::new(0, &SMALL.after(0));
    assert!(nothing.is_empty() && nothing.spans().next().is_none());
    assert_eq!(nothing.process.user_ns.sum(&(0..0)), None);
}

#[test]
fn targets_without_devices_have_no_device_columns() {
    let without = |counters: Counters| Counters {
        devices: Fact::NotApplicable,
        ..counters
    };
    let first = without(SMALL.after(0));
    let mut over_time = MachineOverTime::new(0, &first);
    over_time.add(&MachineSlice {
        index: 0,
        began_ns: 0,
        ended_ns: 5,
        counted: without(SMALL.after(9)).since(&first),
    });
    assert_eq!(over_time.devices, Fact::NotApplicable);
    assert_eq!(over_time.unknown, []);
}

#[test]
fn slice_belongs_to_a_period_if_more_than_half_is_inside() {
    let over_time = SMALL.over_time(&[(1, 10), (2, 20), (3, 30), (10, 100)]);
    let of =
        |from_ms: u64, to_ms: u64| over_time.slices_of(&(from_ms * 1_000_000..to_ms * 1_000_000));
    assert_eq!(of(0, 10_000), 0..4);
    assert_eq!(of(1_000, 3_000), 1..3);
    assert_eq!(
        of(1_400, 2_400),
        1..2,
        "more than half of one, less of the next"
    );
    assert_eq!(of(4_000, 5_000), 3..4, "no half of any");
    assert_eq!(of(2_600, 4_000), 2..4, "no half of any, parts of two");
    assert_eq!(of(11_000, 12_000), 0..0);
}

#[test]
fn thread_that_ends_in_the_first_slice_is_not_in_the_series() {
    let mut over_time = MachineOverTime::new(0, &SMALL.after(0));
    let mut counted = SMALL.between(0, 10);
    if let Fact::Known(threads) = &mut counted.threads {
        threads.each.remove(1);
    }
    over_time.add(&MachineSlice {
        index: 0,
        began_ns: 0,
        ended_ns: 5,
        counted,
    });
    let tids: Vec<u32> = over_time
        .threads
        .known()
        .unwrap()
        .iter()
        .map(|thread| thread.tid)
        .collect();
    assert_eq!(tids, [100, 102]);
    assert!(
        over_time
            .unknown
            .iter()
            .all(|unknown| !unknown.why.contains("ended"))
    );
}

#[test]
fn workers_are_recognized_by_their_names() {
    let over_time = SMALL.over_time(&[(1, 10)]);
    let threads = over_time.threads.known().unwrap().iter();
    let workers: Vec<bool> = threads.map(ThreadOverTime::is_worker).collect();
    assert_eq!(workers, [false, true, true]);
}

/// Each case contains the text that is replaced in the JSON, its replacement, and a part of the
/// expected error.
const SPOILT: &str = r#"
    "width_ns":1000000000 | "width_ns":1500000000 | seconds wide
    "width_ns":1000000000 | "width_ns":0 | seconds wide
    "index":[0,2] | "index":[2,2] | numbered in their order
    "index":[0,2] | "index":[0,1800] | numbered in their order
    "index":[0,2] | "index":[0] | has not a number for each of 1
    "ended_ns":[1000000000,3000000000] | "ended_ns":[3000000000,1000000000]
        | before the one before it
    "major_faults":[0,0] | "major_faults":[0] | process.major_faults has not
    "major_faults":[0,0] | "major_faults":[0,-1] | -1
    "process":{ | "process":{"more":1, | more
"#;

#[test]
fn invalid_series_are_rejected() {
    let json = serde_json::to_string(&SMALL.over_time(&[(1, 10), (3, 30)])).unwrap();
    for [from, to, words] in testkit::table(SPOILT) {
        assert!(json.contains(from), "{from}: {json}");
        let error =
            serde_json::from_str::<MachineOverTime>(&json.replacen(from, to, 1)).unwrap_err();
        assert!(error.to_string().contains(words), "{to}: {error}");
    }
}

/// The first cell of each row in a table of docs/reference/measurements-over-time.md contains names
/// of columns. Names of groups are ignored.
#[test]
fn specification_lists_each_column_once() {
    const DOCS: &str = include_str!("../../../../docs/reference/measurements-over-time.md");
    let (_, table) = DOCS
        .split_once("| column | unit | source |\n|---|---|---|\n")
        .unwrap();
    let cells = table
        .lines()
        .map_while(|line| line.strip_prefix("| ")?.split(" | ").next());
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let mut documented: Vec<&str> = words
        .filter(|word| !["process", "threads", "system", "devices"].contains(word))
        .collect();
    let mut columns = Vec::new();
    MachineOverTime::new(0, &SMALL.after(0)).each(None, &mut |place, _, _| {
        // All threads have the same columns, and so have all devices; one of each is compared.
        if place
            .of
            .is_none_or(|of| ["100", "vd0"].contains(&&*of.to_string()))
        {
            columns.push(place.column);
        }
    });
    documented.sort_unstable();
    columns.sort_unstable();
    assert_eq!(documented, columns);
}
