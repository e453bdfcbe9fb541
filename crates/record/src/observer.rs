//! Counters of an observer: a rank that performs no work and reads the counters of its machine
//! while other ranks work.
//!
//! The observer reads the counters once before the run, about every 100 ms during the run, and once
//! after it. No worker is active at the first and the last reading, so the counters of the whole
//! run are exact. Between two readings each counter is assumed to grow evenly. A phase usually
//! begins and ends between two readings. The error of a phase's counters is at most their growth in
//! the interval of its beginning and the interval of its end.

use serde::{Deserialize, Serialize};
use system::{Fact, MachineReading, MessageCounter, MessagesReading};
use workload::Phase;

use crate::merge;
use crate::ranks::ObserverPhase;
use crate::run::{PhaseRecord, Record};

/// When a phase began and ended, on the monotonic clock of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedStretch {
    /// Index of the load level to which the phase belongs, from 0; `None` outside of a sweep.
    pub step: Option<u32>,
    /// Kind of the phase: `prepare`, `transactions` or `delete`.
    pub phase: Phase,
    /// When the phase began, in nanoseconds.
    pub began_ns: i64,
    /// When the phase ended, in nanoseconds.
    pub ended_ns: i64,
}

/// A reading with its moment on the monotonic clock of rank 0, in nanoseconds.
pub type ReadingAt = (i64, MachineReading);

/// Returns the times of a run's phases, including those of a sweep's load levels.
pub fn stretches(record: &Record) -> Vec<ObservedStretch> {
    let of = |step, origin_ns: i64, phase: &PhaseRecord| {
        let (first, last) = (phase.segments.first()?, phase.segments.last()?);
        let at = |ns: u64| origin_ns.saturating_add(i64::try_from(ns).unwrap_or(i64::MAX));
        Some(ObservedStretch {
            step,
            phase: phase.phase,
            began_ns: at(first.began_ns),
            ended_ns: at(last.ended_ns),
        })
    };
    let own_ns = record.origin.monotonic_ns;
    let phases = record
        .actual
        .phases
        .iter()
        .filter_map(|phase| of(None, own_ns, phase));
    let steps = (0..)
        .zip(&record.actual.sweep_steps)
        .flat_map(|(number, step)| {
            let origin_ns = step
                .of_run
                .as_ref()
                .map_or(own_ns, |run| run.origin.monotonic_ns);
            let phases = step.phases.iter();
            phases.filter_map(move |phase| of(Some(number), origin_ns, phase))
        });
    phases.chain(steps).collect()
}

/// The processors' busy share is averaged over windows of this length, and this percentile of the
/// windows is reported. Both values are those of Radkov et al., FAST 2004, section "CPU
/// utilization": a study of NFS and iSCSI whose PostMark results are in the list of published
/// results.
const LOAD_WINDOW_NS: i64 = 2_000_000_000;
const LOAD_PERCENTILE: usize = 99;

/// Returns the 99th percentile (nearest rank) of the processors' busy share in windows of 2 s.
pub fn cpu_busy_p99(readings: &[ReadingAt], began_ns: i64, ended_ns: i64) -> Fact<f64> {
    let mut shares = Vec::new();
    let mut from_ns = began_ns;
    while ended_ns.saturating_sub(from_ns) >= LOAD_WINDOW_NS {
        let to_ns = from_ns + LOAD_WINDOW_NS;
        let (Some(from), Some(to)) = (at(readings, from_ns), at(readings, to_ns)) else {
            return no_readings();
        };
        match to
            .since(&from)
            .processors
            .and_then(|spent| spent.fraction_of(&spent.busy_ns))
        {
            Fact::Known(share) => shares.push(share),
            unknown => return unknown,
        }
        from_ns = to_ns;
    }
    shares.sort_by(f64::total_cmp);
    let rank = (shares.len() * LOAD_PERCENTILE).div_ceil(100);
    match rank.checked_sub(1).and_then(|place| shares.get(place)) {
        Some(share) => Fact::Known(*share),
        None => Fact::Unavailable("shorter than 2 s".to_owned()),
    }
}

fn no_readings<T>() -> Fact<T> {
    Fact::Unavailable("the observer has no readings around the phase".to_owned())
}

/// Returns the counters of each phase, from readings in the order of their moments.
pub fn align(readings: &[ReadingAt], stretches: &[ObservedStretch]) -> Vec<ObserverPhase> {
    let counted = |stretch: &ObservedStretch| {
        let began = at(readings, stretch.began_ns)?;
        let ended = at(readings, stretch.ended_ns)?;
        Some(ended.since(&began))
    };
    let phase = |stretch: &ObservedStretch| ObserverPhase {
        step: stretch.step,
        phase: stretch.phase,
        ns: stretch
            .ended_ns
            .saturating_sub(stretch.began_ns)
            .max(0)
            .unsigned_abs(),
        cpu_busy_p99: cpu_busy_p99(readings, stretch.began_ns, stretch.ended_ns),
        counted: counted(stretch).map_or_else(no_readings, Fact::Known),
    };
    stretches.iter().map(phase).collect()
}

/// Interpolates the counters at a moment; `None` before the first reading and after the last.
fn at(readings: &[ReadingAt], moment_ns: i64) -> Option<MachineReading> {
    let next = readings.partition_point(|(read_ns, _)| *read_ns < moment_ns);
    let (later_ns, later) = readings.get(next)?;
    if *later_ns == moment_ns {
        return Some(later.clone());
    }
    let (earlier_ns, earlier) = readings.get(next.checked_sub(1)?)?;
    let fraction =
        moment_ns.saturating_sub(*earlier_ns) as f64 / later_ns.saturating_sub(*earlier_ns) as f64;
    Some(earlier.between(later, fraction))
}

/// Returns the number of calls that NFS clients counted: the client in the kernel, and the client
/// built into this program. Not applicable if neither was used.
pub fn sent(messages: &Fact<Vec<MessagesReading>>) -> Fact<u64> {
    messages.as_ref().and_then(|readings| {
        let is_client = |one: &&MessagesReading| {
            matches!(
                one.counter,
                MessageCounter::NfsClient | MessageCounter::Engine
            )
        };
        let clients = readings.iter().filter(is_client);
        let requests = clients.map(MessagesReading::requests);
        requests.fold(Fact::NotApplicable, merge::added)
    })
}

#[cfg(test)]
mod tests {
    use system::{Sources, WatchedMachine};

    use super::*;

    const S: i64 = 1_000_000_000;

    /// Creates readings. Each entry contains the second of the reading, and the processors' busy
    /// and idle time until this second, in units of 10 ms.
    fn readings_of(processors: &[(i64, u64, u64)]) -> Vec<ReadingAt> {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let sources = Sources::beneath(root.path());
        let watched = WatchedMachine::find(&sources, None);
        let read = |(second, user, idle): &(i64, u64, u64)| {
            let text = format!("cpu  {user} 0 0 {idle} 0 0 0 0 0 0\n");
            std::fs::write(root.path().join("proc/stat"), text).unwrap();
            (second * S, watched.read(&sources))
        };
        processors.iter().map(read).collect()
    }

    /// Readings of four processors, one second apart. The processors were busy for 1 of 4 s in the
    /// first interval, and for 3 of 4 s in the second and the third.
    fn readings() -> Vec<ReadingAt> {
        readings_of(&[
            (10, 100, 1000),
            (11, 200, 1300),
            (12, 500, 1400),
            (13, 800, 1500),
        ])
    }

    fn busy_ms(phase: &ObserverPhase) -> Option<u64> {
        let processors = phase.counted.known()?.processors.known()?;
        Some(processors.busy_ns.known()? / 1_000_000)
    }

    #[test]
    fn counters_of_a_phase_are_interpolated() {
        let stretch = |began_ms: i64, ended_ms: i64| ObservedStretch {
            step: None,
            phase: Phase::Transactions,
            began_ns: began_ms * 1_000_000,
            ended_ns: ended_ms * 1_000_000,
        };
        let asked = [
            (stretch(10_000, 13_000), Some(7_000)),
            (stretch(10_000, 11_000), Some(1_000)),
            // This phase contains half of the first interval (500 ms busy) and a quarter of the
            // second interval (750 ms busy).
            (stretch(10_500, 11_250), Some(1_250)),
            // A phase between two consecutive readings.
            (stretch(12_100, 12_200), Some(300)),
            (stretch(9_900, 11_000), None),
            (stretch(12_000, 13_001), None),
        ];
        let aligned = align(&readings(), &asked.map(|(stretch, _)| stretch));
        assert_eq!(aligned.len(), asked.len());
        for (phase, (stretch, expected)) in aligned.iter().zip(asked) {
            assert_eq!(busy_ms(phase), expected, "{stretch:?}");
            assert_eq!(phase.counted.is_known(), expected.is_some());
        }
        assert_eq!(aligned[2].ns, 750_000_000);
        assert_eq!(
            align(&[], &asked.map(|(stretch, _)| stretch))[0]
                .counted
                .known(),
            None
        );
    }

    #[test]
    fn processor_load_is_the_99th_percentile_of_windows_of_two_seconds() {
        let readings = readings();
        let p99 = |began_ms: i64, ended_ms: i64| {
            cpu_busy_p99(&readings, began_ms * 1_000_000, ended_ms * 1_000_000)
        };
        // The period of 3 s contains one window of 2 s, in which the four processors were busy for
        // 4 of 8 s. The third second belongs to no window.
        assert_eq!(p99(10_000, 13_000), Fact::Known(0.5));
        assert_eq!(p99(11_000, 13_000), Fact::Known(0.75));
        assert_eq!(
            p99(10_000, 11_999),
            Fact::Unavailable("shorter than 2 s".to_owned())
        );
        assert!(p99(9_999, 12_000).why().is_some());
        // The first 197 windows are idle, all later ones are busy.
        let window = |at: u64| {
            (
                2 * at as i64,
                200 * at.saturating_sub(197),
                200 * at.min(197),
            )
        };
        let many = readings_of(&(0..=200).map(window).collect::<Vec<_>>());
        let of_first = |windows: i64| cpu_busy_p99(&many, 0, windows * 2 * S);
        // The 99th percentile of 200 windows is the 198th in ascending order, which is busy. The
        // 99th percentile of 198 windows is the 197th, which is idle.
        assert_eq!(
            (of_first(200), of_first(198)),
            (Fact::Known(1.0), Fact::Known(0.0))
        );
    }

    #[test]
    fn only_calls_of_nfs_clients_are_counted() {
        let reading = |counter, requests: u64| {
            let text = serde_json::json!({
                "counter": counter, "protocol": "nfs3", "of": "a mount", "age_s": "not_applicable",
                "kinds": {"known": [{"kind": "GETATTR", "requests": requests,
                    "retransmissions": "not_applicable",
                    "sent_bytes": "not_applicable", "received_bytes": "not_applicable",
                        "queued_ms": "not_applicable",
                    "round_trip_ms": "not_applicable", "execution_ms": "not_applicable"}]},
                "operations": "not_applicable", "server_read_bytes": "not_applicable",
                "server_written_bytes": "not_applicable",
            });
            serde_json::from_value::<MessagesReading>(text).unwrap()
        };
        let all = vec![
            reading("nfs-client", 5),
            reading("nfs-server", 100),
            reading("engine", 7),
        ];
        assert_eq!(sent(&Fact::Known(all)), Fact::Known(12));
        assert_eq!(
            sent(&Fact::Known(vec![reading("smb-client", 5)])),
            Fact::NotApplicable
        );
        assert_eq!(sent(&Fact::NotApplicable), Fact::NotApplicable);
    }
}
