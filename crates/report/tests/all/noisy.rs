//! Realistic records, and tests of the size of their pages. Latencies, counts and kernel counters
//! contain seeded noise, which does not compress.

use record::{
    Action, Histogram, MachineOverTime, Phase, Record, Role, SliceMeter, Slices, WorkerPhase,
};
use serde_json::Value;
use testkit::Random;

use crate::built;
use crate::paged::{processor_time, shown};
use crate::pages::kept;

const SECOND_NS: u64 = 1_000_000_000;
/// The kinds of operations of a typical mix.
const USUAL: [Action; 4] = [Action::Read, Action::Append, Action::Create, Action::Delete];

/// Log-normal durations around the median of the kind of operation, with sigma 0.5. Three in a
/// hundred are durations of a device (median 5 ms, sigma 0.8).
fn durations(noise: &mut Random, kind: usize, count: u64) -> Histogram {
    let mut latency = Histogram::default();
    for _ in 0..count {
        let (median_ns, sigma) = match noise.unit() < 0.03 {
            true => (5e6, 0.8),
            false => (15e3 * (1 << (kind % 8)) as f64, 0.5),
        };
        latency.record((median_ns * (sigma * noise.normal()).exp()) as u64);
    }
    latency
}

/// Returns the record with transactions that take `seconds` seconds. Each of the `kinds` of
/// operations is performed `per_second` times per second.
pub fn noisy(
    record: &Record,
    seed: u64,
    seconds: u64,
    kinds: &[Action],
    per_second: u64,
) -> Record {
    let mut noise = Random(seed);
    let mut record = record.clone();
    // The width of slices for this duration, in seconds.
    let wide = seconds.div_ceil(1_800).next_power_of_two();
    // At most 3,000 random durations are generated for each kind of operation in a slice. The
    // histograms still have as many buckets as with a duration for each operation.
    let drawn = (per_second * wide).min(3_000);
    let phases = record.actual.phases.iter_mut();
    for phase in phases.filter(|phase| phase.phase == Phase::Transactions) {
        let mut slices = Slices::default();
        let mut sums = vec![Histogram::default(); kinds.len()];
        for index in (0..seconds).step_by(wide as usize) {
            for (number, action) in kinds.iter().enumerate() {
                let mut latency = durations(&mut noise, number, drawn);
                let operations = latency.count();
                sums[number].merge(&latency);
                let meter = SliceMeter {
                    operations,
                    bytes: operations * 4_096 + (noise.unit() * 1e6) as u64,
                    failed: 0,
                    latency: latency.take_sparse(),
                };
                slices.add(index, (Role::Worker, *action), meter);
            }
        }
        phase.slices = slices.recorded();
        let segment = phase.segments.last_mut().unwrap();
        segment.ended_ns = segment.began_ns + seconds * SECOND_NS;
        segment
            .operations
            .retain(|operation| kinds.contains(&operation.action));
        for operation in &mut segment.operations {
            let number = kinds
                .iter()
                .position(|kind| *kind == operation.action)
                .unwrap();
            operation.meter.operations = sums[number].count();
            operation.meter.latency = sums[number].clone();
        }
        let began_ns = segment.began_ns;
        phase.machine = Some(machine(&mut noise, began_ns, seconds.div_ceil(wide), wide));
    }
    record
}

/// Counters of a machine in slices of `wide` seconds, with noise around the counters of a synthetic
/// record.
fn machine(noise: &mut Random, began_ns: u64, slices: u64, wide: u64) -> MachineOverTime {
    fn fill(value: &mut Value, noise: &mut Random, slices: u64) {
        match value {
            Value::Array(column)
                if column.len() == 1 && (column[0].is_u64() || column[0].is_null()) =>
            {
                let middle = column[0].as_u64();
                let number = |noise: &mut Random| {
                    middle.map(|middle| (middle as f64 * (0.5 + noise.unit())) as u64)
                };
                *column = (0..slices).map(|_| number(noise).into()).collect();
            }
            Value::Array(all) => all.iter_mut().for_each(|one| fill(one, noise, slices)),
            Value::Object(all) => all.values_mut().for_each(|one| fill(one, noise, slices)),
            _ => {}
        }
    }
    let shared = built::shared(&kept());
    let mut value =
        serde_json::to_value(shared.actual.phases[1].machine.as_ref().unwrap()).unwrap();
    fill(&mut value, noise, slices);
    // The kernel counts processor time in ticks of 10 ms.
    let system = value["system"].as_object_mut().unwrap();
    for (_, column) in system.iter_mut().filter(|(name, _)| name.ends_with("_ns")) {
        for number in column.as_array_mut().into_iter().flatten() {
            *number = number
                .as_u64()
                .map(|ns| ns / 10_000_000 * 10_000_000)
                .into();
        }
    }
    value["began_ns"] = began_ns.into();
    value["width_ns"] = (wide * SECOND_NS).into();
    value["index"] = (0..slices).collect();
    value["ended_ns"] = (1..=slices)
        .map(|slice| began_ns + slice * wide * SECOND_NS + (noise.unit() * 1e6) as u64)
        .collect();
    serde_json::from_value(value).unwrap()
}

/// The length of the visible part of a page, and of the whole page.
fn lengths(page: &str) -> (usize, usize) {
    (page.split_once("<script").unwrap().0.len(), page.len())
}

#[test]
fn page_of_a_run_of_a_day_is_below_1_5_megabytes() {
    let base = built::private(&kept());
    // A typical mix of operations for half an hour and for a day, and all kinds of operations for
    // almost three hours.
    for (seconds, kinds, most) in [
        (1_800, &USUAL[..], 1_500_000),
        (10_000, Action::ALL, 2_000_000),
        (24 * 3_600, &USUAL[..], 1_500_000),
    ] {
        let mut record = noisy(&base, seconds, seconds, kinds, 500);
        many_workers(&mut record);
        let began = processor_time();
        let page = shown(&record);
        let (visible, all) = lengths(&page);
        println!(
            "{seconds} s, {} kinds: {visible} bytes shown, {all} in all, of {} of JSON, in {:?}",
            kinds.len(),
            verdict::to_json(&record).len(),
            processor_time() - began
        );
        assert!(page.contains("Spread of workers in transactions"));
        assert!(visible < 1_000_000, "{visible}");
        assert!(all < most, "{seconds} s: {all}");
        // The embedded data is noise, so gzip cannot make it small.
        assert!(
            all - visible > 200_000,
            "{seconds} s: {all} of which {visible} are shown"
        );
    }
}

fn many_workers(record: &mut Record) {
    for phase in &mut record.actual.phases {
        let (began_ns, ended_ns) = (
            phase.segments[0].began_ns,
            phase.segments[0].ended_ns.max(1),
        );
        let worker = |worker| WorkerPhase {
            worker,
            role: Role::Worker,
            began_ns,
            ended_ns,
            issued: 100 + u64::from(worker),
            transactions: 100 + u64::from(worker),
            operations: 200,
            bytes: 0,
        };
        phase.workers = (0..64).map(worker).collect();
    }
}

/// A record as large as the records that earlier versions of the program wrote: all kinds of
/// operations for half an hour, and full-precision latencies for each second.
#[test]
fn page_of_the_largest_record_stays_within_the_time_limit() {
    let base = built::private(&kept());
    let mut record = noisy(&base, 3, 1_800, &USUAL, 200);
    let mut noise = Random(5);
    let some: Vec<Histogram> = (0..64)
        .map(|kind| durations(&mut noise, kind % 8, 1_500))
        .collect();
    for phase in record
        .actual
        .phases
        .iter_mut()
        .filter(|phase| phase.phase == Phase::Transactions)
    {
        let mut slices = Slices::default();
        for second in 0..1_800 {
            for (number, action) in Action::ALL.iter().enumerate() {
                let mut latency = some[(second as usize * 7 + number) % some.len()].clone();
                let meter = SliceMeter {
                    operations: latency.count(),
                    bytes: second * 4_096,
                    failed: 0,
                    latency: latency.take_sparse(),
                };
                slices.add(second, (Role::Worker, *action), meter);
            }
        }
        phase.slices = slices;
    }
    let json = verdict::to_json(&record);
    assert!(json.len() > 30_000_000, "{}", json.len());
    let began = processor_time();
    // `shown` enforces the time limit.
    let page = shown(&record);
    println!(
        "{} bytes of JSON: {} in {:?}",
        json.len(),
        page.len(),
        processor_time() - began
    );
}
